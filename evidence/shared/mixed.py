"""Real tables with text, numbers and missing cells, from folders that are named by the caller.

A folder has ``NAME.csv.gz`` and TABLES.md, whose rows say of each table its kind (classes or
number) and its target. ``mixed`` in the folder GRAMIAN_DATA is the one that choices were made on;
all folders in GRAMIAN_MIXED (as in PATH) are for confirmation. A folder ``many`` in one of them has
tables with thousands of rows.
"""

from __future__ import annotations

import csv
import gzip
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from evidence.shared.data import SEED

LARGEST_TEST, LARGEST_MANY = 2000, 50_000
MISSING = ("", "NA", "NaN", "nan")
MADE = ("made classes", "made numbers")
"""Two small tables that are always there, to try things on."""


class Described(NamedTuple):
    """A line of TABLES.md."""

    name: str
    classes: bool
    target: str
    rows: int
    confirms: bool
    """Whether nothing was chosen on it."""


class Columns(NamedTuple):
    """A table without its target: numbers with NaN, texts with None, where cells are missing."""

    values: dict[str, Any]
    target: Any

    def take(self, rows: Any) -> Columns:
        """Some of the rows."""
        return Columns({k: v[rows] for k, v in self.values.items()}, self.target[rows])

    @property
    def texts(self) -> list[bool]:
        """Whether each column has texts."""
        return [v.dtype == object for v in self.values.values()]


def tables() -> dict[str, Described]:
    """All tables of the folders by name; of two with one name, the first."""
    return _listed(_folders())


def many() -> dict[str, Described]:
    """Tables with thousands of rows, by name."""
    return _listed(_folders("many"))


def _listed(folders: list[tuple[Path, bool]]) -> dict[str, Described]:
    found: dict[str, Described] = {}
    for folder, confirms in folders:
        for line in (folder / "TABLES.md").read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) > 2 and cells[1] in ("classes", "number"):
                classes, rows = cells[1] == "classes", int(cells[3])
                line_of = Described(cells[0], classes, cells[2], rows, confirms)
                found.setdefault(cells[0], line_of)
    return found


def is_classes(table: str) -> bool:
    """Whether its target is a class."""
    return table == MADE[0] if table in MADE else tables()[table].classes


def split(table: str, partition: int, n_train: int) -> tuple[Columns, Columns]:
    """Two thirds of the rows to learn, at most ``n_train``; at most 2,000 of the others to test."""
    whole, classes = _read(table), is_classes(table)
    n = len(whole.target)
    train, test = train_test_split(
        np.arange(n),
        train_size=learned(n, n_train),
        random_state=SEED + partition,
        stratify=whole.target if classes else None,
    )
    return whole.take(train), whole.take(test[:LARGEST_TEST])


def read(table: str) -> Columns:
    """All rows of a table."""
    return _read(table)


def learned(rows: int, most: int) -> int:
    """How many rows of a table are learned."""
    return min(most, 2 * rows // 3)


def split_many(table: str, n_train: int | None = None) -> tuple[Columns, Columns]:
    """Two thirds of the rows to learn, 50,000 if there are more; 2,000 of the others to test."""
    described = many()[table]
    whole = _cells_of(described, _folders("many"))
    n = len(whole.target)
    train, test = train_test_split(
        np.arange(n),
        train_size=n_train or (LARGEST_MANY if n > LARGEST_MANY else 2 * n // 3),
        random_state=SEED,
        stratify=whole.target if described.classes else None,
    )
    return whole.take(train), whole.take(test[:LARGEST_TEST])


def _folders(inside: str = "") -> list[tuple[Path, bool]]:
    home, more = os.environ.get("GRAMIAN_DATA"), os.environ.get("GRAMIAN_MIXED", "")
    named = [(Path(home) / "mixed" / inside, False)] if home else []
    named += [(Path(folder) / inside, True) for folder in more.split(os.pathsep) if folder]
    return [(folder, confirms) for folder, confirms in named if (folder / "TABLES.md").exists()]


@lru_cache(maxsize=4)
def _read(table: str) -> Columns:
    if table in MADE:
        return _made(table == MADE[0])
    return _cells_of(tables()[table], _folders())


def _cells_of(described: Described, folders: list[tuple[Path, bool]]) -> Columns:
    name = f"{described.name}.csv.gz"
    path = next(folder for folder, _ in folders if (folder / name).exists()) / name
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        names, *rows = csv.reader(stream)
    cells = {name: [row[j] for row in rows] for j, name in enumerate(names)}
    target = cells.pop(described.target)
    y = np.array(target) if described.classes else np.array(target, dtype=float)
    return Columns({name: _column(column) for name, column in cells.items()}, y)


def _column(cells: list[str]) -> Any:
    known = [None if cell in MISSING else cell for cell in cells]
    try:
        return np.array([np.nan if cell is None else float(cell) for cell in known])
    except ValueError:
        return np.array(known, dtype=object)


def _made(classes: bool) -> Columns:
    rng = np.random.default_rng(SEED)
    x, level = rng.standard_normal(150), rng.integers(3, size=150)
    y = np.sin(2 * x) + 0.5 * level + 0.2 * rng.standard_normal(150)
    x = np.where(rng.random(150) < 0.1, np.nan, x)
    target = np.where(y > 0.5, "high", "low") if classes else y
    return Columns({"x": x, "level": np.array(["a", "b", "c"], dtype=object)[level]}, target)
