"""The configurations: every estimator in every variant, with samples to learn and to ask for.

A new estimator enters by itself, a new variant by one line in `VARIANTS`.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone, is_classifier

from gramian.estimators import ESTIMATORS

Array = np.ndarray

EXTRA, ASKED, FEATURES = 4, 5, 3
"""Samples that a model may learn, queries, features."""
GAMMA, WIDTHS = 0.5, (0.2, 0.5, 0.9)
FIXED = {
    "gamma": GAMMA,
    "ridge": 0.1,
    "C": 10.0,
    "max_basis": 8,
    "tune": False,
    "transductive": None,
    "weights": (0.7, 0.3),
}
"""Numbers in place of searches, for those estimators that have these parameters."""
SECOND = "laplacian"
"""The second kernel of an estimator that takes several."""


def product(A: Array, B: Array) -> Array:
    """A kernel that is a function."""
    return (1.0 + A @ B.T) ** 2


@dataclass(frozen=True)
class Variant:
    """What differs from an estimator with the rbf kernel, fixed numbers and float64 arrays.

    ``params`` are set where ``chosen`` does not take the estimator's own default for them. The
    ``options`` are those of ``gramian fit``; None if the command line cannot say it. A model holds
    ``n`` samples; if they are ``plain``, one feature says it all.
    """

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    chosen: tuple[str, ...] = ()
    kind: str | None = None
    classes: int = 3
    targets: int = 0
    weighted: bool = False
    n: int = 26
    plain: bool = False
    dtype: str = "float64"
    form: str = "array"
    package: str | None = None
    tables: bool = True
    options: tuple[str, ...] | None = ("--gamma", str(GAMMA), "--ridge", "0.1")


def kernel(name: str, *, gamma: Any = GAMMA, **other: Any) -> Variant:
    """A variant by its kernel."""
    options = ("--kernel", name, "--gamma", str(gamma), "--ridge", "0.1")
    return Variant(f'kernel="{name}"', {"kernel": name}, options=options, **other)


SEARCHED = ("gamma", "ridge", "C", "weights", "tune")
"""Parameters whose defaults are searches."""
VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("rbf"),
        kernel("laplacian"),
        kernel("exponential"),
        kernel("linear"),
        Variant('kernel="poly"', {"kernel": "poly", "gamma": 0.1, "degree": 2}, options=None),
        Variant("a function as kernel", {"kernel": product}, options=None),
        Variant("precomputed", {"kernel": "precomputed"}, form="kernel", options=None),
        Variant("tuned", chosen=SEARCHED, options=()),
        Variant('kernel="loo"', {"kernel": "loo"}, chosen=SEARCHED, options=("--kernel", "loo")),
        Variant("a width per feature", {"gamma": WIDTHS}, options=None),
        Variant(
            "laplacian, a width per feature",
            {"kernel": "laplacian", "gamma": WIDTHS},
            options=None,
        ),
        Variant(
            "a tuned width per feature",
            {"metric": "ard"},
            chosen=("gamma", "ridge", "C", "weights"),
            options=("--metric", "ard"),
        ),
        Variant(
            "metric",
            {"metric": "diagonal"},
            n=40,
            plain=True,
            options=("--metric", "diagonal", "--gamma", str(GAMMA), "--ridge", "0.1"),
        ),
        Variant(
            "laplacian with metric",
            {"kernel": "laplacian", "metric": "diagonal"},
            n=40,
            plain=True,
            options=None,
        ),
        Variant("thresholds", {"metric": "diagonal", "thresholds": True}, n=30, options=None),
        Variant("class weights", {"class_weight": {"class 0": 3.0}}, options=None),
        Variant("balanced class weights", {"class_weight": "balanced"}, options=None),
        Variant("sample weights", weighted=True, tables=False),
        Variant(
            "float32",
            dtype="float32",
            options=("--float32", "--gamma", str(GAMMA), "--ridge", "0.1"),
        ),
        Variant("sparse (CSR)", form="csr", tables=False),
        Variant("two classes", kind="classifier", classes=2),
        Variant("many classes", kind="classifier", classes=6),
        Variant("several targets", kind="regressor", targets=2, tables=False),
        Variant("tensors", form="tensor", package="torch", tables=False),
        Variant("device", {"device": "cpu"}, package="torch", options=None),
    )
}


@dataclass(frozen=True)
class Case:
    """One configuration: the estimator of a name in the variant of a name."""

    estimator: str
    variant: str

    def __str__(self) -> str:
        return f"{self.estimator}, {self.variant}"

    @property
    def cls(self) -> Any:
        return ESTIMATORS[self.estimator]

    @property
    def how(self) -> Variant:
        return VARIANTS[self.variant]

    @property
    def classifies(self) -> bool:
        return is_classifier(self.cls())

    @property
    def takes_several(self) -> bool:
        """Whether its kernel is a list of kernels."""
        return not isinstance(self.cls().kernel, str)

    @property
    def absent(self) -> str | None:
        """Why there is no such configuration, if it is no question of refusing it."""
        kind = "classifier" if self.classifies else "regressor"
        if self.how.kind not in (None, kind):
            return f"for {self.how.kind}s"
        suffixes = ("metric", "thresholds") if self.takes_several else ()
        known = {**self.cls().get_params(), **dict.fromkeys(suffixes)}
        for name in self.how.params:
            if name not in known:
                return f"has no parameter {name}"
        return None

    @property
    def makes_choices(self) -> bool:
        """Whether something is chosen on samples, so that a fit to others would choose anew."""
        known = self.cls().get_params()
        return "max_basis" in known or bool(self.how.chosen) or "metric" in self.how.params

    # -- samples --------------------------------------------------------------------------------

    @cached_property
    def X(self) -> Array:
        """All samples as vectors: n to hold, EXTRA to learn, ASKED queries."""
        return np.random.default_rng(7).standard_normal((self.how.n + EXTRA + ASKED, FEATURES))

    @cached_property
    def y(self) -> Array:
        """Their targets."""
        rng = np.random.default_rng(8)
        noise = 0.3 * rng.standard_normal((len(self.X), 2))
        signal = np.column_stack([self.X[:, 0] + np.sin(2 * self.X[:, 1]), self.X[:, 2]]) + noise
        if self.how.plain:
            signal = np.column_stack([3.0 * self.X[:, 0], self.X[:, 0]])
        if not self.classifies:
            return signal if self.how.targets else signal[:, 0]
        order = np.argsort(np.argsort(signal[:, 0]))
        names = np.array([f"class {k}" for k in range(self.how.classes)])
        return names[order * self.how.classes // len(order)]

    @cached_property
    def weight(self) -> Array:
        """Their weights."""
        some = np.random.default_rng(9).uniform(0.5, 2.0, len(self.X))
        return some if self.how.weighted else np.ones(len(self.X))

    @property
    def held(self) -> Array:
        return np.arange(self.how.n)

    @property
    def more(self) -> Array:
        return np.arange(self.how.n, self.how.n + EXTRA)

    @property
    def asked(self) -> Array:
        return np.arange(self.how.n + EXTRA, len(self.X))

    def form(self, X: Array, to: Array | None = None) -> Any:
        """Samples as this configuration takes them; ``to`` are those that the model holds."""
        if self.how.form == "kernel":
            return kernel_values("rbf", GAMMA, X, X if to is None else to)
        X = X.astype(self.how.dtype)
        if self.how.form == "csr":
            return sparse.csr_array(X)
        if self.how.form == "tensor":
            import torch

            return torch.from_numpy(X)
        return X

    def queries(self, model: Any, samples: Array | None = None) -> Any:
        """Samples to ask a model for."""
        return self.form(self.X[self.asked if samples is None else samples], self.X[model.ids_])

    def queries_to_add(self, model: Any) -> Any:
        """Queries for what adds them to the samples: a kernel matrix has k(x, x) at its end."""
        X = self.queries(model)
        return np.column_stack([X, np.ones(len(X))]) if self.how.form == "kernel" else X

    def options(self, samples: Array) -> dict[str, Any]:
        """What fit and partial_fit take besides samples and targets."""
        weights = {"sample_weight": self.weight[samples]} if self.how.weighted else {}
        return {"ids": samples, **weights}

    def to_learn(self, model: Any, samples: Array) -> Any:
        """Samples in the form in which a model learns them."""
        if self.how.form == "kernel":
            return self.form(self.X[samples], self.X[np.append(model.ids_, samples)])
        return self.form(self.X[samples])

    # -- models ---------------------------------------------------------------------------------

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the estimator, but for searches that are its defaults."""
        known = self.cls().get_params()
        fixed = {k: v for k, v in FIXED.items() if k in known and k not in self.how.chosen}
        if not self.takes_several:
            return {"kernel": "rbf", **fixed, **self.how.params}
        if self.how.chosen == SEARCHED and not self.how.params:
            return fixed  # the kernels that it takes by default
        return _for_several({"kernel": "rbf", **fixed, **self.how.params})

    def unfitted(self) -> Any:
        """The estimator."""
        return self.cls(**self.params)

    def fit(self, samples: Array | None = None, **options: Any) -> Any:
        """A model of some samples, fitted from scratch."""
        rows = self.held if samples is None else np.asarray(samples)
        options = {**self.options(rows), **options}
        return self.unfitted().fit(self.form(self.X[rows]), self.y[rows], **options)

    def model(self) -> Any:
        """A copy of the model of the samples to hold."""
        return deepcopy(_fitted(self))

    def without(self, sample: int) -> Any:
        """The model without a sample."""
        return self.model().forget([sample])

    def values(self, model: Any, samples: Array | None = None) -> Array:
        """Decision values or predictions of a model for queries."""
        X = self.queries(model, samples)
        return as_array(model.decision_function(X) if self.classifies else model.predict(X))

    def expected(self, model: Any, y: Array | None = None) -> Array:
        """Values for queries of a model fitted from scratch to what ``model`` should hold.

        If something was chosen on samples, of one with the same choices.
        """
        ids, y = model.ids_, self.y if y is None else y
        if self.makes_choices:
            return self.values(model.refitted())
        fresh = clone(model).fit(self.form(self.X[ids]), y[ids], **self.options(ids))
        return self.values(fresh)

    def close(self, a: Any, b: Any, tol: float = 1e-9) -> None:
        """Assert equality up to rounding, relative to the largest value."""
        a, b = as_array(a), as_array(b)
        tol = 2e-4 if self.how.dtype == "float32" else tol  # of values of order 1, through cond 1e3
        np.testing.assert_allclose(a, b, rtol=0, atol=tol * max(1.0, np.abs(b).max(initial=0.0)))

    def changed_label(self, sample: int) -> Any:
        """Another target for a sample: another class that is there, or another number."""
        if not self.classifies:
            return self.y[sample] + 1.0
        return next(label for label in np.unique(self.y[self.held]) if label != self.y[sample])


