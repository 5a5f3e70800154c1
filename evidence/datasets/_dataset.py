"""What `load` returns: samples, targets and the partitions they are published with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


class Partition(NamedTuple):
    """One division of the samples into a training and a test part.

    Parameters
    ----------
    train, test : ndarray of int64
        Row indices; each row is in exactly one of them.
    official : bool
        Whether it was published with the data; otherwise it was drawn at random.
    number : int or None
        Number of an official partition in its benchmark, from 1; None if unknown.
    """

    train: np.ndarray
    test: np.ndarray
    official: bool
    number: int | None = None


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples, targets and official partitions under one name.

    Parameters
    ----------
    name : str
    X : ndarray of float64 or CSR matrix, of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Class labels as int64, or targets as float64.
    train, test : ndarray of int64, of shapes (n_official, n_train) and (n_official, n_test)
        One official partition per row, or None.
    partition_numbers : tuple of (int or None)
        Number of each official partition in its benchmark; None if unknown.
    n_partitions : int or None
        Number of partitions of the benchmark, of which `train` may hold only some.
    feature_names, target_names : tuple of str, or None
        `target_names` are the classes in the order of their labels, or the name of the one target.
    description : str
    """

    name: str
    X: Any
    y: np.ndarray
    train: np.ndarray | None = None
    test: np.ndarray | None = None
    partition_numbers: tuple[int | None, ...] = ()
    n_partitions: int | None = None
    feature_names: tuple[str, ...] | None = None
    target_names: tuple[str, ...] | None = None
    description: str = ""

    @property
    def n_official(self) -> int:
        """How many official partitions there are here."""
        return 0 if self.train is None else len(self.train)

    @property
    def n_train(self) -> int | None:
        """Training samples in an official partition; None where there is none."""
        return None if self.train is None else self.train.shape[1]

    @property
    def n_test(self) -> int | None:
        """Test samples in an official partition; None where there is none."""
        return None if self.test is None else self.test.shape[1]

    def partition(self, k: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Training and test indices of the official partition in row ``k``, counted from 0."""
        if self.train is None or self.test is None or not 0 <= k < self.n_official:
            raise IndexError(
                f"{self.name!r} has {self.n_official} official partitions, got k={k}; "
                "`partitions` draws random ones."
            )
        return self.train[k], self.test[k]

    def partitions(
        self,
        n: int,
        random_state: int | np.random.Generator | None = 0,
        *,
        n_train: int | None = None,
    ) -> list[Partition]:
        """The first ``n`` partitions: the official ones, then random ones of the same sizes.

        With the same seed, ``partitions(100)`` begins with ``partitions(10)``.

        Parameters
        ----------
        n : int
        random_state : int, Generator or None
            Seed of the random partitions.
        n_train : int, optional
            Size of the training part; required if there is no official partition. With a size
            other than the official one, all partitions are random.
        """
        size = self._train_size(n_train)
        taken = min(n, self.n_official) if size == self.n_train else 0
        official = [
            Partition(*self.partition(k), True, self.partition_numbers[k]) for k in range(taken)
        ]
        rng = np.random.default_rng(random_state)
        orders = (rng.permutation(len(self.y)) for _ in range(n - taken))
        return official + [Partition(order[:size], order[size:], False) for order in orders]

    def _train_size(self, n_train: int | None) -> int:
        size = self.n_train if n_train is None else n_train
        if size is None:
            raise ValueError(f"{self.name!r} has no official partition; give `n_train`.")
        if not 0 < size < len(self.y):
            raise ValueError(f"n_train must be in 1..{len(self.y) - 1}, got {size}.")
        return size
