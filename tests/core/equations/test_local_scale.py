"""Averages of neighbours' errors, against their definition sample by sample."""

import numpy as np
import pytest

from gramian.core.equations import (
    Neighbourhood,
    finite_sizes,
    local_scales,
    neighbours,
    scales_without_each,
)


def defined(S, sizes, weight):
    """The scale at one query, from samples that count."""
    n = len(S)
    q = min(int(np.ceil(2 * np.sqrt(n))), n - 1)
    order = np.argsort(-S, kind="stable")
    w = weight * np.maximum(S - S[order[q]], 0.0)
    mean = weight @ sizes / weight.sum()
    return 0.9 * (w @ sizes / w.sum() if w.sum() > 0 else mean) + 0.1 * mean


@pytest.fixture
def drawn():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 23)), rng.exponential(size=(23, 23)), rng.uniform(0.5, 2, 23)


def test_scales_are_those_of_the_definition(drawn):
    S, sizes, weight = drawn
    found = local_scales(S, sizes[:, :2], weight)
    for row, query in zip(found, S, strict=True):
        expected = [defined(query, sizes[:, t], weight) for t in range(2)]
        np.testing.assert_allclose(row, expected)


@pytest.mark.parametrize("tied", [False, True])
def test_scales_without_each_sample(drawn, tied):
    S, sizes, weight = drawn
    S = np.round(S) if tied else S  # many samples at one distance
    own = sizes.copy()
    np.fill_diagonal(own, 0.0)
    near, at = Neighbourhood.of(S, weight), np.arange(23)
    found = np.hstack([near.scales(own[some], some) for some in (at[:9], at[9:])])
    for i in range(23):
        rest = at != i
        for m, query in enumerate(S):
            expected = defined(query[rest], sizes[i, rest], weight[rest])
            assert found[m, i] == pytest.approx(expected)


def test_few_samples():
    assert [neighbours(n) for n in (0, 1, 2, 3, 100)] == [0, 0, 1, 2, 20]
    found = local_scales(np.zeros((2, 1)), np.array([[3.0]]), np.ones(1))
    assert found.tolist() == [[3.0], [3.0]]  # nobody is nearer than the only one
    two = Neighbourhood.of(np.array([[0.0, 1.0]]), np.ones(2))
    np.testing.assert_allclose(
        two.scales(np.array([[0.0, 3.0], [5.0, 0.0]]), np.arange(2)), [[3.0, 5.0]]
    )


def test_perfect_samples_have_a_scale_above_zero():
    found = local_scales(np.arange(12.0).reshape(2, 6), np.zeros((6, 1)), np.ones(6))
    assert np.all(found > 0)


def test_what_is_not_finite_is_as_large_as_the_largest():
    sizes = np.array([[[1.0], [-np.inf], [-4.0]], [[0.5], [0.2], [np.nan]]])
    assert finite_sizes(sizes)[..., 0].tolist() == [[1.0, 4.0, 4.0], [0.5, 0.2, 0.5]]
    assert finite_sizes(sizes[:, :1])[..., 0].tolist() == [[1.0], [0.5]]


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n", [2, 3, 23])
def test_scales_at_samples_without_themselves(n, tied):
    rng = np.random.default_rng(n)
    S, weight = rng.normal(size=(n, n)), rng.uniform(0.5, 2, n)
    S = np.round(S) if tied else S
    sizes = rng.exponential(size=(n, n, 2)) * ~np.eye(n, dtype=bool)[..., None]
    at = np.arange(n)
    found = scales_without_each(S[1:].copy(), sizes[1:], weight, at[1:])
    for i in at[1:]:
        rest = at != i
        expected = [defined(S[i, rest], sizes[i, rest, t], weight[rest]) for t in range(2)]
        np.testing.assert_allclose(found[i - 1], expected)


def test_sizes_whose_sum_overflows_are_kept():
    sizes = np.full((1, 3, 1), -1e308)
    assert (finite_sizes(sizes) == 1e308).all()
