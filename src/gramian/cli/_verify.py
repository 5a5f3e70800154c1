"""``gramian verify``: receipts of model files, and proofs of one receipt of a store."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import gramian
from gramian.cli._opened import open_store
from gramian.cli._show import echo, pairs, show_checks, table
from gramian.files import Proof, _ledger, default_tolerance, difference_to_refit
from gramian.tables import estimator_of

_LONGEST = 2**24  # bytes of a proof


def run(
    *,
    receipt: str,
    model: str | None,
    every: bool,
    refit: bool,
    tolerance: float | None,
    public_key: str | None,
    head: str | None,
) -> dict[str, Any]:
    """Compare receipts with the model file; or one with the chain of its store."""
    proof = _read_proof(receipt)
    if proof is not None:
        return _check_proof(proof, model, public_key, head)
    if model is None:
        raise ValueError(
            f"{receipt} has receipts of a model file: name that file, too. A receipt of a store is "
            f"written by `gramian store proof`."
        )
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


def _read_proof(path: str) -> Proof | None:
    """The proof in a file; None if it is a file of receipts."""
    with open(path, "rb") as stream:
        content = stream.read(_LONGEST)
    try:
        facts = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(facts, dict) or "format" not in facts:
        return None
    return Proof.from_dict(facts)


def _check_proof(
    proof: Proof, store: str | None, public_key: str | None, head: str | None
) -> dict[str, Any]:
    """Whether a receipt is in the chain of its head; and whose, as far as one can ask."""
    checks = [_looked("in the chain", lambda: _in_chain(proof))]
    if proof.receipt.public_key is not None or public_key is not None:
        checks.append(_looked("signature", lambda: _signature(proof, public_key)))
    if head is not None:
        checks.append(_looked("head", lambda: _head(proof, head)))
    if store is not None:
        checks.append(_looked("store", lambda: _in_store(proof, store)))
    return {
        "receipt": proof.receipt.as_dict(),
        "head": proof.head.as_dict(),
        "checks": checks,
        "failed": not all(check["passed"] for check in checks),
    }


def _looked(name: str, look: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"name": name, "passed": True, "detail": look()}
    except ValueError as error:
        return {"name": name, "passed": False, "detail": str(error)}


def _in_chain(proof: Proof) -> str:
    proof.check()
    return f"receipt {proof.receipt.number} is in the chain of receipt {proof.head.number}"


def _signature(proof: Proof, public_key: str | None) -> str:
    from gramian.store._keys import is_signed
    from gramian.store._keys import public_key as read_key  # need cryptography

    named = proof.receipt.public_key
    wanted = named if public_key is None else read_key(public_key)
    if wanted is None or named != wanted or proof.head.public_key != wanted:
        raise ValueError(f"the receipt names the public key {named}, not {wanted}")
    for receipt in (proof.receipt, proof.head):
        if not is_signed(wanted, receipt.hash, receipt.signature):
            raise ValueError(f"receipt {receipt.number} is not signed by {wanted}")
    return f"by {wanted}" + ("" if public_key else "; give --public-key to be sure whose that is")


def _head(proof: Proof, head: str) -> str:
    if proof.head.hash != head.strip().lower():
        raise ValueError(f"the head of the proof is {proof.head.hash}")
    return "the one that you know"


def _in_store(proof: Proof, path: str) -> str:
    with open_store(path, readonly=True) as store:
        receipts = store.receipts()
    for receipt in (proof.receipt, proof.head):
        number = int(receipt.number or 0)
        if number >= len(receipts) or receipts[number].hash != receipt.hash:
            raise ValueError(f"{path} has no such receipt {number}")
    return f"{path} has both, and is at version {len(receipts) - 1}"


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
    """A row for each receipt, or for each check of one."""
    if "checks" in facts:
        _show_proof(facts)
        return
    names = ["time (UTC)", "by", "status", "ids", "held again", "the model", ""]
    table(names, [_row(entry) for entry in facts["receipts"]])
    if facts["difference"] is not None:
        verdict = "ok" if facts["refit"] else "FAILED"
        echo(
            f"difference to a full refit: {facts['difference']:.1e} "
            f"(tolerance {facts['tolerance']:.0e})  {verdict}"
        )
    last, changed = facts["receipts"][-1], ""
    if not last["fingerprint"]:
        changed = f"the model has changed since ({last['rows_then']} rows then, {last['rows']} now)"
    if facts["failed"]:
        why = "" if last["explained"] else f": {changed}, and learning alone does not explain that"
        echo(f"{facts['model']} does not agree with the receipt{why}.")
    elif changed:
        echo(f"The ids are gone from {facts['model']}; {changed}.")
    else:
        echo(f"{facts['model']} agrees with the receipt.")


def _row(entry: dict[str, Any]) -> list[Any]:
    holdings = ", ".join(map(str, entry["held"][:5])) or "none"
    same = "as it was" if entry["fingerprint"] else "changed since"
    verdict = "ok" if entry["passed"] else "FAILED"
    return [
        str(entry["time"])[:16].replace("T", " "),
        *(str(entry[name]) for name in ("user", "status")),
        entry["ids"],
        holdings,
        same,
        verdict,
    ]


def _show_proof(facts: dict[str, Any]) -> None:
    receipt = facts["receipt"]
    pairs(
        {
            "receipt": f"{receipt['number']}: {receipt['action']} of {receipt['count']} rows",
            "time": receipt["time"],
            "by": receipt["user"],
            "rows before and after": f"{receipt['n_before']}, {receipt['n_after']}",
            "hash": receipt["hash"],
            "hash of the head": facts["head"]["hash"],
        }
    )
    echo()
    show_checks(facts["checks"])
    echo("The receipt is NOT proved." if facts["failed"] else "The receipt is in the chain.")
