"""What one sample costs to learn and to forget, against refits, the paper's QR, and memory."""

from __future__ import annotations

from time import perf_counter

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_ridge import KernelRidge

from benchmarks._harness import RESULTS, Table, time_call
from gramian import KernelDiscriminant
from gramian.gram import QRFactor
from gramian.machines import loo_by_removal

RIDGE, D, CALLS = 1e-2, 20, 128
GAMMA = 1.0 / D


def run(quick: bool) -> None:
    sizes = (200, 400) if quick else (500, 1000, 2000, 4000, 8000)
    table = Table(
        "updates",
        "One sample in, one sample out",
        (
            "n",
            "KernelRidge.fit (ms)",
            "partial_fit (ms)",
            "forget (ms)",
            "memory pass (ms)",
            "learn: refit / partial_fit",
            "forget: refit / forget",
        ),
        note=(
            f"RBF, d = {D}, ridge {RIDGE:g}, two classes. `partial_fit` and `forget` are means "
            f"over {CALLS} calls of one sample each, everything deferred folded in at the end; the "
            "refit is `sklearn.kernel_ridge.KernelRidge.fit` on the same samples, best of three. "
            "The memory pass reads the triangle of P once. `python -m benchmarks updates`"
        ),
    )
    for n in sizes:
        table.add(n, *measure(n))
    table.write()
    draw(table)
    compare_with_paper(quick)


def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + CALLS, D))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def measure(n: int) -> tuple[float, ...]:
    X, y = samples(n)
    peer = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=RIDGE)
    refit = time_call(lambda: peer.fit(X[:n], y[:n].astype(float)), repeat=3).best
    model = KernelDiscriminant(gamma=GAMMA, ridge=RIDGE).fit(X[:n], y[:n])
    learn = per_call(model, lambda i: model.partial_fit(X[n + i : n + i + 1], y[n + i : n + i + 1]))
    forget = per_call(model, lambda i: model.forget(n + i))
    pass_time = memory_pass(n)
    return tuple(
        [1e3 * t for t in (refit, learn, forget, pass_time)] + [refit / learn, refit / forget]
    )


def per_call(model: KernelDiscriminant, edit) -> float:
    """Mean seconds of ``edit(i)``, with what it deferred."""
    start = perf_counter()
    for i in range(CALLS):
        edit(i)
    model._solver.system.factor.fold()
    return (perf_counter() - start) / CALLS


def memory_pass(n: int) -> float:
    """Seconds to read n²/2 numbers once."""
    block = np.ones(n * n // 2)
    return time_call(lambda: block @ block, repeat=30).best


def draw(table: Table) -> None:
    n, refit, learn, forget, memory = (np.array(c) for c in list(zip(*table.rows, strict=True))[:5])
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.loglog(n, refit, "s-", color="0.5", label="refit (KernelRidge.fit)")
    axes.loglog(n, learn, "o-", color="C0", label="partial_fit, one sample")
    axes.loglog(n, forget, "v-", color="C1", label="forget, one sample")
    axes.loglog(n, memory, "k:", label="one pass over the triangle of P")
    axes.set(xlabel="samples held", ylabel="milliseconds", title="Cost of one update")
    axes.set_xticks(n, [f"{int(k):,}" for k in n])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(RESULTS / "updates.svg", metadata={"Date": None})
    plt.close(figure)


def compare_with_paper(quick: bool) -> None:
    n_removal, n_loo = (200, 60) if quick else (2000, 1000)
    table = Table(
        "paper_roads",
        "Against the paper's own roads",
        ("what", "n", "kim2006 (ms)", "here (ms)", "ratio"),
        note=(
            "Removal of one sample from the QR decomposition by Givens rotations (Algorithm 6) "
            "against `forget`; leave-one-out of all samples by n downdates (Algorithm 7) against "
            f"`loo_decision_function`. RBF, d = {D}, ridge {RIDGE:g}. "
            "`python -m benchmarks updates`"
        ),
    )
    X, y = samples(n_removal)
    model = KernelDiscriminant(gamma=GAMMA, ridge=RIDGE).fit(X, y)
    A = model._kernel(X, X)
    qr = QRFactor(np.diagonal(A) + RIDGE, lambda rows, cols: A[rows, cols])
    removal = time_call(lambda: qr.remove(np.array([n_removal // 2])), repeat=3).best
    forget = per_call(model, lambda i: model.forget(i))
    table.add("remove one sample", n_removal, 1e3 * removal, 1e3 * forget, removal / forget)

    X, y = X[:n_loo], y[:n_loo]
    model = KernelDiscriminant(gamma=GAMMA, ridge=RIDGE).fit(X, y)
    K, signs = model._kernel(X, X), np.where(y > 0, 1.0, -1.0)[:, None]
    downdating = time_call(lambda: loo_by_removal(K, signs, RIDGE), repeat=1).best

    def closed_form() -> None:
        model._changed()
        model.loo_decision_function()

    closed = time_call(closed_form, repeat=5).best
    table.add("leave-one-out of all", n_loo, 1e3 * downdating, 1e3 * closed, downdating / closed)
    table.write()
