"""Closed forms against 50 digits: leave-one-out of few samples at small ridges.

Each estimator's own equations, without each sample in turn, are solved by mpmath with 50 digits.
Samples are few, kernels linear or smooth and ridges small, so that closed forms divide by next to
nothing. A value may be off by what a refit in double precision would be: `OFF` of the largest.
"""

from __future__ import annotations

import itertools
import warnings

import mpmath as mp
import numpy as np
from sklearn.base import is_classifier

import gramian
from tests.torture.common import Clock

DIGITS = 50
OFF = 1e-7
SUPPORTS = 7  # of more samples, the supports are too many to try them all


# -- the equations, with so many digits as mpmath has ---------------------------------------------


def kernel(model, X, Y):
    """Kernel values of exact numbers; that of LagrangianSVC includes the bias."""
    gamma, bias = model.gamma, isinstance(model, gramian.LagrangianSVC)
    out = mp.matrix(len(X), len(Y))
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            x_, y_ = [mp.mpf(v) for v in x.tolist()], [mp.mpf(v) for v in y.tolist()]
            if model.kernel == "linear":
                out[i, j] = mp.fdot(x_, y_) + int(bias)
            else:
                out[i, j] = mp.exp(
                    -mp.mpf(gamma) * mp.fsum((a - b) ** 2 for a, b in zip(x_, y_, strict=True))
                )
    return out


def ones(n):
    return mp.matrix([[1]] * n)


def stacked(blocks):
    """One matrix of a list of rows of matrices."""
    rows, columns = sum(row[0].rows for row in blocks), sum(b.cols for b in blocks[0])
    out, i = mp.matrix(rows, columns), 0
    for row in blocks:
        j = 0
        for block in row:
            for a, b in itertools.product(range(block.rows), range(block.cols)):
                out[i + a, j + b] = block[a, b]
            j += block.cols
        i += row[0].rows
    return out


def least_squares(model, K, y):
    n = K.rows
    A = stacked([[K + mp.eye(n) / mp.mpf(model.C), ones(n)], [ones(n).T, mp.matrix(1, 1)]])
    found = mp.lu_solve(A, stacked([[y], [mp.matrix(1, 1)]]))
    return found[:n], found[n]


def discriminant(model, K, y):
    n = K.rows
    G = stacked([[K + mp.mpf(model.ridge) * mp.eye(n), ones(n)]])
    found = G.T * mp.lu_solve(G * G.T, y)
    return found[:n], found[n]


def fisher(model, K, y):
    n, mu = K.rows, mp.mpf(model.ridge)
    cost = n + mu * int(model.penalize_bias)
    A = stacked([[K * K + mu * mp.eye(n), K * ones(n)], [ones(n).T * K, mp.matrix([[cost]])]])
    found = mp.lu_solve(A, stacked([[K * y], [ones(n).T * y]]))
    return found[:n], found[n]


def lagrangian(model, K, y):
    """The support whose least-squares solution has all signs right, among all supports."""
    n = K.rows
    A = K + mp.eye(n) / mp.mpf(model.C)
    for size in range(n, 0, -1):
        for S in map(list, itertools.combinations(range(n), size)):
            part = mp.matrix([[A[i, j] for j in S] for i in S])
            solved = mp.lu_solve(part, mp.matrix([y[i] for i in S]))
            z = mp.matrix(n, 1)
            for i, value in zip(S, solved, strict=True):
                z[i] = value
            rest = A * z
            inside = all(y[i] * z[i] >= 0 for i in S)
            if inside and all(y[i] * (y[i] - rest[i]) <= 0 for i in range(n) if i not in S):
                return z, mp.mpf(0)
    raise AssertionError("no support has all signs right")


SOLVERS = {
    gramian.LeastSquaresSVC: least_squares,
    gramian.LeastSquaresSVR: least_squares,
    gramian.KernelDiscriminant: discriminant,
    gramian.KernelFisherDiscriminant: fisher,
    gramian.LagrangianSVC: lagrangian,
}


