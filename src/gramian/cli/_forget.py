"""``gramian forget``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import click

import gramian
from gramian.cli._models import check_options, held_texts
from gramian.cli._show import number, pairs, say
from gramian.cli._tables import encoding, parse_csv
from gramian.cli._where import ids_where, parse_condition
from gramian.cli._work import patiently
from gramian.files import _ledger, locked
from gramian.store import Store, is_store
from gramian.tables import TableModel


def run(
    *, model, ids, ids_from, missing_ok, where, verify, tolerance, reselect, receipt, key, output,
    quiet,
) -> dict[str, Any]:  # fmt: skip
    """Forget, write the receipt as pending, save the model, finish the receipt."""
    asked = Asked(ids, ids_from, where, missing_ok)
    if is_store(model):
        check_options(model, tolerance=tolerance, reselect=reselect, receipt=receipt, output=output)
        return _from_store(model, asked, verify, key)
    if key is not None:
        raise ValueError(f"{model} is a model file; a key signs the receipts of a store.")
    target = output or model
    with locked(target):
        fitted = gramian.load(model)
        finished = _open_receipts(receipt, [model, target], fitted)
        rows, unknown = asked.of(fitted, model)
        options = {"verify": verify, "reselect": reselect, "tolerance": tolerance}
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


def _from_store(path: str, asked: Asked, verify: bool, key: str | None) -> dict[str, Any]:
    """Forget; the rows are gone from the disk when this returns."""
    with Store.open(path, key=key) as store:
        chosen, unknown = store.read(lambda model: asked.of(model, path))
        receipt = store.forget(chosen, verify=verify)
    record = {**receipt.as_dict(), "ids": chosen, "hashed_ids": list(receipt.ids)}
    return {
        "saved": path,
        "receipts": None,
        "receipt": record,
        "finished": [],
        "unknown_ids": unknown,
        "failed": receipt.verified is False,
    }


class Asked(NamedTuple):
    """Which rows to forget, as the options name them."""

    ids: tuple[str, ...]
    ids_from: str | None
    where: str | None
    missing_ok: bool

    def of(self, model: Any, path: str) -> tuple[list[Any], list[str]]:
        """The ids to forget, each once, and those asked for that the model does not hold."""
        asked = [*self.ids, *(_read_ids(self.ids_from, model) if self.ids_from else [])]
        chosen, unknown = _held_ids(model, asked, self.missing_ok)
        if self.where:
            chosen += _where(model, path, self.where)
        return list(dict.fromkeys(chosen)), unknown


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


def _read_ids(path: str, model: Any) -> list[str]:
    """One id per line, or the column ``id`` of a table such as `gramian doubt` writes."""
    with click.open_file(path, encoding=encoding()) as stream:
        lines = [line.strip() for line in stream if line.strip()]
    if lines and lines[0].split(",")[0] == "id" and "," in lines[0]:
        return held_texts(parse_csv("\n".join(lines))["id"], model.ids_)
    if not lines:
        raise ValueError(f"{path} has no ids. Write one in each line.")
    return lines


def _held_ids(model: Any, asked: list[str], missing_ok: bool) -> tuple[list[Any], list[str]]:
    """Ids as the model holds them, and those that it does not hold.

    Raises
    ------
    ValueError
        Naming all that it does not hold, unless that is all right.
    """
    holdings = {str(name): name for name in model.ids_.tolist()}
    unknown = [name for name in dict.fromkeys(asked) if name not in holdings]
    if unknown and not missing_ok:
        ids = "id" if len(unknown) == 1 else "ids"
        raise ValueError(
            f"forget got {ids} {', '.join(unknown)}, which the model does not hold (its ids are "
            f"such as {next(iter(holdings))}).{_meant(unknown, holdings)} Nothing was forgotten; "
            f"--missing-ok passes over them."
        )
    if len(unknown) == len(asked) and unknown:
        raise ValueError("the model holds none of these ids; nothing to forget.")
    return [holdings[name] for name in asked if name in holdings], unknown


def _meant(unknown: list[str], holdings: Iterable[str], most: int = 5) -> str:
    """A question after held ids that differ from unknown ones by case, spaces or leading zeros."""
    asked = {_plain(name) for name in unknown}
    alike = [name for name in holdings if _plain(name) in asked]
    return f" Did you mean {', '.join(alike[:most])}?" if alike else ""


def _plain(name: str) -> str:
    """An id without what people leave out when they type it."""
    return re.sub(r"0*(\d+)", r"\1", "".join(name.split())).casefold()


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
            "has still seen them": ", ".join(receipt["chosen_on_data"]) or "nothing",
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
