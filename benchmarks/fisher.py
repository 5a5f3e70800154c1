"""The kernel Fisher discriminant: Figure 1 of saadi2004, updates, and both leave-one-outs."""

from __future__ import annotations

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks._harness import RESULTS, Table, limit_threads, time_call
from benchmarks.exactness import solve_extended
from benchmarks.updates import CALLS, per_call
from gramian import KernelFisherDiscriminant
from gramian.datasets import make_banana, make_ringnorm, make_twonorm
from gramian.gram import Moments
from gramian.kernels import make_kernel
from gramian.machines._fisher import canonical_form, fisher_loo, fisher_loo_rows

GAMMA, RIDGE = 0.05, 1e-2
WIDE = 0.002  # the kernel matrix is close to singular


def run(quick: bool) -> None:
    with limit_threads(1):
        run_times(quick)
        run_updates(quick)
        run_errors(quick)
        run_exactness(quick)


# -- Figure 1 -----------------------------------------------------------------------------------


def run_times(quick: bool) -> None:
    table = Table(
        "fisher",
        "Kernel Fisher discriminant: training and leave-one-out",
        (
            "n",
            "training (ms)",
            "direct leave-one-out (ms)",
            "fast leave-one-out (ms)",
            "exact leave-one-out (ms)",
            "direct / fast",
        ),
        note=(
            "Figure 1 of saadi2004. Training: the canonical form, kernel matrix given. Direct: n "
            "fits without a row of Z. Fast: §2.4 for one ridge, given the canonical form. Exact: "
            "row and column left out, `loo_decision_function()` of the live model. Two normal "
            f"classes in 20 dimensions, RBF, gamma {GAMMA:g}, ridge {RIDGE:g}, bias free, one "
            "thread. `python -m benchmarks fisher`"
        ),
    )
    for n in (10, 50) if quick else (10, 20, 50, 100, 200, 500, 1000):
        table.add(n, *measure_times(n))
    table.write()
    draw(table)


def measure_times(n: int) -> tuple[float, ...]:
    X, labels = make_twonorm(n, random_state=0)
    K, Y = make_kernel("rbf", gamma=GAMMA)(X, X), signs(labels)
    form = canonical_form(K, Y)
    model = KernelFisherDiscriminant(gamma=GAMMA, ridge=RIDGE).fit(X, labels)

    def exact() -> None:
        model._changed()
        model.loo_decision_function()

    training = time_call(lambda: canonical_form(K, Y).coefficients(RIDGE), repeat=3).best
    direct = time_call(lambda: leave_rows_out(K, Y), repeat=1 if n > 200 else 3).best
    fast = time_call(lambda: form.loo(Y, RIDGE), repeat=5).best
    live = time_call(exact, repeat=5).best
    return (*(1e3 * t for t in (training, direct, fast, live)), direct / fast)


