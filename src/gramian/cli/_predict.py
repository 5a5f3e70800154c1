"""``gramian predict``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import click
import numpy as np
from scipy.sparse import csr_array
from sklearn.base import is_classifier

from gramian.cli._assess import errors
from gramian.cli._models import describe_unknown, unknown_texts
from gramian.cli._opened import reading
from gramian.cli._progress import in_batches
from gramian.cli._running import step
from gramian.cli._sets import fast_intervals, fast_sets
from gramian.cli._show import echo, number
from gramian.cli._tables import Notation, naming, read_table, to_csv, write_table
from gramian.core.text import without_controls
from gramian.tables import TableModel, column_names, read_cells, text

SEPARATOR = "; "  # between the classes of a set


def run(
    *,
    model: str,
    table: str,
    proba: bool,
    confidence: float | None,
    fast: bool,
    width: str,
    score: str,
    mondrian: bool,
    output: str | None,
) -> dict[str, Any]:
    """Predictions, and how good they are where the table tells."""
    if fast and confidence is None:
        raise click.UsageError("--fast is for the sets or intervals of --confidence.")
    for_sets = [name for name, asked in (("--score", score != "margin"), ("--mondrian", mondrian))
                if asked]  # fmt: skip
    if width != "auto" and (confidence is None or fast):
        raise click.UsageError("--width is for the intervals of --confidence, without --fast.")
    if for_sets and (confidence is None or fast):
        raise click.UsageError(f"{for_sets[0]} is for the sets of --confidence, without --fast.")
    if confidence is not None and confidence >= 1.0:
        raise click.UsageError(f"--confidence is a number between 0 and 1, got {confidence:g}.")
    with reading(model) as opened:
        fitted = opened.table_model
    classifies = is_classifier(fitted.estimator_)
    if proba and not classifies:
        raise click.UsageError(f"--proba is for classes, {model} predicts numbers.")
    if width != "auto" and classifies:
        raise click.UsageError(f"--width is for intervals of numbers, {model} predicts classes.")
    if for_sets and not classifies:
        raise click.UsageError(f"{for_sets[0]} is for sets of classes, {model} predicts numbers.")
    of_sets: dict[str, Any] = {"score": score, "mondrian": mondrian}
    options = of_sets if classifies else {"width": width}
    step("reading")
    columns = read_table(table, fitted)
    with naming(table):
        X = fitted.transform(columns)
        predicted = in_batches("predicting", fitted.estimator_.predict, X).tolist()
        out = {**_names(fitted, columns, len(predicted)), "prediction": predicted}
        if proba:
            P = in_batches("probabilities", fitted.estimator_.predict_proba, X)
            labels = fitted.estimator_.classes_.tolist()
            out |= {f"probability {c}": P[:, j].tolist() for j, c in enumerate(labels)}
        found = _conformal(fitted.estimator_, X, confidence, fast, options)
        unknown, repeated = unknown_texts(fitted, columns), _repeated(fitted.estimator_, X)
    out |= found.columns
    if output:
        write_table(output, out, columns.notation)
    return {
        "rows": len(predicted),
        "output": output,
        "predictions": out,
        "notation": list(columns.notation),
        "unknown_texts": unknown,
        "repeats_held_rows": repeated,
        "compared": _compared(fitted, columns, predicted, found),
        "chosen_on_held_rows": list(fitted.estimator_.chosen_on_data_) if confidence else [],
        "approximate": fast,
    }


class Conformal(NamedTuple):
    """Sets or intervals of all rows: columns to write, and whether a cell of the target is held."""

    columns: dict[str, list[Any]]
    holds: Any = None


def _conformal(
    estimator: Any, X: Any, level: float | None, fast: bool, options: dict[str, Any]
) -> Conformal:
    if level is None:
        return Conformal({})
    if is_classifier(estimator):
        full = partial(estimator.predict_set, confidence_level=level, **options)
        sets = in_batches("sets", fast_sets(estimator, level) if fast else full, X)
        names = [text(label) for label in estimator.classes_.tolist()]
        held = [[name for name, inside in zip(names, row, strict=True) if inside] for row in sets]
        return Conformal({"set": [SEPARATOR.join(row) for row in held]}, lambda i, y: y in held[i])
    full = partial(estimator.predict_interval, confidence_level=level, **options)
    ends = in_batches("intervals", fast_intervals(estimator, level) if fast else full, X)
    low, high = ([v if np.isfinite(v) else None for v in side.tolist()] for side in ends.T)
    return Conformal({"low": low, "high": high}, lambda i, y: ends[i, 0] <= y <= ends[i, 1])


def _names(model: TableModel, table: Any, n: int) -> dict[str, list[Any]]:
    """The rows' ids where the table has them, else their numbers."""
    if model.id_column in column_names(table):
        return {model.id_column: [text(cell) for cell in read_cells(table, model.id_column)]}
    return {"row": list(range(1, n + 1))}


def _repeated(estimator: Any, X: Any) -> int:
    """How many rows have the features of a row that the model holds."""
    held = set(_keys(estimator.X_fit_))
    return sum(key in held for key in _keys(X))


def _keys(X: Any) -> Iterator[bytes]:
    """The features of each row, as bytes: dense or sparse, the same row has the same ones.

    Without their last digits, which a file may change.
    """
    X = csr_array(X)
    X.data = X.data.round(6)
    X.eliminate_zeros()
    X.sort_indices()
    places, values = X.indices.astype(np.int64), X.data.astype(float)
    for start, end in pairwise(X.indptr.tolist()):
        yield places[start:end].tobytes() + values[start:end].tobytes()


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
        notation = Notation(*facts["notation"])._replace(marked=False)
        click.echo(to_csv(facts["predictions"], notation), nl=False)
    else:
        echo(f"Saved {facts['rows']} predictions in {facts['output']}.")
    for line in describe_unknown(facts["unknown_texts"]):
        click.echo(f"Note: {without_controls(line)}", err=True)
    for line in _caveats(facts):
        click.echo(f"Note: {line}", err=True)
    compared = facts["compared"]
    if compared is not None:
        values = [f"{k.replace('_', ' ')} {_value(k, v)}" for k, v in compared.items()]
        click.echo(f"Compared with the target: {', '.join(values)}.", err=True)


def _caveats(facts: dict[str, Any]) -> Iterator[str]:
    """What weakens the promise of --confidence, and what the comparison does not tell."""
    if facts["chosen_on_held_rows"]:
        names = ", ".join(facts["chosen_on_held_rows"])
        yield (
            f"{names} were chosen on the rows that the model holds, which makes the promise of "
            "--confidence slightly weaker."
        )
    if facts["compared"] is not None and 2 * facts["repeats_held_rows"] > facts["rows"]:
        yield (
            f"{facts['repeats_held_rows']} of {facts['rows']} rows repeat rows that the model has "
            f"learned. Their error is not that of new rows; `gramian inspect --loo` gives that."
        )
    if facts["approximate"]:
        yield "--fast compares with the leave-one-out errors as they are: an approximation."


def _value(name: str, value: Any) -> str:
    return f"{value:.2%}" if name in ("error", "coverage") else number(value)
