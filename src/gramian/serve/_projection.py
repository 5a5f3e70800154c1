"""The samples of a served model on a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian.core.arrays import Array
from gramian.core.estimators import DenseAttributes
from gramian.estimators import ESTIMATORS
from gramian.serve import _answers
from gramian.serve._live_store import Published
from gramian.tables import estimator_of

DRAWN = 1000
"""Samples of a projection at most."""


def projection(published: Published) -> dict[str, Any]:
    """The samples on a plane, at most `DRAWN` of them; computed once for a version."""
    if "projection" not in published.cache:
        sets = _answers.left_out_sets(published)
        published.cache["projection"] = {**_projected(published), "sets": sets}
    return dict(published.cache["projection"])


def _projected(published: Published) -> dict[str, Any]:
    """The plane of a projection.

    Three or more classes: the first two principal axes of their kernel Fisher discriminants. Two
    classes: their discriminant, and the probability of the own label to the model without the
    sample. Numbers: the left-out prediction and the target.
    """
    estimator = estimator_of(published.model)
    ids, y = estimator.ids_, estimator.y_fit_
    some = np.sort(np.random.default_rng(0).permutation(len(ids))[:DRAWN])
    if not is_classifier(estimator):
        target = y.reshape(len(y), -1)[:, 0]
        said = estimator.loo_predict().reshape(len(y), -1)[:, 0]
        return _points(
            published, ids[some], said[some], target[some], ["left-out prediction", "target"]
        )
    P, own = estimator.loo_predict_proba(), np.searchsorted(estimator.classes_, y)
    F = _discriminants(estimator, some)
    mine = P[np.arange(len(y)), own][some]
    if F.shape[1] == 1:
        axes = ["kernel Fisher discriminant", "probability of its label, left out"]
        facts = _points(published, ids[some], F[:, 0], mine, axes)
    else:
        centred = F - F.mean(axis=0)
        plane = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
        axes = ["first discriminant axis", "second discriminant axis"]
        facts = _points(published, ids[some], plane[:, 0], plane[:, 1], axes)
    right = P.argmax(axis=1) == own
    claims = {"claimed": P.max(axis=1)[some].tolist(), "right": right[some].tolist()}
    return {**facts, **claims, "labels": own[some].tolist()}


def _discriminants(estimator: Any, some: Array) -> Array:
    """Kernel Fisher discriminants of held samples, with the kernel of their model if it has one.

    A Gaussian kernel of the usual width stands in for several kernels, and for those of models that
    are no sums over all samples.
    """
    X, y = estimator.X_fit_[some], estimator.y_fit_[some]
    if estimator.kernel == "precomputed":
        kernel, X = "precomputed", X[:, some]
    elif isinstance(estimator, DenseAttributes):
        kernel, X = "precomputed", estimator.kernel_(X, X)
    else:
        kernel = "rbf"
    model: Any = ESTIMATORS["KernelFisherDiscriminant"]()
    model.set_params(kernel=kernel, gamma="scale", ridge="loo")
    return np.asarray(model.fit(X, y).transform(X))


def _points(
    published: Published, ids: Array, x: Array, y: Array, axes: list[str]
) -> dict[str, Any]:
    places = {"ids": ids.tolist(), "x": x.tolist(), "y": y.tolist(), "axes": axes}
    return {"version": published.version, "n": len(published.model.ids_), **places}
