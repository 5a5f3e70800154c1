"""``gramian report``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from gramian.cli import _html, _inspect, _yardsticks
from gramian.cli._figures import drawings
from gramian.cli._opened import reading
from gramian.cli._running import step
from gramian.cli._show import class_rows, column_rows, confusion_rows, echo, never_predicted
from gramian.files import replacing
from gramian.tables import estimator_of

_RELEVANT = 20  # columns that matter most
_SHOWN_COLUMNS = 50  # the others are folded
_ROUNDING = 1e-9  # of an error in percent, or of numbers of a usual size


def run(*, model: str, doubtful: int, output: str) -> dict[str, Any]:
    """Write the page."""
    with reading(model) as opened:
        fitted = opened.model
        facts = _inspect.described(opened, loo=True, doubtful=doubtful)
    text, figures = [*_text(facts, fitted)], _figures(estimator_of(fitted))
    parts = [*text, _html.grid(figures.values()), _html.columns(_details(facts))]
    with replacing(output, private=True) as stream:
        stream.write(_html.page(f"Report on {model}", parts).encode())
    return {"output": output, "figures": list(figures)}


def _figures(estimator: Any) -> dict[str, str]:
    """A section for each figure, by its title."""
    step("influence of each row")
    found = {}
    for figure in drawings(estimator):
        step(f"drawing: {figure.title}")
        drawn = _html.figure(figure.svg(), figure.caption)
        found[figure.title] = _html.section(figure.title, [drawn])
    return found


def _text(facts: dict[str, Any], fitted: Any) -> Iterator[str]:
    name, target = Path(facts["model"]).name, facts["target"]["column"]
    yield _html.heading(name if target is None else f"Predicting {target}", 1)
    yield _html.paragraph(f"{name}, {today()}", "date")
    yield _html.paragraph(facts["summary"])
    yield _html.cards(_cards(facts))
    yield _html.columns([*_errors(facts, fitted), *_comparisons(fitted)])


def _cards(facts: dict[str, Any]) -> dict[str, str]:
    left_out, honest = facts["leave_one_out"], facts["new_rows"]
    margin = honest["standard_error"]
    if "error" in left_out:
        found = {"error on new rows": f"{honest['error']:.1%} ± {100 * margin:.1f}"}
        found["leave-one-out error with these choices"] = f"{left_out['error']:.1%}"
        found |= {"AUC": f"{left_out['auc']:.3f}"} if "auc" in left_out else {}
    else:
        found = {"R² on new rows": f"{honest['r2']:.3f} ± {margin:.3f}"}
        found["leave-one-out RMSE with these choices"] = f"{left_out['rmse']:.4g}"
    return {**found, "rows": f"{facts['rows']:,}", "features": f"{facts['features']:,}"}


def _errors(facts: dict[str, Any], fitted: Any) -> Iterator[str]:
    left_out, words = facts["leave_one_out"], facts["new_rows"]["words"]
    text = [f"{words[0].upper()}{words[1:]}.", _how(facts["new_rows"]["folds"], fitted)]
    yield _html.section("Error on new rows", map(_html.paragraph, text))
    title = "Exact leave-one-out error with these choices"
    if "confusion" not in left_out:
        yield _html.section(title, [_html.pairs(left_out)])
        return
    error = f"{left_out['error']:.2%} (log-loss {left_out['log_loss']:.3f})"
    matrix = _html.table(*confusion_rows(left_out))
    yield _html.section(title, [_html.paragraph(error), matrix])
    lines = [_html.paragraph(line, "warn") for line in never_predicted(left_out)]
    yield _html.section("Each class", [*lines, _html.table(*class_rows(left_out))])


def _how(folds: int, fitted: Any) -> str:
    """Where the error on new rows comes from."""
    names = ", ".join(fitted.chosen_on_data_)
    if folds:
        return (
            f"Everything that was chosen on these rows ({names or 'nothing'}) was chosen again "
            f"without each of {folds} folds and judged on the fold. The leave-one-out error of "
            f"the choices that were made may look better than that."
        )
    if not names:
        return "Nothing was chosen on these rows, so that their leave-one-out error serves."
    return f"It is the leave-one-out error: {names} are few numbers for {len(fitted.ids_):,} rows."


def _comparisons(fitted: Any) -> Iterator[str]:
    """Simpler models, and the model without a column."""
    name = _yardsticks.error_name(estimator_of(fitted))
    step("simpler models")
    simpler = _html.table(["on new rows", name], _yardsticks.baselines(fitted))
    yield _html.section("Compared with simpler models", [simpler])
    step("which columns matter")
    rows = _yardsticks.relevance(fitted)[:_RELEVANT]
    if rows:
        how = _html.paragraph(
            f"A copy of the model forgot up to a quarter of the rows and predicted them: this is "
            f"how far their {name.split()[0]} rises when one column is shuffled among them."
        )
        names = ["column", f"rise of the {name}", "gamma"][: len(rows[0])]
        rows = [[row[0], _signed(row[1]), *row[2:]] for row in rows]
        yield _html.section("Which columns matter", [how, _html.table(names, rows)])


def _signed(rise: float) -> str:
    """With a sign, and without what rounding alone has left."""
    return "0" if abs(rise) < _ROUNDING else f"{rise:+.3g}".replace("-", "−")


def _details(facts: dict[str, Any]) -> Iterator[str]:
    """Doubtful rows, the target, the columns, the choices, the file."""
    if facts["doubtful"]:
        how = _html.paragraph(
            "The rows that fit worst: what the model without each of them predicts, and the "
            "probability that it is wrong, or the error."
        )
        names = list(facts["doubtful"][0])
        rows = _html.table(names, [list(row.values()) for row in facts["doubtful"]])
        yield _html.section("Doubtful rows", [how, rows])
    yield _html.section("Target", [_html.pairs(facts["target"]["held"])])
    if "columns" in facts:
        names, columns = column_rows(facts)
        parts = [_html.table(names, columns[:_SHOWN_COLUMNS])]
        more = columns[_SHOWN_COLUMNS:]
        if more:
            parts.append(_html.folded(f"{len(more):,} more columns", [_html.table(names, more)]))
        yield _html.section("Columns", parts)
    yield _html.section("Chosen", [_html.pairs(facts["chosen"])])
    yield _html.section("File", [_html.pairs(facts["file"])])


def today() -> str:
    """The date of the report."""
    return date.today().isoformat()


def show(facts: dict[str, Any]) -> None:
    echo(f"Saved {facts['output']}: {', '.join(facts['figures'])}.")
