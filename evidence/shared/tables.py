"""Small tables: a few hundred training samples, standardised, of many data sets."""

from __future__ import annotations

import tarfile
from functools import lru_cache
from importlib.metadata import distribution
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets as sets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from evidence.shared.data import SEED, dataset

LARGEST_TEST = 2000
IDA = (
    *("banana", "breast_cancer", "diabetis", "flare_solar", "german", "heart", "image"),
    *("ringnorm", "splice", "thyroid", "titanic", "twonorm", "waveform"),
)
CLASSES = (
    *(f"ida_{name}" for name in IDA),
    *("ann_thyroid", "letter", "optdigits", "pendigits", "satimage", "usps"),
    *("breast_cancer", "digits", "iris", "wine"),
)
PACKED = {
    "Computers": ("Ecdat", "price"),
    "Housing": ("Ecdat", "price"),
    "Wages": ("Ecdat", "lwage"),
    "Griliches": ("Ecdat", "lw"),
    "diamonds": ("ggplot2", "price"),
    "quakes": ("datasets", "stations"),
    "Males": ("Ecdat", "wage"),
    "Cigar": ("Ecdat", "sales"),
    "Crime": ("Ecdat", "crmrte"),
    "nlschools": ("MASS", "lang"),
    "Workinghours": ("Ecdat", "hours"),
}
"""Tables of the package pydataset: their folder in it, and what is to be predicted."""
NUMBERS = (
    *("abalone", "boston", "diabetes", "friedman1", "friedman2", "friedman3"),
    *("sparse_linear", "sinc2", *PACKED),
)


class Fold(NamedTuple):
    """Training and test samples."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def fold(data: str, partition: int, n_train: int) -> Fold:
    """A random partition: at most ``n_train`` samples to learn, half of the set, 2,000 to test.

    Features have mean 0 and deviation 1 on the training samples, and so has a numeric target.
    """
    X, y = _table(data)
    classes = data in CLASSES
    n = min(n_train, len(y) // 2)
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=n, random_state=SEED + partition, stratify=y if classes else None
    )
    scaler = StandardScaler().fit(X)
    if not classes:
        mean, deviation = y.mean(), y.std()
        y, y_test = (y - mean) / deviation, (y_test - mean) / deviation
    X_test, y_test = X_test[:LARGEST_TEST], y_test[:LARGEST_TEST]
    return Fold(scaler.transform(X), y, scaler.transform(X_test), y_test)


@lru_cache(maxsize=4)
def _table(data: str) -> tuple[Any, Any]:
    if data in MADE:
        return MADE[data]()
    if data in PACKED:
        return _packed(data)
    whole = dataset(data)
    X = np.asarray(whole.X, dtype=float)
    y = whole.y
    if data in CLASSES:
        _, y = np.unique(y, return_inverse=True)
    return X, y


def _packed(data: str) -> tuple[Any, Any]:
    """Numbers as they are, a column for each category but the first; logarithms of prices."""
    import pandas

    folder, target = PACKED[data]
    archive = distribution("pydataset").locate_file("pydataset/resources.tar.gz")
    with tarfile.open(str(archive)) as files:
        table = pandas.read_csv(
            files.extractfile(f"resources/rdata/csv/{folder}/{data}.csv"), index_col=0
        )
    y = table.pop(target).to_numpy(float)
    X = pandas.get_dummies(table, drop_first=True).to_numpy(float)
    return X, np.log(y) if target == "price" else y


def _sinc2() -> tuple[Any, Any]:
    """A sinc of the radius in two of five features, with noise."""
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-1, 1, (3000, 5))
    radius = 3.0 * np.linalg.norm(X[:, :2], axis=1)
    return X, np.sinc(radius) + 0.1 * rng.standard_normal(3000)


MADE = {
    "breast_cancer": lambda: sets.load_breast_cancer(return_X_y=True),
    "digits": lambda: sets.load_digits(return_X_y=True),
    "iris": lambda: sets.load_iris(return_X_y=True),
    "wine": lambda: sets.load_wine(return_X_y=True),
    "diabetes": lambda: sets.load_diabetes(return_X_y=True),
    "friedman1": lambda: sets.make_friedman1(3000, noise=1.0, random_state=SEED),
    "friedman2": lambda: sets.make_friedman2(3000, noise=125.0, random_state=SEED),
    "friedman3": lambda: sets.make_friedman3(3000, noise=0.1, random_state=SEED),
    "sparse_linear": lambda: sets.make_sparse_uncorrelated(3000, random_state=SEED),
    "sinc2": _sinc2,
}