def _for_several(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of an estimator that takes a list of kernels, and what each has as a suffix."""
    first = params.pop("kernel")
    metric, gamma = params.pop("metric", None), params.get("gamma")
    if metric:
        first = f"{first}+{metric}"
    if params.pop("thresholds", None):
        first = f"{first}+thresholds"
    if isinstance(gamma, tuple):
        params["gamma"] = [gamma, GAMMA]
    return {"kernel": (first, "rbf" if first == SECOND else SECOND), **params}


@cache
def _fitted(case: Case) -> Any:
    return case.fit()


def as_array(values: Any) -> Array:
    """Values on the host, of whatever kind they were."""
    return values.cpu().numpy() if hasattr(values, "cpu") else np.asarray(values)


def kernel_values(name: Any, gamma: Any, A: Array, B: Array, coef0: float = 1.0) -> Array:
    """The named kernel of two sets of samples, by its formula."""
    if callable(name):
        return name(A, B)
    widths = np.broadcast_to(np.asarray(gamma, dtype=float), (A.shape[1],))
    if name == "linear":
        return A @ B.T
    if name == "poly":
        return (gamma * A @ B.T + coef0) ** 2
    if name == "laplacian":
        return np.exp(-cdist(A * widths, B * widths, "cityblock"))
    if name == "exponential":
        return np.exp(-cdist(A * widths, B * widths))
    return np.exp(-cdist(A * np.sqrt(widths), B * np.sqrt(widths), "sqeuclidean"))


def all_cases() -> list[Case]:
    """Every configuration that there is, whether or not its package is installed."""
    every = (Case(name, variant) for name in ESTIMATORS for variant in VARIANTS)
    return [case for case in every if case.absent is None]
