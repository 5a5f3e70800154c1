"""Chains of receipts, and short proofs that a receipt is in one.

Each receipt names the one before by its hash, and all before it by the root of a Merkle tree of
their hashes (RFC 9162, section 2.1, with SHA-256). So the last receipt, which may be signed, stands
for all: to prove that another one is in the chain takes log₂ of their number of hashes, no store.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Self

from gramian.files._receipt import ACTIONS, FIRST, Receipt, check_hex, read_time

_FORMAT = "gramian proof 1"
_LASTING = ("key_id", "public_key", "snapshots", "model")
_CLOCKS_DIFFER = timedelta(minutes=5)


class Tree:
    """The Merkle tree of a growing list of hashes; O(log n) to add one."""

    def __init__(self, hashes: Iterable[str] = ()) -> None:
        self._leaves: list[bytes] = []
        self._peaks: list[tuple[int, bytes]] = []  # (size, root) of complete trees, largest first
        for digest in hashes:
            self.add(digest)

    def __len__(self) -> int:
        return len(self._leaves)

    def add(self, digest: str) -> None:
        """Add the hash of a receipt."""
        size, root = 1, sha256(b"\0" + bytes.fromhex(digest)).digest()
        self._leaves.append(root)
        while self._peaks and self._peaks[-1][0] == size:
            _, left = self._peaks.pop()
            size, root = 2 * size, _node(left, root)
        self._peaks.append((size, root))

    def root(self) -> str:
        """The root, in hexadecimal digits."""
        if not self._peaks:
            return sha256().hexdigest()
        *others, (_, root) = self._peaks
        for _, peak in reversed(others):
            root = _node(peak, root)
        return root.hex()

    def path(self, number: int, size: int) -> tuple[str, ...]:
        """The hashes that lead from a leaf to the root of the first ``size``."""
        return tuple(step.hex() for step in _path(self._leaves[:size], number))


@dataclass(frozen=True)
class Proof:
    """A receipt, the last one of its chain, and the hashes between them.

    Attributes
    ----------
    receipt, head : Receipt
    path : tuple of str
        Hashes from the receipt's leaf to the root that ``head`` names; empty for the head itself.
    """

    receipt: Receipt
    path: tuple[str, ...]
    head: Receipt

    def check(self) -> None:
        """Raise ValueError unless the receipt is in the chain of the head."""
        number, size = self.receipt.number, self.head.number
        if number is None or size is None or number > size:
            raise ValueError("the receipt comes after the head")
        if number == size:
            found = self.receipt.hash == self.head.hash and not self.path
        else:
            found = path_root(self.receipt.hash, number, size, self.path) == self.head.tree
        if not found:
            raise ValueError(f"receipt {number} is not in the chain that ends with this head")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "format": _FORMAT,
            "receipt": self.receipt.as_dict(),
            "path": list(self.path),
            "head": self.head.as_dict(),
        }

    @classmethod
    def from_dict(cls, facts: Any) -> Self:
        """The proof that `as_dict` wrote; ValueError if it is none."""
        if not isinstance(facts, dict) or facts.get("format") != _FORMAT:
            raise ValueError(f'it is no proof: its format is not "{_FORMAT}"')
        path = facts.get("path")
        if not isinstance(path, list) or len(path) > 64:
            raise ValueError("its path is no short list of hashes")
        for step in path:
            check_hex(str(step), 32, "path")
        receipt, head = (Receipt.from_dict(facts.get(name)) for name in ("receipt", "head"))
        return cls(receipt, tuple(path), head)


def path_root(digest: str, number: int, size: int, path: tuple[str, ...]) -> str | None:
    """The root of a tree of ``size`` leaves to which this path leads (RFC 9162, 2.1.3.2)."""
    at, last = number, size - 1
    root = sha256(b"\0" + bytes.fromhex(digest)).digest()
    for step in map(bytes.fromhex, path):
        if last == 0:
            return None
        if at % 2 or at == last:
            root = _node(step, root)
            while not at % 2 and at:
                at, last = at // 2, last // 2
        else:
            root = _node(root, step)
        at, last = at // 2, last // 2
    return root.hex() if last == 0 else None


def check_chain(receipts: list[Receipt]) -> str:
    """Each goes on where the one before ended; returns what was seen.

    Raises
    ------
    ValueError
        Naming the first receipt that does not.
    """
    tree, previous, n, next_id, time = Tree(), FIRST, 0, 0, ""
    first, latest = receipts[0], datetime.now(UTC) + _CLOCKS_DIFFER
    for number, receipt in enumerate(receipts):
        if (receipt.number, receipt.previous) != (number, previous):
            raise ValueError(f"receipt {number} does not follow the one before")
        if receipt.tree != tree.root():
            raise ValueError(f"receipt {number} names another tree of those before it")
        if (receipt.action == "create") != (number == 0):
            raise ValueError(f"receipt {number} is of {receipt.action!r}")
        after = n + ACTIONS[receipt.action] * receipt.count
        if (receipt.n_before, receipt.n_after) != (n, after):
            raise ValueError(f"receipt {number} counts other rows than the one before left")
        if any(getattr(receipt, name) != getattr(first, name) for name in _LASTING):
            raise ValueError(f"receipt {number} names other keys than the first")
        if receipt.next_id is None or receipt.next_id < next_id:
            raise ValueError(f"receipt {number} gives a number again")
        if receipt.time < time or read_time(receipt.time) > latest:
            raise ValueError(f"receipt {number} is of {receipt.time}, before the last or to come")
        tree.add(receipt.hash)
        previous, n, next_id, time = receipt.hash, receipt.n_after, receipt.next_id, receipt.time
    return f"{len(receipts)} in a chain, the last of {time}; hash {previous}"


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


def _root(leaves: list[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    half = _half(len(leaves))
    return _node(_root(leaves[:half]), _root(leaves[half:]))


def _path(leaves: list[bytes], number: int) -> list[bytes]:
    """RFC 9162, 2.1.3.1."""
    if len(leaves) == 1:
        return []
    half = _half(len(leaves))
    if number < half:
        return [*_path(leaves[:half], number), _root(leaves[half:])]
    return [*_path(leaves[half:], number - half), _root(leaves[:half])]


def _half(size: int) -> int:
    """The largest power of two below ``size``."""
    return 1 << (size - 1).bit_length() - 1
