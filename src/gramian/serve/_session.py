"""One visitor's model: it learns and forgets samples of the plane, and says what to draw."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from gramian.core.arrays import Array
from gramian.serve._choices import BASIS, CURVE, REGIONS, SAMPLES, Choice, check_one_of
from gramian.serve._reading import LAYERS, Reader, outputs
from gramian.serve._script import script
from gramian.serve._toys import HEIGHT, STREAMED, WIDTH, toy

MOST = 2000
"""Samples that a session holds at most."""
LABELS = 5


class Reply(NamedTuple):
    """A message to the page: facts, and arrays of numbers by name."""

    facts: dict[str, Any]
    arrays: dict[str, Array]


class Row(NamedTuple):
    """A sample: its place, and its class (0 for a curve)."""

    x: float
    y: float
    label: int


class Session:
    """A live model of the samples that one visitor has painted.

    The rows are the truth. The model is None while they are too few for it: fewer than two classes,
    or no sample of a curve. A request that fails leaves rows, choice and model as they were.
    """

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self.model: Any = None
        self._reader = Reader(Choice())
        self._edits, self._seconds = 0, 0.0

    @property
    def choice(self) -> Choice:
        """Estimator, kernel and hyper-parameters."""
        return self._reader.choice

    def answer(self, request: Any) -> Reply:
        """Do what a message asks for; raises ValueError if it cannot be done."""
        do = request.get("do") if isinstance(request, dict) else None
        check_one_of("do", do, REQUESTS)
        return REQUESTS[str(do)](self, request)

    # -- requests -------------------------------------------------------------------------------

    def start(self, request: dict[str, Any]) -> Reply:
        """Begin anew with given samples, or with those of a named problem."""
        choice = Choice().changed(request)
        facts: dict[str, Any] = {}
        if "data" in request:
            rows = [Row(*row) for row in toy(request["data"])]
            first = STREAMED.get(request["data"], len(rows))
            holdings, facts = dict(enumerate(rows[:first])), {"stream": rows[first:]}
            facts["rows"] = [[name, *row] for name, row in holdings.items()]
        else:
            holdings = _rows(request.get("rows"))
        self._begin(choice, holdings)
        return self._picture(facts)

    def edit(self, request: dict[str, Any]) -> Reply:
        """Learn and forget samples; a moved sample comes with a new id and leaves with its old."""
        learn, forget = _rows(request.get("learn")), _ids(request.get("forget"))
        if missing := [name for name in forget if name not in self.rows]:
            raise ValueError(f"forget got id {missing[0]}, which is not held.")
        if repeated := learn.keys() & self.rows.keys():
            raise ValueError(f"learn got id {min(repeated)}, which is held already.")
        after = self.rows | learn
        for name in forget:
            after.pop(name, None)  # the model refuses an id that is given twice
        if len(after) > MOST:
            raise ValueError(
                f"a page holds {MOST} samples at most, and these would be {len(after)}."
            )
        if self.model is None or not _enough(self.choice, after):
            self._begin(self.choice, after)
        else:
            start = perf_counter()
            self._change(learn, forget)
            self._seconds = perf_counter() - start
            self.rows, self._edits = after, self._edits + len(learn) + len(forget)
            self._reader.edited()
        return self._picture()

    def set(self, request: dict[str, Any]) -> Reply:
        """Change estimator, kernel or hyper-parameters."""
        self._begin(self.choice.changed(request), self.rows)
        return self._picture()

    def choose(self, request: dict[str, Any]) -> Reply:
        """Choose width and ridge by leave-one-out, and return the path of the search."""
        if not self.choice.offer.searches:
            raise ValueError(f"{self.choice.estimator} has no closed form along a path.")
        self._require()
        start = perf_counter()
        found = _fitted(self.choice, self.rows, search=True).selection_
        seconds = perf_counter() - start
        gamma = self.choice.gamma if found.gamma is None else float(found.gamma)
        self._begin(self.choice.changed({"gamma": gamma, "ridge": float(found.ridge)}), self.rows)
        facts = {"kind": "path", "criterion": found.criterion, "ms": 1e3 * seconds}
        arrays = {name: getattr(found, name) for name in ("gammas", "ridges", "values")}
        return Reply({**facts, "gamma": gamma, "ridge": self.choice.ridge}, arrays)

    def prove(self, request: dict[str, Any]) -> Reply:
        """Compare the live model with one that is built from scratch on the same samples."""
        model, queries = self._require(), self._reader.queries
        start = perf_counter()
        refit = model.refitted()
        refit.predict(queries[:1])  # solves the system
        seconds = perf_counter() - start
        live, expected = _decisions(model, queries), _decisions(refit, queries)
        size = float(np.abs(expected).max(initial=np.finfo(float).tiny))
        facts = {
            "difference": float(np.abs(live - expected).max()) / size,
            "edits": self._edits,
            "ms": 1e3 * self._seconds,
            "refit_ms": 1e3 * seconds,
        }
        return Reply({"kind": "proof", "n": len(self.rows), **facts}, {})

    def without(self, request: dict[str, Any]) -> Reply:
        """Show the values of the model without a sample: it leaves, is drawn, and returns."""
        model, (name,) = self._require(), _ids([request.get("id")])
        if name not in self.rows:
            raise ValueError(f"id {name} is not held.")
        facts: dict[str, Any] = {"kind": "without", "id": name}
        rest = {other: row for other, row in self.rows.items() if other != name}
        if self.choice.offer.holds != SAMPLES or not _enough(self.choice, rest):
            return Reply(facts, {})
        model.forget([name])
        values = self._reader.values(model)
        self._change({name: self.rows[name]}, [])
        facts |= {"outputs": len(values), "grid": values.shape[:0:-1]}
        return Reply(facts, {"values": values})

    def details(self, request: dict[str, Any]) -> Reply:
        """The picture with what takes longer: leave-one-out values and the layers asked for."""
        layers = request.get("layers", [])
        if not isinstance(layers, list) or len(layers) > len(LAYERS):
            raise ValueError(f"layers must be a list, got {layers!r:.100}.")
        if (
            self.choice.offer.holds == REGIONS
            and self.model is not None
            and not self._reader.complete
        ):
            self.model.retune()  # edits keep the slopes
        reply = self._picture(complete=True)
        if self.model is not None:
            for name in layers:
                facts, arrays = self._reader.layer(name, self.model)
                reply.facts.update(facts)
                reply.arrays.update(arrays)
        return reply

    def python(self, request: dict[str, Any]) -> Reply:
        """Return a script that makes the same model."""
        return Reply({"kind": "python", "text": script(self.choice, self.rows)}, {})

    # -- inside ---------------------------------------------------------------------------------

    def _begin(self, choice: Choice, rows: dict[int, Row]) -> None:
        """Fit from scratch, and hold the result once it is there."""
        start = perf_counter()
        reader = Reader(choice)
        model = _fitted(choice, rows) if _enough(choice, rows) else None
        self.model, self.rows, self._reader = model, rows, reader
        self._edits, self._seconds = 0, perf_counter() - start

    def _change(self, learn: dict[int, Row], forget: list[int]) -> None:
        """Learn, then forget, by updates; what fails leaves a model of the rows as they are."""
        try:
            if learn:
                self.model.partial_fit(*_arrays(self.choice, learn), ids=list(learn))
                if self.choice.offer.holds == BASIS:
                    self.model.grow()
            if forget:
                self.model.forget(forget)
        except Exception:
            self._begin(self.choice, self.rows)
            raise

    def _require(self) -> Any:
        if self.model is None:
            raise ValueError("there is no model yet: paint samples of two classes.")
        return self.model

    def _picture(self, more: dict[str, Any] | None = None, *, complete: bool = False) -> Reply:
        facts: dict[str, Any] = {"kind": "picture", "n": len(self.rows)}
        facts |= {"gamma": self.choice.gamma, "ridge": self.choice.ridge, **(more or {})}
        if self.model is None:
            return Reply(facts, {})
        found, arrays = self._reader.picture(self.model, complete=complete)
        return Reply({**facts, **found, "edits": self._edits, "ms": 1e3 * self._seconds}, arrays)


REQUESTS: dict[str, Callable[[Session, dict[str, Any]], Reply]] = {
    name: getattr(Session, name)
    for name in ("start", "edit", "set", "choose", "prove", "without", "details", "python")
}


def _classes(choice: Choice) -> bool:
    return choice.offer.task != CURVE


def _enough(choice: Choice, rows: dict[int, Row]) -> bool:
    if not _classes(choice) or not rows:
        return len(rows) > 0
    first = next(iter(rows.values())).label
    return any(row.label != first for row in rows.values())


def _arrays(choice: Choice, rows: dict[int, Row]) -> tuple[Array, Array]:
    """Samples and targets: the plane and classes, or x and y of a curve."""
    table = np.array([*rows.values()], dtype=float)
    if _classes(choice):
        return table[:, :2], table[:, 2].astype(int)
    return table[:, :1], table[:, 1]


def _fitted(choice: Choice, rows: dict[int, Row], *, search: bool = False) -> Any:
    return choice.make_estimator(search=search).fit(*_arrays(choice, rows), ids=list(rows))


def _decisions(model: Any, queries: Array) -> Array:
    return outputs(getattr(model, "decision_function", model.predict)(queries))


def _rows(given: Any) -> dict[int, Row]:
    """Rows ``[id, x, y, class]`` of a message; raises ValueError if one is not such a row."""
    given = [] if given is None else given
    if not isinstance(given, list) or len(given) > MOST:
        raise ValueError(f"rows must be a list of at most {MOST} samples.")
    rows: dict[int, Row] = {}
    for row in given:
        if not (isinstance(row, list) and len(row) == 4 and all(map(_is_number, row))):
            raise ValueError(f"a row must be [id, x, y, class], got {row!r:.100}.")
        name, x, y, label = row
        if not (abs(x) <= WIDTH and abs(y) <= HEIGHT and label in range(LABELS)):
            raise ValueError(f"row {row!r:.100} lies outside the plane or the {LABELS} classes.")
        rows[_ids([name])[0]] = Row(float(x), float(y), int(label))
    if len(rows) < len(given):
        raise ValueError("two rows have the same id.")
    return rows


def _ids(given: Any) -> list[int]:
    """Ids of a message: whole numbers that fit into 32 bits."""
    given = [] if given is None else given
    if not isinstance(given, list):
        raise ValueError(f"ids must be a list, got {given!r:.100}.")
    for name in given:
        if not (type(name) is int and 0 <= name < 2**31):
            raise ValueError(f"an id must be a whole number from 0 to 2³¹ − 1, got {name!r:.100}.")
    return given


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
