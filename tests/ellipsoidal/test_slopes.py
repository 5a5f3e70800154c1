"""Tuning of the slopes against a literal transcription of kaieda2004, §7."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gramian.ellipsoidal._slopes import class_nearest, memberships, slopes_scale, slopes_tune


def literal_cases(distances, labels, alpha, i):
    """L, U, V and K of class i: eqs. (58), (61), (64), (66), sample by sample."""
    L, U, V, K = [], [], [], []
    for delta, y in zip(distances, labels, strict=True):
        h = [d / a for d, a in zip(delta, alpha, strict=True)]
        winner = h.index(min(h))
        others = [j for j in range(len(h)) if j != i]
        second = min(others, key=lambda j: h[j])
        bound = delta[i] / h[second]
        if winner == y == i:
            L.append(bound)
        elif winner == y:
            U.append(bound)
        elif y == i:
            V.append(bound)
        elif winner == i and second == y:
            K.append(bound)
    return L, U, V, K


def literal_change(distances, labels, alpha, i, l_max, eta):
    """Eqs. (60), (62), (65), (67)-(71): the new slope of class i; equal bounds each cost one."""
    L, U, V, K = literal_cases(distances, labels, alpha, i)
    best_up = best_down = (0, None)
    for upper in [*sorted(set(U)), np.inf][:l_max]:
        won = [v for v in V if v < upper]
        net = len(won) - sum(u < upper for u in U)
        if net > best_up[0]:
            beta = max(won)
            value = beta + eta * (upper - beta) if upper < np.inf else beta / (1 - eta)
            best_up = (net, value)
    for lower in [*sorted(set(L), reverse=True), 0.0][:l_max]:
        won = [k for k in K if k > lower]
        net = len(won) - sum(x > lower for x in L)
        if net > best_down[0]:
            gamma = min(won)
            best_down = (net, gamma - eta * (gamma - lower))
    best = best_up if best_up[0] >= best_down[0] else best_down
    return alpha[i] if best[1] is None else best[1]


def literal_tuning(distances, labels, l_max, eta):
    """The procedure of §7.6."""
    distances, labels = distances.tolist(), labels.tolist()
    alpha = [1.0] * len(distances[0])

    def recognised():
        tuned = [[d / a for d, a in zip(row, alpha, strict=True)] for row in distances]
        return sum(h.index(min(h)) == y for h, y in zip(tuned, labels, strict=True))

    counts = [recognised()]
    for i in range(len(alpha)):
        L, U, _, _ = literal_cases(distances, labels, alpha, i)
        if L and U:
            alpha[i] = 0.5 * (max(L) + min(U))
    counts.append(recognised())
    while len(counts) == 2 or counts[-1] > counts[-2]:
        for i in range(len(alpha)):
            alpha[i] = literal_change(distances, labels, alpha, i, l_max, eta)
        counts.append(recognised())
    return np.array(alpha), tuple(counts)


def overlapping(n, c, seed):
    """Distances that favour the own class, if only just, with classes of unequal scale."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, c, size=n)
    distances = rng.chisquare(3, size=(n, c)) * rng.uniform(0.3, 3.0, size=c)
    distances[np.arange(n), labels] *= 0.5
    return distances, labels


@pytest.mark.parametrize("c", [2, 3, 6])
@pytest.mark.parametrize("l_max", [1, 3, 10])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("equals", [False, True])
def test_tuning_is_the_literal_procedure(c, l_max, seed, equals):
    distances, labels = overlapping(60, c, seed)
    if equals:
        distances = np.ceil(distances)
    tuned = slopes_tune(distances, labels, max_sacrifice=l_max, eta=0.1)
    alpha, counts = literal_tuning(distances, labels, l_max, 0.1)
    np.testing.assert_allclose(tuned.alpha, alpha, rtol=1e-12)  # the same quotients of quotients
    assert tuned.recognised == counts


awkward = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 1e-300, 1e300, np.inf])


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_recognition_never_falls_whatever_the_distances(data):
    n, c = data.draw(st.integers(1, 25)), data.draw(st.integers(1, 4))
    distances = data.draw(arrays(float, (n, c), elements=awkward))
    labels = data.draw(arrays(int, n, elements=st.integers(0, c - 1)))
    l_max = data.draw(st.integers(1, 5))
    before = distances.copy()
    tuned = slopes_tune(distances, labels, max_sacrifice=l_max, eta=0.1)
    assert (tuned.alpha > 0).all()
    assert np.isfinite(tuned.alpha).all()
    assert (np.diff(tuned.recognised) >= 0).all()
    assert tuned.recognised[-1] == (class_nearest(distances, tuned.alpha) == labels).sum()
    np.testing.assert_array_equal(distances, before)


def test_equal_bounds_are_each_counted():
    # Raising the slope of class 1 past 2 wins a sample, but loses two that share the bound 1.5.
    distances = np.array([[1.0, 1.5], [1.0, 1.5], [1.0, 2.0], [9.0, 1.0]])
    labels = np.array([0, 0, 1, 1])
    tuned = slopes_tune(distances, labels, max_sacrifice=10)
    assert tuned.recognised == (3, 3, 3)


