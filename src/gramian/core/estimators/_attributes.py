"""Learned attributes that several families share."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import HOST, DenseSpec, DenseState, KernelSpec, check_positive
from gramian.core.equations import Equations
from gramian.core.estimators._estimator import LiveEstimator
from gramian.core.estimators._fitted import Fitted
from gramian.core.kernels import Kernel
from gramian.core.search import Selection


def shaped(now: Fitted, values: Array) -> Any:
    """Copy values (..., t) in their public shape, without the last axis for a single output."""
    one = values.shape[-1] == 1 and now.holdings.y.ndim == 1
    return (values[..., 0] if one else values).copy()


class DenseAttributes(LiveEstimator):
    """Parameters of an estimator on the Gram matrix, what was chosen for them, coefficients.

    The constructor of an estimator sets those that it has.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    kernel_params: Any
    metric: str | None = None
    class_weight: Any = None
    criterion: str | None = None
    callback: Any = None
    device: Any = HOST

    @property
    def kernel_(self) -> Kernel:
        """The kernel that predicts, with the width and the factors of features in use."""
        return self._dense_spec().predicts_with

    @property
    def gamma_(self) -> Any:
        """Width of the kernel, whether given or chosen; None where it has none."""
        return self._dense_spec().gamma

    @property
    def metric_(self) -> Array | None:
        """Factors of the features, of shape (n_features,); None without a metric."""
        return self._dense_spec().kernel.factors

    @property
    def selection_(self) -> Selection | None:
        """The searched path, or None if nothing was searched."""
        return self._dense_spec().selection

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the held samples, of shape (n_samples,) or (n_samples, n_outputs)."""
        now, state = self._dense_state()
        return shaped(now, state.coefficients[1])

    @property
    def intercept_(self) -> Any:
        """Intercept, a number or an array of shape (n_outputs,)."""
        now, state = self._dense_state()
        return shaped(now, state.coefficients[0])

    @property
    def factor_(self) -> str:
        """Name of the factor in use: "inverse", "cholesky", "qr", …, or "svd" at ridge 0."""
        return self._serving().engine.factor

    def _make_spec(
        self, equations: Equations, ridge: Any, kind: type[DenseSpec] = DenseSpec, **own: Any
    ) -> DenseSpec:
        """Return the spec with these equations, and the parameters that the constructor set."""
        words = (self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        kernel = KernelSpec.read(*words, searches=("loo",), device=self.device)
        kernel.check_metric(self.metric)
        return kind(
            kernel,
            equations,
            ridge,
            class_weight=self.class_weight,
            criterion=self.criterion,
            random_state=self.random_state,
            callback=self.callback,
            metric=self.metric,
            **own,
        )

    def _dense_spec(self) -> DenseSpec:
        spec = self._fitted().spec
        assert isinstance(spec, DenseSpec)
        return spec

    def _dense_state(self) -> tuple[Fitted, DenseState]:
        """Return one version of the model and what a file would store of its engine."""
        with self._lock:
            now = self._fitted()
            now = now if now.stored else self._serving()
            if "state" not in now.cache:
                now.cache["state"] = now.engine.state(now.holdings)
            return now, now.cache["state"]


class RidgeAttribute(DenseAttributes):
    """The ridge of an estimator with the parameter ``ridge``."""

    @property
    def ridge_(self) -> float:
        """λ, whether given or chosen."""
        return self._dense_spec().shift


class StrengthAttribute(DenseAttributes):
    """What an estimator with the parameter ``C`` has, and the weights of a linear kernel."""

    C: Any

    def _make_c_spec(
        self, equations: Equations, kind: type[DenseSpec] = DenseSpec, **own: Any
    ) -> DenseSpec:
        """Return the spec whose ridge is 1/C; for linear kernels it may be in primal form."""
        C = check_positive("C", self.C, "loo")
        ridge = C if isinstance(C, str) else 1.0 / C
        return self._make_spec(equations, ridge, kind, C=C, primal=True, **own)

    @property
    def C_(self) -> float:
        """Weight of the errors, whether given or chosen."""
        C = self._dense_spec().C
        assert C is not None
        assert not isinstance(C, str)
        return C

    @property
    def coef_(self) -> Any:
        """Weights of the features, (n_features,) or (n_outputs, n_features); linear kernel only."""
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise AttributeError(f"coef_ is there for the linear kernel, not for {self.kernel!r}.")
        with self._lock:
            now, state = self._dense_state()
            if state.weights is not None:
                return shaped(now, state.weights[1]).T
            X, Z = now.holdings.rows.samples(), state.coefficients[1]
            return shaped(now, np.asarray(X.T @ Z)).T
