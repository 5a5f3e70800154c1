"""An anchor: the number and hash of a store's last receipt, in a file of its own.

An old copy that is put in the place of a store passes every check of the store by itself. With an
anchor it is recognised: its chain lacks the receipt that the anchor names.
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from gramian.files import Receipt, StrPath, replacing
from gramian.files._receipt import check_hex
from gramian.store._errors import OldCopyError, StoreError

_FORMAT = "gramian anchor 1"


class Mark(NamedTuple):
    """The receipt that a chain had last."""

    number: int
    hash: str


class Anchor:
    """The file of an anchor; it need not be there yet."""

    path: str

    def __init__(self, path: StrPath) -> None:
        self.path = os.path.abspath(path)

    def read(self) -> Mark | None:
        """The mark in the file; None if there is no file, StoreError if it is no anchor."""
        if not os.path.exists(self.path):
            return None
        try:
            with open(self.path, encoding="utf-8") as stream:
                facts = json.load(stream)
            mark = Mark(int(facts["number"]), str(facts["hash"]))
            check_hex(mark.hash, 32, "hash")
            if facts["format"] != _FORMAT:
                raise ValueError(facts["format"])
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self.path} is no anchor, or it is damaged: {error}.") from error
        return mark

    def write(self, receipt: Receipt) -> None:
        """Record this receipt as the last one."""
        facts = {"format": _FORMAT, "number": receipt.number, "hash": receipt.hash}
        with replacing(self.path) as stream:
            stream.write(json.dumps(facts).encode() + b"\n")

    def check(self, hashes: list[str], address: str) -> str:
        """What was found, in words; OldCopyError if the anchor's receipt is not among these."""
        mark = self.read()
        if mark is None:
            return f"there is no {self.path} yet"
        if mark.number >= len(hashes):
            raise OldCopyError(
                f"{address} is an old copy: it ends with receipt {len(hashes) - 1}, and the anchor "
                f"{self.path} has seen receipt {mark.number}."
            )
        if hashes[mark.number] != mark.hash:
            raise OldCopyError(
                f"{address} is another history: its receipt {mark.number} is not the one that the "
                f"anchor {self.path} has seen."
            )
        return f"receipt {mark.number} of the anchor is in the chain"
