"""A model in two parts: its rows, and the settings without which rows are no model.

A store keeps the parts apart. The settings are a model file whose state has no rows and nothing
that follows from rows and choices alone, such as coefficients and classes: the engine is built from
the rows. What an estimator has learned besides, such as the centres of an orthogonal basis or the
slopes of a fuzzy classifier, is among the settings. These functions are for `gramian.store`.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier

from gramian.core.arrays import Array
from gramian.core.validation import ModelFileError, check_whole, refuse
from gramian.files._archive import canonical_json, describe, read_archive, write_archive
from gramian.files._decoding import Decoder
from gramian.files._encoding import Encoder, without_derived
from gramian.files._validate import check_state
from gramian.files._validate_estimator import check_rows
from gramian.files._validate_tables import check_cells
from gramian.tables import encode, estimator_of

__all__ = [
    "Held",
    "Parts",
    "canonical_json",
    "derived_state",
    "follows_from_rows",
    "next_id_of",
    "read_values",
    "rows_of",
    "settings_of",
    "write_values",
]


class Held(NamedTuple):
    """The rows of a model: samples and, of a table, its cells by column."""

    ids: Array
    y: Array
    weight: Array
    X: Any
    """None if it has to be encoded from the cells."""

    table: dict[str, Array] | None = None
    groups: Array | None = None


def rows_of(model: Any, start: int = 0) -> Held:
    """What the model holds now from position ``start`` on, in the order of ``ids_``.

    A model of a table has features, too: its estimator's, which its cells must encode to.
    """
    estimator = estimator_of(model)
    held, table = estimator._fitted().holdings, None
    if estimator is not model:
        table = {name: values[start:] for name, values in model.table_.items()}
    X = held.rows.take(np.arange(start, len(held)))
    X = X if sparse.issparse(X) else np.asarray(X)
    groups = None if held.groups is None else held.groups[start:]
    return Held(held.ids[start:], held.y[start:], held.weight[start:], X, table, groups)


def next_id_of(model: Any) -> int:
    """The next number for a row without an id."""
    state = model._get_state()
    return int(state["next_id"] if "next_id" in state else state["held"]["_next_id"])


def settings_of(model: Any) -> bytes:
    """A model file of everything but rows and what follows from them."""
    encoder, estimator = Encoder(), estimator_of(model)
    body = {"estimator": encoder.described(estimator, _without_rows(estimator))}
    if estimator is not model:
        state = model._get_state()
        rows = ("estimator_", "table_", "next_id")
        rest = {name: value for name, value in state.items() if name not in rows}
        body["model"] = encoder.described(model, rest)
    return _archived(body, encoder)


def follows_from_rows(model: Any) -> bool:
    """Whether all that edits change in the estimator follows from its rows."""
    return _follows(estimator_of(model))


def _follows(estimator: Any) -> bool:
    """The same, of an estimator; that of a fitted one has read its parameters already."""
    spec = estimator._now.spec if "_now" in vars(estimator) else estimator._spec()
    return bool(spec.state_type.follows_from_rows)


def derived_state(model: Any) -> dict[str, Any]:
    """What predictions need and follows from the rows: `model_of` takes it, to save time."""
    estimator = estimator_of(model)
    state = estimator._get_state()
    kept = without_derived(estimator, state)
    return {name: value for name, value in state.items() if name not in kept}


class Parts:
    """Settings as `settings_of` wrote them, read without trust.

    Attributes
    ----------
    samples : ndarray or CSR matrix with no rows
        Of the type in which the estimator holds samples.
    targets : ndarray with no rows
    columns : list of NumberColumn and CategoryColumn, or None
        Of a model of a table.
    """

    samples: Any
    targets: Array
    columns: list[Any] | None

    def __init__(self, settings: bytes) -> None:
        archive = read_archive(BytesIO(settings))
        decoder, document = Decoder(archive.members), archive.document
        self._estimator = decoder.unfitted(document["estimator"])
        self._state = decoder.value(document["estimator"]["state"])
        self._table, self._rest = None, {}
        if "model" in document:
            self._table = decoder.unfitted(document["model"])
            self._rest = decoder.value(document["model"]["state"])
        self.samples, self.targets = self._state["X"], self._state["held"]["_y"]
        self.columns = self._rest.get("columns_")

    @cached_property
    def _follows(self) -> bool:
        """Whether all that edits change follows from the rows."""
        return _follows(self._estimator)

    @cached_property
    def _classifies(self) -> bool:
        return bool(is_classifier(self._estimator))

    def model(self, holdings: Held, next_id: int, known: dict[str, Any] | None = None) -> Any:
        """The model of these rows; without ``known`` its engine is built now, O(n³).

        Raises
        ------
        ModelFileError
            If rows and settings do not fit one another.
        """
        estimator = clone(self._estimator)
        estimator._set_state(self._state_of(holdings, self._features(holdings), next_id, known))
        if known is None and self._follows:
            now = estimator._fitted()
            estimator._now = now.moved(now.holdings, now.engine.fresh(now.holdings))
        return self._whole(estimator, holdings, next_id)

    def _whole(self, estimator: Any, holdings: Held, next_id: int) -> Any:
        """The estimator, or the model of a table around it."""
        if self._table is None:
            return estimator
        rest = {**self._rest, "estimator_": estimator, "table_": holdings.table, "next_id": next_id}
        model = clone(self._table)
        check_state(model, rest)
        model._set_state(rest)
        return model

    def fresh(self, holdings: Held, next_id: int) -> Any:
        """The model of these rows, where the settings were written for others.

        Choices are those of the settings. An estimator that learns more than follows from rows and
        choices, such as the centres of a basis, makes its choices anew: its own may be from rows
        that are gone.
        """
        own = {field.name for field in fields(self._estimator._spec().state_type)}
        kept = {name: value for name, value in self._state.items() if name not in own}
        public = {name: value for name, value in kept["public"].items() if name != "classes_"}
        estimator = clone(self._estimator)
        bare = {**kept, "public": public}
        estimator._set_state(self._filled(holdings, self._features(holdings), next_id, bare))
        model = self._whole(estimator, holdings, next_id)
        if not self._follows:
            model.reselect(fresh=True)
        return model

    def check_model(self, model: Any, next_id: int) -> None:
        """Raise ModelFileError if these settings and the model's rows could not be read again."""
        holdings = rows_of(model)
        self._state_of(holdings, holdings.X, next_id, None)
        if self._table is not None:
            rest = {"table_": holdings.table, "next_id": next_id}
            check_state(self._table, {**self._rest, **rest, "estimator_": estimator_of(model)})

    def check_new_rows(self, model: Any, rows: Held, next_id: int) -> None:
        """The same where all other rows of the model were read or checked with these settings."""
        check_whole(next_id, "the next id")
        if self._classifies and len(model.classes_) < 2:
            refuse("classes_", "are fewer than two")
        if len(rows.ids):
            width, classifies = self.samples.shape[1], self._classifies
            check_rows(_held(rows, next_id), rows.X, width, classifies=classifies)
            if self.columns is not None:
                check_cells(self.columns, rows.table, rows.X)

    def _state_of(self, holdings: Held, X: Any, next_id: int, known: Any) -> dict[str, Any]:
        """The estimator's state, checked; what rows can rebuild is left out if it is bad."""
        state = self._filled(holdings, X, next_id, self._state)
        if self._follows:
            state |= known or {}
        try:
            check_state(self._estimator, state)
        except ModelFileError:
            if state.get("kept") is None:
                raise
            state["kept"] = None
            check_state(self._estimator, state)
        return state

    def _features(self, holdings: Held) -> Any:
        """The features of rows, in the form in which the estimator holds samples."""
        if self.columns is None:
            return holdings.X
        X = encode(self.columns, holdings.table or {}).astype(self.samples.dtype, copy=False)
        if sparse.issparse(self.samples):
            return sparse.csr_array(X)
        return X.toarray() if sparse.issparse(X) else X

    def _filled(self, holdings: Held, X: Any, next_id: int, bare: Any) -> dict[str, Any]:
        """A state of the estimator with rows, and the classes that they have."""
        state = {**bare, "held": _held(holdings, next_id), "X": X}
        if self._classifies and "classes_" not in state["public"]:
            declared, present = state["declared"], np.unique(holdings.y)
            classes = np.union1d(present, declared) if len(declared) else present
            state["public"] = {**state["public"], "classes_": classes}
        return state


