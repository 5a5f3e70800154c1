"""Search by subsamples, by eigendecompositions and by a grid; seeds, estimators, times."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from evidence._compare import grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import Split, split
from evidence.shared.study import GRID
from evidence.shared.tables import fold
from gramian import (
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LagrangianSVC,
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
    StackedKernelClassifier,
    StackedKernelRegressor,
)
from gramian.core.equations import CRITERIA, LS_SVM, ClassTargets, Responses
from gramian.core.kernels import make_kernel
from gramian.core.search import Problem, select
from gramian.datasets import make_ringnorm
from gramian.discriminant._equations import KDA_RMSE
from gramian.fisher._equations import KFD

SETS = (
    "ann_thyroid",
    "ida_banana",
    "ida_image",
    "ida_ringnorm",
    "ida_splice",
    "ida_waveform",
    "optdigits",
    "satimage",
)
LARGE_SETS = tuple(name for name in SETS if name not in ("ida_image", "ida_splice"))
N, N_LARGE, N_TEST = 1000, 3000, 2000
LADDER, PATH, PEER = "ladder", "path", "GridSearchCV(SVC)"
SEEDS = 20


@dataclass(frozen=True)
class WholeProblem(Problem):
    """A problem that is searched on all samples, whatever their number."""

    largest: ClassVar[int] = 10**9


def cases(quick: bool) -> list[Parameters]:
    sets, partitions = (SETS[1:2], (0,)) if quick else (SETS, (0, 1, 2))
    n = 300 if quick else N
    small = [(name, n, k, m) for name in sets for k in partitions for m in METHODS]
    large = [] if quick else [(name, N_LARGE, 0, m) for name in LARGE_SETS for m in (LADDER, PATH)]
    names = ("data", "n", "partition", "method")
    return [dict(zip(names, case, strict=True)) for case in (*small, *large)]


def run(data: str, n: int, partition: int, method: str) -> dict[str, Any]:
    """Test error in %, and CPU seconds of one thread for the search and the fit."""
    part = standardized(data, n, partition)
    begin = time.process_time()
    model, nats = METHODS[method](part)
    return {"seconds": time.process_time() - begin, "error": part.error(model), "nats": nats}


@lru_cache(maxsize=2)
def standardized(data: str, n: int, partition: int) -> Split:
    """Samples of one random partition, scaled by the training samples."""
    part = split(data, 50 + partition, n_train=n)
    scaler = StandardScaler().fit(part.X)
    X, X_test = scaler.transform(part.X), scaler.transform(part.X_test[:N_TEST])
    return part._replace(X=X, X_test=X_test, y_test=part.y_test[:N_TEST])


def by_leave_one_out(part: Split, search: str, seed: int = 0) -> tuple[Any, float]:
    """`LeastSquaresSVC` with the width and C that a search chooses, and its criterion in nats."""
    kind = Problem if search == LADDER else WholeProblem
    labels = np.unique(part.y, return_inverse=True)[1]
    targets = ClassTargets(labels, int(labels.max()) + 1)
    problem = kind(LS_SVM, targets, part.X, make_kernel("rbf"))
    found = select(problem, search=search, random_state=seed)
    model = LeastSquaresSVC(gamma=found.gamma, C=1.0 / found.ridge).fit(part.X, part.y)
    return model, found.value * len(labels)


def by_grid(part: Split) -> tuple[Any, None]:
    """The support vector machine of 36 settings with the best error in five folds."""
    return GridSearchCV(SVC(), GRID, cv=5).fit(part.X, part.y), None


METHODS: dict[str, Callable[[Split], tuple[Any, Any]]] = {
    LADDER: lambda part: by_leave_one_out(part, LADDER),
    PATH: lambda part: by_leave_one_out(part, PATH),
    PEER: by_grid,
}


def report(records: list[Record]) -> list[Part]:
    rows = []
    for (n, name), of_set in sorted(_cells(records).items()):
        rows.append([name.removeprefix("ida_"), n, *_row(of_set)])
    for n in sorted({record["n"] for record in records}):
        some = [record for record in records if record["n"] == n]
        rows.append(["all", n, *_row(some)])
    return [
        Text(
            "`LeastSquaresSVC` tuned by `select(search=…)` on standardised samples: means "
            "over three random partitions (one for n = 3,000), CPU seconds of one thread with "
            "the fit. `path` is another search: one eigendecomposition of all samples for "
            f"each width. {PEER} has 36 settings and five folds. Ratios of the seconds and "
            "differences of the errors, in points and ± their standard error, are over the "
            "partitions of both."
        ),
        Table(
            [
                "set",
                "n",
                *(f"{m} (s)" for m in METHODS),
                *(f"{m} (%)" for m in METHODS),
                f"{PATH} / {LADDER}",
                f"{PEER} / {LADDER}",
                f"error − {PATH}",
                f"error − {PEER}",
            ],
            rows,
        ),
    ]


def _cells(records: list[Record]) -> dict[tuple[int, str], list[Record]]:
    cells: dict[tuple[int, str], list[Record]] = {}
    for record in records:
        cells.setdefault((record["n"], record["data"]), []).append(record)
    return cells


def _row(records: list[Record]) -> list[Any]:
    """Mean seconds and errors by method, ratios of sums, and differences to the ladder."""
    of = {
        method: {(r["data"], r["partition"]): (r["seconds"], r["error"]) for r in some}
        for method, some in grouped(records, "method").items()
    }
    means = {method: np.mean(list(figures.values()), axis=0) for method, figures in of.items()}
    seconds = [float(means[m][0]) if m in means else None for m in METHODS]
    errors = [f"{means[m][1]:.2f}" if m in means else None for m in METHODS]
    compared = [_compared(of, method) for method in (PATH, PEER)]
    return [*seconds, *errors, *(pair[0] for pair in compared), *(pair[1] for pair in compared)]


def _compared(of: dict[str, dict], method: str) -> tuple[float | None, str | None]:
    """Ratio of the seconds to those of the ladder, and difference of the ladder's error."""
    both = [place for place in of.get(LADDER, {}) if place in of.get(method, {})]
    if not both:
        return None, None
    ours, theirs = (np.array([of[m][place] for place in both]) for m in (LADDER, method))
    change = ours[:, 1] - theirs[:, 1]
    error = change.std(ddof=min(1, len(both) - 1)) / np.sqrt(len(both))
    return float(theirs[:, 0].sum() / ours[:, 0].sum()), f"{change.mean():+.2f} ± {error:.2f}"


