"""Methods compared on partitions of data sets: in parallel, and going on where a run broke off."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone

import gramian
from gramian.datasets import load

CACHE = Path(__file__).parent / ".cache"
QUICK = CACHE / "quick"  # where tables of quick runs go, which are no results

# Training samples of sets that come without a partition.
_N_TRAIN = {"digits": 500, "iris": 100}
_FITTING = ("kernels", "gram", "machines", "selection", "estimators")


@dataclass(frozen=True)
class Study:
    """Methods, and what is read off each of them on the test part of a partition.

    What was measured is kept in ``benchmarks/.cache/NAME``, one file a partition, and measured anew
    only where the method, scikit-learn, or the code of Gramian that fits it has changed.

    Parameters
    ----------
    name : str
    methods : dict of str to estimator
    judge : callable
        ``judge(model, X, y)`` gives a dict of figures on the test part.
    """

    name: str
    methods: dict[str, Any]
    judge: Callable[[Any, np.ndarray, np.ndarray], dict[str, float]]

    def run(self, tasks: Iterable[tuple[str, int]]) -> dict[tuple[str, int], dict]:
        """The figures of every method for every task, which is a set and the row of a partition.

        As many processes as cores, each with one BLAS thread. The methods of one task run one
        after the other in one process, so that their times compare.
        """
        tasks = sorted(tasks, key=lambda task: -n_train(task[0]))  # the longest first
        with parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
            found = Parallel()(delayed(self.measure)(*task) for task in tasks)
        return dict(zip(tasks, found, strict=True))

    def measure(self, name: str, row: int) -> dict[str, dict[str, float]]:
        """The figures of every method on one partition, from the cache where they are there."""
        path = CACHE / self.name / f"{name}-{row:02d}.json"
        known = json.loads(path.read_text()) if path.is_file() else {}
        for method, estimator in self.methods.items():
            version = _version(estimator)
            if known.get(method, {}).get("version") != version:
                known[method] = {"version": version, **self._figures(estimator, name, row)}
                _replace(path, json.dumps(known, indent=1))
        return {method: known[method] for method in self.methods}

    def _figures(self, estimator: Any, name: str, row: int) -> dict[str, float]:
        X, y, train, test = partition(name, row)
        model = clone(estimator)
        start = perf_counter()
        model.fit(X[train], y[train])
        seconds = perf_counter() - start
        return {"seconds": seconds, **self.judge(model, X[test], y[test])}


def partition(name: str, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Samples, labels, and the training and test rows; pixels of the digits run from 0 to 1."""
    dataset = load(name, fetch=False)
    found = dataset.partitions(row + 1, n_train=_N_TRAIN.get(name))[row]
    X = dataset.X / 16.0 if name == "digits" else dataset.X
    return X, dataset.y, found.train, found.test


@cache
def n_train(name: str) -> int:
    """How many training samples a partition of this set has."""
    return _N_TRAIN.get(name) or load(name, fetch=False).n_train


@cache
def n_features(name: str) -> int:
    return load(name, fetch=False).X.shape[1]


def _version(estimator: Any) -> str:
    """Changes when the method does."""
    code = _fitting_code() if type(estimator).__module__.startswith("gramian") else ""
    text = repr((type(estimator).__name__, estimator.get_params(), sklearn.__version__, code))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _fitting_code() -> str:
    """Digest of the code that a fit runs through."""
    root = Path(gramian.__file__).parent
    files = sorted(path for layer in _FITTING for path in (root / layer).glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _replace(path: Path, text: str) -> None:
    """Write a file in one step, so that an interrupted run leaves the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(text)
    part.replace(path)
