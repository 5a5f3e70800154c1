"""Sparse kernel models by orthogonal least squares (andelic2007).

`_equations` has the paper's formulas, `_forward` its Algorithm 1, which `_candidates` and `_rules`
steer. The live state is `_engine`: bases (`_fixed_basis`) with a regression each (`_live_ridge`) on
sums over samples (`_normal_equations`). `_spec` chooses widths and ridges by `_trials`. Rows that
are not held are `_chunks` and `_chunked`; `_estimators` has the classes.
"""

from gramian.orthogonal._estimators import OrthogonalKernelClassifier, OrthogonalKernelRegressor

__all__ = [
    "OrthogonalKernelClassifier",
    "OrthogonalKernelRegressor",
]