# -- seeds --------------------------------------------------------------------------------------


def seed_cases(quick: bool) -> list[Parameters]:
    sets, seeds = (SETS[1:2], 2) if quick else (SETS, SEEDS)
    n = 300 if quick else N
    found = [{"data": name, "n": n, "seed": seed} for name in sets for seed in range(seeds)]
    few = [] if quick else [{"data": SETS[0], "n": 600, "seed": seed} for seed in range(seeds)]
    return found + few


def run_seed(data: str, n: int, seed: int) -> dict[str, Any]:
    """The criterion reached in nats, and the test error, with these subsamples."""
    part = standardized(data, n, 0)
    model, nats = by_leave_one_out(part, LADDER, seed)
    return {"nats": nats, "error": part.error(model)}


def report_seeds(records: list[Record]) -> list[Part]:
    rows = []
    for (n, name), of_set in sorted(_cells(records).items()):
        nats = np.array([record["nats"] for record in of_set])
        errors = [record["error"] for record in of_set]
        rows.append(
            [
                name.removeprefix("ida_"),
                n,
                len(nats),
                f"{nats.min():.1f}",
                f"{np.ptp(nats):.2f}",
                f"{min(errors):.2f}–{max(errors):.2f}",
            ]
        )
    return [
        Text(
            "The criterion (n times the leave-one-out log-loss, in nats) that the ladder reaches "
            "with other subsamples, `random_state` = 0, 1, …: the best, and how much worse the "
            "worst is. Three nats would be a factor of 20 in likelihood for n samples together."
        ),
        Table(["set", "n", "seeds", "best", "worst − best", "test errors (%)"], rows),
    ]


# -- estimators ---------------------------------------------------------------------------------

MACHINES = {"LS-SVM": LS_SVM, "KDA/RMSE": KDA_RMSE, "KFD": KFD}
NUMBERS = ("abalone", "boston", "friedman1", "friedman2", "friedman3", "sinc2")


def machine_cases(quick: bool) -> list[Parameters]:
    sets, tables, n = (SETS[1:2], NUMBERS[2:3], 300) if quick else (SETS, NUMBERS, N)
    classes = [{"data": name, "n": n, "machine": m} for name in sets for m in MACHINES]
    return classes + [{"table": name, "n": n, "machine": "LS-SVM"} for name in tables]


def run_machine(n: int, machine: str, data: str = "", table: str = "") -> dict[str, Any]:
    """The criterion in nats that each search reaches, and its CPU seconds."""
    X, targets = classes_of(data, n) if data else numbers_of(table, n)
    values = {}
    for search, kind in ((LADDER, Problem), (PATH, WholeProblem)):
        begin = time.process_time()
        found = select(kind(MACHINES[machine], targets, X, make_kernel("rbf")), search=search)
        values[f"{search} (s)"] = time.process_time() - begin
        values[search] = CRITERIA[found.criterion].nats(found.value, len(X))
    return values


