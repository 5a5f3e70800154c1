"""``gramian predict``."""

from __future__ import annotations

from typing import Any

import click
import numpy as np
from sklearn.base import is_classifier

from gramian.cli import _assess
from gramian.cli._models import describe_unknown, load_table_model, unknown_texts
from gramian.cli._show import number, say
from gramian.cli._tables import naming, read_table, to_csv, write_table
from gramian.files import without_controls
from gramian.tables import TableModel, column_names, read_cells, text
from gramian.tables import number as as_number


def run(*, model, table, proba, output, quiet) -> dict[str, Any]:
    """Predictions, and how good they are where the table tells."""
    fitted = load_table_model(model)
    if proba and not is_classifier(fitted.estimator_):
        raise click.UsageError(f"--proba is for classes, {model} predicts numbers.")
    columns = read_table(table)
    with naming(table):
        predicted = fitted.predict(columns).tolist()
        out = {**_names(fitted, columns, len(predicted)), "prediction": predicted}
        if proba:
            P = fitted.predict_proba(columns)
            labels = fitted.estimator_.classes_.tolist()
            out |= {f"probability {c}": P[:, j].tolist() for j, c in enumerate(labels)}
        unknown = unknown_texts(fitted, columns)
    if output:
        write_table(output, out)
    return {
        "rows": len(predicted),
        "output": output,
        "predictions": out,
        "unknown_texts": unknown,
        "compared": _compared(fitted, columns, predicted),
    }


def _names(model: TableModel, table: Any, n: int) -> dict[str, list[Any]]:
    """The rows' ids where the table has them, else their numbers."""
    if model.id_column in column_names(table):
        return {model.id_column: [text(cell) for cell in read_cells(table, model.id_column)]}
    return {"row": list(range(1, n + 1))}


def _compared(model: TableModel, table: Any, predicted: list[Any]) -> dict[str, Any] | None:
    """The error on the rows whose target the table has."""
    if model.target not in column_names(table):
        return None
    cells = read_cells(table, model.target)
    if is_classifier(model.estimator_):
        pairs = [(text(c), text(p)) for c, p in zip(cells, predicted, strict=True) if text(c)]
        wrong = sum(cell != prediction for cell, prediction in pairs)
        return {"rows": len(pairs), "error": wrong / len(pairs)} if pairs else None
    values = np.array(
        [np.nan if as_number(c) is None else as_number(c) for c in cells], dtype=float
    )
    known = np.isfinite(values)
    if known.sum() < 2:
        return None
    return {"rows": int(known.sum()), **_assess.errors(values[known], np.array(predicted)[known])}


def show(facts: dict[str, Any]) -> None:
    """CSV on standard output if it goes to no file; remarks on standard error."""
    if facts["output"] is None:
        click.echo(to_csv(facts["predictions"]), nl=False)
    else:
        say(f"Saved {facts['rows']} predictions in {facts['output']}.")
    for line in describe_unknown(facts["unknown_texts"]):
        click.echo(f"Note: {without_controls(line)}", err=True)
    compared = facts["compared"]
    if compared is not None:
        values = [f"{k.replace('_', ' ')} {_value(k, v)}" for k, v in compared.items()]
        click.echo(f"Compared with the target: {', '.join(values)}.", err=True)


def _value(name: str, value: Any) -> str:
    return f"{value:.2%}" if name == "error" else number(value)
