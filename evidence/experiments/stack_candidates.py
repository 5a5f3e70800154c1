"""Parts that a stack might have more: what each gains on mixed tables, and what it costs."""

from __future__ import annotations

import warnings
from time import process_time
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from evidence._compare import grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.mixed_tables import NONE, coded, confirms, texts_like_numbers
from evidence.shared import candidates, mixed
from evidence.shared.candidates import Rows, encoded, encoding, fit_part
from evidence.shared.data import SEED
from evidence.shared.pairs import shown
from gramian import StackedKernelClassifier, StackedKernelRegressor
from gramian.core.equations import ClassTargets, class_scores
from gramian.stack._weights import class_weights, response_weights

N_TRAIN, FOLDS = 200, 5
BASE = "default parts"
ONE = "exponential"
MORE = {
    "thresholds of features": candidates.Part(ONE, "diagonal", "thresholds"),
    "ranks of numbers": candidates.Part(ONE, "diagonal", "ranks"),
    "exponent 0.7": candidates.Part(ONE, exponent=0.7),
    "exponent 1.4": candidates.Part(ONE, exponent=1.4),
    "full metric from slopes": candidates.Part(ONE, features="slopes"),
    "a factor for each column": candidates.Part(ONE, features="blocks"),
    "linear": candidates.Part("linear"),
    "missing cells alone": candidates.Part("rbf", features="marks"),
    "levels by mean targets": candidates.Part(ONE, "diagonal", "ordered"),
}
ALL = "all of these"
CONFIRMED = {True: ("linear",), False: tuple(MORE)}
"""By whether a table is of classes, what is measured on those that decided nothing: of classes what
costs little, of numbers all, since all together had looked best."""


def cases(quick: bool) -> list[Parameters]:
    found = list(mixed.tables())
    tables = mixed.MADE if quick else found or [*mixed.MADE, NONE]
    return [
        {
            "table": table,
            "partition": 0,
            "n": 60 if quick else N_TRAIN,
            "more": list(CONFIRMED[mixed.is_classes(table)] if _is_new(table) else MORE),
        }
        for table in tables
    ]


def _is_new(table: str) -> bool:
    return table != NONE and confirms(table)


def run(table: str, partition: int, n: int, more: list[str]) -> dict[str, Any]:
    """Of each stack its error (%, or unexplained variance) and log-loss; seconds of each part."""
    part, test, y, truth = coded(table, partition, n)
    classes = len(np.unique(y)) if mixed.is_classes(table) else 0
    columns = encoding(part, y, texts_like_numbers(part))
    rows, new = encoded(columns, part), encoded(columns, test)
    outputs, seconds = {}, {}
    parts = {**_default_parts(classes), **{name: MORE[name] for name in more}}
    for name, one in parts.items():
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # more features than rows, classes of one row
            outputs[name] = _outputs(one, rows, y, new, classes)
        seconds[name] = process_time() - start
    about = {"rows": len(y), "classes": bool(classes), "confirms": confirms(table)}
    return {**about, "seconds": seconds, "stacks": _stacks(outputs, more, y, truth, classes)}


def _default_parts(classes: int) -> dict[str, candidates.Part]:
    kind = StackedKernelClassifier if classes else StackedKernelRegressor
    words = [name.split("+") for name in kind().kernel]
    return {"+".join(w): candidates.Part(w[0], w[1] if len(w) > 1 else None) for w in words}


def _outputs(one: candidates.Part, rows: Rows, y: Any, new: Rows, classes: int) -> Any:
    """Outputs at the rows, each without its fold, and at new ones; None without features."""
    folds = StratifiedKFold if classes else KFold
    split = folds(FOLDS, shuffle=True, random_state=SEED).split(rows.X, y)
    left_out: Any = None
    for rest, left in split:
        found = fit_part(one, rows.take(rest), y[rest], classes)
        if found is None:
            return None
        values = found(rows.take(left))
        left_out = np.zeros((len(y), values.shape[1])) if left_out is None else left_out
        left_out[left] = values
    found = fit_part(one, rows, y, classes)
    return None if found is None else (left_out, found(new))


def _stacks(
    outputs: dict[str, Any], names: list[str], y: Any, truth: Any, classes: int
) -> dict[str, Any]:
    """The default parts, these with one more, and all; weights by values out of fold."""
    default = [outputs[name] for name in _default_parts(classes)]
    stacks = {BASE: _scores(default, y, truth, classes)}
    for name in names:
        more = [outputs[name]] if outputs[name] is not None else []
        stacks[name] = _scores([*default, *more], y, truth, classes)
        stacks[name]["used"] = bool(more) and stacks[name]["last"] > 0
    if len(names) > 1:
        every = [outputs[name] for name in names if outputs[name] is not None]
        stacks[ALL] = _scores([*default, *every], y, truth, classes)
    return stacks


