"""One GPU: single precision, another library there, and errors by the number of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from evidence._experiment import (
    Parameters,
    Part,
    Record,
    Table,
    Text,
    UnavailableError,
    benchmark,
)
from evidence.experiments.gpu import GAMMA, C, D, samples, timed, torch
from evidence.shared.data import dataset
from gramian import LeastSquaresSVC, LeastSquaresSVR

# -- single precision ---------------------------------------------------------------------------

QUERIES = 1_000


def single_cases(quick: bool) -> list[Parameters]:
    return [{"n": n} for n in ((1_000, 2_000) if quick else (50_000, 150_000))]


def single(n: int) -> dict[str, Any]:
    """Seconds and memory of a fit in single precision, and how far it is from double precision."""
    cuda = torch().cuda
    X, y = samples(n + QUERIES)
    cuda.reset_peak_memory_stats()
    model = LeastSquaresSVC(gamma=GAMMA, C=C, factor="single", device="cuda")
    fit, _ = timed(lambda: (model.fit(X[:n], y[:n]), model.loo_score()))
    found: dict[str, Any] = {"fit": fit, "bytes": cuda.max_memory_allocated()}
    values, left_out = model.decision_function(X[n:]), model.loo_decision_function()
    found["learn"], _ = timed(lambda: model.partial_fit(X[n : n + 1], y[n : n + 1]))
    found["forget"], _ = timed(lambda: model.forget(0))
    found["read"], _ = timed(lambda: model.predict(X[n : n + 1]))
    found["drift"] = model.drift()
    if n <= 50_000:
        del model
        double = LeastSquaresSVC(gamma=GAMMA, C=C, device="cuda").fit(X[:n], y[:n])
        found["decisions"] = float(np.abs(values - double.decision_function(X[n:])).max())
        found["left_out"] = float(np.abs(left_out - double.loo_decision_function()).max())
    return found


def single_report(records: list[Record]) -> list[Part]:
    rows = [
        [
            r["n"],
            r["fit"],
            r["bytes"] / 1e9,
            1e3 * r["learn"],
            1e3 * r["forget"],
            r["read"],
            f"{r['drift']:.0e}",
            f"{r['decisions']:.0e}" if "decisions" in r else None,
            f"{r['left_out']:.0e}" if "left_out" in r else None,
        ]
        for r in sorted(records, key=lambda record: record["n"])
    ]
    return [
        Text(
            f'`LeastSquaresSVC(factor="single", device="cuda")` with an RBF kernel, {D} features, '
            f"given width and C: the inverse is float32, solutions are refined in float64 against "
            f"kernel values that are computed again. The first prediction after edits refines. The "
            f"last columns compare with a fit in float64: decision values of {QUERIES:,} queries, "
            f"leave-one-out values of all samples."
        ),
        Table(
            [
                "n",
                "fit + loo_score (s)",
                "GPU memory (GB)",
                "partial_fit of 1 (ms)",
                "forget of 1 (ms)",
                "first prediction after edits (s)",
                "drift",
                "decision values",
                "leave-one-out",
            ],
            rows,
        ),
    ]


# -- GPyTorch -----------------------------------------------------------------------------------


def peer_cases(quick: bool) -> list[Parameters]:
    return [{"n": n} for n in ((500,) if quick else (10_000, 20_000))]


def peer(n: int) -> dict[str, Any]:
    """Seconds of a fit and of one more sample, for this package and for GPyTorch's exact GP."""
    X, y = samples(n + 20)
    model = LeastSquaresSVR(gamma=GAMMA, C=C, device="cuda")
    values = y.astype(float)
    model.fit(X[:500], values[:500]).predict(X[:1])  # warm up
    ours, _ = timed(lambda: model.fit(X[:n], values[:n]).predict(X[n:]))
    learn = [
        timed(lambda i=i: model.partial_fit(X[i : i + 1], values[i : i + 1]).predict(X[n:]))[0]
        for i in range(n, n + 5)
    ]
    theirs, fantasy = _gpytorch(X, values, n)
    return {
        "ours": ours,
        "learn": float(np.median(learn)),
        "theirs": theirs,
        "fantasy": fantasy,
    }


