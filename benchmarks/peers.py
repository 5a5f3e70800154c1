"""One sample in and out: Gramian next to libraries that refit, or that learn online."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

import gramian
from benchmarks._harness import Table, time_call
from gramian import LagrangianSVC, LeastSquaresSVR

RIDGE, D, CALLS = 1e-2, 20, 16
GAMMA = 1.0 / D


class Cost(NamedTuple):
    """Seconds per sample, and how far predictions then are from a refit."""

    learn: float
    forget: float | None
    error: float | None


def run(quick: bool) -> None:
    n = 200 if quick else 1000
    X, y = samples(n)
    table = Table(
        "peers",
        f"One sample in and out at {n:,} samples, next to others",
        ("library", "learn one (ms)", "forget one (ms)", "off a refit by", "remark"),
        note=(
            f"Regression with an RBF kernel, d = {D}, ridge (noise) {RIDGE:g}; classification for "
            f"the support vector machines, C = 1. Means over {CALLS} samples, everything deferred "
            'folded in. "Off a refit by" is the largest difference of predictions to a refit on '
            "the same samples, relative to the largest prediction. What is not installed is left "
            "empty. `python -m benchmarks peers`"
        ),
    )
    for name, package, measure, remark in PEERS:
        try:
            cost = measure(X, y, n)
        except ImportError as error:
            table.add(name, None, None, None, f"not installed: {error}")
            continue
        learn, forget = 1e3 * cost.learn, None if cost.forget is None else 1e3 * cost.forget
        table.add(f"{name} {installed(package)}", learn, forget, cost.error, remark)
    table.write()


def installed(package: str) -> str:
    return gramian.__version__ if package == "gramian" else version(package)


def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + CALLS, D))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n + CALLS)


def queries() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((50, D))


def off_ridge(values: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """Difference to kernel ridge regression, which is the posterior mean of a Gaussian process."""
    model = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=RIDGE).fit(X, y)
    return relative(values, model.predict(queries()))


def relative(values: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(values - expected).max() / np.abs(expected).max())


def per_sample(edit: Callable[[int], Any], finish: Callable[[], Any] = lambda: None) -> float:
    start = perf_counter()
    for i in range(CALLS):
        edit(i)
    finish()
    return (perf_counter() - start) / CALLS


# -- each library -------------------------------------------------------------------------------


def least_squares_svr(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    model = LeastSquaresSVR(gamma=GAMMA, C=1.0 / RIDGE).fit(X[:n], y[:n])
    fold = model._solver.system.factor.fold
    learn = per_sample(
        lambda i: model.partial_fit(X[n + i : n + i + 1], y[n + i : n + i + 1]).dual_coef_, fold
    )
    forget = per_sample(lambda i: model.forget(i).dual_coef_, fold)
    refit = LeastSquaresSVR(gamma=GAMMA, C=1.0 / RIDGE).fit(X[CALLS:], y[CALLS:])
    return Cost(learn, forget, relative(model.predict(queries()), refit.predict(queries())))


def lagrangian_svc(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    labels = (y > 0).astype(int)
    model = LagrangianSVC(gamma=GAMMA).fit(X[:n], labels[:n])
    learn = per_sample(
        lambda i: model.partial_fit(X[n + i : n + i + 1], labels[n + i : n + i + 1]).dual_coef_
    )
    forget = per_sample(lambda i: model.forget(i).dual_coef_)
    refit = LagrangianSVC(gamma=GAMMA).fit(X[CALLS:], labels[CALLS:])
    values, expected = (m.decision_function(queries()) for m in (model, refit))
    return Cost(learn, forget, relative(values, expected))


def kernel_ridge(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    model = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=RIDGE)
    refit = time_call(lambda: model.fit(X[:n], y[:n]), repeat=3).best
    return Cost(refit, refit, 0.0)


def svc(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    model, labels = SVC(gamma=GAMMA), (y > 0).astype(int)
    refit = time_call(lambda: model.fit(X[:n], labels[:n]), repeat=3).best
    return Cost(refit, refit, 0.0)


def goppy(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    from goppy import OnlineGP, SquaredExponentialKernel

    kernel = SquaredExponentialKernel(np.array([np.sqrt(0.5 / GAMMA)]))
    model = OnlineGP(kernel, noise_var=RIDGE)
    model.fit(X[:n], y[:n, None])
    learn = per_sample(lambda i: model.add(X[n + i : n + i + 1], y[n + i : n + i + 1, None]))
    mean = model.predict(queries(), what=("mean",))["mean"][:, 0]
    return Cost(learn, None, off_ridge(mean, X, y))


def gpytorch(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    import gpytorch as gp
    import torch

    class ExactGP(gp.models.ExactGP):
        def __init__(self, X, y, likelihood):
            super().__init__(X, y, likelihood)
            self.mean, self.kernel = gp.means.ZeroMean(), gp.kernels.RBFKernel()

        def forward(self, X):
            return gp.distributions.MultivariateNormal(self.mean(X), self.kernel(X))

    X, y = torch.from_numpy(X), torch.from_numpy(y)
    likelihood = gp.likelihoods.GaussianLikelihood().double()
    model = ExactGP(X[:n], y[:n], likelihood).double()
    likelihood.noise, model.kernel.lengthscale = RIDGE, float(np.sqrt(0.5 / GAMMA))
    model.eval()
    likelihood.eval()
    with torch.no_grad(), gp.settings.max_cholesky_size(10 * n), gp.settings.fast_pred_var():
        Xq = torch.from_numpy(queries())
        model(Xq).mean  # noqa: B018 - fills the caches that a fantasy model extends

        def add(i: int) -> None:
            nonlocal model
            model = model.get_fantasy_model(X[n + i : n + i + 1], y[n + i : n + i + 1])

        learn = per_sample(add)
        mean = model(Xq).mean.numpy()
    return Cost(learn, None, off_ridge(mean, X.numpy(), y.numpy()))


def krls(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    from krls.krls import SW_KRLS

    model = SW_KRLS(N=n, c=RIDGE, kernel_type="RBF", gamma=GAMMA)
    model.fit(X[:n], y[:n])
    both = per_sample(lambda i: model.evolve(X[n + i : n + i + 1], y[n + i : n + i + 1]))
    return Cost(both, None, off_ridge(model.predict(queries()), X[CALLS:], y[CALLS:]))


PEERS = (
    ("gramian LeastSquaresSVR", "gramian", least_squares_svr, "exact"),
    ("gramian LagrangianSVC", "gramian", lagrangian_svc, "exact"),
    ("scikit-learn KernelRidge", "scikit-learn", kernel_ridge, "refit"),
    ("scikit-learn SVC", "scikit-learn", svc, "refit"),
    ("goppy OnlineGP", "goppy", goppy, "learns only"),
    ("gpytorch get_fantasy_model", "gpytorch", gpytorch, "learns only, a new model each time"),
    ("krls SW_KRLS", "krls", krls, "one call learns a sample and forgets the oldest"),
)
