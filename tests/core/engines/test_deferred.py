"""Engines that are built when something needs them, against the equations solved anew."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from gramian import EllipsoidalFuzzyClassifier, LeastSquaresSVC, LeastSquaresSVR
from gramian.core.engines import DeferredEngine
from gramian.core.engines._added import Rehearsal

GAMMA, C, N = 0.5, 4.0, 12
QUERIES = np.random.default_rng(1).standard_normal((3, 2))


def samples():
    X = np.random.default_rng(0).standard_normal((N, 2))
    return X, np.sin(X[:, 0]) + X[:, 1]


def solved(X, y, at):
    """Values of a least-squares SVM from its equations, ``[0 1ᵀ; 1 K + I/C] [b; z] = [0; y]``."""
    n = len(X)
    A = np.ones((n + 1, n + 1))
    A[0, 0], A[1:, 1:] = 0.0, rbf_kernel(X, gamma=GAMMA) + np.eye(n) / C
    b, *z = np.linalg.solve(A, np.append(0.0, y))
    return b + rbf_kernel(at, X, gamma=GAMMA) @ z


def left_out(X, y):
    stay = ~np.eye(len(y), dtype=bool)
    return np.array([solved(X[s], y[s], X[[i]])[0] for i, s in enumerate(stay)])


def near(found, expected):
    np.testing.assert_allclose(np.squeeze(found), expected, rtol=0, atol=1e-10)


@pytest.fixture
def owed():
    """An engine that is still to be built, with its holdings."""
    now = LeastSquaresSVR(gamma=GAMMA, C=C).fit(*samples())._now
    return DeferredEngine(now.spec, reason="for a test"), now.holdings


def test_reads_build_the_engine(owed):
    engine, holdings = owed
    X, y = samples()
    near(engine.predictor(holdings).outputs(QUERIES), solved(X, y, QUERIES))
    near(engine.loo(holdings), left_out(X, y))
    assert engine.drift(holdings) < 1e-12
    assert engine.fresh(holdings).history[-1].reason == "for a test"


def test_what_joins_and_what_leaves_build_it(owed):
    engine, holdings = owed
    X, y = samples()
    ((_, F),) = engine.without_each(holdings, QUERIES)
    for i in range(0, N, 5):
        near(F[:, i], solved(np.delete(X, i, axis=0), np.delete(y, i), QUERIES))
    ((_, block),) = engine.added(holdings, QUERIES)
    lines = block.lines()
    for q, target in enumerate([0.0, 1.0, -2.0]):
        found = lines.values[q] + target * lines.slope[q]
        near(found, left_out(np.vstack([X, QUERIES[q]]), np.append(y, target)))


def test_pairs_that_leave_build_it(owed):
    engine, holdings = owed
    X, y = samples()
    for at, F in engine.without_pairs(holdings):
        for i, found in zip(at, F, strict=True):
            rest = np.arange(N) != i
            near(found[rest], left_out(X[rest], y[rest]))


def test_what_pairs_take_from_queries_builds_it(owed):
    engine, holdings = owed
    X, y = samples()
    effects = engine.pair_effects(holdings, QUERIES)
    rest = ~np.isin(np.arange(N), [1, 4])
    near(effects[:, 1, 4], solved(X, y, QUERIES) - solved(X[rest], y[rest], QUERIES))


def test_samples_come_and_leave_before_it_is_built(owed):
    engine, holdings = owed
    X, y = samples()
    after = holdings.appended(QUERIES[:1], np.ones(1), np.ones(1), np.array([N]), N + 1)
    expected = solved(np.vstack([X, QUERIES[:1]]), np.append(y, 1.0), QUERIES)
    near(engine.append(holdings, after).predictor(after).outputs(QUERIES), expected)
    leaving = np.array([2, 7])
    after = holdings.without(leaving)
    built = engine.remove(holdings, after, leaving)
    expected = solved(np.delete(X, leaving, axis=0), np.delete(y, leaving), QUERIES)
    near(built.predictor(after).outputs(QUERIES), expected)


def test_predictions_from_a_new_engine_where_a_spec_has_no_others():
    X, y = samples()
    model = EllipsoidalFuzzyClassifier(gamma=GAMMA).fit(X, y > 0)
    now = model._now
    stored = now.spec.predictor(now.holdings, now.engine.state(now.holdings))
    near(stored.outputs(QUERIES), model.decision_function(QUERIES))


def test_an_engine_that_a_rehearsal_left_changed_is_built_again():
    X, y = samples()
    labels = (y > 0).astype(int)
    now = LeastSquaresSVC(gamma=GAMMA, C=C).fit(X, labels)._now
    holdings = now.holdings
    rehearsal = Rehearsal(now.spec.build, holdings, now.spec.build(holdings))
    rehearsal.engine.remove(holdings, holdings.without(np.array([3])), np.array([3]))
    after = holdings.appended(QUERIES[:1], np.array([1]), np.ones(1), np.array([N]), N + 1)
    signs = np.where(np.append(labels, 1) == 1, 1.0, -1.0)
    near(rehearsal.loo(after), left_out(np.vstack([X, QUERIES[:1]]), signs))
    assert rehearsal.engine.serves is holdings.version
