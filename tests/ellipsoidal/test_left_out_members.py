"""Left-out distances of a class's members against refits without them."""

import numpy as np
import pytest

from gramian.core.kernels import make_kernel
from gramian.ellipsoidal import _left_out_members
from gramian.ellipsoidal._left_out_members import kernel_loo_distances
from tests.ellipsoidal.test_ellipsoids import (
    EPSILON,
    KERNELS,
    NOTHING,
    TAU,
    assert_close,
    condition,
    distances_of,
    each_kernel,
    flat_class,
    queries,
    sequence_of,
    weighted_class,
    without,
)

each_extra = pytest.mark.parametrize(
    ("extra", "each_query"),
    [(NOTHING, False), (NOTHING, True), (np.eye(4), False), (np.eye(4), True)],
    ids=["members", "members-queries", "basis", "basis-queries"],
)


def refitted_loo(kernel, X, extra, each_query):
    return [
        distances_of(kernel, np.delete(X, i, axis=0), extra, X[i : i + 1], each_query=each_query)[0]
        for i in range(len(X))
    ]


@each_kernel
@pytest.mark.parametrize("n", [2, 3, 25])
@each_extra
def test_equals_refits(kernel, n, extra, each_query):
    X = flat_class(n)
    sequence, _, column, diagonal = sequence_of(kernel, X, extra)
    actual = kernel_loo_distances(sequence, n, column, diagonal, TAU, EPSILON, queries=each_query)
    expected = refitted_loo(kernel, X, extra, each_query)
    assert_close(actual, expected, n, condition(kernel, X))


@each_kernel
@pytest.mark.parametrize("each_query", [False, True], ids=["basis", "queries"])
def test_weighted_leaves_all_copies_out(kernel, each_query):
    X, weight, repeated = weighted_class()
    sequence, _, column, diagonal = sequence_of(kernel, X, np.eye(4))
    expected = [
        distances_of(
            kernel, X[without(repeated, i)], np.eye(4), X[i : i + 1], each_query=each_query
        )[0]
        for i in range(len(X))
    ]
    actual = kernel_loo_distances(
        sequence, len(X), column, diagonal, TAU, EPSILON, weight=weight, queries=each_query
    )
    assert_close(actual, expected, 60, condition(kernel, X))


@pytest.fixture
def reselections(monkeypatch):
    """The members for which the selection was repeated."""
    seen, reselected = [], _left_out_members._reselected

    def recorded(sequence, shares, i, *rest):
        seen.append(int(i))
        return reselected(sequence, shares, i, *rest)

    monkeypatch.setattr(_left_out_members, "_reselected", recorded)
    return seen


def left_out(kernel, X, extra, each_query):
    sequence, _, column, diagonal = sequence_of(kernel, X, extra)
    return kernel_loo_distances(
        sequence, len(X), column, diagonal, TAU, EPSILON, queries=each_query
    )


@each_extra
def test_of_independent_vectors_alone_nothing_is_selected_anew(extra, each_query, reselections):
    kernel, X = make_kernel("rbf", gamma=3.0), 2.0 * queries(12)
    actual = left_out(kernel, X, extra, each_query)
    assert reselections == []
    assert_close(actual, refitted_loo(kernel, X, extra, each_query), 12, condition(kernel, X))


def test_the_twin_of_an_independent_vector_takes_its_place(reselections):
    kernel, X = make_kernel("rbf", gamma=3.0), 2.0 * queries(12)
    X[7] = X[2]
    actual = left_out(kernel, X, NOTHING, False)
    assert reselections == [2]
    assert_close(actual, refitted_loo(kernel, X, NOTHING, False), 12, condition(kernel, X))


def test_a_unit_vector_takes_the_place_of_a_member(reselections):
    X = np.vstack([np.eye(4), 0.5 * np.eye(4)[:1]])
    actual = left_out(KERNELS[0], X, np.eye(4), False)
    assert reselections == [0, 1, 2, 3]  # 0 has a member in its place, the others a unit vector
    assert_close(actual, refitted_loo(KERNELS[0], X, np.eye(4), False), 5, cond=1.0)


def test_a_class_of_one_sample_has_no_others():
    sequence, _, column, diagonal = sequence_of(KERNELS[2], queries(1), np.eye(4))
    loo = kernel_loo_distances(sequence, 1, column, diagonal, TAU, EPSILON)
    np.testing.assert_array_equal(loo, [np.inf])


def test_a_class_at_the_origin_has_no_independent_vector():
    np.testing.assert_array_equal(left_out(KERNELS[0], np.zeros((3, 4)), NOTHING, False), 0.0)
