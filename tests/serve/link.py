"""A connection to a server that can be cut without either side being told."""

import socket
from contextlib import suppress
from threading import Event, Thread


class Link:
    """Passes on what comes to ``port``; while it is cut, nothing gets through and nothing ends."""

    def __init__(self, target):
        self._target, self._whole = target, Event()
        self._whole.set()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port, self._ends = self._door.getsockname()[1], [self._door]
        Thread(target=self._accept, daemon=True).start()

    def cut(self):
        self._whole.clear()

    def mend(self):
        self._whole.set()

    def close(self):
        self.mend()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one, other):
        with suppress(OSError):
            while data := one.recv(2**16):
                self._whole.wait()
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
