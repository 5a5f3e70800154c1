"""Data sets for cases, by partition; which sets are not there; which partitions were used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from evidence._experiment import Record
from evidence.datasets import FILES, Dataset, Partition, load

SEED = 0


class Split(NamedTuple):
    """Training and test samples of one partition, and what to say of it."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    official: bool
    number: int | None

    @property
    def facts(self) -> dict[str, Any]:
        """For the record of a case, so that the page can say which partitions were used."""
        return {"official": self.official, "number": self.number}

    def error(self, model: Any) -> float:
        """Share of test samples that a fitted classifier gets wrong, in per cent."""
        return 100.0 * float((model.predict(self.X_test) != self.y_test).mean())


@lru_cache(maxsize=4)
def dataset(name: str) -> Dataset:
    """A data set from a folder or the cache. Fetching is for `missing`, once and beforehand."""
    return load(name, fetch=False)


@lru_cache(maxsize=4)
def _partitions(name: str, n: int, n_train: int | None) -> list[Partition]:
    return dataset(name).partitions(n, SEED, n_train=n_train)


def split(name: str, partition: int, n_train: int | None = None) -> Split:
    """Partition number ``partition``, from 0: the official ones first, then random ones."""
    chosen = _partitions(name, 100 * (partition // 100 + 1), n_train)[partition]
    X, y = dataset(name).X, dataset(name).y
    train, test = chosen.train, chosen.test
    return Split(X[train], y[train], X[test], y[test], chosen.official, chosen.number)


def missing(names: Iterable[str]) -> dict[str, str]:
    """Why a data set cannot be had, for those that cannot; what can be fetched is fetched.

    The reasons name no folder: they go onto a page that others read.
    """
    reasons = {}
    for name in dict.fromkeys(names):
        try:
            load(name)
        except FileNotFoundError:
            how = "could not be fetched" if FILES[name].original else "was not found"
            reasons[name] = f"the data set {name} {how}"
        except ValueError:
            reasons[name] = f"the file of the data set {name} does not hold what it should"
    return reasons


def n_partitions(name: str) -> int:
    """How many partitions an IDA set has in the benchmark."""
    return 20 if name in ("ida_image", "ida_splice") else 100


def partitions_used(records: Sequence[Record]) -> list[str]:
    """A line for each group of data sets of which the same partitions were used."""
    seen: dict[str, dict[str, Record]] = {}
    for record in records:
        if "official" in record:
            place = str(record.get("partition", 0))
            seen.setdefault(record["data"], {})[place] = record
    lines: dict[str, list[str]] = {}
    for name, by_place in seen.items():
        lines.setdefault(_describe(list(by_place.values())), []).append(name)
    return [f"Partitions of {', '.join(names)}: {line}." for line, names in lines.items()]


def _describe(records: Sequence[Record]) -> str:
    official = [record["number"] for record in records if record["official"]]
    known = sorted(number for number in official if number is not None)
    parts = []
    if official:
        which = f" ({_ranges(known)})" if len(known) == len(official) else " (number unknown)"
        parts.append(f"{len(official)} official{which}")
    if len(official) < len(records):
        sizes = " of the same sizes" if official else ""
        parts.append(f"{len(records) - len(official)} random{sizes} (seed {SEED})")
    return ", ".join(parts)


def _ranges(numbers: Sequence[int]) -> str:
    """``1–3, 5`` for 1, 2, 3, 5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
