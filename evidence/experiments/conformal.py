"""Coverage of prediction sets and intervals: in simulation, on real data, after tuning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.preprocessing import StandardScaler

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import dataset
from gramian import (
    EllipsoidalFuzzyClassifier,
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LagrangianSVC,
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
)

CONFIDENCES = (0.8, 0.9, 0.95)

# -- simulation ---------------------------------------------------------------------------------

HELD, ASIDE = 39, 20  # with 39 samples, 40 · (1 − confidence) is a whole number
DRAWS, PER_CASE = 2_000, 50
FEWER = {  # those that learn and forget the query for every label, or choose centres
    "LagrangianSVC": 150,
    "EllipsoidalFuzzyClassifier": 550,
    "OrthogonalKernelClassifier, tuning_fraction": 650,
    "OrthogonalKernelRegressor, tuning_fraction": 550,
}
MACHINES: dict[str, tuple[BaseEstimator, dict[str, Any]]] = {
    "KernelDiscriminant": (KernelDiscriminant(gamma=0.5, ridge=0.1), {}),
    "KernelDiscriminant, Fisher targets": (
        KernelDiscriminant(gamma=0.5, ridge=0.1, targets="fisher"), {},
    ),
    "KernelDiscriminant, mondrian": (
        KernelDiscriminant(gamma=0.5, ridge=0.1), {"mondrian": True, "smoothed": True},
    ),
    "KernelFisherDiscriminant": (KernelFisherDiscriminant(gamma=0.5, ridge=0.1), {}),
    "LeastSquaresSVC": (LeastSquaresSVC(gamma=0.5, C=10.0), {}),
    "LeastSquaresSVC, linear": (LeastSquaresSVC("linear", C=1.0), {}),
    "LagrangianSVC": (LagrangianSVC(gamma=0.5, C=10.0), {}),
    "OrthogonalKernelClassifier, tuning_fraction": (
        OrthogonalKernelClassifier(gamma=0.5, ridge=0.1, max_basis=10), {},
    ),
    "EllipsoidalFuzzyClassifier": (
        EllipsoidalFuzzyClassifier(gamma=0.5, tune=False, epsilon=1e-2), {},
    ),
    "LeastSquaresSVR": (LeastSquaresSVR(gamma=0.5, C=10.0), {}),
    "LeastSquaresSVR, jackknife+": (
        LeastSquaresSVR(gamma=0.5, C=10.0), {"method": "jackknife+"},
    ),
    "LeastSquaresSVR, linear": (LeastSquaresSVR("linear", C=1.0), {}),
    "OrthogonalKernelRegressor, tuning_fraction": (
        OrthogonalKernelRegressor(gamma=0.5, ridge=0.1, max_basis=10), {},
    ),
}  # fmt: skip


def simulated_cases(quick: bool) -> list[Parameters]:
    draws = 100 if quick else PER_CASE
    return [
        {"machine": name, "start": start, "draws": draws}
        for name in MACHINES
        for start in range(0, 200 if quick else FEWER.get(name, DRAWS), draws)
    ]


def simulated(machine: str, start: int, draws: int) -> dict[str, Any]:
    """How often the truth was covered at each confidence, one query per draw."""
    covered = np.zeros(len(CONFIDENCES))
    for seed in range(start, start + draws):
        covered += _covered(*MACHINES[machine], np.random.default_rng(seed))
    return {"covered": covered}


def _covered(model: BaseEstimator, options: dict[str, Any], rng: Any) -> np.ndarray:
    """Whether sets or intervals of one query contain the truth, on one draw of all samples."""
    apart = "max_basis" in model.get_params()  # its centres are chosen on samples
    n = HELD + 1 + (ASIDE if apart else 0)
    X, y = _draw(rng, n, is_classifier(model))
    if apart:
        model = clone(model).set_params(tuning_fraction=ASIDE / (HELD + ASIDE))
    model = clone(model).fit(X[1:], y[1:])
    if is_classifier(model):
        label = np.searchsorted(model.classes_, y[0])
        if label == len(model.classes_) or model.classes_[label] != y[0]:
            return np.zeros(len(CONFIDENCES))  # a class that no held sample has is in no set
        drawn = {**options, "random_state": rng.integers(2**31)} if options else {}
        p = model.p_values(X[:1], **drawn)[0, label]
        return p > np.round(1.0 - np.array(CONFIDENCES), 9) + 1e-9
    found = [model.predict_interval(X[:1], c, **options)[0] for c in CONFIDENCES]
    return np.array([low <= y[0] <= high for low, high in found])


def _draw(rng: Any, n: int, classes: bool) -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping classes, or a curve with noise that grows along it."""
    if classes:
        y = rng.integers(0, 3, n)
        return rng.standard_normal((n, 2)) + np.array([[0, 0], [2, 0], [0, 2]])[y], y
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(2 * X[:, 0]) + 0.1 * (X[:, 0] + 4) * rng.standard_t(4, n)


