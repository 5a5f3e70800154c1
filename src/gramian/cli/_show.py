"""Facts as text and tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import click

from gramian.core.text import without_controls

Facts = dict[str, Any]

_SHOWN_CLASSES = 20  # of a confusion matrix; --json has all of it
_SHOWN_COLUMNS = 40  # of a table, and of those left out for one reason


def echo(text: str = "") -> None:
    """A line of text; what looks like mark-up in it is text too, and so is a control character."""
    click.echo(without_controls(text, "\n"))


def heading(text: str) -> None:
    """A line that stands out on a terminal."""
    click.echo()
    click.echo(click.style(without_controls(text), bold=True))


def number(value: Any) -> str:
    """Four digits of a float; everything else as it is."""
    if isinstance(value, list):
        return ", ".join(map(number, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Numbers to the right, texts to the left."""
    from rich.box import SIMPLE_HEAD  # a package of its own weight: what prints no table is faster
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = [list(row) for row in rows]
    out = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for j, name in enumerate(names):
        numeric = all(isinstance(row[j], int | float) for row in rows)
        side: Literal["left", "right"] = "right" if numeric else "left"
        out.add_column(Text(without_controls(str(name))), justify=side, overflow="fold")
    for row in rows:
        out.add_row(*(Text(without_controls(number(cell))) for cell in row))
    Console(highlight=False).print(out)


def pairs(facts: Facts) -> None:
    """Names and values in two columns."""
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        echo(f"  {name.replace('_', ' '):<{width}}  {number(value)}")


def show_checks(checks: list[Facts]) -> None:
    """A row for each check, with what it found."""
    rows = [[c["name"], "ok" if c["passed"] else "FAILED", c["detail"]] for c in checks]
    table(["check", "", "found"], rows)


def show_columns(facts: Facts) -> None:
    """Columns used and left out."""
    heading(f"Columns used to predict {facts['target']['column']}")
    names, rows = column_rows(facts)
    shown = rows if len(rows) <= _SHOWN_COLUMNS else rows[: _SHOWN_COLUMNS // 2]
    table(names, shown)
    if len(shown) < len(rows):
        echo(f"  … and {len(rows) - len(shown):,} more: {kinds(rows[len(shown) :])}")
    for reason, left_out in ignored_by_reason(facts["ignored"]).items():
        echo(f"  left out: {some(left_out)} ({reason})")


def kinds(rows: Sequence[Sequence[Any]]) -> str:
    """How many columns of each kind there are."""
    counts = Counter(row[1] for row in rows)
    return ", ".join(f"{count:,} of {kind}" for kind, count in counts.items())


def ignored_by_reason(ignored: dict[str, str]) -> dict[str, list[str]]:
    """Names of the columns that are left out, by the reason."""
    found: dict[str, list[str]] = {}
    for name, reason in ignored.items():
        found.setdefault(reason, []).append(name)
    return found


def some(names: Sequence[str], most: int = 10) -> str:
    """The first names, and how many there are."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])}, … ({len(names):,} columns)"


def column_rows(facts: Facts) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of the table of columns."""
    rows = [[column["name"], column["kind"], _detail(column)] for column in facts["columns"]]
    return ["column", "kind", "detail"], rows


def _detail(column: Facts, few: int = 6) -> str:
    if column["kind"] == "text":
        names = [level or "(missing)" for level in column["levels"]]
        return ", ".join(names[:few]) + (f", … ({len(names)})" if len(names) > few else "")
    missing = ", some missing" if column["missing_at_fit"] else ""
    if column["kind"] == "dates":
        return f"{column['notation']}: {', '.join(column['parts'])}{missing}"
    missing = f" {column['unit']}{missing}" if "unit" in column else missing
    return f"mean {column['mean']:.4g}, deviation {column['deviation']:.4g}{missing}"


def show_errors(facts: Facts) -> None:
    """What new rows can expect; then the leave-one-out error of these choices."""
    words = facts["new_rows"]["words"]
    heading(words[0].upper() + words[1:])
    show_leave_one_out(facts["leave_one_out"])


def show_leave_one_out(facts: Facts) -> None:
    """The error, and the confusion matrix of a classification."""
    name = "Exact leave-one-out error with these choices"
    if "confusion" not in facts:
        heading(name)
        pairs(facts)
        return
    heading(f"{name}: {facts['error']:.2%}   ({loss_and_auc(facts)})")
    if len(facts["classes"]) <= _SHOWN_CLASSES:
        table(*confusion_rows(facts))
    for line in never_predicted(facts):
        echo(line)


def show_change(facts: Facts) -> None:
    """The error after an edit, and before it."""
    show_leave_one_out(facts["leave_one_out"])
    name = "error" if "error" in facts["leave_one_out"] else "rmse"
    before = facts["leave_one_out_before"][name]
    echo(f"before: {before:.2%}" if name == "error" else f"rmse before: {before:.4g}")


def never_predicted(facts: Facts) -> list[str]:
    """A line for each class that has rows and is never the prediction."""
    columns = zip(*facts["confusion"], strict=True)
    rows = zip(facts["per_class"], columns, strict=True)
    return [
        f"never predicted: {each['class']} (0 of {each['rows']})"
        for each, predicted in rows
        if each["rows"] and not any(predicted)
    ]


def class_rows(facts: Facts) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of the table of classes."""
    formats = {"rows": ",", "recall": ".1%", "precision": ".1%", "auc": ".3f"}
    rows = [
        [str(each["class"]), *(_formatted(each[name], how) for name, how in formats.items())]
        for each in facts["per_class"]
    ]
    return ["class", "rows", "recall", "precision", "AUC"], rows


def _formatted(value: Any, how: str) -> str:
    return "–" if value is None else format(value, how).replace("%", " %")


def loss_and_auc(facts: Facts) -> str:
    """Log-loss and, for two classes, the area under the ROC curve."""
    auc = f", AUC {facts['auc']:.3f}" if "auc" in facts else ""
    return f"log-loss {facts['log_loss']:.3f}{auc}"


def confusion_rows(facts: Facts) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of the confusion matrix."""
    matrix = zip(facts["classes"], facts["confusion"], strict=True)
    header = ["", *(f"said {label}" for label in facts["classes"])]
    return header, [[f"is {label}", *counts] for label, counts in matrix]


def show_doubtful(rows: list[Facts]) -> None:
    """The samples with the largest leave-one-out loss."""
    if not rows:
        return
    heading("Most doubtful rows: their target, and the prediction of a model without them")
    last = "probability that it is wrong" if "probability" in rows[0] else "error"
    table(["id", "target", "predicted without it", last], [list(row.values()) for row in rows])
