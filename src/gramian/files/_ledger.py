"""Receipts on disk: a file of lines that only grows.

A receipt is written twice: as pending before the model is saved, and as done after it. A process
that is killed in between leaves a pending one, which the next run finishes: the model file tells
whether the rows are gone.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gramian.files._atomic import StrPath, sync_folder
from gramian.files._models import fingerprint
from gramian.files._receipt import Receipt

PENDING, DONE, VOID = "pending", "done", "void"
_KIND = "gramian receipt"
_START = f'{{"kind": "{_KIND}"'
_NEEDED = ("receipt", "status", "file", "ids", "fingerprint_after", "salt")

Record = dict[str, Any]


class ReceiptError(ValueError):
    """A file that holds no receipts."""


def new_record(receipt: Receipt, file: StrPath) -> Record:
    """A receipt as it is written: with a name of its own, and the model file that it is about."""
    return {
        "kind": _KIND,
        "receipt": secrets.token_hex(8),
        "status": PENDING,
        "file": os.path.realpath(file),
        **receipt.as_dict(),
    }


def append_record(path: StrPath, record: Record, status: str, **more: Any) -> Record:
    """Write a line for the record with this status, and force it to disk."""
    record = {**record, "status": status, **more}
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        line = json.dumps(record).encode() + b"\n"
        os.write(descriptor, line if _ends_well(descriptor) else b"\n" + line)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    sync_folder(Path(os.path.realpath(path)).parent)
    return record


def read_records(path: StrPath) -> list[Record]:
    """The receipts of a file in order, each as it was last written; none of a missing file.

    A line that was cut short by a crash is passed over.

    Raises
    ------
    ReceiptError
        If the file holds anything else.
    """
    if not os.path.exists(path):
        return []
    latest: dict[str, Record] = {}
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ReceiptError(_no_receipts(path, 1)) from error
    for number, line in enumerate(lines, start=1):
        record = _parsed(line)
        if record is not None:
            latest[record["receipt"]] = record
        elif line and not _START.startswith(line[: len(_START)]):
            raise ReceiptError(_no_receipts(path, number))
    return list(latest.values())


def check_path(path: StrPath, files: Iterable[StrPath]) -> list[Record]:
    """The receipts that are there; raises `ReceiptError` if it is no place for more."""
    if os.path.realpath(path) in {os.path.realpath(file) for file in files}:
        raise ReceiptError(f"{os.fspath(path)} is the model file; the receipt needs another name.")
    return read_records(path)


def finish_pending(
    path: StrPath, records: Iterable[Record], file: StrPath, model: Any
) -> list[Record]:
    """Close the receipts of this model file that a killed process left pending; returns them."""
    found = []
    for record in records:
        if record["status"] != PENDING or record["file"] != os.path.realpath(file):
            continue
        facts, status, note = check_record(record, model), DONE, "finished by a later run"
        if not facts["fingerprint"]:
            note = f"{note}; the model was changed since"
            if facts["held"]:
                status, note = VOID, "the rows were not forgotten"
        found.append(append_record(path, record, status, note=note))
    return found


def check_record(record: Record, model: Any) -> dict[str, Any]:
    """Which of the forgotten ids the model holds, and whether it is the one of the receipt."""
    holdings = set(model.ids_.tolist())
    return {
        "held": [name for name in record["ids"] if name in holdings],
        "fingerprint": fingerprint(model, key=bytes.fromhex(record["salt"]))
        == record["fingerprint_after"],
    }


def _parsed(line: str) -> Record | None:
    """The record of a line, if it has all that a receipt needs."""
    try:
        record = json.loads(line)
        bytes.fromhex(record["salt"])
        texts = all(isinstance(record[name], str) for name in _NEEDED if name != "ids")
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    good = record.get("kind") == _KIND and texts and isinstance(record["ids"], list)
    return record if good and all(isinstance(i, int | str) for i in record["ids"]) else None


def _ends_well(descriptor: int) -> bool:
    """Whether the last line is complete, or there is none."""
    if os.fstat(descriptor).st_size == 0:
        return True
    os.lseek(descriptor, -1, os.SEEK_END)  # writing appends wherever this leads
    return os.read(descriptor, 1) == b"\n"


def _no_receipts(path: StrPath, line: int) -> str:
    return (
        f"{os.fspath(path)} is no file of receipts: line {line} is none. Receipts are lines of "
        f"JSON in a file of their own; name another one, such as receipts.jsonl."
    )