def leave_rows_out(K: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """saadi2004, eq. (7) solved anew for every sample."""
    Z = np.column_stack([K, np.ones(len(K))])
    full, right = Z.T @ Z, Z.T @ Y
    full[np.diag_indices(len(K))] += RIDGE
    out = np.empty_like(Y)
    for i, z in enumerate(Z):
        out[i] = z @ np.linalg.solve(full - np.outer(z, z), right - np.outer(z, Y[i]))
    return out


def draw(table: Table) -> None:
    n, training, direct, fast, exact = list(zip(*table.rows, strict=True))[:5]
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.loglog(n, direct, "s-", color="0.5", label="direct leave-one-out")
    axes.loglog(n, training, "o-", color="C0", label="training")
    axes.loglog(n, fast, "v-", color="C1", label="fast leave-one-out (saadi2004)")
    axes.loglog(n, exact, "^-", color="C2", label="exact leave-one-out, live model")
    axes.set(xlabel="samples", ylabel="milliseconds", title="Kernel Fisher discriminant")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(RESULTS / "fisher.svg", metadata={"Date": None})
    plt.close(figure)


# -- updates ------------------------------------------------------------------------------------


def run_updates(quick: bool) -> None:
    table = Table(
        "fisher_updates",
        "Kernel Fisher discriminant: one sample in, one sample out",
        ("n", "fit (ms)", "partial_fit (ms)", "forget (ms)", "fit / partial_fit", "fit / forget"),
        note=(
            "`fit` with gamma and ridge given, best of three; `partial_fit` and `forget` are means "
            f"over {CALLS} calls of one sample each, everything deferred folded in at the end. "
            f"RBF, d = 20, gamma {GAMMA:g}, ridge {RIDGE:g}, one thread. "
            "`python -m benchmarks fisher`"
        ),
    )
    for n in (200,) if quick else (500, 1000, 2000):
        X, y = make_twonorm(n + CALLS, random_state=0)
        model = KernelFisherDiscriminant(gamma=GAMMA, ridge=RIDGE)
        fit = time_call(lambda X=X, y=y, n=n, model=model: model.fit(X[:n], y[:n]), repeat=3).best
        learn = per_call(
            model, lambda i, X=X, y=y, n=n, model=model: model.partial_fit(X[[n + i]], y[[n + i]])
        )
        forget = per_call(model, lambda i, n=n, model=model: model.forget(n + i))
        table.add(n, *(1e3 * t for t in (fit, learn, forget)), fit / learn, fit / forget)
    table.write()


# -- the two leave-one-outs ---------------------------------------------------------------------


def run_errors(quick: bool) -> None:
    table = Table(
        "fisher_leave_one_out",
        "Kernel Fisher discriminant: what leave-one-out says and what is true",
        ("samples", "gamma", "exact (%)", "of the paper (%)", "test (%)", "RMS difference"),
        note=(
            "Error rates by both leave-one-outs on 100 samples, and on 2,000 fresh ones; means "
            f"over 20 draws. Ridge {RIDGE:g}, bias free, targets ±1. The exact one leaves row and "
            "column of a sample out; that of the paper leaves the row out and keeps the column. "
            "The last column compares their decision values. `python -m benchmarks fisher`"
        ),
    )
    for make, widths in (
        (make_banana, (0.3, 3.0, 30.0)),
        (make_twonorm, (0.003, 0.03, 0.3)),
        (make_ringnorm, (0.003, 0.03, 0.3)),
    ):
        for gamma in widths:
            rows = [measure_errors(make, gamma, seed) for seed in range(2 if quick else 20)]
            table.add(
                make.__name__.removeprefix("make_"), gamma, *map(float, np.mean(rows, axis=0))
            )
    table.write()


def measure_errors(make, gamma: float, seed: int) -> tuple[float, ...]:
    X, labels = make(2100, random_state=seed)
    model = KernelFisherDiscriminant(gamma=gamma, ridge=RIDGE).fit(X[:100], labels[:100])
    P = np.linalg.inv(model._kernel(X[:100], X[:100]) + 1j * np.sqrt(RIDGE) * np.eye(100))
    Y = signs(labels[:100])
    moments = Moments(P @ Y, P.sum(axis=1), np.diagonal(P))
    both = [f(Y, moments, sigma=RIDGE**0.5, penalty=0.0) for f in (fisher_loo, fisher_loo_rows)]
    errors = [100 * np.mean(values * Y <= 0) for values in both]
    test = 100 * (1 - model.score(X[100:], labels[100:]))
    return (*errors, test, float(np.sqrt(np.mean((both[0] - both[1]) ** 2))))


# -- accuracy -----------------------------------------------------------------------------------


def run_exactness(quick: bool) -> None:
    edits = 200 if quick else 2000
    table = Table(
        "fisher_exactness",
        f"Kernel Fisher discriminant: decision values after {edits:,} edits",
        ("ridge", "live − extended", "fit − extended", "eq. (4) − extended", "rebuilt (times)"),
        note=(
            f"Around 150 samples after {edits:,} single appends and removals, against the same "
            "machine in extended precision, relative to the largest decision value on 200 fresh "
            f"samples. RBF, d = 20, gamma {WIDE:g}. Eq. (4): the normal equations of saadi2004 "
            "solved directly in double precision. `python -m benchmarks fisher`"
        ),
    )
    for ridge in (1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10):
        table.add(ridge, *measure_exactness(ridge, edits))
    table.write()


def measure_exactness(ridge: float, edits: int) -> tuple:
    pool, labels = make_twonorm(400, random_state=0)
    queries, _ = make_twonorm(200, random_state=1)
    rng = np.random.default_rng(0)
    model = KernelFisherDiscriminant(gamma=WIDE, ridge=ridge)
    model.fit(pool[:150], labels[:150], ids=np.arange(150))
    for edit in range(edits):
        out = np.setdiff1d(np.arange(400), model.ids_)
        if edit % 2:
            new = rng.choice(out, 1)
            model.partial_fit(pool[new], labels[new], ids=new)
        else:
            model.forget(rng.choice(model.ids_))
    X, y = model.X_fit_, model.y_fit_
    fresh = KernelFisherDiscriminant(gamma=WIDE, ridge=ridge).fit(X, y)
    K, Kq = (make_kernel("rbf", gamma=WIDE)(Z, X) for Z in (X, queries))
    true = extended_decisions(K, Kq, signs(y), ridge)
    found = (
        model.decision_function(queries),
        fresh.decision_function(queries),
        direct_decisions(K, Kq, signs(y), ridge),
    )
    errors = (float(np.abs(values - true).max() / np.abs(true).max()) for values in found)
    return (*errors, len(model.refactorizations_))


def extended_decisions(K: np.ndarray, Kq: np.ndarray, Y: np.ndarray, ridge: float) -> np.ndarray:
    """The resolvent's formulas in extended precision, on the double-precision kernel."""
    A = K.astype(np.clongdouble)
    np.fill_diagonal(A, np.diagonal(K) + 1j * np.sqrt(np.longdouble(ridge)))
    r, s = solve_extended(A, np.column_stack([Y, np.ones(len(K))]).astype(np.clongdouble)).T
    intercept = r.sum().imag / s.sum().imag
    return np.asarray(Kq @ (r - intercept * s).real + intercept, dtype=float)


def direct_decisions(K: np.ndarray, Kq: np.ndarray, Y: np.ndarray, ridge: float) -> np.ndarray:
    """saadi2004, eq. (4)."""
    Z = np.column_stack([K, np.ones(len(K))])
    normal = Z.T @ Z
    normal[np.diag_indices(len(K))] += ridge
    return (np.column_stack([Kq, np.ones(len(Kq))]) @ np.linalg.solve(normal, Z.T @ Y))[:, 0]


def signs(labels: np.ndarray) -> np.ndarray:
    """±1, as a column."""
    return np.where(labels == labels.max(), 1.0, -1.0)[:, None]
