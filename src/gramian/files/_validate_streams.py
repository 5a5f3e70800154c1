"""Whether a window, or a model for River around one, holds together."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian.core.validation import (
    check_array,
    check_index,
    check_keys,
    check_labels,
    check_number,
    check_samples,
    check_sequence,
    check_whole,
    refuse,
)
from gramian.files._validate_estimator import check_as_fit_does
from gramian.stream import SlidingWindow
from gramian.stream._validation import check_parameters

_SAMPLES = ("X", "y", "ids", "times", "names")
_REST = ("estimator_", "now", "dated", "next_id", "selected_at")


def check_stream_parameters(model: Any) -> None:
    """Raise `ModelFileError` unless these are parameters with which a window can begin."""

    def begin() -> None:
        window = model if isinstance(model, SlidingWindow) else model._new_window()
        if not hasattr(window.estimator, "_spec"):
            refuse("the parameter estimator", "is no estimator of this package")
        check_parameters(window)

    check_as_fit_does(begin)


def check_window(model: Any, state: Any) -> None:
    """Raise `ModelFileError` unless a window can work with this state."""
    check_keys(state, "the state", (*_SAMPLES, *_REST))
    X = check_samples(state["X"], "X", (None, None))
    n = X.shape[0]
    if is_classifier(model.estimator):
        check_labels(state["y"], "y", (n,))
    else:
        check_array(state["y"], "y", (n, *np.shape(state["y"])[1:2]))
    next_id = check_whole(state["next_id"], "the next id")
    check_whole(state["selected_at"], "the time of the last selection")
    ids = check_index(state["ids"], "ids", (n,), 0, next_id)
    if (np.diff(ids) <= 0).any():
        refuse("ids", "do not ascend")
    if not isinstance(state["dated"], bool):
        refuse("the times", "do not say whether they are dates")
    check_array(state["times"], "the times", (n,), "i" if state["dated"] else "iuf")
    check_number(state["now"], "the present time")
    if state["names"] is not None:
        check_labels(state["names"], "the names of features", (X.shape[1],))
    _check_model(model, state["estimator_"], ids, X.shape[1])


def _check_model(window: Any, model: Any, ids: Any, width: int) -> None:
    if model is None:
        return
    if type(model) is not type(window.estimator) or not model.__sklearn_is_fitted__():
        refuse("estimator_", "is no fitted estimator of the class that was asked for")
    if not np.array_equal(model.ids_, ids) or model.n_features_in_ != width:
        refuse("estimator_", "does not hold the samples of the window")


def check_river(model: Any, state: Any) -> None:
    """Raise `ModelFileError` unless a model for River can work with this state."""
    classifies = "labels" in model._get_state()
    check_keys(state, "the state", ("window", "features", *(["labels"] if classifies else [])))
    names = check_sequence(state["features"], "the features")
    if type(state["window"]) is not SlidingWindow:
        refuse("the window", f"is a {type(state['window']).__name__}")
    if len(set(names)) < len(names) or len(names) > state["window"].n_features_in_:
        refuse("the features", "are not all different, or more than the samples have")
    if classifies:
        labels = check_sequence(state["labels"], "the labels")
        check_index(state["window"].y_fit_, "y", (None,), 0, len(labels))
