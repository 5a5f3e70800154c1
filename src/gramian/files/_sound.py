"""Whether the state of an estimator holds together, asked before the estimator gets it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from gramian.core.arrays import Array
from gramian.core.text import shown
from gramian.files._checks import (
    LARGEST,
    check_array,
    check_index,
    check_keys,
    check_labels,
    check_number,
    check_samples,
    check_sequence,
    check_text,
    check_whole,
    refuse,
)
from gramian.files._schema import HELD, MAY_HOLD, OPTIONAL, REQUIRED
from gramian.files._sound_basis import check_bases
from gramian.files._sound_choices import check_chosen, check_gamma, check_pair, check_selection
from gramian.files._sound_stack import check_stack, check_stack_choices


class Size(NamedTuple):
    """What lengths and labels the rest of a state must agree with."""

    n: int
    d: int
    outputs: int
    classes: Array | None
    y: Array


def check_estimator(model: Any, state: Any) -> None:
    """Raise `ModelFileError` unless ``model`` can work with this state."""
    check_keys(
        state,
        "the state",
        (
            "held",
            "X",
            "public",
            *(field.name for field in fields(model._spec().state_type)),
            *(["declared"] if is_classifier(model) else []),
        ),
        ("apart",),
    )
    size = _check_held(model, state)
    _check_public(model, state["public"], state["X"], size)
    if "declared" in state:
        _check_classes(state["declared"], size, all_held="bases" not in state)
    if "coefficients" in state:
        check_pair(state["coefficients"], "coefficients", size.n, size.outputs)
    if "bases" in state:
        check_bases(state, size.n, size.d, size.classes, size.y)
    elif state.get("weights") is not None:
        check_pair(state["weights"], "weights", size.d, size.outputs)
    if "parts" in state:
        check_stack(model, state, size.n, size.d, size.outputs)
    if "apart" in state:
        _check_apart(model, state, size)
    if state.get("kept") is not None:  # else it is selected anew from the samples
        _check_kept(state["kept"], size)
    if "slopes" in state:
        slopes = check_array(state["slopes"], "slopes", (len(state["public"]["classes_"]),), "f")
        if not (slopes > 0).all():
            refuse("slopes", "are not all positive")


def _check_held(model: Any, state: Any) -> Size:
    """Ids, targets and weights, as many as samples."""
    holdings = check_keys(state["held"], "held", HELD, MAY_HOLD)
    X = check_samples(state["X"], "X", (None, None))
    n, d = X.shape
    if n == 0 and "bases" not in state:
        refuse("X", "has no samples")
    _check_ids(holdings["_ids"], holdings["_next_id"], n)
    if "_groups" in holdings:
        check_array(holdings["_groups"], "the groups of samples", (n,), "iU")
    weight = check_array(holdings["_weight"], "the weights of samples", (n,), "f")
    if not (weight > 0).all():
        refuse("the weights of samples", "are not all positive")
    y, classes = holdings["_y"], None
    if is_classifier(model):
        check_labels(y, "y", (n,))
        classes = check_labels(state["public"].get("classes_"), "classes_", (None,))
        outputs = 1 if len(classes) == 2 else len(classes)
    else:
        check_array(y, "y", (n,) if np.ndim(y) == 1 else (n, None), "f")
        outputs = 1 if y.ndim == 1 else y.shape[1]
    if outputs == 0:
        refuse("y", "has no columns")
    _check_pairwise(model, X)
    return Size(n, d, outputs, classes, y)


def _check_ids(ids: Any, after: Any, n: int) -> None:
    check_array(ids, "the ids", (n,), "iU")
    check_whole(after, "the next id")
    if len(set(ids.tolist())) < n:
        refuse("the ids", "are not all different")
    if not 0 <= after <= LARGEST:
        refuse("the next id", "is not a number that a sample could have")


def _check_pairwise(model: Any, X: Any) -> None:
    """Samples of a precomputed kernel are its matrix."""
    kernel = getattr(model, "kernel", None)
    if not (isinstance(kernel, str) and kernel == "precomputed"):
        return
    if sparse.issparse(X) or X.shape[0] != X.shape[1]:
        refuse("X", f"is no square kernel matrix but has shape {X.shape}")
    if not np.allclose(X, X.T, rtol=1e-5, atol=1e-5 * np.abs(X).max()):
        refuse("X", "is no symmetric kernel matrix")


def _check_public(model: Any, public: Any, X: Any, size: Size) -> None:
    chosen = [f"{name}_" for name in model._spec().chosen()]
    classes = ["classes_"] if is_classifier(model) else []
    required = [name for name in (*REQUIRED, *chosen, *classes) if name not in OPTIONAL]
    check_keys(public, "public", required, OPTIONAL)
    if check_whole(public["n_features_in_"], "n_features_in_") != size.d:
        refuse("n_features_in_", f"is {shown(public['n_features_in_'])} for {size.d} features")
    if "feature_names_in_" in public:
        names = check_array(public["feature_names_in_"], "feature_names_in_", (size.d,), "OU")
        for item in names.tolist():
            check_text(item, "a feature's name")
    if "gamma_" in public:
        check_gamma(public["gamma_"], "gamma_", X, size.d)
        check_chosen(model, public, size.d)
    for ridge in ("ridge_", "C_", "epsilon_", "sigma_", "tau_", "zeta_"):
        if public.get(ridge) is not None:
            check_number(public[ridge], ridge, 0.0)
    if "C_" in public:
        check_number(public["C_"], "C_", 0.0, above=True)
    if public.get("selection_") is not None:
        check_selection(public["selection_"])
    if "cv_scores_" in public and not isinstance(public["cv_scores_"], dict):
        refuse("cv_scores_", "is no dict")


def _check_apart(model: Any, state: Any, size: Size) -> None:
    """The fold of each sample, and what was chosen without each fold."""
    apart = check_keys(state["apart"], "the folds", ("folds", "chosen"))
    chosen = check_sequence(apart["chosen"], "the choices without each fold")
    if not chosen:
        refuse("the choices without each fold", "are none")
    check_index(apart["folds"], "the folds", (size.n,), 0, len(chosen))
    fixed = {"n_features_in_": size.d, **({} if size.classes is None else {"classes_": None})}
    for values in chosen:
        check_keys(values, "the choices without a fold", model._spec().choices())
        values = dict(values)
        ridge = values.pop("chosen_ridge", "loo")
        if not isinstance(ridge, str):
            check_number(ridge, "the ridge without a fold", 0.0)
        public = {**fixed, **{f"{name}_": value for name, value in values.items()}}
        _check_public(model, public, state["X"], size)
        if "parts" in state:
            check_stack_choices(model, public, state["X"], size.d, size.outputs)


def _check_classes(declared: Any, size: Size, *, all_held: bool) -> None:
    """Sorted classes, at least two: those of the labels and those declared.

    Rows of Dask arrays are not held: then there may be more.
    """
    classes = size.classes
    assert classes is not None
    if len(declared):
        check_labels(np.asarray(declared), "declared classes", (None,))
    found = np.union1d(declared, size.y) if len(declared) else np.unique(size.y)
    if not all_held:
        found = np.union1d(found, classes) if len(found) else np.unique(classes)
    if len(classes) < 2 or not _same(classes, found):
        refuse("classes_", f"are not those of the labels ({shown(classes.tolist())})")


def _same(one: Array, other: Array) -> bool:
    return one.shape == other.shape and bool(np.all(one == other))


def _check_kept(kept: Any, size: Size) -> None:
    """For each class nothing, or its independent members and the coordinates of all."""
    labels, counts = np.unique(size.y, return_counts=True)
    members = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    if not isinstance(kept, dict) or set(kept) != set(members):
        refuse("what is kept of the classes", "is not for the classes that the samples have")
    lengths = {len(check_sequence(part, "what is kept of a class")) for part in kept.values()}
    if lengths not in ({0}, {2}):
        refuse("what is kept of the classes", f"has {lengths} entries")
    for label, part in kept.items():
        if not part:
            continue
        basis = check_index(part[0], "a basis of a class", (None,), 0, members[label])
        check_array(part[1], "coordinates of a class", (members[label], len(basis)), "f")
        if (np.diff(basis) <= 0).any():
            refuse("a basis of a class", "is not in ascending order")
