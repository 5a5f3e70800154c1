"""Probabilities calibrated on exact leave-one-out values, against folds and training values."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from evidence._compare import column, grouped, spread
from evidence._drawing import COLORS, GREY, MARKERS, draw, legend_above
from evidence._experiment import Experiment, Figure, Parameters, Part, Record, Table, Text
from evidence.shared.data import SEED
from gramian import KernelDiscriminant
from gramian.core.equations import fit_calibration, probabilities
from gramian.datasets import make_banana, make_ringnorm, make_twonorm, make_waveform

METHODS = {
    "loo": "leave-one-out values, as predict_proba does",
    "training": "training values",
    "folds": "values of five folds",
    "svc": "SVC, values of five folds",
}
N_TEST, BINS = 5000, 10


def banana(n: int, rng: Any) -> tuple[np.ndarray, np.ndarray]:
    return make_banana(n, noise=0.5, random_state=rng)


def ringnorm(n: int, rng: Any) -> tuple[np.ndarray, np.ndarray]:
    return make_ringnorm(n, random_state=rng)


def twonorm(n: int, rng: Any) -> tuple[np.ndarray, np.ndarray]:
    return make_twonorm(n, random_state=rng)


def waveform(n: int, rng: Any) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_waveform(n, random_state=rng)
    return X, np.where(y == 0, 1, -1)


SETS = {make.__name__: make for make in (banana, ringnorm, twonorm, waveform)}


def cases(quick: bool) -> list[Parameters]:
    runs, n = (1, 100) if quick else (20, 200)
    return [
        {"samples": name, "method": method, "n": n, "seed": seed}
        for name in SETS
        for method in METHODS
        for seed in range(runs)
    ]


def run(samples: str, method: str, n: int, seed: int) -> dict[str, Any]:
    """Log-loss, Brier score and error on test samples; sums in bins for the reliability."""
    rng = np.random.default_rng([SEED, seed])
    X, y = SETS[samples](n, rng)
    X_test, y_test = SETS[samples](N_TEST, rng)
    p, true = PROBABILITIES[method](X, y, X_test), y_test == 1
    bins = np.minimum((BINS * p).astype(int), BINS - 1)
    return {
        "log_loss": float(log_loss(true, p)),
        "brier": float(np.mean((p - true) ** 2)),
        "error": 100.0 * float(np.mean((p > 0.5) != true)),
        "count": np.bincount(bins, minlength=BINS),
        "expected": np.bincount(bins, p, BINS),
        "observed": np.bincount(bins, true, BINS),
    }


def by_leave_one_out(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    return KernelDiscriminant(random_state=SEED).fit(X, y).predict_proba(X_test)[:, 1]


def by_training_values(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """The same sigmoid, fitted to decision values of samples that the model holds."""
    model = KernelDiscriminant(random_state=SEED).fit(X, y)
    values = model.decision_function(X)[:, None]
    sigmoid = fit_calibration(values, (y > 0).astype(int), 2)
    return probabilities(model.decision_function(X_test)[:, None], sigmoid)[:, 1]


def by_folds(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    return _folds(KernelDiscriminant(random_state=SEED), X, y, X_test)


def svc_by_folds(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    return _folds(SVC(), X, y, X_test)


def _folds(machine: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    calibrated = CalibratedClassifierCV(machine, method="sigmoid", cv=5, ensemble=False)
    return calibrated.fit(X, y).predict_proba(X_test)[:, 1]


PROBABILITIES = {
    "loo": by_leave_one_out,
    "training": by_training_values,
    "folds": by_folds,
    "svc": svc_by_folds,
}


def report(records: list[Record]) -> list[Part]:
    rows = [
        [
            name,
            METHODS[method],
            spread(column(cases, "log_loss")).text(3),
            spread(column(cases, "brier")).text(4),
            spread(column(cases, "error")).text(),
        ]
        for (name, method), cases in grouped(records, "samples", "method").items()
    ]
    return [
        Text(
            f"{records[0]['n']} training samples of generated sets, {N_TEST:,} test samples. A "
            "sigmoid of the decision value of KernelDiscriminant is fitted to the "
            "leave-one-out values of the training samples (exact, in closed form), to their "
            "plain decision values, or to those of five folds, which take five more fits. The "
            "last line of each set is scikit-learn's SVC."
        ),
        Figure(
            draw(lambda axes: plot(axes, records)),
            "Observed frequency over predicted probability, all sets together; the diagonal is "
            "perfect.",
        ),
        Table(["set", "sigmoid fitted to", "log-loss", "Brier score", "error (%)"], rows),
    ]


def plot(axes: Any, records: list[Record]) -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linestyle=":")
    for k, (method, cases) in enumerate(grouped(records, "method").items()):
        count, expected, observed = (
            np.sum(column(cases, name), axis=0) for name in ("count", "expected", "observed")
        )
        some = count > 0
        axes.plot(
            expected[some] / count[some],
            observed[some] / count[some],
            color=COLORS[k],
            marker=MARKERS[k],
            label=METHODS[method],
        )
    axes.set(xlabel="predicted probability", ylabel="observed frequency")
    legend_above(axes)


EXPERIMENTS = (
    Experiment(
        "ours-calibration",
        "Calibration on left-out values",
        cases,
        run,
        report,
        file="calibration_values",
    ),
)
