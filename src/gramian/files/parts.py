"""A model in two parts: its rows, and the settings without which rows are no model.

A store keeps the parts apart. The settings are a model file whose state has no rows and nothing
that follows from rows and choices alone, such as coefficients and classes: the engine is built from
the rows. What a machine has learned besides, such as the centres of an orthogonal basis or the
slopes of a fuzzy classifier, is among the settings. These functions are for `gramian.store`.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gramian.core.arrays import Array
from gramian.files._archive import canonical_json, describe, read_archive, write_archive
from gramian.files._decoding import Decoder
from gramian.files._encoding import FOLLOWING, Encoder, without_derived
from gramian.files._errors import ModelFileError
from gramian.files._soundness import check_state
from gramian.tables import TableModel, encode

__all__ = [
    "Held",
    "Parts",
    "canonical_json",
    "following",
    "follows_from_rows",
    "machine_of",
    "next_id_of",
    "read_values",
    "rows_of",
    "settings_of",
    "write_values",
]

_COUNTED = ("_ids", "_y", "_weight")


class Held(NamedTuple):
    """The rows of a model: samples or, of a table, its cells by column."""

    ids: Array
    y: Array
    weight: Array
    X: Any
    table: dict[str, Array] | None = None


def machine_of(model: Any) -> Any:
    """The estimator in a model of a table; any other model is its own."""
    return model.estimator_ if isinstance(model, TableModel) else model


def rows_of(model: Any) -> Held:
    """What the model holds now, in the order of ``ids_``."""
    machine = machine_of(model)
    own = machine.ids_, machine.y_fit_, machine.sample_weight_
    return Held(*own, None, model.table_) if machine is not model else Held(*own, machine.X_fit_)


def next_id_of(model: Any) -> int:
    """The next number for a row without an id."""
    state = model._get_state()
    return int(state["next_id"] if "next_id" in state else state["held"]["_next_id"])


def settings_of(model: Any) -> bytes:
    """A model file of everything but rows and what follows from them."""
    encoder, machine = Encoder(), machine_of(model)
    body = {"machine": encoder.described(machine, _without_rows(machine._get_state()))}
    if machine is not model:
        state = model._get_state()
        rows = ("estimator_", "table_", "next_id")
        rest = {name: value for name, value in state.items() if name not in rows}
        body["model"] = encoder.described(model, rest)
    stream = BytesIO()
    write_archive(stream, {**body, "members": describe(encoder.members)}, encoder.members)
    return stream.getvalue()


def follows_from_rows(model: Any) -> bool:
    """Whether all that edits change in the machine follows from its rows."""
    return "coefficients" in machine_of(model)._state_keys


def following(model: Any) -> dict[str, Any]:
    """What predictions need and follows from the rows: `model_of` takes it, to save time."""
    state = machine_of(model)._get_state()
    return {name: state[name] for name in FOLLOWING if "coefficients" in state and name in state}


class Parts:
    """Settings as `settings_of` wrote them, read without trust.

    Attributes
    ----------
    samples : ndarray or CSR matrix with no rows
        Of the type in which the machine holds samples.
    targets : ndarray with no rows
    columns : list of NumberColumn and CategoryColumn, or None
        Of a model of a table.
    """

    def __init__(self, settings: bytes) -> None:
        archive = read_archive(BytesIO(settings))
        decoder, document = Decoder(archive.members), archive.document
        self._machine = decoder.unfitted(document["machine"])
        self._state = decoder.value(document["machine"]["state"])
        self._table, self._rest = None, {}
        if "model" in document:
            self._table = decoder.unfitted(document["model"])
            self._rest = decoder.value(document["model"]["state"])
        self.samples, self.targets = self._state["X"], self._state["held"]["_y"]
        self.columns = self._rest.get("columns_")

    def model(self, held: Held, next_id: int, known: dict[str, Any] | None = None) -> Any:
        """The model of these rows; without ``known`` its engine is built now, O(n³).

        Raises
        ------
        ModelFileError
            If rows and settings do not fit one another.
        """
        X = held.X if self.columns is None else encode(self.columns, held.table or {})
        machine = clone(self._machine)
        state = self._state_of(held, X, next_id, known)
        builds = known is None and "coefficients" in machine._state_keys
        machine._set_state(state)
        if builds:
            now = machine._fitted()
            machine._now = now.moved(now.held, now.engine.fresh(now.held))
        if self._table is None:
            return machine
        rest = {**self._rest, "estimator_": machine, "table_": held.table, "next_id": next_id}
        model = clone(self._table)
        check_state(model, rest)
        model._set_state(rest)
        return model

    def rehearse(self, model: Any, next_id: int) -> None:
        """Raise ModelFileError if these settings and the model's rows could not be read again."""
        machine, held = machine_of(model), rows_of(model)
        self._state_of(held, machine.X_fit_, next_id, None)
        if self._table is not None:
            rest = {"estimator_": machine, "table_": held.table, "next_id": next_id}
            check_state(self._table, {**self._rest, **rest})

    def _state_of(self, held: Held, X: Any, next_id: int, known: Any) -> dict[str, Any]:
        """The state of the machine, checked; what the rows can rebuild is left out if it is bad."""
        state = self._filled(held, X, next_id)
        if "coefficients" in self._machine._state_keys:
            state |= known or self._no_coefficients(state, held)
        try:
            check_state(self._machine, state)
        except ModelFileError:
            if state.get("kept") is None:
                raise
            state["kept"] = None
            check_state(self._machine, state)
        return state

    def _filled(self, held: Held, X: Any, next_id: int) -> dict[str, Any]:
        """The state of the machine with rows, and the classes that they have."""
        own = {"_ids": held.ids, "_y": held.y, "_weight": held.weight, "_next_id": next_id}
        state = {**self._state, "held": own, "X": X}
        if "classes_" in self._machine._state_names and "classes_" not in state["public"]:
            declared, present = state["declared"], np.unique(held.y)
            classes = np.union1d(present, declared) if len(declared) else present
            state["public"] = {**state["public"], "classes_": classes}
        return state

    def _no_coefficients(self, state: dict[str, Any], held: Held) -> dict[str, Any]:
        """In place of coefficients that are not there yet."""
        classes = state["public"].get("classes_")
        if classes is None:
            outputs = 1 if held.y.ndim == 1 else held.y.shape[1]
        else:
            outputs = 1 if len(classes) == 2 else len(classes)
        none: dict[str, Any] = dict.fromkeys(self._machine._state_keys)
        return none | {"coefficients": (np.zeros(outputs), np.zeros((len(held.ids), outputs)))}


def write_values(values: dict[str, Any]) -> bytes:
    """Plain values and arrays in the form of a model file."""
    encoder, stream = Encoder(), BytesIO()
    body = {"values": encoder.value(values, "a value")}
    write_archive(stream, {**body, "members": describe(encoder.members)}, encoder.members)
    return stream.getvalue()


def read_values(content: bytes) -> dict[str, Any]:
    """What `write_values` wrote."""
    archive = read_archive(BytesIO(content))
    found = Decoder(archive.members).value(archive.document["values"])
    if not isinstance(found, dict):
        raise ModelFileError("holds no values by name.")
    return found


def _without_rows(state: dict[str, Any]) -> dict[str, Any]:
    """Arrays keep their types, and have no rows."""
    bare = {**state, "X": state["X"][:0]}
    bare["held"] = {name: state["held"][name][:0] for name in _COUNTED}
    if "coefficients" in state:
        public = state["public"].items()
        bare["public"] = {name: value for name, value in public if name != "classes_"}
        return without_derived(bare)
    return bare
