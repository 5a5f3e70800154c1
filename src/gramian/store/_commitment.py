"""A commitment to a set of rows that follows each edit in the time of the rows that change.

Each row becomes 1,024 numbers of 16 bits by SHAKE-256, with the salt that is stored with it; the
sums of these numbers over the rows, modulo 2¹⁶, stand for the set (LtHash, Bellare and Micciancio's
AdHash over vectors). Finding other rows with the same sums is a short-vector problem, for which
2¹⁴ bits of sums leave more than 200 bits of security. A digest of the sums is published.
"""

from __future__ import annotations

from hashlib import sha256, shake_256

import numpy as np

from gramian.core.arrays import Array

_NUMBERS = 1024
_NAME = b"gramian row 1\0"


class Commitment:
    """Sums over a set of rows, given as the bytes that are stored of them."""

    def __init__(self) -> None:
        self._sums = np.zeros(_NUMBERS, dtype="<u2")

    def add(self, content: bytes) -> None:
        """Add a row."""
        self._sums += _numbers(content)

    def remove(self, content: bytes) -> None:
        """Take a row away."""
        self._sums -= _numbers(content)

    def copy(self) -> Commitment:
        """The same sums, to go on from."""
        twin = Commitment()
        twin._sums = self._sums.copy()
        return twin

    def sums(self) -> bytes:
        """The sums themselves."""
        return self._sums.tobytes()

    @classmethod
    def from_sums(cls, sums: bytes) -> Commitment:
        """Sums that were written before, to go on from."""
        found = cls()
        found._sums = np.frombuffer(sums, dtype="<u2").copy()
        return found

    def digest(self) -> str:
        """SHA-256 of the sums, in hexadecimal digits."""
        return sha256(self._sums.tobytes()).hexdigest()


def _numbers(content: bytes) -> Array:
    return np.frombuffer(shake_256(_NAME + content).digest(2 * _NUMBERS), dtype="<u2")
