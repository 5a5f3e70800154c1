"""The columns of a table as nodes of an ONNX graph: one input for each, the features as output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array
from gramian.export._graph import Graph
from gramian.tables import CategoryColumn, DateColumn, NumberColumn, encode

Column = NumberColumn | DateColumn | CategoryColumn


def encode_table(graph: Graph, columns: Sequence[Column]) -> str:
    """The features of a table, from one input for each column."""
    kinds = graph.onnx.TensorProto
    parts: list[str] = []
    for column in columns:
        kind = kinds.STRING if isinstance(column, CategoryColumn) else kinds.DOUBLE
        x = graph.take(column.name, kind, 1)
        if isinstance(column, CategoryColumn):
            parts += _encode_texts(graph, column, x)
        elif isinstance(column, DateColumn):
            parts += _encode_dates(graph, column, x)
        else:
            parts += _encode_numbers(graph, column, x)
    return graph.add("Concat", *parts, axis=1)


def own_rows(
    columns: Sequence[Column], table: dict[str, Array], most: int
) -> tuple[Array, dict[str, Array]]:
    """Features of some rows that the model holds, and the same rows as inputs of its graph."""
    step = -(-len(table[columns[0].name]) // most)
    some = {column.name: table[column.name][::step] for column in columns}
    X = encode(columns, some)
    X = X.toarray() if sparse.issparse(X) else X
    return X, {c.name: _input(c, some[c.name])[:, None] for c in columns}


def _input(column: Column, values: Array) -> Array:
    if isinstance(column, DateColumn):
        times = np.array([value or "NaT" for value in values.tolist()], dtype="datetime64[s]")
        days = times.astype(np.int64) / 86_400
        return np.where(np.isnat(times), np.nan, days)
    return values


def _encode_numbers(graph: Graph, column: NumberColumn, x: str) -> list[str]:
    missing = graph.add("IsNaN", x)
    centred = graph.add("Sub", x, graph.constant(column.mean))
    scaled = graph.add("Div", centred, graph.constant(column.deviation))
    known = graph.add("Where", missing, graph.constant(0.0), scaled)
    return [known, *_mark(graph, column, missing)]


def _encode_texts(graph: Graph, column: CategoryColumn, x: str) -> list[str]:
    """One feature for each level, and one for every other text; a forgotten level is never met."""
    place = {level: j for j, level in enumerate(column.levels) if level is not None}
    number = graph.add(
        "LabelEncoder", x, domain="ai.onnx.ml", keys_strings=list(place),
        values_int64s=list(place.values()), default_int64=len(column.levels),
    )  # fmt: skip
    flat, depth = graph.add("Squeeze", number, graph.constant([1])), len(column.levels) + 1
    values = graph.constant(np.array([0.0, 1.0], dtype=np.float32))  # runtimes have no doubles here
    marks = graph.add("OneHot", flat, graph.constant(np.array(depth)), values, axis=1)
    return [_number(graph, marks)]


def _encode_dates(graph: Graph, column: DateColumn, x: str) -> list[str]:
    """Year, season, weekday and time of day, from days since 1970-01-01."""
    missing = graph.add("IsNaN", x)
    known = graph.add("Where", missing, graph.constant(0.0), x)
    day = graph.add("Floor", known)
    year, fraction = _year(graph, known, day)
    years = graph.add("Add", year, fraction)
    position = graph.add("Div", graph.add("Sub", years, graph.constant(column.mean)),
                         graph.constant(column.deviation))  # fmt: skip
    weekday = graph.add("Div", _modulo(graph, _plus(graph, day, 3.0), 7.0), graph.constant(7.0))
    cycles = [fraction, weekday, *([graph.add("Sub", known, day)] if column.has_times else [])]
    turns = [graph.add("Mul", cycle, graph.constant(2.0 * np.pi)) for cycle in cycles]
    # The cosine as a sine: runtimes have sines of double precision.
    quarters = [_plus(graph, turn, 0.5 * np.pi) for turn in turns]
    angles = graph.add("Sin", graph.add("Concat", *turns, *quarters, axis=1))
    features = graph.add("Concat", position, angles, axis=1)
    shown = graph.add("Where", missing, graph.constant(0.0), features)
    return [shown, *_mark(graph, column, missing)]


def _year(graph: Graph, x: str, day: str) -> tuple[str, str]:
    """The year of a day, and how much of it has passed at x.

    In the Gregorian calendar 400 years have 146,097 days. The year that a day's share of them names
    is the right one, the one before or the one after: its first day tells.
    """
    share = graph.add("Div", _plus(graph, day, 719_528.0), graph.constant(365.2425))
    year = graph.add("Floor", share)
    late = _number(graph, graph.add("Greater", _first_day(graph, year), day))
    year = graph.add("Sub", year, late)
    early = _number(
        graph, graph.add("LessOrEqual", _first_day(graph, _plus(graph, year, 1.0)), day)
    )
    year = graph.add("Add", year, early)
    first, after = _first_day(graph, year), _first_day(graph, _plus(graph, year, 1.0))
    fraction = graph.add("Div", graph.add("Sub", x, first), graph.add("Sub", after, first))
    return year, fraction


def _first_day(graph: Graph, year: str) -> str:
    """Days from 1970-01-01 to the first of January of a year: 365 y, and the leap days before."""
    before = _plus(graph, year, -1.0)
    total = graph.add("Mul", year, graph.constant(365.0))
    for period, sign in ((4.0, "Add"), (100.0, "Sub"), (400.0, "Add")):
        leaps = graph.add("Floor", graph.add("Div", before, graph.constant(period)))
        total = graph.add(sign, total, leaps)
    return _plus(graph, total, -719_527.0)


def _modulo(graph: Graph, x: str, n: float) -> str:
    whole = graph.add("Floor", graph.add("Div", x, graph.constant(n)))
    return graph.add("Sub", x, graph.add("Mul", whole, graph.constant(n)))


def _plus(graph: Graph, x: str, c: float) -> str:
    return graph.add("Add", x, graph.constant(c))


def _number(graph: Graph, truth: str) -> str:
    return graph.add("Cast", truth, to=graph.onnx.TensorProto.DOUBLE)


def _mark(graph: Graph, column: Any, missing: str) -> list[str]:
    return [_number(graph, missing)] if column.marks_missing else []