def _held(rows: Held, next_id: int) -> dict[str, Any]:
    """Rows as the state of an estimator has them, without their features."""
    held = {"_ids": rows.ids, "_y": rows.y, "_weight": rows.weight, "_next_id": next_id}
    return held if rows.groups is None else {**held, "_groups": rows.groups}


def write_values(values: dict[str, Any]) -> bytes:
    """Plain values and arrays in the form of a model file."""
    encoder = Encoder()
    return _archived({"values": encoder.value(values, "a value")}, encoder)


def read_values(content: bytes) -> dict[str, Any]:
    """What `write_values` wrote."""
    archive = read_archive(BytesIO(content))
    found = Decoder(archive.members).value(archive.document["values"])
    if not isinstance(found, dict):
        raise ModelFileError("holds no values by name.")
    return found


def _archived(body: dict[str, Any], encoder: Encoder) -> bytes:
    stream = BytesIO()
    write_archive(stream, {**body, "members": describe(encoder.members)}, encoder.members)
    return stream.getvalue()


def _without_rows(estimator: Any) -> dict[str, Any]:
    """Arrays keep their types, and have no rows."""
    state = estimator._get_state()
    bare = {**without_derived(estimator, state), "X": state["X"][:0]}
    bare["held"] = {name: state["held"][name][:0] for name in ("_ids", "_y", "_weight")}
    if _follows(estimator):
        public = state["public"].items()
        bare["public"] = {name: value for name, value in public if name != "classes_"}
    return bare
