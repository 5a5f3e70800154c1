"""Small problems to start from, in the plane x ∈ [−2, 2], y ∈ [−1.5, 1.5]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.datasets import make_circles, make_moons

from gramian.core.arrays import Array
from gramian.datasets import make_banana
from gramian.serve._choices import check_one_of

WIDTH, HEIGHT = 2.0, 1.5
"""The plane reaches from −WIDTH to WIDTH and from −HEIGHT to HEIGHT."""
LATTICE = 8192
"""Coordinates are multiples of 1/LATTICE, so that a link holds them without loss."""

Rows: TypeAlias = "list[tuple[float, float, int]]"


def toy(name: Any) -> Rows:
    """Samples ``(x, y, class)`` of a problem of `CLASSES`, or ``(x, y, 0)`` of one of `CURVES`."""
    problems = {**CLASSES, **CURVES}
    check_one_of("data", name, problems)
    X, labels = problems[name](np.random.default_rng(5))
    bounds = np.array([WIDTH, HEIGHT]) * 0.97
    X = np.round(np.clip(X, -bounds, bounds) * LATTICE) / LATTICE
    return [(float(x), float(y), int(label)) for (x, y), label in zip(X, labels, strict=True)]


def _moons(rng: np.random.Generator) -> tuple[Array, Array]:
    X, y = make_moons(70, noise=0.22, random_state=3)
    return (X - [0.5, 0.25]) * 1.1, y


def _banana(rng: np.random.Generator) -> tuple[Array, Array]:
    X, y = make_banana(80, noise=0.2, random_state=0)
    return (X + 0.375) * 0.8, y > 0


def _circles(rng: np.random.Generator) -> tuple[Array, Array]:
    X, y = make_circles(60, noise=0.1, factor=0.45, random_state=1)
    return X * 1.15, y


def _xor(rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.normal(scale=0.3, size=(60, 2)) + np.tile([[1, 1], [-1, -1], [1, -1], [-1, 1]], (15, 1))
    return X * [0.95, 0.75], np.tile([0, 0, 1, 1], 15)


def _spirals(rng: np.random.Generator) -> tuple[Array, Array]:
    turn = np.tile(np.linspace(0.35, 1.0, 26), 3)
    label = np.repeat([0, 1, 2], 26)
    angle = turn * 1.5 * np.pi + label * 2 * np.pi / 3 + rng.normal(scale=0.07, size=78)
    return 1.3 * turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), label


def _blobs(rng: np.random.Generator) -> tuple[Array, Array]:
    label = np.repeat(np.arange(5), 14)
    angle = 2 * np.pi * label / 5 + 0.3
    centres = np.column_stack([1.2 * np.cos(angle), 0.9 * np.sin(angle)])
    return centres + rng.normal(scale=0.27, size=(70, 2)), label


def _outlier(rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.normal(scale=0.32, size=(40, 2)) + np.tile([[-0.8, 0.0], [0.8, 0.0]], (20, 1))
    return np.vstack([X, [[-1.05, 0.35]]]), np.append(np.tile([0, 1], 20), 1)


def _flipped(rng: np.random.Generator) -> tuple[Array, Array]:
    X, y = _moons(rng)
    wrong = rng.choice(70, 7, replace=False)
    y[wrong] = 1 - y[wrong]
    return X, y


def _drift(rng: np.random.Generator) -> tuple[Array, Array]:
    """Two clouds that turn around each other: 60 samples at rest, then 240 on their way."""
    n, label = 300, np.tile([0, 1], 150)
    angle = np.pi * label + np.maximum(np.arange(n) - 60, 0) / 240 * 2 * np.pi
    centres = np.column_stack([0.95 * np.cos(angle), 0.8 * np.sin(angle)])
    return centres + rng.normal(scale=0.28, size=(n, 2)), label


def _wave(rng: np.random.Generator) -> tuple[Array, Array]:
    x = rng.uniform(-1.8, 1.8, 50)
    y = np.sin(2.6 * x) * 0.8 + rng.normal(scale=0.13, size=50)
    return np.column_stack([x, y]), np.zeros(50)


def _growing(rng: np.random.Generator) -> tuple[Array, Array]:
    """Noise that grows from left to right: intervals are wide where it is large."""
    x = rng.uniform(-1.8, 1.8, 100)
    y = np.sin(2.0 * x) * 0.4 + rng.normal(scale=0.03 + 0.1 * (x + 1.8))
    return np.column_stack([x, y]), np.zeros(100)


def _step(rng: np.random.Generator) -> tuple[Array, Array]:
    x = rng.uniform(-1.8, 1.8, 60)
    y = np.where(x > 0, 0.7, -0.6) + rng.normal(scale=np.where(x > 0, 0.22, 0.06))
    return np.column_stack([x, y]), np.zeros(60)


def _spike(rng: np.random.Generator) -> tuple[Array, Array]:
    X, label = _wave(rng)
    return np.vstack([X, [[0.1, -1.3]]]), np.append(label, 0)


def _empty(rng: np.random.Generator) -> tuple[Array, Array]:
    return np.empty((0, 2)), np.empty(0)


Problem: TypeAlias = Callable[[np.random.Generator], tuple[Array, Array]]

CLASSES: dict[str, Problem] = {
    "two moons": _moons,
    "banana": _banana,
    "circles": _circles,
    "XOR": _xor,
    "three spirals": _spirals,
    "five blobs": _blobs,
    "one outlier": _outlier,
    "flipped labels": _flipped,
    "drift": _drift,
    "empty": _empty,
}
CURVES: dict[str, Problem] = {
    "wave": _wave,
    "growing noise": _growing,
    "step": _step,
    "one spike": _spike,
    "empty curve": _empty,
}
STREAMED = {"drift": 60}
"""Problems that go on: how many samples are there at first and at any time."""