def test_one_step_over_an_equal_bound_may_win_more_than_it_costs():
    # Two samples share the bound 1.5; three are won past 2. That is one bound to pass: l = 2.
    distances = np.array([[1.0, 1.5]] * 2 + [[1.0, 2.0]] * 3 + [[9.0, 1.0]])
    labels = np.array([0, 0, 1, 1, 1, 1])
    assert slopes_tune(distances, labels, max_sacrifice=1).recognised[-1] == 3
    assert slopes_tune(distances, labels, max_sacrifice=2).recognised[-1] == 4


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("equals", [False, True])
def test_weights_repeat_samples(seed, equals):
    distances, labels = overlapping(40, 3, seed)
    if equals:
        distances = np.ceil(distances)
    weight = np.random.default_rng(seed).integers(1, 4, size=40)
    many = np.repeat(np.arange(40), weight)
    repeated = slopes_tune(distances[many], labels[many])
    tuned = slopes_tune(distances, labels, weight=weight.astype(float))
    np.testing.assert_array_equal(tuned.alpha, repeated.alpha)
    assert tuned.recognised == repeated.recognised


def test_margins_put_the_slope_in_the_middle():
    distances = np.array([[1.0, 4.0], [2.0, 4.0], [6.0, 2.0]])
    tuned = slopes_tune(distances, np.array([0, 0, 1]))
    first = 0.5 * (2 / 4 + 6 / 2)
    lowest, highest = 2 / (6 / first), 4 / (2 / first)
    np.testing.assert_allclose(tuned.alpha, [first, 0.5 * (lowest + highest)], rtol=1e-15)


def test_a_slope_without_both_bounds_stays():
    one_class = slopes_tune(np.array([[1.0], [2.0]]), np.array([0, 0]))
    np.testing.assert_array_equal(one_class.alpha, [1.0])
    never_near = slopes_tune(np.array([[1.0, np.inf], [2.0, np.inf]]), np.array([0, 0]))
    np.testing.assert_array_equal(never_near.alpha, [1.0, 1.0])


@pytest.mark.parametrize(
    ("distances", "label", "expected"),
    [([[2.0, 1.0], [3.0, 1.0]], 0, 3 / 0.9), ([[1.0, 2.0], [1.0, 3.0]], 1, 0.9 / 3)],
    ids=["upwards", "downwards"],
)
def test_an_open_end_is_left_by_the_share_eta(distances, label, expected):
    # All samples are of one class, and wrong: nothing can be lost before the axis ends.
    tuned = slopes_tune(np.array(distances), np.full(2, label), eta=0.1)
    assert tuned.recognised == (0, 0, 2, 2)
    np.testing.assert_allclose(tuned.alpha, [expected, 1.0], rtol=1e-15)


def test_half_of_the_samples_have_a_degree_of_one_half():
    distances, labels = overlapping(41, 3, 0)
    weight, alpha = np.ones(41), np.array([0.5, 1.0, 3.0])
    scaled = slopes_scale(1e3 * distances, labels, alpha, weight)
    own = memberships(1e3 * distances, scaled)[np.arange(41), labels]
    assert np.median(own) == pytest.approx(0.5, rel=1e-12)  # one quotient and one exponential
    np.testing.assert_allclose(scaled / scaled[0], alpha / alpha[0], rtol=1e-15)
    heavy = slopes_scale(distances, labels, alpha, np.where(np.arange(41) == 7, 99.0, 1.0))
    own = memberships(distances, heavy)[7, labels[7]]
    assert own == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("distance", [0.0, np.inf])
def test_slopes_without_a_median_stay(distance):
    alpha = np.array([0.5, 2.0])
    scaled = slopes_scale(np.full((3, 2), distance), np.zeros(3, dtype=int), alpha, np.ones(3))
    np.testing.assert_array_equal(scaled, alpha)


def test_memberships_are_degrees():
    distances = np.array([[0.0, 1.0], [np.inf, 4.0]])
    np.testing.assert_allclose(
        memberships(distances, np.array([1.0, 2.0])),
        [[1.0, np.exp(-0.5)], [0.0, np.exp(-2.0)]],
        rtol=1e-15,
    )


@pytest.mark.parametrize(
    ("distances", "labels", "options", "match"),
    [
        ([[-1.0, 1.0]], [0], {}, "must be >= 0"),
        ([[np.nan, 1.0]], [0], {}, "must be >= 0"),
        ([[1.0, 1.0]], [2], {}, "labels must index the 2 columns"),
        ([[1.0, 1.0]], [0], {"max_sacrifice": 0}, "max_sacrifice must be >= 1"),
        ([[1.0, 1.0]], [0], {"max_sacrifice": 2.5}, "a whole number"),
        ([[1.0, 1.0]], [0], {"eta": 1.0}, r"eta in \(0, 1\)"),
    ],
)
def test_what_cannot_be_tuned_is_refused(distances, labels, options, match):
    with pytest.raises(ValueError, match=match):
        slopes_tune(np.array(distances), np.array(labels), **options)
