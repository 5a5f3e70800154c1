"""Facts as text and tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gramian.core.text import without_controls

Facts = dict[str, Any]

_SHOWN_CLASSES = 20  # of a confusion matrix; --json has all of it


def say(text: str = "") -> None:
    """A line of text; what looks like mark-up in it is text too, and so is a control character."""
    Console(highlight=False, soft_wrap=True).print(_text(text, "\n"))


def heading(text: str) -> None:
    """A line that stands out on a terminal."""
    Console(highlight=False).print()
    Console(highlight=False).print(_text(text, style="bold"))


def _text(text: str, keep: str = "", style: str = "") -> Text:
    return Text(without_controls(text, keep), style=style)


def number(value: Any) -> str:
    """Four digits of a float; everything else as it is."""
    if isinstance(value, list):
        return ", ".join(map(number, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Numbers to the right, texts to the left."""
    rows = [list(row) for row in rows]
    out = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for j, name in enumerate(names):
        numeric = all(isinstance(row[j], int | float) for row in rows)
        out.add_column(_text(str(name)), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        out.add_row(*(_text(number(cell)) for cell in row))
    Console(highlight=False).print(out)


def pairs(facts: Facts) -> None:
    """Names and values in two columns."""
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        say(f"  {name.replace('_', ' '):<{width}}  {number(value)}")


def show_columns(facts: Facts) -> None:
    """Columns used and left out."""
    heading(f"Columns used to predict {facts['target']['column']}")
    table(*column_rows(facts))
    for name, reason in facts["ignored"].items():
        say(f"  left out: {name} ({reason})")


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


def show_leave_one_out(facts: Facts) -> None:
    """The error, and the confusion matrix of a classification."""
    if "confusion" not in facts:
        heading("Exact leave-one-out error")
        pairs(facts)
        return
    heading(f"Exact leave-one-out error: {facts['error']:.2%}   ({loss_and_auc(facts)})")
    if len(facts["classes"]) <= _SHOWN_CLASSES:
        table(*confusion_rows(facts))


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
    last = "probability of its target" if "probability" in rows[0] else "error"
    table(["id", "target", "predicted without it", last], [list(row.values()) for row in rows])