def simulated_report(records: list[Record]) -> list[Part]:
    rows = []
    for machine, found in grouped(records, "machine").items():
        draws = sum(column(found, "draws"))
        rates = np.sum(column(found, "covered"), axis=0) / draws
        cells: list[Any] = []
        for rate, claim in zip(rates, CONFIDENCES, strict=True):
            error = np.sqrt(claim * (1 - claim) / draws)
            cells += [f"{rate:.4f}", f"{(rate - claim) / error:+.1f}"]
        rows.append([machine, draws, *cells])
    names = [name for c in CONFIDENCES for name in (f"at {c:g}", "s.e. off")]
    return [
        Text(
            f"How often sets and intervals contain the true answer: {HELD} samples and one "
            "query, drawn again each time, with fixed hyper-parameters. Three overlapping "
            "Gaussian classes, or a sine with heavy-tailed noise that grows along x. With 39 "
            "samples the coverage of full conformal prediction equals the confidence (up to "
            "ties, which raise it). The number after each rate is its distance from the "
            "confidence in standard errors. Jackknife+ guarantees 0.6, 0.8 and 0.9. "
            "`OrthogonalKernel…` chooses its centres on 20 further samples "
            "(`tuning_fraction`)."
        ),
        Table(["model", "draws", *names], rows),
    ]


# -- real data ----------------------------------------------------------------------------------

SETS = (
    *("ida_banana", "ida_diabetis", "ida_german", "ida_heart", "ida_titanic", "ida_waveform"),
    *("optdigits", "satimage", "boston", "abalone"),
)
NUMBERS = ("boston", "abalone")
LEARNED, TUNED, ASKED = 200, 100, 300


def real_cases(quick: bool) -> list[Parameters]:
    return [
        {"data": name, "partition": k}
        for name in (("ida_heart", "boston") if quick else SETS)
        for k in range(2 if quick else 10)
    ]


def real(data: str, partition: int) -> dict[str, Any]:
    """Coverage and size of sets at 0.9, by all held samples and by split conformal on them."""
    rng = np.random.default_rng(partition)
    X, y = dataset(data).X, dataset(data).y
    n = min(len(y), TUNED + LEARNED + ASKED)
    learned = LEARNED if n == TUNED + LEARNED + ASKED else round((n - TUNED) / 2)
    order = rng.permutation(len(y))[:n]
    tune, held, ask = np.split(order, [TUNED, TUNED + learned])
    X = StandardScaler().fit(X[tune]).transform(X)
    numbers = data in NUMBERS
    model = (LeastSquaresSVR if numbers else LeastSquaresSVC)(random_state=0)
    model.fit(X[tune], y[tune])
    model = clone(model).set_params(gamma=model.gamma_, C=model.C_)
    train, calibrate = np.array_split(held, 2)
    half, whole = (clone(model).fit(X[some], y[some]) for some in (train, held))
    if numbers:
        ours = whole.predict_interval(X[ask])
        size = _quantile(np.abs(y[calibrate] - half.predict(X[calibrate])))
        theirs = half.predict(X[ask])[:, None] + size * np.array([-1.0, 1.0])
        inside = [np.mean((e[:, 0] <= y[ask]) & (y[ask] <= e[:, 1])) for e in (ours, theirs)]
        sizes = [float(np.mean(e[:, 1] - e[:, 0])) for e in (ours, theirs)]
    else:
        sets = [(whole, whole.predict_set(X[ask])), (half, _split_sets(half, X, y, calibrate, ask))]
        inside = [np.mean(_holds(s, m.classes_, y[ask])) for m, s in sets]
        sizes = [float(s.sum(axis=1).mean()) for _, s in sets]
    found = dict(zip(("ours", "split"), inside, strict=True))
    return {**found, "ours_size": sizes[0], "split_size": sizes[1], "n": learned}


