"""A row as bytes, the same bytes wherever it is written: what is stored and committed to.

    salt (32 random bytes) | length of the payload (4 bytes) | payload | zeros up to 64·k bytes

    payload = JSON of [arrival, id, target, weight, cells, due, group] | 0 | features

The group, to whom the row belongs, is there if rows have groups.

Features are the bytes of a dense row, or the positions (int32) and values of a sparse one; a row of
a table has cells instead. A row that is withheld has the time when it is due to be erased. The salt
is new for every row and is erased with it, so that no digest of the row can be found by trial
afterwards.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array
from gramian.files.parts import Held, Parts, canonical_json
from gramian.tables import NumberColumn

SALT = 32
_HEAD = SALT + 4
_STEP = 64


class Row(NamedTuple):
    """A row as it is held, with the number of its arrival."""

    arrival: int
    id: int | str
    target: Any
    weight: float
    cells: list[Any] | None
    features: bytes
    due: str | None = None
    group: int | str | None = None


def pack(row: Row) -> bytes:
    """The row with a new salt."""
    facts = [row.arrival, row.id, row.target, row.weight, row.cells, row.due]
    head = canonical_json(facts if row.group is None else [*facts, row.group])
    payload = head + b"\0" + row.features
    content = secrets.token_bytes(SALT) + len(payload).to_bytes(4, "big") + payload
    return content + bytes(-len(content) % _STEP)


def is_free(content: bytes) -> bool:
    """Whether the place holds no row: it is all zeros."""
    return not any(content)


def unpack(content: bytes) -> Row:
    """The inverse of `pack`.

    Raises
    ------
    ValueError
        If these are not the bytes of a row, down to the last.
    """
    size = int.from_bytes(content[SALT:_HEAD], "big")
    end = _HEAD + size
    if len(content) < end or len(content) - end >= _STEP or any(content[end:]):
        raise ValueError("a row is not as it was written.")
    head, _, features = content[_HEAD:end].partition(b"\0")
    arrival, name, target, weight, cells, due, *group = json.loads(head)
    return Row(arrival, name, target, weight, cells, features, due, *group)


def rows_from(holdings: Held, arrival: int) -> Iterator[Row]:
    """Rows one by one, of which the first has this arrival number."""
    targets, weights, ids = (part.tolist() for part in (holdings.y, holdings.weight, holdings.ids))
    if holdings.table is None:
        features = _features(holdings.X)
        cells: Any = [None] * len(ids)
    else:
        columns = [_cells(values) for values in holdings.table.values()]
        features, cells = [b""] * len(ids), list(map(list, zip(*columns, strict=True)))
    groups = [None] * len(ids) if holdings.groups is None else holdings.groups.tolist()
    each = zip(ids, targets, weights, cells, features, strict=True)
    for i, (parts, group) in enumerate(zip(each, groups, strict=True)):
        yield Row(arrival + i, *parts, group=group)


def held_from(rows: list[Row], parts: Parts) -> Held:
    """The rows as arrays, in order of arrival, of the types that the settings name."""
    texts = parts.targets.dtype == object
    y = np.array([row.target for row in rows], dtype=object if texts else None)
    ids = np.array([row.id for row in rows])
    weight = np.array([row.weight for row in rows], dtype=float)
    groups = np.array([row.group for row in rows]) if rows and rows[0].group is not None else None
    if parts.columns is None:
        X = _samples([row.features for row in rows], parts.samples)
        return Held(ids, y, weight, X, None, groups)
    cells = zip(*(row.cells or () for row in rows), strict=True)
    table = {
        column.name: _column(column, values)
        for column, values in zip(parts.columns, cells, strict=True)
    }
    return Held(ids, y, weight, None, table, groups)


def _features(X: Any) -> list[bytes]:
    if not sparse.issparse(X):
        return [row.tobytes() for row in np.ascontiguousarray(X)]
    return [
        X.indices[a:b].astype("<i4").tobytes() + X.data[a:b].tobytes()
        for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]


def _samples(features: list[bytes], like: Any) -> Any:
    """The inverse of `_features`; ``like`` has the type, and no rows."""
    n, d, dtype = len(features), like.shape[1], like.dtype
    if not sparse.issparse(like):
        return np.frombuffer(b"".join(features), dtype=dtype).reshape(n, d).copy()
    sizes = [len(row) // (4 + dtype.itemsize) for row in features]
    pairs = list(zip(features, sizes, strict=True))
    indices = np.frombuffer(b"".join(row[: 4 * k] for row, k in pairs), dtype="<i4")
    data = np.frombuffer(b"".join(row[4 * k :] for row, k in pairs), dtype=dtype)
    if len(indices) and not 0 <= indices.min() <= indices.max() < d:
        raise ValueError("a row has a feature that is not there.")
    return type(like)((data.copy(), indices.copy(), np.cumsum([0, *sizes])), shape=(n, d))


def _cells(values: Array) -> list[Any]:
    """A column's cells for JSON; NaN is a number that is missing."""
    cells = values.tolist()
    return [None if cell != cell else cell for cell in cells]


def _column(column: Any, cells: tuple[Any, ...]) -> Array:
    """A column as a model of a table holds it."""
    if isinstance(column, NumberColumn):
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=float)
    return np.array(cells, dtype=object)
