"""``gramian store``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import gramian
from gramian.cli._letter import letter
from gramian.cli._models import as_held
from gramian.cli._opened import open_store, opening
from gramian.cli._show import echo, table
from gramian.files import replacing
from gramian.files._receipt import now
from gramian.store import Store, convert, is_address, restore

Facts = dict[str, Any]


def run(*, task: str, **options: Any) -> Facts:
    """Do one of the tasks."""
    return {"task": task, **_TASKS[task](**options)}


def _create(*, model: str, store: str, key: Any, snapshot: bool) -> Facts:
    fitted = gramian.load(model)
    with Store.create(store, fitted, key=key, snapshot=snapshot, **opening()) as opened:
        return {"store": store, "receipt": opened.receipts()[0].as_dict()}


def _receipts(*, store: str, ids: tuple[str, ...]) -> Facts:
    with open_store(store, readonly=True) as opened:
        pending, every = opened.open_receipts(), opened.receipts()
        if ids:
            found = {r.number for name in ids for r in opened.find(as_held(opened.model, name))}
            every = [receipt for receipt in every if receipt.number in found]
    return {
        "receipts": [
            {**receipt.as_dict(), "state": "open" if receipt.number in pending else "closed"}
            for receipt in every
        ]
    }


def _proof(*, store: str, number: int, output: str) -> Facts:
    with open_store(store, readonly=True) as opened:
        proof = opened.proof(number)
    _write(output, json.dumps(proof.as_dict(), indent=2) + "\n")
    return {"output": output, "number": number, "head": proof.head.number}


def _letter(
    *, store: str, number: int, person: str | None, office: str | None, output: str
) -> Facts:
    with open_store(store, readonly=True) as opened:
        proof, pending = opened.proof(number), number in opened.open_receipts()
    page = letter(proof, pending=pending, person=person, office=office)
    _write(output, page, private=True)  # it names a person
    return {"output": output, "number": number}


def _compact(*, store: str, key: Any) -> Facts:
    before = None if is_address(store) else os.stat(store).st_size
    with open_store(store, key=key) as opened:
        opened.compact()
    return {"store": store, "bytes_before": before, "bytes": os.stat(store).st_size}


def _export(*, store: str, output: str) -> Facts:
    with open_store(store, readonly=True) as opened:
        opened.export(output)
        return {"output": output, "version": opened.version}


def _backup(*, store: str, file: str) -> Facts:
    with open_store(store, readonly=True) as opened:
        opened.backup(file)
        return {"store": store, "file": file, "version": opened.version, "epoch": opened.epoch}


def _restore(*, copy: str, store: str, new_keyring: str, key: Any) -> Facts:
    given = {"keyring": None, **opening()}
    receipt = restore(copy, store, new_keyring=new_keyring, key=key, **given)
    return {"store": store, "receipt": receipt.as_dict()}


def _convert(*, source: str, store: str, new_keyring: str | None) -> Facts:
    receipt = convert(source, store, keyring=opening().get("keyring"), new_keyring=new_keyring)
    return {"source": source, "store": store, "receipt": receipt.as_dict()}


def _reselect(*, store: str, key: Any) -> Facts:
    with open_store(store, key=key) as opened:
        return {"store": store, "receipt": opened.reselect().as_dict()}


def _withheld(*, store: str) -> Facts:
    with open_store(store, readonly=True) as opened:
        return {"withheld": [{"id": name, "due": time} for name, time in opened.withheld().items()]}


def _take_back(*, store: str, ids: tuple[str, ...], key: Any) -> Facts:
    with open_store(store, key=key) as opened:
        return {"store": store, "receipt": opened.take_back(_waiting(opened, ids)).as_dict()}


def _erase_due(*, store: str, ids: tuple[str, ...], key: Any) -> Facts:
    start = now()
    with open_store(store, key=key) as opened:  # which erases what is due
        if ids:
            opened.erase_due(_waiting(opened, ids))
        last, waiting = opened.receipts()[-1], len(opened.withheld())
    erased = last.action == "erase" and last.time >= start
    return {"store": store, "receipt": last.as_dict() if erased else None, "withheld": waiting}


_TASKS: dict[str, Callable[..., Facts]] = {
    "create": _create,
    "receipts": _receipts,
    "proof": _proof,
    "letter": _letter,
    "compact": _compact,
    "export": _export,
    "backup": _backup,
    "restore": _restore,
    "convert": _convert,
    "reselect": _reselect,
    "withheld": _withheld,
    "take-back": _take_back,
    "erase-due": _erase_due,
}


def _waiting(store: Store, ids: tuple[str, ...]) -> list[int | str]:
    return [as_held(store.model, name) for name in ids]


def _write(path: str, text: str, private: bool = False) -> None:
    with replacing(path, private=private) as stream:
        stream.write(text.encode())


_SENTENCES = {
    "create": "Made {store} with {n_after} rows.\nHash of its first receipt: {hash}",
    "proof": "Wrote receipt {number} to {output}; check it with\ngramian verify {output}",
    "letter": "Wrote a letter about receipt {number} to {output}.",
    "compact": "{store}: {bytes:,} bytes, {bytes_before:,} before.",
    "export": "Saved version {version} in {output}.",
    "backup": "Copied version {version} to {file}.",
    "restore": "Made {store} with {n_after} rows: {count} of the\n"
    "copy were erased since. Receipt {number}, {hash}",
    "convert": "Made {store} with {n_after} rows, version\n"
    "{number}. Delete {source} when the new one is in use.",
    "reselect": "Chose anew on {n_after} rows. Receipt {number}.",
    "take-back": "Learned {count} rows again. Receipt {number}.",
}


def show(facts: Facts) -> None:
    """A line or a table."""
    task, receipt = facts["task"], facts.get("receipt") or {}
    if task in _SENTENCES:
        echo(_SENTENCES[task].format(**{**receipt, **facts}))
    if task == "create" and receipt["epoch"] is None:
        echo("Without --keyring, copies and backups keep what is erased here.")
    elif task == "backup" and facts["epoch"] is None:
        echo("It is not encrypted: rows that are erased later stay in it.")
    elif task == "receipts":
        _show_receipts(facts["receipts"])
    elif task == "withheld":
        table(["id", "erased after"], [[row["id"], row["due"]] for row in facts["withheld"]])
    elif task == "erase-due":
        if receipt:
            echo(f"Erased {receipt['count']} rows. Receipt {receipt['number']}.")
        echo(f"{facts['withheld']} rows are withheld.")


def _show_receipts(receipts: list[Facts]) -> None:
    """In 80 columns; --json has everything."""
    words = {None: "–", True: "yes", False: "NO"}
    rows = [
        [
            receipt["number"],
            receipt["action"],
            receipt["time"][:16].replace("T", " "),
            receipt["user"][:12],
            receipt["count"],
            receipt["n_after"],
            words[receipt["verified"]],
            receipt["state"],
        ]
        for receipt in receipts
    ]
    table(["no.", "action", "time (UTC)", "user", "rows", "left", "verified", "state"], rows)
