"""``python -m tests.torture.forks``: runs commands of gramian in forks of one process.

Most of what a new process costs is imports; here they are made once. A line of JSON on the standard
input, the words of a command, is answered by the number of a new process that runs it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys


class Forks:
    """The process, from outside."""

    def __init__(self):
        env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        words, pipe = [sys.executable, "-m", "tests.torture.forks"], subprocess.PIPE
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env=env)

    def start(self, words):
        """Number of a process that runs a command."""
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self):
        """No more commands; those that run go on."""
        self._process.communicate()


def is_alive(pid):
    """Whether a process of `Forks` has not ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def run(words):
    """The command, which says nothing."""
    from gramian.cli import main

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    sys.argv = ["gramian", *words]
    main()


def serve_forks():
    """Fork for each line, until there are no more."""
    import uvicorn.protocols.http.auto  # noqa: F401

    import gramian.cli._app
    import gramian.serve
    import gramian.store._postgres  # noqa: F401
    from gramian import KernelDiscriminant

    KernelDiscriminant(gamma=1.0, ridge=1.0).fit([[0.0], [1.0]], [0, 1])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that end
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                run(json.loads(line))
            finally:
                os._exit(1)
        print(pid, flush=True)


if __name__ == "__main__":
    serve_forks()
