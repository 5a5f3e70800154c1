"""``gramian store create``, ``receipts``, ``compact`` and ``export``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import gramian
from gramian.cli._models import as_held
from gramian.cli._show import say, table
from gramian.store import Store


def run(*, task: str, quiet: bool, **options: Any) -> dict[str, Any]:
    """Do one of the tasks."""
    tasks: dict[str, Callable[..., dict[str, Any]]] = {
        "create": _create,
        "receipts": _receipts,
        "compact": _compact,
        "export": _export,
    }
    return {"task": task, **tasks[task](**options)}


def _create(*, model: str, store: str, key: Any, snapshot: bool) -> dict[str, Any]:
    with Store.create(store, gramian.load(model), key=key, snapshot=snapshot) as opened:
        return {"store": store, "receipt": opened.receipts()[0].as_dict()}


def _receipts(*, store: str, ids: tuple[str, ...]) -> dict[str, Any]:
    with Store.open(store, readonly=True) as opened:
        if not ids:
            return {"receipts": [receipt.as_dict() for receipt in opened.receipts()]}
        names = [as_held(opened.model, name) for name in ids]
        found = {r.number: r for name in names for r in opened.find(name)}
    return {
        "receipts": [
            found[number].as_dict() for number in sorted(found, key=lambda number: number or 0)
        ]
    }


def _compact(*, store: str, key: Any) -> dict[str, Any]:
    before = os.stat(store).st_size
    with Store.open(store, key=key) as opened:
        opened.compact()
    return {"store": store, "bytes_before": before, "bytes": os.stat(store).st_size}


def _export(*, store: str, output: str) -> dict[str, Any]:
    with Store.open(store, readonly=True) as opened:
        opened.export(output)
        return {"output": output, "version": opened.version}


def show(facts: dict[str, Any]) -> None:
    """A line or a table."""
    match facts["task"]:
        case "create":
            say(f"Made {facts['store']} with {facts['receipt']['n_after']} rows.")
            say(f"Hash of its first receipt: {facts['receipt']['hash']}")
        case "receipts":
            names = ["number", "action", "time", "count", "n_before", "n_after", "hash"]
            rows = [[receipt[name] for name in names] for receipt in facts["receipts"]]
            table([name.replace("_", " ") for name in names], rows)
        case "compact":
            say(f"{facts['store']}: {facts['bytes']:,} bytes, {facts['bytes_before']:,} before.")
        case _:
            say(f"Saved version {facts['version']} in {facts['output']}.")
