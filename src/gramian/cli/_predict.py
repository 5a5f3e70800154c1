"""``gramian predict``."""

from __future__ import annotations

from typing import Any, NamedTuple

import click
import numpy as np
from sklearn.base import is_classifier

from gramian.cli._errors import errors
from gramian.cli._models import describe_unknown, load_table_model, unknown_texts
from gramian.cli._show import number, say
from gramian.cli._tables import naming, read_table, to_csv, write_table
from gramian.core.text import without_controls
from gramian.tables import TableModel, column_names, read_cells, text

SEPARATOR = "; "  # between the classes of a set


def run(*, model, table, proba, confidence, output, quiet) -> dict[str, Any]:
    """Predictions, and how good they are where the table tells."""
    fitted = load_table_model(model)
    if proba and not is_classifier(fitted.estimator_):
        raise click.UsageError(f"--proba is for classes, {model} predicts numbers.")
    columns = read_table(table, fitted)
    with naming(table):
        predicted = fitted.predict(columns).tolist()
        out = {**_names(fitted, columns, len(predicted)), "prediction": predicted}
        if proba:
            P = fitted.predict_proba(columns)
            labels = fitted.estimator_.classes_.tolist()
            out |= {f"probability {c}": P[:, j].tolist() for j, c in enumerate(labels)}
        found = _conformal(fitted, columns, confidence)
        unknown = unknown_texts(fitted, columns)
    out |= found.columns
    if output:
        write_table(output, out)
    return {
        "rows": len(predicted),
        "output": output,
        "predictions": out,
        "unknown_texts": unknown,
        "compared": _compared(fitted, columns, predicted, found),
        "chosen_on_held_rows": list(fitted.estimator_.chosen_on_data_) if confidence else [],
    }


class Conformal(NamedTuple):
    """Sets or intervals of all rows: columns to write, and whether a cell of the target is held."""

    columns: dict[str, list[Any]]
    holds: Any = None


def _conformal(model: TableModel, table: Any, confidence: float | None) -> Conformal:
    if confidence is None:
        return Conformal({})
    if is_classifier(model.estimator_):
        sets = model.predict_set(table, confidence)
        names = [text(label) for label in model.estimator_.classes_.tolist()]
        holdings = [
            [name for name, inside in zip(names, row, strict=True) if inside] for row in sets
        ]
        return Conformal(
            {"set": [SEPARATOR.join(row) for row in holdings]}, lambda i, y: y in holdings[i]
        )
    ends = model.predict_interval(table, confidence)
    low, high = ([v if np.isfinite(v) else None for v in side.tolist()] for side in ends.T)
    return Conformal({"low": low, "high": high}, lambda i, y: ends[i, 0] <= y <= ends[i, 1])


def _names(model: TableModel, table: Any, n: int) -> dict[str, list[Any]]:
    """The rows' ids where the table has them, else their numbers."""
    if model.id_column in column_names(table):
        return {model.id_column: [text(cell) for cell in read_cells(table, model.id_column)]}
    return {"row": list(range(1, n + 1))}


def _compared(
    model: TableModel, table: Any, predicted: list[Any], found: Conformal
) -> dict[str, Any] | None:
    """The error, and the coverage of sets, on the rows whose target the table has."""
    if model.target not in column_names(table):
        return None
    cells = read_cells(table, model.target)
    if is_classifier(model.estimator_):
        rows = [(i, text(c), text(predicted[i])) for i, c in enumerate(cells) if text(c)]
        if not rows:
            return None
        wrong = sum(cell != prediction for _, cell, prediction in rows)
        covered = _coverage(found, [(i, cell) for i, cell, _ in rows])
        return {"rows": len(rows), "error": wrong / len(rows), **covered}
    read = model.target_.format.number
    values = np.array([np.nan if read(c) is None else read(c) for c in cells], dtype=float)
    known = np.isfinite(values)
    if known.sum() < 2:
        return None
    found_errors = errors(values[known], np.array(predicted)[known])
    covered = _coverage(found, [(i, values[i]) for i in np.flatnonzero(known).tolist()])
    return {"rows": int(known.sum()), **found_errors, **covered}


def _coverage(found: Conformal, answers: list[tuple[int, Any]]) -> dict[str, float]:
    if found.holds is None:
        return {}
    return {"coverage": sum(bool(found.holds(i, y)) for i, y in answers) / len(answers)}


def show(facts: dict[str, Any]) -> None:
    """CSV on standard output if it goes to no file; remarks on standard error."""
    if facts["output"] is None:
        click.echo(to_csv(facts["predictions"]), nl=False)
    else:
        say(f"Saved {facts['rows']} predictions in {facts['output']}.")
    for line in describe_unknown(facts["unknown_texts"]):
        click.echo(f"Note: {without_controls(line)}", err=True)
    if facts["chosen_on_held_rows"]:
        names = ", ".join(facts["chosen_on_held_rows"])
        click.echo(
            f"Note: {names} were chosen on the rows that the model holds, which weakens what "
            "--confidence promises a little.",
            err=True,
        )
    compared = facts["compared"]
    if compared is not None:
        values = [f"{k.replace('_', ' ')} {_value(k, v)}" for k, v in compared.items()]
        click.echo(f"Compared with the target: {', '.join(values)}.", err=True)


def _value(name: str, value: Any) -> str:
    return f"{value:.2%}" if name in ("error", "coverage") else number(value)
