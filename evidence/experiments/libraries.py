"""One sample in and out: Gramian next to libraries that refit, or that learn online."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

import gramian
from evidence._experiment import Experiment, Parameters, Part, Record, Table, Text
from evidence.shared.learning import best_time, largest_difference, mean_time
from gramian import LagrangianSVC, LeastSquaresSVR

RIDGE, D, CALLS = 1e-2, 20, 16
GAMMA = 1.0 / D


class Cost(NamedTuple):
    """Seconds per sample, and how far predictions then are from a refit."""

    learn: float
    forget: float | None
    error: float | None


def cases(quick: bool) -> list[Parameters]:
    found = {name: installed(package) for name, (package, _, _) in LIBRARIES.items()}
    n = 200 if quick else 1000
    return [{"library": name, "version": v, "n": n} for name, v in found.items() if v]


def installed(package: str) -> str | None:
    try:
        return gramian.__version__ if package == "gramian" else version(package)
    except PackageNotFoundError:
        return None


def run(library: str, version: str, n: int) -> dict[str, Any]:
    """Seconds to learn one sample and to forget one, and the distance to a refit."""
    _, measure, _ = LIBRARIES[library]
    return measure(*samples(n), n)._asdict()


def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + CALLS, D))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n + CALLS)


def queries() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((50, D))


def off_ridge(values: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """Difference to kernel ridge regression, which is the posterior mean of a Gaussian process."""
    model = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=RIDGE).fit(X, y)
    return largest_difference(values, model.predict(queries()))


def _per_sample(edit: Any) -> float:
    return mean_time(edit, range(CALLS))


# -- each library -------------------------------------------------------------------------------


def least_squares_svr(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    return live(LeastSquaresSVR(gamma=GAMMA, C=1.0 / RIDGE), X, y, n, "predict")


def lagrangian_svc(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    return live(LagrangianSVC(gamma=GAMMA, C=1.0), X, (y > 0).astype(int), n, "decision_function")


def live(model: Any, X: np.ndarray, y: np.ndarray, n: int, values: str) -> Cost:
    """New samples are learned and old ones forgotten, the solution read after each."""
    model.fit(X[:n], y[:n])
    learn = mean_time(
        lambda i: model.partial_fit(X[i : i + 1], y[i : i + 1]).dual_coef_, range(n, n + CALLS)
    )
    forget = mean_time(lambda i: model.forget(i).dual_coef_, range(CALLS))
    ours, refit = (
        getattr(m, values)(queries()) for m in (model, clone(model).fit(X[CALLS:], y[CALLS:]))
    )
    return Cost(learn, forget, largest_difference(ours, refit))


def kernel_ridge(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    model = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=RIDGE)
    refit, _ = best_time(lambda: model.fit(X[:n], y[:n]))
    return Cost(refit, refit, 0.0)


def svc(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    model, labels = SVC(gamma=GAMMA), (y > 0).astype(int)
    refit, _ = best_time(lambda: model.fit(X[:n], labels[:n]))
    return Cost(refit, refit, 0.0)


def goppy(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    from goppy import OnlineGP, SquaredExponentialKernel

    kernel = SquaredExponentialKernel(np.array([np.sqrt(0.5 / GAMMA)]))
    model = OnlineGP(kernel, noise_var=RIDGE)
    model.fit(X[:n], y[:n, None])
    learn = _per_sample(lambda i: model.add(X[n + i : n + i + 1], y[n + i : n + i + 1, None]))
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

        learn = _per_sample(add)
        mean = model(Xq).mean.numpy()
    return Cost(learn, None, off_ridge(mean, X.numpy(), y.numpy()))


def krls(X: np.ndarray, y: np.ndarray, n: int) -> Cost:
    from krls.krls import SW_KRLS

    model = SW_KRLS(N=n, c=RIDGE, kernel_type="RBF", gamma=GAMMA)
    model.fit(X[:n], y[:n])
    both = _per_sample(lambda i: model.evolve(X[n + i : n + i + 1], y[n + i : n + i + 1]))
    return Cost(both, None, off_ridge(model.predict(queries()), X[CALLS:], y[CALLS:]))


LIBRARIES = {
    "gramian LeastSquaresSVR": ("gramian", least_squares_svr, "exact"),
    "gramian LagrangianSVC": ("gramian", lagrangian_svc, "exact"),
    "scikit-learn KernelRidge": ("scikit-learn", kernel_ridge, "refit"),
    "scikit-learn SVC": ("scikit-learn", svc, "refit"),
    "goppy OnlineGP": ("goppy", goppy, "learns only"),
    "gpytorch get_fantasy_model": ("gpytorch", gpytorch, "learns only, a new model each time"),
    "krls SW_KRLS": ("krls", krls, "one call learns a sample and forgets the oldest"),
}


def report(records: list[Record]) -> list[Part]:
    found = {record["library"]: record for record in records}
    rows = [_row(name, found.get(name), remark) for name, (_, _, remark) in LIBRARIES.items()]
    return [
        Text(
            f"{records[0]['n']:,} samples. Regression with an RBF kernel, d = {D}, ridge "
            f"(noise) {RIDGE:g}; classification for the support vector machines, C = 1. Means "
            f"over {CALLS} samples, the solution read after each. “Off a refit by” is the "
            "largest difference between the predictions and those of a refit on the same "
            "samples, relative to the largest prediction. Libraries that are not installed "
            "are left empty."
        ),
        Table(["library", "learn one (ms)", "forget one (ms)", "off a refit by", "remark"], rows),
    ]


def _row(name: str, record: Record | None, remark: str) -> list[Any]:
    if record is None:
        return [name, None, None, None, "not installed"]
    forget = None if record["forget"] is None else 1e3 * record["forget"]
    version = f"{name} {record['version']}"
    return [version, 1e3 * record["learn"], forget, record["error"], remark]


EXPERIMENTS = (
    Experiment("ours-libraries", "Learning and forgetting one sample, and other libraries",
               cases, run, report, timed=True, file="peers"),
)  # fmt: skip