def _gpytorch(X: np.ndarray, y: np.ndarray, n: int) -> tuple[float, float]:
    """Seconds of the first prediction, and of one with one more sample by `get_fantasy_model`."""
    try:
        import gpytorch
    except ModuleNotFoundError as error:
        raise UnavailableError("GPyTorch is not installed.") from error
    found = torch()

    class Process(gpytorch.models.ExactGP):
        def __init__(self, X: Any, y: Any, likelihood: Any) -> None:
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.RBFKernel()

        def forward(self, x: Any) -> Any:
            mean, covariance = self.mean_module(x), self.covar_module(x)
            return gpytorch.distributions.MultivariateNormal(mean, covariance)

    there, values = (found.from_numpy(part).cuda() for part in (X, y))

    def begun(size: int) -> Any:
        likelihood = gpytorch.likelihoods.GaussianLikelihood().double().cuda()
        process = Process(there[:size], values[:size], likelihood).double().cuda()
        likelihood.noise, process.covar_module.lengthscale = 1.0 / C, (0.5 / GAMMA) ** 0.5
        process.eval()
        return process

    with (
        found.no_grad(),
        gpytorch.settings.max_cholesky_size(10 * n),
        gpytorch.settings.fast_pred_var(True),
    ):
        begun(500)(there[n:]).mean.cpu()  # warm up
        process = begun(n)
        first, _ = timed(lambda: process(there[n:]).mean.cpu())
        more = [
            timed(
                lambda i=i: process.get_fantasy_model(there[i : i + 1], values[i : i + 1])(
                    there[n:]
                ).mean.cpu()
            )[0]
            for i in range(n, n + 5)
        ]
    return first, float(np.median(more))


def peer_report(records: list[Record]) -> list[Part]:
    rows = [
        [
            r["n"],
            r["ours"],
            r["theirs"],
            1e3 * r["learn"],
            1e3 * r["fantasy"],
            r["fantasy"] / r["learn"],
        ]
        for r in sorted(records, key=lambda record: record["n"])
    ]
    return [
        Text(
            '`LeastSquaresSVR(device="cuda")` compared with the exact Gaussian process of '
            f"GPyTorch on the same GPU, with the same RBF kernel, {D} features and noise, in "
            "float64 by Cholesky factors: a fit with the first predictions of 20 queries, and "
            "one more sample with the next predictions (`get_fantasy_model` there; median of "
            "5). GPyTorch can neither remove a sample nor compute leave-one-out values."
        ),
        Table(
            [
                "n",
                "fit (s)",
                "fit, GPyTorch (s)",
                "one more (ms)",
                "one more, GPyTorch (ms)",
                "ratio",
            ],
            rows,
        ),
    ]


# -- errors -------------------------------------------------------------------------------------

LETTER, TESTED = "letter", 4_000


def letter_cases(quick: bool) -> list[Parameters]:
    sizes = (500,) if quick else (1_000, 2_000, 4_000, 8_000, 16_000)
    return [{"data": LETTER, "n": n} for n in sizes]


def letter(data: str, n: int) -> dict[str, Any]:
    """Test error of a tuned model on so many samples, and the seconds of its fit."""
    torch()
    X, y = dataset(data).X.astype(float), dataset(data).y
    order = np.random.default_rng(0).permutation(len(X))
    tested, held = order[:TESTED], order[TESTED : TESTED + n]
    scale = StandardScaler().fit(X[held]).transform
    model = LeastSquaresSVC(device="cuda")
    seconds, _ = timed(lambda: model.fit(scale(X[held]), y[held]))
    return {
        "seconds": seconds,
        "error": 100.0 * (1.0 - model.score(scale(X[tested]), y[tested])),
        "left_out": 100.0 * (1.0 - model.loo_score()),
        "gamma": model.gamma_,
        "C": model.C_,
    }


def letter_report(records: list[Record]) -> list[Part]:
    rows = [
        [r["n"], r["seconds"], f"{r['error']:.2f}", f"{r['left_out']:.2f}", r["gamma"], r["C"]]
        for r in sorted(records, key=lambda record: record["n"])
    ]
    return [
        Text(
            "`LeastSquaresSVC()` with its defaults, on letter (26 classes, 16 features): "
            f"standardised samples, {TESTED:,} others to test. Width and C are chosen on all "
            "samples on the GPU."
        ),
        Table(
            ["n", "fit (s)", "test error (%)", "leave-one-out error (%)", "gamma", "C"],
            rows,
        ),
    ]


EXPERIMENTS = (
    benchmark("gpu_single", "Single precision on one GPU", single_cases, single, single_report),
    benchmark("gpu_peers", "GPyTorch on the same GPU", peer_cases, peer, peer_report),
    benchmark("gpu_letter", "Errors by the number of samples", letter_cases, letter, letter_report),
)