def _holds(sets: np.ndarray, classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (sets & (classes == y[:, None])).any(axis=1)


def _quantile(scores: np.ndarray, confidence_level: float = 0.9) -> float:
    """The ⌈confidence (n + 1)⌉-th smallest score."""
    k = int(np.ceil(confidence_level * (len(scores) + 1) - 1e-9))
    return float(np.sort(scores)[k - 1]) if k <= len(scores) else np.inf


def _split_sets(model: Any, X: Any, y: Any, calibrate: Any, ask: Any) -> np.ndarray:
    """Split conformal sets with the same score: best other class minus own."""
    F = [np.atleast_2d(model.decision_function(X[some]).T).T for some in (calibrate, ask)]
    if len(model.classes_) == 2:
        F = [np.column_stack([-f, f]) for f in F]
    scores = [_rival(f) - f for f in F]
    known = np.isin(y[calibrate], model.classes_)
    own = np.full(len(calibrate), np.inf)
    own[known] = scores[0][known, np.searchsorted(model.classes_, y[calibrate][known])]
    return scores[1] <= _quantile(own)


def _rival(F: np.ndarray) -> np.ndarray:
    """The best of the other classes, for each class."""
    return np.column_stack([np.delete(F, j, axis=1).max(axis=1) for j in range(F.shape[1])])


def real_report(records: list[Record]) -> list[Part]:
    rows = []
    for data, found in grouped(records, "data").items():
        mean = {k: float(np.mean(column(found, k))) for k in found[0] if k not in ("data",)}
        ratio = mean["ours_size"] / mean["split_size"]
        shown = [f"{mean[k]:.3f}" for k in ("ours", "split", "ours_size", "split_size")]
        rows.append([data.removeprefix("ida_"), int(mean["n"]), *shown, f"{ratio:.2f}"])
    names = ("coverage", "split: coverage", "size", "split: size", "size, ours : split")
    return [
        Text(
            "Sets and intervals at confidence 0.9, means over random partitions with at most 300 "
            "queries each. `LeastSquaresSVC` and `LeastSquaresSVR` with hyper-parameters chosen on "
            "100 further samples, the same for both. Full conformal prediction uses all n samples "
            "to learn and to compare; split conformal learns one half and compares with the other. "
            "Size: classes in a set, or width of an interval in units of the target."
        ),
        Table(["set", "n", *names], rows),
    ]


# -- hyper-parameters chosen on the same samples --------------------------------------------------

SAMPLES = (40, 100)
DRAWN = ("classes", "numbers")


def tuned_cases(quick: bool) -> list[Parameters]:
    return [
        {"pool": pool, "n": n, "start": start, **({} if pool in DRAWN else {"data": pool})}
        for pool in (*DRAWN, "ida_banana", "boston")
        for n in (SAMPLES[:1] if quick else SAMPLES)
        for start in range(0, 20 if quick else 60, 20)
    ]


def tuned(pool: str, n: int, start: int, data: str = "") -> dict[str, Any]:
    """Coverage at 0.9 of n samples that also chose gamma and C, and of half that did not."""
    same, apart = [], []
    for seed in range(start, start + 20):
        rng = np.random.default_rng(seed)
        X, y = _pool(pool, rng, n + 200)
        known = np.arange(n)
        model = (LeastSquaresSVR if pool in ("numbers", "boston") else LeastSquaresSVC)(
            random_state=0
        )
        for rates, fraction in ((same, None), (apart, 0.5)):
            fitted = clone(model).set_params(tuning_fraction=fraction).fit(X[known], y[known])
            rates.append(_rate(fitted, X[n:], y[n:]))
    return {"same": np.array(same), "apart": np.array(apart)}


def _pool(pool: str, rng: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    if pool in DRAWN:
        return _draw(rng, n, pool == "classes")
    some = rng.permutation(len(dataset(pool).y))[:n]
    X = dataset(pool).X[some]
    return (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12), dataset(pool).y[some]


def _rate(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    if is_classifier(model):
        return float(_holds(model.predict_set(X), model.classes_, y).mean())
    ends = model.predict_interval(X)
    return float(np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])))


def tuned_report(records: list[Record]) -> list[Part]:
    rows: list[Iterable[Any]] = []
    for (pool, n), found in grouped(records, "pool", "n").items():
        both = [np.concatenate(column(found, name)) for name in ("same", "apart")]
        cells = [f"{r.mean():.3f} ± {r.std(ddof=1) / np.sqrt(len(r)):.3f}" for r in both]
        rows.append([pool.removeprefix("ida_"), n, len(both[0]), *cells])
    return [
        Text(
            "Coverage at confidence 0.9 with its standard error, when gamma and C were chosen "
            "on the same samples, and when `tuning_fraction=0.5` chose them on one half, "
            "which was set aside. Over draws of n samples and 200 queries; `LeastSquaresSVC` "
            "or `LeastSquaresSVR` with their defaults."
        ),
        Table(["data", "n", "draws", "chosen on the same samples", "`tuning_fraction` half"], rows),
    ]


EXPERIMENTS = (
    benchmark("conformal_coverage", "Coverage of prediction sets and intervals",
              simulated_cases, simulated, simulated_report, timed=False),
    benchmark("conformal_sets", "Sets and intervals on real data, and split conformal prediction",
              real_cases, real, real_report, timed=False),
    benchmark("conformal_tuning", "What choosing hyper-parameters on the same samples costs",
              tuned_cases, tuned, tuned_report, timed=False),
)  # fmt: skip
