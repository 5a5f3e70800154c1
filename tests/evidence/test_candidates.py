"""Parts that a stack might have, next to loops and differences."""

import numpy as np
import pytest

from evidence.shared import candidates
from evidence.shared.candidates import Parts, Rows, encoded, encoding, fit_parts
from evidence.shared.mixed import Columns
from gramian import LeastSquaresSVR, StackedKernelClassifier, StackedKernelRegressor
from tests.tolerance import tolerance

RNG = np.random.default_rng(0)
TABLE = Columns(
    {
        "x": np.where(np.arange(40) % 9 == 0, np.nan, RNG.normal(size=40)),
        "z": RNG.exponential(size=40),
        "level": np.array(["a", "b", "c", None], dtype=object)[np.arange(40) % 4],
    },
    RNG.normal(size=40),
)


@pytest.fixture
def rows():
    return encoded(encoding(TABLE, TABLE.target, []), TABLE)


def test_features_know_their_column(rows):
    assert rows.column.tolist() == [0, 0, 1, 2, 2, 2, 2, 2]
    assert rows.is_number.tolist() == [True, False, True, *[False] * 5]
    assert rows.is_mark.tolist() == [False, True, *[False] * 6]
    np.testing.assert_array_equal(rows.X[:, 1], np.isnan(TABLE.values["x"]))
    np.testing.assert_array_equal(rows.levels[:, 0], rows.X[:, 3:].argmax(axis=1))


def test_slopes_are_those_of_the_fit(rows):
    """Outer products of gradients against differences of predictions."""
    y = TABLE.target
    model = LeastSquaresSVR("exponential", gamma=0.3, C=5.0).fit(rows.X, y)
    step, d = 1e-5, rows.X.shape[1]
    expected = np.zeros((d, d))
    for x in rows.X:  # the peak of a sample's own kernel is alike on both sides
        ends = np.concatenate([x + step * np.eye(d), x - step * np.eye(d)])
        values = model.predict(ends)
        gradient = (values[:d] - values[d:]) / (2 * step)
        expected += np.outer(gradient, gradient)
    found = 0.3**2 * candidates._outer(model, rows.X)
    # Differences of steps of 1e-5 have errors of about 1e-8.
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.trace(expected))


def test_ranks_keep_the_order_of_numbers(rows):
    ranked = candidates._ranks(rows, None, 0)(rows)
    assert (np.argsort(ranked[:, 2]) == np.argsort(rows.X[:, 2])).all()
    np.testing.assert_array_equal(ranked[:, 3:], rows.X[:, 3:])


def test_levels_become_smoothed_means(rows):
    y, level = TABLE.target, rows.levels[:, 0]
    found = candidates._ordered(rows, y, 0)(rows)
    assert found.shape[1] == 4  # x and its mark, z, level
    by_hand = {
        k: (y[level == k].sum() + 5 * y.mean()) / (np.sum(level == k) + 5) for k in set(level)
    }
    expected = np.array([by_hand[k] for k in level])
    assert abs(np.corrcoef(found[:, 3], expected)[0, 1] - 1) < 1e-12
    unknown = rows._replace(levels=np.full_like(rows.levels, 9))
    np.testing.assert_array_equal(candidates._ordered(rows, y, 0)(unknown)[:, 3], 0)


def test_levels_and_ranks_go_together(rows):
    y = TABLE.target
    found = candidates._ordered_ranks(rows, y, 0)(rows)
    ranked, ordered = candidates._ranks(rows, y, 0)(rows), candidates._ordered(rows, y, 0)(rows)
    np.testing.assert_array_equal(found, np.hstack([ranked[:, :3], ordered[:, 3:]]))


def test_parts_without_features_are_none(rows):
    whole = Rows(rows.X[:, 2:], rows.column[2:], rows.is_number[2:], rows.is_mark[2:], rows.levels)
    assert fit_parts(Parts(("rbf",), "marks"), whole, TABLE.target, whole, 0) is None


@pytest.mark.parametrize("name", sorted(candidates.FEATURES))
def test_all_features_give_outputs(rows, name):
    classes = np.arange(40) % 3
    for y, number in ((TABLE.target, 0), (classes, 3), (classes % 2, 2)):
        found = fit_parts(Parts(("exponential",), name), rows, y, rows.take([0, 1]), number)
        assert found.new.shape == (1, 2, 3 if number == 3 else 1)
        assert found.left_out.shape == (1, 40, found.new.shape[2])
        assert np.isfinite(found.left_out).all()


@pytest.mark.parametrize("classes", [0, 3])
def test_parts_are_those_of_a_stack(rows, classes):
    """The weighted sum of the outputs is what a stack of the library predicts."""
    y = np.arange(40) % 3 if classes else TABLE.target
    kind = StackedKernelClassifier if classes else StackedKernelRegressor
    names = ("rbf", "exponential+diagonal")
    model = kind(names, random_state=0).fit(rows.X, y)
    found = fit_parts(Parts(names), rows, y, rows, classes)
    expected = model.decision_function(rows.X) if classes else model.predict(rows.X)[:, None]
    outputs = np.tensordot(model.weights_, found.new, 1) + model.offset_
    np.testing.assert_allclose(outputs, expected, atol=tolerance(40, cond=1e4, power=2))
