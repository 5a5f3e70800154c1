"""``gramian report``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.base import is_classifier

from gramian.cli import _html, _inspect, _yardsticks
from gramian.cli._figures import figures
from gramian.cli._models import load_model
from gramian.cli._show import column_rows, confusion_rows, loss_and_auc, say
from gramian.files import replacing
from gramian.files.parts import estimator_of

_SHOWN_COLUMNS = 20  # those that matter most


def run(*, model, doubtful, output, quiet) -> dict[str, Any]:
    """Write the page."""
    facts = _inspect.run(model=model, loo=True, doubtful=doubtful, quiet=quiet)
    fitted = load_model(model)
    drawn = figures(estimator_of(fitted))
    parts = [*_words(facts, fitted)]
    for title, caption, svg in drawn:
        parts += [_html.heading(title), _html.figure(svg, caption)]
    parts += [_html.heading("File"), _html.pairs(facts["file"])]
    with replacing(output, private=True) as stream:
        stream.write(_html.page(f"Report on {model}", parts).encode())
    return {"output": output, "figures": [figure.title for figure in drawn]}


def _words(facts: dict[str, Any], fitted: Any) -> Iterator[str]:
    yield _html.heading(facts["model"], 1)
    yield _html.paragraph(facts["summary"])
    yield from _leave_one_out(facts["leave_one_out"])
    yield _html.paragraph(_flattery(fitted))
    yield from _yardstick(fitted)
    if facts["doubtful"]:
        yield _html.heading("Doubtful rows")
        yield _html.paragraph(
            "What all the other rows say of these, and how little they believe the target."
        )
        names = [name.replace("_", " ") for name in facts["doubtful"][0]]
        yield _html.table(names, [list(row.values()) for row in facts["doubtful"]])
    yield _html.heading("Target")
    yield _html.pairs(facts["target"]["held"])
    if "columns" in facts:
        yield _html.heading("Columns")
        yield _html.table(*column_rows(facts))
    yield _html.heading("Chosen")
    yield _html.pairs(facts["chosen"])


def _leave_one_out(facts: dict[str, Any]) -> Iterator[str]:
    yield _html.heading("Exact leave-one-out error")
    if "confusion" not in facts:
        yield _html.pairs(facts)
        return
    yield _html.paragraph(f"{facts['error']:.2%} ({loss_and_auc(facts)})")
    yield _html.table(*confusion_rows(facts))


# docs/benchmarks/flattery.md, `python -m evidence bench flattery`
_MEASURED = {
    "classes": "Over data sets with classes, fresh rows were wrong more often by 0.1 ± 0.5 points "
    "with 100 rows (23 sets), 0.0 ± 0.3 with 300 (18 sets) and 0.0 ± 0.2 with 1,000 (14 sets).",
    "numbers": "Over data sets with numbers, the squared error of fresh rows was higher by "
    "4.9 ± 2.2 % of the variance of the target with 100 rows (8 sets), 0.5 ± 1.7 % with 300 "
    "(7 sets), and not higher with 1,000 (6 sets).",
}


def _flattery(fitted: Any) -> str:
    """What the leave-one-out error does not know."""
    if not fitted.chosen_on_data_:
        return "Nothing was chosen on these rows, so this error does not flatter the model."
    kind = "classes" if is_classifier(estimator_of(fitted)) else "numbers"
    return (
        f"Chosen on these same rows: {', '.join(fitted.chosen_on_data_)}. So this error may "
        f"flatter the "
        f"model; rows that it has never seen tell by how much. {_MEASURED[kind]}"
    )


def _yardstick(fitted: Any) -> Iterator[str]:
    """Simpler models, and the model without a column."""
    name = _yardsticks.error_name(estimator_of(fitted))
    yield _html.heading("Compared with simpler models")
    yield _html.table(["leave-one-out", name], _yardsticks.baselines(fitted))
    rows = _yardsticks.relevance(fitted)[:_SHOWN_COLUMNS]
    if rows:
        yield _html.heading("Which columns matter")
        yield _html.paragraph(
            f"A copy of the model forgot up to a quarter of the rows and predicted them: this is "
            f"how far their {name.split()[0]} rises when one column is shuffled among them."
        )
        yield _html.table(["column", f"rise of the {name}", "gamma"][: len(rows[0])], rows)


def show(facts: dict[str, Any]) -> None:
    """For people."""
    say(f"Saved {facts['output']}: {', '.join(facts['figures'])}.")
