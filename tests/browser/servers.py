"""Servers in processes of their own, and the browser that is installed."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def installed_browser():
    """Path of an installed Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A command of gramian that listens on a port, started and stopped at will."""

    def __init__(self, *command):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self._command = [sys.executable, "-m", "gramian.cli", *command, "--port", str(self.port)]
        self._process = None

    def start(self):
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(self._command, env={**os.environ, **threads}, **quiet)
        for _ in range(600):
            try:
                urllib.request.urlopen(self.url, timeout=1)
            except OSError:
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise RuntimeError(f"{' '.join(self._command)} does not answer.")

    @property
    def seconds(self):
        """Processor time so far, where there is /proc."""
        with open(f"/proc/{self._process.pid}/stat", encoding="ascii") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self._process.terminate()
        self._process.wait(timeout=20)


@contextmanager
def serving(*command):
    """A server while the block runs."""
    server = Server(*command)
    server.start()
    try:
        yield server
    finally:
        server.stop()
