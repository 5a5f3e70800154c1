"""``gramian forget``."""

from __future__ import annotations

from typing import Any

import click

import gramian
from gramian.cli._show import number, pairs, say
from gramian.cli._tables import encoding
from gramian.cli._where import ids_where, parse_condition
from gramian.cli._work import patiently
from gramian.files import locked
from gramian.io import _ledger
from gramian.tables import TableModel


def run(
    *, model, ids, ids_from, missing_ok, where, verify, tolerance, reselect, receipt, output, quiet
) -> dict[str, Any]:
    """Forget, write the receipt as pending, save the model, finish the receipt."""
    asked = [*ids, *(_read_ids(ids_from) if ids_from else [])]
    target = output or model
    with locked(target):
        fitted = gramian.load(model)
        finished = _open_receipts(receipt, [model, target], fitted)
        chosen, unknown = _held_ids(fitted, asked, missing_ok)
        if where:
            chosen += _where(fitted, model, where)
        options = {"verify": verify, "reselect": reselect, "tolerance": tolerance}
        rows = list(dict.fromkeys(chosen))
        proof = patiently(
            lambda: gramian.forget(fitted, rows, **options), "forgetting", quiet=quiet
        )
        record = _ledger.new_record(proof, target)
        _save(fitted, target, receipt, record)
    return {
        "saved": target,
        "receipts": receipt,
        "receipt": {**record, "status": _ledger.DONE},
        "finished": finished,
        "unknown_ids": unknown,
        "failed": proof.verified is False,
    }


def _open_receipts(path: str | None, files: list[str], model: Any) -> list[dict[str, Any]]:
    """Make sure of the place, before anything is forgotten; finish what was left there."""
    if path is None:
        return []
    records = _ledger.check_path(path, files)
    return _ledger.finish_pending(path, records, files[0], model)


def _save(model: Any, target: str, path: str | None, record: dict[str, Any]) -> None:
    if path is None:
        gramian.save(model, target)
        return
    _ledger.append_record(path, record, _ledger.PENDING)
    try:
        gramian.save(model, target)
    except Exception:
        _ledger.append_record(path, record, _ledger.VOID, note="the model could not be saved")
        raise
    _ledger.append_record(path, record, _ledger.DONE)


def _read_ids(path: str) -> list[str]:
    with click.open_file(path, encoding=encoding()) as stream:
        ids = [line.strip() for line in stream if line.strip()]
    if not ids:
        raise ValueError(f"{path} has no ids. Write one in each line.")
    return ids


def _held_ids(model: Any, asked: list[str], missing_ok: bool) -> tuple[list[Any], list[str]]:
    """Ids as the model holds them, and those that it does not hold.

    Raises
    ------
    ValueError
        Naming all that it does not hold, unless that is all right.
    """
    held = {str(name): name for name in model.ids_.tolist()}
    unknown = [name for name in dict.fromkeys(asked) if name not in held]
    if unknown and not missing_ok:
        ids = "id" if len(unknown) == 1 else "ids"
        raise ValueError(
            f"forget got {ids} {', '.join(unknown)}, which the model does not hold (its ids are "
            f"such as {next(iter(held))}). Nothing was forgotten; --missing-ok passes over them."
        )
    if len(unknown) == len(asked) and unknown:
        raise ValueError("the model holds none of these ids; nothing to forget.")
    return [held[name] for name in asked if name in held], unknown


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
    for earlier in facts["finished"]:
        say(f"Note: the receipt of {earlier['time']} was left pending: {earlier['note']}.")
    if facts["unknown_ids"]:
        say(f"Not held, passed over: {', '.join(facts['unknown_ids'])}")
    ids = ", ".join(map(str, receipt["ids"][:10])) + (", …" if receipt["count"] > 10 else "")
    say(f"Forgot {receipt['count']} of {receipt['n_before']} rows: {ids}")
    say()
    drift = receipt["drift"]
    pairs(
        {
            "rows left": receipt["n_after"],
            "residual of the solution": "not measured" if drift is None else f"{drift:.1e}",
            "difference to a full refit": _difference(receipt),
            "has still seen them": ", ".join(receipt["seen_by"]) or "nothing",
            "seconds": number(receipt["seconds"]),
            "fingerprint after": receipt["fingerprint_after"],
        }
    )
    say(f"\nSaved {facts['saved']}.")
    if facts["receipts"]:
        say(f"Added the receipt to {facts['receipts']}.")
    if facts["failed"]:
        click.echo(
            "Error: the rows are forgotten and the model is saved, but it differs from a full "
            "refit by more than the tolerance. Fit it anew.",
            err=True,
        )


def _difference(receipt: dict[str, Any]) -> str:
    if receipt["difference"] is None:
        return "not asked for (--verify)"
    verdict = "verified" if receipt["verified"] else "NOT verified"
    return f"{receipt['difference']:.1e}, {verdict} (tolerance {receipt['tolerance']:.0e})"