def _scores(parts: list[Any], y: Any, truth: Any, classes: int) -> dict[str, Any]:
    F, G = (np.stack([part[k] for part in parts]) for k in (0, 1))
    if not classes:
        weights, offset = response_weights(F, y[:, None], np.ones(len(y)))
        predicted = (np.tensordot(weights, G, 1) + offset)[:, 0]
        spread = float(np.mean((truth - y.mean()) ** 2))
        found = {"error": float(np.mean((predicted - truth) ** 2)) / spread}
    else:
        weights = class_weights(F, ClassTargets(y, classes))
        p = softmax(class_scores(np.tensordot(weights, G, 1)), axis=1)
        found = {
            "error": 100.0 * float(np.mean(p.argmax(axis=1) != truth)),
            "log_loss": float(log_loss(truth, p, labels=np.arange(classes))),
        }
    return {**found, "last": float(weights[-1])}


# -- the report ---------------------------------------------------------------------------------


def report(records: list[Record]) -> list[Part]:
    return [
        Text(
            f"{len(records)} tables with text, numbers and missing cells, one partition of each: "
            f"two thirds of the rows are learned, {N_TRAIN} at most. Stacks of least squares SVMs, "
            "put together by this script: each part is tuned by leave-one-out, once with all rows "
            f"and {FOLDS} times without a fold, and weights are fitted to the outputs out of fold, "
            "as a stack of the library does. The default parts, and these with one part more. Less "
            "than zero is less error with that part; ± is one standard error over tables. Numbers "
            "are compared by ratios of squared errors. All candidates were measured on the tables "
            f"of `mixed`. {_on_others(records)}"
        ),
        *(_compared(records, new) for new in (False, True) if _some(records, new)),
        *_each_table(records),
        Text(
            "Thresholds: on which side of up to 16 quantiles each feature lies. Ranks: as "
            "quantiles of the normal distribution. Exponent p: exp(−γ Σ|x − z|^p). Full metric: "
            "the mean outer product of gradients. Levels by mean targets: one number for a text "
            "column in place of a feature for each level. Missing cells alone: a kernel of the "
            "marks, where there are any. All but the linear part and the one of marks have an "
            "exponential "
            'kernel; thresholds, ranks and levels with `metric="diagonal"`.'
        ),
    ]


def _on_others(records: list[Record]) -> str:
    if not _some(records, True):
        return "None of them was measured on other tables."
    return (
        "On the others, the linear part was measured on all, and the rest on those of numbers, "
        "since all together had looked best there."
    )


def _some(records: list[Record], new: bool) -> list[Record]:
    return [record for record in records if record["confirms"] == new]


def _compared(records: list[Record], new: bool) -> Table:
    some = _some(records, new)
    where = "Tables that decided nothing" if new else "Tables that choices were made on"
    rows = []
    for name in (*MORE, ALL):
        points = _differences(some, name, "error", True)
        losses = _differences(some, name, "log_loss", True)
        ratios = _differences(some, name, "error", False)
        known = [r for r in some if name in r["stacks"]]
        if not known:
            continue
        used = sum(r["stacks"][name].get("used", False) for r in known) if name != ALL else None
        rows.append(
            [
                name,
                _won(points),
                shown(points, 2, False),
                shown(losses, 3, False),
                _won(ratios),
                shown(ratios, 1, True),
                used,
                _times(known, name),
            ]
        )
    columns = [
        "part more",
        "classes: won, lost",
        "error (points)",
        "log-loss",
        "numbers: won, lost",
        "squared error",
        "tables with a weight > 0",
        "seconds, times those of the default parts",
    ]
    return Table(columns, rows, f"{where}: {len(some)}")


def _differences(records: list[Record], name: str, value: str, classes: bool) -> Any:
    pairs = [
        (r["stacks"][name][value], r["stacks"][BASE][value])
        for r in records
        if r["classes"] == classes and name in r["stacks"]
    ]
    return np.array([a - b if classes else np.log(a / b) for a, b in pairs])


def _won(values: Any) -> str:
    return "" if not len(values) else f"{int(np.sum(values < -1e-9))}, {int(np.sum(values > 1e-9))}"


def _times(records: list[Record], name: str) -> float:
    """Seconds of the stack with this part, next to those of the default parts."""
    extra = [name] if name != ALL else list(MORE)
    base = sum(sum(r["seconds"].values()) - _of_more(r, list(MORE)) for r in records)
    return round(1.0 + sum(_of_more(r, extra) for r in records) / (base or 1.0), 2)


def _of_more(record: Record, names: list[str]) -> float:
    return sum(record["seconds"].get(name, 0.0) for name in names)


def _each_table(records: list[Record]) -> list[Part]:
    found: list[Part] = []
    for classes, what in ((True, "Test error (%)"), (False, "Unexplained share of the variance")):
        some = [r for r in records if r["classes"] == classes and not r["confirms"]]
        rows = [
            [
                name,
                of_table[0]["rows"],
                *(round(of_table[0]["stacks"][stack]["error"], 3) for stack in (BASE, *MORE, ALL)),
            ]
            for name, of_table in grouped(some, "table").items()
        ]
        if rows:
            caption = f"{what}, tables that choices were made on"
            found.append(Table(["table", "rows", BASE, *MORE, ALL], rows, caption))
    return found


EXPERIMENTS = (
    benchmark(
        "stack_candidates",
        "Candidates for one part more in a stack",
        cases,
        run,
        report,
        timed=False,
    ),
)