def targets(model, y):
    """Of two classes: signs, or those of Fisher; numbers as they are."""
    if not is_classifier(model):
        return mp.matrix([mp.mpf(v) for v in y.tolist()])
    n, second = len(y), int(np.sum(y == 1))
    if getattr(model, "targets", "signs") == "fisher":
        levels = {1: mp.mpf(n) / second, 0: -mp.mpf(n) / (n - second)}
    else:
        levels = {1: mp.mpf(1), 0: mp.mpf(-1)}
    return mp.matrix([levels[int(v)] for v in y])


def exact_left_out(model, X, y, groups=None):
    """Values without each sample, or its group, by exact fits."""
    solve, found = SOLVERS[type(model)], np.empty(len(y))
    groups = np.arange(len(y)) if groups is None else groups
    with mp.workdps(DIGITS):
        for group in np.unique(groups):
            stay = groups != group
            z, b = solve(model, kernel(model, X[stay], X[stay]), targets(model, y[stay]))
            for i in np.flatnonzero(~stay):
                found[i] = float(mp.fdot(kernel(model, X[i : i + 1], X[stay]), z) + b)
    return found


# -- the attack -----------------------------------------------------------------------------------


def make_model(name, kind, ridge):
    """An estimator with these parameters."""
    options = {"kernel": kind, "gamma": 0.5}
    made = {
        "lssvc": lambda: gramian.LeastSquaresSVC(C=1 / ridge, **options),
        "lssvr": lambda: gramian.LeastSquaresSVR(C=1 / ridge, **options),
        "kda": lambda: gramian.KernelDiscriminant(ridge=ridge, **options),
        "kda-fisher": lambda: gramian.KernelDiscriminant(ridge=ridge, targets="fisher", **options),
        "kfd": lambda: gramian.KernelFisherDiscriminant(ridge=ridge, **options),
        "kfd-penalized": lambda: gramian.KernelFisherDiscriminant(
            ridge=ridge, penalize_bias=True, **options
        ),
        "lsvc": lambda: gramian.LagrangianSVC(C=1 / ridge, **options),
    }
    return made[name]()


NAMES = ("lssvc", "lssvr", "kda", "kda-fisher", "kfd", "kfd-penalized", "lsvc")


def run_one(name, seed):
    """What is wrong with the leave-one-out values of one model, or None."""
    rng = np.random.default_rng([seed, *name.encode()])
    kind, ridge = str(rng.choice(["linear", "rbf"])), float(10.0 ** rng.uniform(-8, 0))
    n, d = int(rng.integers(4, SUPPORTS)), int(rng.integers(1, 6))
    X, y = rng.standard_normal((n + 3, d)), np.arange(n + 3) % 2
    model = make_model(name, kind, ridge)
    if not is_classifier(model):
        y = rng.standard_normal(n + 3)
    in_groups = n > 5 and rng.random() < 0.5
    groups = np.append([0, 0, 0], 1 + np.arange(n) // 2) if in_groups else None
    later = None if groups is None else groups[3:]
    if rng.random() < 0.5:  # after edits
        model.fit(X, y, groups=groups).forget([0, 1, 2])
    else:
        model.fit(X[3:], y[3:], groups=later)
    X, y = X[3:], y[3:]
    found = model.loo_decision_function() if is_classifier(model) else model.loo_predict()
    exact = exact_left_out(model, X, y, later)
    off = np.abs(found - exact).max() / max(1.0, np.abs(exact).max())
    if off <= OFF:
        return None
    said = f"{kind} n={n} d={d} ridge={ridge:.1e}{' groups' if in_groups else ''}"
    return f"digits {name} seed {seed}: {said}, {off:.1e} off"


def main(seed=0, seconds=None, n=None, names=NAMES):
    """Models for so many seconds, or ``n`` of each estimator; number of models, and failures."""
    clock, tried, failures, at = Clock(seconds, n), 0, [], seed * 1_000_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while clock.goes_on():
            wrong = [run_one(name, at) for name in names]
            tried += len(names)
            failures += [text for text in wrong if text]
            at += 1
    return tried, failures