def classes_of(data: str, n: int) -> tuple[Any, ClassTargets]:
    part = standardized(data, n, 0)
    labels = np.unique(part.y, return_inverse=True)[1]
    return part.X, ClassTargets(labels, int(labels.max()) + 1)


def numbers_of(table: str, n: int) -> tuple[Any, Responses]:
    part = fold(table, 0, n)
    return part.X, Responses(part.y[:, None])


def report_machines(records: list[Record]) -> list[Part]:
    rows = [
        [
            (record.get("data") or record["table"]).removeprefix("ida_"),
            record["machine"],
            f"{record[PATH]:.1f}",
            f"{record[LADDER] - record[PATH]:+.2f}",
            record[f"{LADDER} (s)"],
            record[f"{PATH} (s)"],
        ]
        for record in records
    ]
    columns = [f"{PATH} (nats)", f"{LADDER} − {PATH}", f"{LADDER} (s)", f"{PATH} (s)"]
    return [
        Text(
            'The criterion that `search="ladder"` reaches, compared with that of '
            '`search="path"` on all samples, in nats: n times the log-loss for classes, n/2 '
            "times the logarithm of the mean square for numbers; below zero the ladder is "
            "better. At most 1,000 samples, one partition, CPU seconds of one thread without "
            "the fit."
        ),
        Table(["set", "model", *columns], rows),
    ]


# -- times --------------------------------------------------------------------------------------

FITS: dict[str, Callable[[], Any]] = {
    "LeastSquaresSVC()": LeastSquaresSVC,
    "KernelDiscriminant()": KernelDiscriminant,
    "KernelFisherDiscriminant()": KernelFisherDiscriminant,
    "LagrangianSVC()": LagrangianSVC,
    'LeastSquaresSVC(kernel="loo")': partial(LeastSquaresSVC, kernel="loo"),
    'LeastSquaresSVC(metric="diagonal")': partial(LeastSquaresSVC, metric="diagonal"),
    'LeastSquaresSVC(metric="ard")': partial(LeastSquaresSVC, metric="ard"),
    "StackedKernelClassifier()": StackedKernelClassifier,
    "OrthogonalKernelClassifier()": OrthogonalKernelClassifier,
    "LeastSquaresSVR()": LeastSquaresSVR,
    'LeastSquaresSVR(metric="ard")': partial(LeastSquaresSVR, metric="ard"),
    "StackedKernelRegressor()": StackedKernelRegressor,
    "OrthogonalKernelRegressor()": OrthogonalKernelRegressor,
}


def fit_cases(quick: bool) -> list[Parameters]:
    sizes = (200,) if quick else (1000, 5000)
    return [{"n": n, "model": name} for n in sizes for name in FITS]


def run_fit(n: int, model: str) -> dict[str, Any]:
    """CPU seconds of `fit` with all tuning."""
    one = FITS[model]()
    if is_classifier(one):
        X, y = make_ringnorm(n, random_state=0)
    else:
        X, y = make_friedman1(n, noise=1.0, random_state=0)
    begin = time.process_time()
    one.fit(X, y)
    return {"seconds": time.process_time() - begin}


def report_fits(records: list[Record]) -> list[Part]:
    seconds = {(record["model"], record["n"]): record["seconds"] for record in records}
    sizes = sorted({record["n"] for record in records})
    rows = [[f"`{name}`", *(seconds.get((name, n)) for n in sizes)] for name in FITS]
    return [
        Text(
            "CPU seconds of `fit(X, y)` with all tuning, one thread: 20 features in two "
            "classes (`make_ringnorm`), or ten features and a number (`make_friedman1`). With "
            "more than 2,048 samples, the hyper-parameters are chosen on a subsample of that "
            "size."
        ),
        Table(["model", *(f"n = {n:,} (s)" for n in sizes)], rows),
    ]


EXPERIMENTS = (
    benchmark("tuning_search", "The ladder, the path and a grid search", cases, run, report),
    benchmark("tuning_seeds", "The ladder on other subsamples",
              seed_cases, run_seed, report_seeds, timed=False),
    benchmark("tuning_machines", "The ladder and the path on other estimators",
              machine_cases, run_machine, report_machines),
    benchmark("tuned_fits", "A fit with all tuning", fit_cases, run_fit, report_fits),
)  # fmt: skip
