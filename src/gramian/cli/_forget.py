"""``gramian forget``."""

from __future__ import annotations

import json
from typing import Any

import click

import gramian
from gramian.cli._show import number, pairs, say
from gramian.cli._where import ids_where, parse_condition
from gramian.files import replacing
from gramian.tables import TableModel


def run(*, model, ids, ids_from, where, verify, reselect, receipt, output, quiet) -> dict[str, Any]:
    """Forget, save the model, then the receipt."""
    fitted = gramian.load(model)
    asked = [*ids, *(_read_ids(ids_from) if ids_from else [])]
    chosen = [_as_held(fitted, name) for name in asked]
    if where:
        chosen += _where(fitted, model, where)
    proof = gramian.forget(fitted, list(dict.fromkeys(chosen)), verify=verify, reselect=reselect)
    gramian.save(fitted, output or model)
    if receipt:
        with replacing(receipt) as stream:
            stream.write(proof.to_json().encode() + b"\n")
    return {"saved": output or model, "receipt": json.loads(proof.to_json())}


def _read_ids(path: str) -> list[str]:
    with click.open_file(path, encoding="utf-8-sig") as stream:
        ids = [line.strip() for line in stream if line.strip()]
    if not ids:
        raise ValueError(f"{path} has no ids. Write one in each line.")
    return ids


def _as_held(model: Any, name: str) -> int | str:
    """The id in the type that the model's ids have."""
    if model.ids_.dtype.kind == "U":
        return name
    try:
        return int(name)
    except ValueError as error:
        raise ValueError(
            f"{name!r} is not an id of this model: its ids are numbers, such as {model.ids_[0]}."
        ) from error


def _where(model: Any, path: str, text: str) -> list[int | str]:
    if not isinstance(model, TableModel):
        raise ValueError(f"{path} was saved from Python and has no columns; use --id.")
    ids = ids_where(model, parse_condition(text))
    if not ids:
        raise ValueError(f"no row that the model holds has {text}.")
    return ids


def show(facts: dict[str, Any]) -> None:
    """The receipt, for people."""
    receipt = facts["receipt"]
    ids = ", ".join(map(str, receipt["ids"][:10])) + (", …" if receipt["count"] > 10 else "")
    say(f"Forgot {receipt['count']} of {receipt['n_before']} rows: {ids}")
    say()
    drift, difference = receipt["drift"], receipt["difference"]
    pairs(
        {
            "rows left": receipt["n_after"],
            "residual of the solution": "not measured" if drift is None else f"{drift:.1e}",
            "difference to a full refit": (
                "not asked for (--verify)" if difference is None else f"{difference:.1e}"
            ),
            "has still seen them": ", ".join(receipt["seen_by"]) or "nothing",
            "seconds": number(receipt["seconds"]),
            "fingerprint before": receipt["fingerprint_before"],
            "fingerprint after": receipt["fingerprint_after"],
        }
    )
    say(f"\nSaved {facts['saved']}.")
