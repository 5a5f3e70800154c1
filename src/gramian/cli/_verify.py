"""``gramian verify``."""

from __future__ import annotations

from typing import Any

import gramian
from gramian.cli._show import say, table
from gramian.files import _ledger, default_tolerance, difference_to_refit
from gramian.tables import estimator_of


def run(
    *,
    receipt: str,
    model: str,
    every: bool,
    refit: bool,
    tolerance: float | None,
    quiet: bool,
) -> dict[str, Any]:
    """Compare receipts with the model file."""
    records = _ledger.read_records(receipt)
    records = [record for record in records if record["status"] != _ledger.VOID]
    if not records:
        raise _ledger.ReceiptError(f"{receipt} has no receipt of rows that were forgotten.")
    fitted = gramian.load(model)
    checked = [
        _check(record, fitted, last=record is records[-1])
        for record in (records if every else records[-1:])
    ]
    difference = difference_to_refit(fitted) if refit else None
    allowed = default_tolerance(fitted) if tolerance is None else tolerance
    same = None if difference is None else bool(difference <= allowed)
    return {
        "model": model,
        "receipts": checked,
        "difference": difference,
        "tolerance": allowed if refit else None,
        "refit": same,
        "failed": same is False or not all(entry["passed"] for entry in checked),
    }


def _check(record: dict[str, Any], model: Any, *, last: bool) -> dict[str, Any]:
    """Ids that are not held; the last receipt is of this model, or of one that learned since."""
    facts = _ledger.check_record(record, model)
    done, rows, then = record["status"] == _ledger.DONE, len(model.ids_), record.get("n_after")
    alike = record.get("model") == type(estimator_of(model)).__name__
    explained = facts["fingerprint"] or (alike and isinstance(then, int) and rows > then)
    return {
        "time": record.get("time"),
        "user": record.get("user"),
        "status": record["status"],
        "ids": len(record["ids"]),
        "held": facts["held"],
        "fingerprint": facts["fingerprint"],
        "rows_then": then,
        "rows": rows,
        "explained": explained,
        "passed": done and not facts["held"] and (explained or not last),
    }


def show(facts: dict[str, Any]) -> None:
    """A row for each receipt."""
    names = ["receipt of", "by", "status", "ids", "held again", "the model", ""]
    table(names, [_row(entry) for entry in facts["receipts"]])
    if facts["difference"] is not None:
        verdict = "ok" if facts["refit"] else "FAILED"
        say(
            f"difference to a full refit: {facts['difference']:.1e} "
            f"(tolerance {facts['tolerance']:.0e})  {verdict}"
        )
    last, changed = facts["receipts"][-1], ""
    if not last["fingerprint"]:
        changed = f"the model has changed since ({last['rows_then']} rows then, {last['rows']} now)"
    if facts["failed"]:
        why = "" if last["explained"] else f": {changed}, and learning alone does not explain that"
        say(f"{facts['model']} does not agree with the receipt{why}.")
    elif changed:
        say(f"The ids are gone from {facts['model']}; {changed}.")
    else:
        say(f"{facts['model']} agrees with the receipt.")


def _row(entry: dict[str, Any]) -> list[Any]:
    holdings = ", ".join(map(str, entry["held"][:5])) or "none"
    same = "as it was" if entry["fingerprint"] else "changed since"
    verdict = "ok" if entry["passed"] else "FAILED"
    return [
        *(str(entry[name]) for name in ("time", "user", "status")),
        entry["ids"],
        holdings,
        same,
        verdict,
    ]
