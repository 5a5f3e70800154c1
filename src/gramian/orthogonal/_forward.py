"""Forward selection of kernel columns by order-recursive orthogonal least squares (andelic2007)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from gramian.core.arrays import Array, placed_like
from gramian.core.progress import log_progress
from gramian.orthogonal._candidates import SELECTION, Candidate, ColumnBlock, ColumnSource, Selector
from gramian.orthogonal._equations import OrthogonalRegression
from gramian.orthogonal._rules import ForwardRules, Path, ridge_rule

# λ is re-estimated for each column, but residual and hat diagonal follow only when it has changed
# by this fraction: GCV is flat at its minimum, and an update costs O(n m t).
_LAG = 0.02
# A rest shorter than this many rounding errors is noise, whatever `max_condition` allows.
_ROUNDINGS = 128


@dataclass(frozen=True)
class ForwardSelection:
    """The result of `forward_select`.

    The estimator is ``f(x) = w_0 + Σ_j w_j k_j(x, x_{i_j})``.

    Attributes
    ----------
    samples, kernels : ndarray of shape (m,)
        The centres in the order of their selection, and the kernel number of each.
    regression : OrthogonalRegression
        The ridge regression on the bias, which is column 0, and the columns of the centres; its
        rows are multiplied by the roots of the weights.
    path : Path
        The criteria for each size during the selection.
    stop_reason : {"loo", "gcv", "bic", "lambda", "max_basis", "ill-conditioned", "exact", \
"exhausted"}
        Why the selection stopped: by the criterion; at ``max_basis``; after 64 dependent
        candidates in a row; because nothing is left to fit; because every sample is used.
    """

    samples: Array
    kernels: Array
    regression: OrthogonalRegression
    path: Path
    stop_reason: str

    @property
    def weights(self) -> Array:
        """w of shape (m + 1, t), from ``U w = a`` (andelic2007: α̂ = U⁻¹ α̃)."""
        U, a = self.regression.basis.U, self.regression.weights
        result: Array = solve_triangular(U, a, unit_diagonal=True)
        return result


def forward_select(
    columns: ColumnBlock,
    Y: Array,
    rules: ForwardRules,
    *,
    n_kernels: int = 1,
    weight: Array | None = None,
    start: tuple[Array, Array] | None = None,
    rng: np.random.Generator | None = None,
) -> ForwardSelection:
    """Choose centres among the samples, one at a time (andelic2007, Alg. 1).

    Each step adds one column and minimises ``‖Y − K_m w‖² + λ ‖U w‖²``, where column 0 of K_m is
    the bias. U makes the columns orthogonal on the given samples: ``K_m = Q U``.

    Parameters
    ----------
    columns : callable
        ``columns(samples, kernel)`` of shape (len(samples), n): rows of the Gram matrix of one
        kernel. No other part of it is computed.
    Y : ndarray of shape (n, t)
        Floating point; its dtype is used for all arrays, and arrays of a number for each sample
        live where it does: `columns` must return theirs there.
    rules : ForwardRules
    n_kernels : int
        Each centre uses the kernel with the largest gain of 0, …, n_kernels − 1.
    weight : ndarray of shape (n,), optional
        Weights of the rows, > 0. They count as repetitions, also in GCV and BIC, where the
        number of rows is their sum. Leave-one-out removes a row with its whole weight.
    start : pair of ndarray of shape (m₀,), optional
        Samples and kernels of the first columns. They stay, whatever the criteria say.
    rng : numpy.random.Generator, optional
        Draws the candidates of ``selection="gain"``; with seed 0 if not given.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a column of ``start`` depends on the earlier ones.

    Notes
    -----
    A step with m columns costs O(n (m + p + t)) for p = 64 candidates, and eight kernel columns
    (``"gain"``), or O(n (m + t)) and one (``"residual"``). Memory: n (m + 64 + 2 t) numbers, three
    times n m while growing. A duplicate of a centre adds nothing and is skipped. With ``ridge=0``
    only ``max_condition`` bounds the weights; GCV and leave-one-out are infinite once there are as
    many columns as rows. λ has an upper limit, at which the model is nearly constant; it is reached
    if no column explains the targets.
    """
    weight = np.ones(len(Y), dtype=Y.dtype) if weight is None else weight
    roots = placed_like(np.sqrt(weight).astype(Y.dtype), Y)
    source = ColumnSource(columns, n_kernels, rules.epsilon, roots)
    limit = max(1.0 / rules.max_condition, _ROUNDINGS * float(np.finfo(Y.dtype).eps))
    selector = SELECTION[rules.selection](source, limit, rng or np.random.default_rng(0))
    regression = OrthogonalRegression(
        Y * roots[:, None], float(weight.sum()), free=int(not rules.penalize_bias)
    )
    regression.append(roots.copy(), np.empty(0, dtype=Y.dtype))
    growth = _Growth(rules, selector, regression)
    for sample, kernel in zip(*start, strict=True) if start is not None else ():
        growth.enter(selector.get(regression.basis, int(sample), int(kernel)))
    reason = growth.run()
    growth.settle()
    centres = np.array(growth.centres, dtype=np.intp).reshape(-1, 2)
    return ForwardSelection(centres[:, 0], centres[:, 1], regression, growth.path, reason)


class _Growth:
    """The loop of Alg. 1 and its results so far."""

    def __init__(
        self, rules: ForwardRules, selector: Selector, regression: OrthogonalRegression
    ) -> None:
        self.rules, self.selector, self.regression = rules, selector, regression
        self.centres: list[tuple[int, int]] = []
        self._ridge_rule = ridge_rule(rules.ridge)
        self.path = Path(total=regression.total)
        rounding = regression.plain.shape[1] * float(np.finfo(regression.plain.dtype).eps)
        self._left = np.inf
        self._nothing = (rounding * float(np.linalg.norm(regression.plain))) ** 2

    def enter(self, candidate: Candidate) -> None:
        """Add the candidate as a column of the basis."""
        self.regression.append(candidate.z, candidate.coefficients)
        self.selector.appended(self.regression.basis)
        self.centres.append((candidate.sample, candidate.kernel))
        rows = self.regression.plain.shape[1]
        most = rows if self.rules.max_basis is None else min(rows, self.rules.max_basis)
        log_progress(len(self.centres), most, f"centres at most, on {rows:,} rows")

    def run(self) -> str:
        """Choose columns until there is a reason to stop; return the reason."""
        while True:
            self._record()
            reason = self._reason()
            if reason is not None:
                return reason
            candidate = self.selector.next(self.regression)
            if candidate is None:
                return "exhausted" if self.selector.exhausted else "ill-conditioned"
            self.enter(candidate)

    def settle(self) -> None:
        """Return to the size with the best criterion, and to its λ."""
        best = self.path.best(self.rules.stopping)
        size, ridge = self.path.size[best], self.path.ridge[best]
        del self.centres[size:]
        self.regression.truncate(size + 1, ridge)

    def _reason(self) -> str | None:
        rules, path = self.rules, self.path
        if self._left <= self._nothing:
            return "exact"
        if path.ends(rules.stopping, rules.patience, rules.tol):
            return rules.stopping
        full = rules.max_basis is not None and path.size[-1] >= rules.max_basis
        return "max_basis" if full else None

    def _record(self) -> None:
        """Re-estimate λ and record the criteria of the present columns."""
        regression, path = self.regression, self.path
        shrinkage = regression.shrinkage
        self._left = shrinkage.residual
        ridge = self._ridge_rule(regression)
        if abs(ridge - regression.ridge) > _LAG * ridge:
            regression.set_ridge(ridge)
        path.size.append(len(self.centres))
        path.ridge.append(ridge)
        path.gcv.append(float(shrinkage.gcv(ridge)))
        path.loo.append(float(np.square(regression.loo()).sum()) / regression.total)
        path.bic.append(shrinkage.bic(ridge))
        path.condition.append(regression.condition)
