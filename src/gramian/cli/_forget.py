"""``gramian forget``."""

from __future__ import annotations

from typing import Any

import click

import gramian
from gramian.cli._models import as_held, check_options
from gramian.cli._show import number, pairs, say
from gramian.cli._where import ids_where, parse_condition
from gramian.files import locked
from gramian.io import _ledger
from gramian.store import Store, is_store
from gramian.tables import TableModel


def run(
    *, model, ids, ids_from, where, verify, tolerance, reselect, receipt, key, output, quiet
) -> dict[str, Any]:
    """Forget, write the receipt as pending, save the model, finish the receipt."""
    asked = [*ids, *(_read_ids(ids_from) if ids_from else [])]
    if is_store(model):
        check_options(model, tolerance=tolerance, reselect=reselect, receipt=receipt, output=output)
        return _from_store(model, asked, where, verify, key)
    if key is not None:
        raise ValueError(f"{model} is a model file; a key signs the receipts of a store.")
    target = output or model
    with locked(target):
        fitted = gramian.load(model)
        finished = _open_receipts(receipt, [model, target], fitted)
        proof = gramian.forget(
            fitted,
            _chosen(fitted, model, asked, where),
            verify=verify,
            reselect=reselect,
            tolerance=tolerance,
        )
        record = _ledger.new_record(proof, target)
        _save(fitted, target, receipt, record)
    return {
        "saved": target,
        "receipts": receipt,
        "receipt": {**record, "status": _ledger.DONE},
        "finished": finished,
        "failed": proof.verified is False,
    }


def _from_store(path: str, asked: list[str], where: str | None, verify: bool, key: str | None):
    """Forget; the rows are gone from the disk when this returns."""
    with Store.open(path, key=key) as store:
        chosen = store.read(lambda model: _chosen(model, path, asked, where))
        receipt = store.forget(chosen, verify=verify)
    record = {**receipt.as_dict(), "ids": chosen, "hashed_ids": list(receipt.ids)}
    failed = receipt.verified is False
    return {"saved": path, "receipts": None, "receipt": record, "finished": [], "failed": failed}


def _chosen(model: Any, path: str, asked: list[str], where: str | None) -> list[Any]:
    """The ids that were asked for, and those of rows that meet the condition, each once."""
    chosen = [as_held(model, name) for name in asked]
    if where:
        chosen += _where(model, path, where)
    return list(dict.fromkeys(chosen))


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
    with click.open_file(path, encoding="utf-8-sig") as stream:
        ids = [line.strip() for line in stream if line.strip()]
    if not ids:
        raise ValueError(f"{path} has no ids. Write one in each line.")
    return ids


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
            **_named(receipt),
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


def _named(receipt: dict[str, Any]) -> dict[str, Any]:
    """What a receipt is known by: of a store, its place in the chain."""
    if "number" in receipt:
        return {"receipt": receipt["number"], "hash of the receipt": receipt["hash"]}
    after = receipt["fingerprint_after"]
    return {"seconds": number(receipt["seconds"]), "fingerprint after": after}


def _difference(receipt: dict[str, Any]) -> str:
    if receipt["difference"] is None:
        return "not asked for (--verify)"
    verdict = "verified" if receipt["verified"] else "NOT verified"
    return f"{receipt['difference']:.1e}, {verdict} (tolerance {receipt['tolerance']:.0e})"
