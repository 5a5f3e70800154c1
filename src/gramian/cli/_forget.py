"""``gramian forget``."""

from __future__ import annotations

import re
import sys
from datetime import timedelta
from typing import Any

import click

from gramian.cli._opened import Opened, editing, reading
from gramian.cli._row_selection import RowSelection
from gramian.cli._running import pause, prints_json, step
from gramian.cli._show import echo, number, pairs
from gramian.files import _ledger

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
SHARE = 0.2
"""Share of the rows above which the command asks before it forgets them."""


def run(
    *,
    model: str,
    ids: tuple[str, ...],
    ids_from: str | None,
    missing_ok: bool,
    where: str | None,
    subjects: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    verify: bool,
    tolerance: float | None,
    reselect: bool,
    after: str | None,
    receipt: str | None,
    key: str | None,
    output: str | None,
) -> dict[str, Any]:
    """Forget, and return the receipt; a dry run says what would be forgotten."""
    selection = RowSelection(ids, ids_from, where, missing_ok, subjects)
    if dry_run:
        with reading(model) as opened:
            return _tried(opened, *selection.of(opened.model, model))
    only = {"tolerance": tolerance, "reselect": reselect, "receipt": receipt}
    wait = None if after is None else read_time_span(after)
    with editing(model, key=key, output=output, **only) as opened:
        finished = _open_receipts(receipt, opened)
        rows, unknown = selection.of(opened.model, model)
        if not yes:
            _confirm(len(rows), len(opened.model.ids_))
        step("forgetting")
        options = {"tolerance": tolerance, "reselect": reselect}
        done = opened.forget(rows, verify=verify, after=wait, receipts=receipt, **options)
        return {
            "saved": opened.saved,
            "receipts": receipt,
            "receipt": done,
            "finished": finished,
            "unknown_ids": unknown,
            "after": after,
            "failed": done["verified"] is False,
        }


def read_time_span(text: str) -> timedelta:
    """The time that a text such as 14d, 12h or 30m is; ValueError if it is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip())
    if match is None or not float(match[1]) > 0:
        raise ValueError(f"--after must be a number with s, m, h, d or w, as 14d; got {text!r}.")
    return timedelta(**{_UNITS[match[2]]: float(match[1])})


def _tried(opened: Opened, rows: list[Any], unknown: list[str]) -> dict[str, Any]:
    """What forgetting these rows would leave."""
    model = opened.model
    gone = set(rows)
    left = [y for name, y in zip(model.ids_.tolist(), model.y_fit_.tolist(), strict=True)
            if name not in gone]  # fmt: skip
    classes = getattr(model, "classes_", None)
    vanish = [] if classes is None else sorted(set(classes.tolist()) - set(left))
    return {
        "dry_run": True,
        "ids": rows,
        "count": len(rows),
        "n_before": len(model.ids_),
        "n_after": len(left),
        "classes_without_rows": vanish,
        "unknown_ids": unknown,
    }


def _confirm(count: int, rows: int) -> None:
    """Ask before many rows are forgotten; where nobody can answer, --yes has to say so.

    Raises
    ------
    click.UsageError
        If nobody can be asked.
    click.Abort
        If the answer is no.
    """
    if count <= SHARE * rows:
        return
    what = f"{count} of {rows} rows ({count / rows:.0%})"
    if prints_json() or not can_answer():
        raise click.UsageError(
            f"this would forget {what}. Look at them with --dry-run; --yes forgets them."
        )
    pause()
    click.confirm(f"This forgets {what}. Go on?", abort=True, err=True)


def can_answer() -> bool:
    """Whether somebody sits before a terminal."""
    return sys.stdin.isatty()


def _open_receipts(path: str | None, opened: Opened) -> list[dict[str, Any]]:
    """Make sure of the place, before anything is forgotten; finish what was left there."""
    if path is None:
        return []
    records = _ledger.check_path(path, [opened.path, opened.saved])
    return _ledger.finish_pending(path, records, opened.path, opened.model)


def show(facts: dict[str, Any]) -> None:
    """The receipt, for people."""
    for earlier in facts.get("finished", ()):
        echo(f"Note: the receipt of {earlier['time']} was left pending: {earlier['note']}.")
    if facts["unknown_ids"]:
        echo(f"Not held, passed over: {', '.join(facts['unknown_ids'])}")
    if "dry_run" in facts:
        _show_tried(facts)
        return
    receipt = facts["receipt"]
    word = "Forgot" if facts["after"] is None else "Withheld"
    echo(f"{word} {receipt['count']} of {receipt['n_before']} rows: {_some(receipt['ids'])}")
    if facts["after"] is not None:
        echo(f"They are out of all answers, and will be erased after {facts['after']}: by the next")
        echo("opening of the store for writing then, or `gramian store erase-due`.")
    echo()
    drift = receipt["drift"]
    pairs(
        {
            "rows left": receipt["n_after"],
            "residual of the solution": "not measured" if drift is None else f"{drift:.1e}",
            "difference to a full refit": _difference(receipt),
            "still depends on them": ", ".join(receipt["chosen_on_data"]) or "nothing",
            **_named(receipt),
        }
    )
    echo(f"\nSaved {facts['saved']}.")
    if facts["receipts"]:
        echo(f"Added the receipt to {facts['receipts']}.")
    if facts["failed"]:
        click.echo(
            "Error: the rows are forgotten and the model is saved, but it differs from a full "
            "refit by more than the tolerance. Fit it anew.",
            err=True,
        )


def _show_tried(facts: dict[str, Any]) -> None:
    echo(f"Would forget {facts['count']} of {facts['n_before']} rows: {_some(facts['ids'])}")
    echo(f"{facts['n_after']} rows would be left. Nothing was changed.")
    if facts["classes_without_rows"]:
        echo(f"Classes without a row then: {', '.join(map(str, facts['classes_without_rows']))}.")


def _some(ids: list[Any], few: int = 10) -> str:
    return ", ".join(map(str, ids[:few])) + (", …" if len(ids) > few else "")


def _named(receipt: dict[str, Any]) -> dict[str, Any]:
    """What a receipt is known by: of a store, its place in the chain."""
    if "number" in receipt:
        return {"receipt": receipt["number"], "hash of the receipt": receipt["hash"]}
    after = receipt["fingerprint_after"]
    return {"seconds": number(receipt["seconds"]), "fingerprint after": after}


def _difference(receipt: dict[str, Any]) -> str:
    if receipt["difference"] is None:
        return "not computed (--verify)"
    verdict = "verified" if receipt["verified"] else "NOT verified"
    return f"{receipt['difference']:.1e}, {verdict} (tolerance {receipt['tolerance']:.0e})"
