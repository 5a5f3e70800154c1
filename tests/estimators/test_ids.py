"""Ids: how samples are named, and that a bad name changes nothing."""

import numpy as np
import pytest

from gramian.core.estimators import positions_of
from gramian.core.estimators._ids import check_ids, check_new, next_ids
from tests.estimators.conftest import (
    assert_same_model,
    assert_unchanged,
    make_samples,
    refit,
    snapshot,
)

# -- the functions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ids",
    [
        [3, 1, 2],
        np.array([3, 1, 2], dtype=np.int8),
        np.array([3, 1, 2], dtype=np.uint32),
        np.array([3, 1, 2], dtype=object),
        (3, 1, 2),
    ],
)
def test_integers_of_any_kind(ids):
    found = check_ids(ids, 3)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, [3, 1, 2])


@pytest.mark.parametrize("ids", [["a", "bcd"], np.array(["a", "bcd"], dtype=object)])
def test_strings(ids):
    np.testing.assert_array_equal(check_ids(ids, 2), ["a", "bcd"])


@pytest.mark.parametrize(
    ("ids", "match"),
    [
        ([0.5, 1.0], "integers or strings, got an array of dtype float64"),
        ([True, False], "got an array of dtype bool"),
        ([[0, 1]], r"shape \(1, 2\)"),
        ([None, None], "integers or strings"),
        ([0, 1, 2], "got 3 ids for 2 samples"),
        ([7], "got 1 ids for 2 samples"),
        ([7, 7], "must be unique, got 7 twice"),
        (["a", "a"], "must be unique, got a twice"),
    ],
)
def test_refused(ids, match):
    with pytest.raises(ValueError, match=match):
        check_ids(ids, 2)


def test_mixture_is_refused():
    with pytest.raises(ValueError, match="integers or strings"):
        check_ids([1, "a"], 2)


def test_integers_beyond_int64_are_refused():
    with pytest.raises(ValueError, match="ids"):
        check_ids(np.array([1, 2**63], dtype=np.uint64), 2)


def test_numbers_go_on():
    found, after = next_ids(np.array([4, 9]), 12, 3)
    np.testing.assert_array_equal(found, [12, 13, 14])
    assert after == 15
    np.testing.assert_array_equal(next_ids(np.array([4, 9]), 2, 2)[0], [10, 11])
    found, after = next_ids(np.array([1, 2**63 - 1]), 0, 3)
    np.testing.assert_array_equal(found, [0, 2, 3])
    assert after == 4
    with pytest.raises(ValueError, match="no 2 numbers left after id 9223372036854775805"):
        next_ids(np.array([1]), 2**63 - 2, 2)
    with pytest.raises(ValueError, match="ids of the caller's own, such as a"):
        next_ids(np.array(["a"]), 0, 1)


def test_new_ids_are_of_the_same_kind_and_new():
    check_new(np.array([1, 2]), np.array([3]))
    with pytest.raises(ValueError, match="id 2 is already held"):
        check_new(np.array([1, 2]), np.array([3, 2]))
    with pytest.raises(ValueError, match="must be integers as those the model holds, got strings"):
        check_new(np.array([1, 2]), np.array(["3"]))
    with pytest.raises(ValueError, match="must be strings as those the model holds, got integers"):
        check_new(np.array(["1"]), np.array([3]))


@pytest.mark.parametrize(
    ("holdings", "ids", "positions"),
    [
        ([5, 3, 9], 9, [2]),
        ([5, 3, 9], [9, 5], [0, 2]),
        ([5, 3, 9], np.array([3], dtype=np.uint8), [1]),
        ([5, 3, 9], [], []),
        (["b", "a", "long"], "long", [2]),
        (["b", "a", "long"], ["a", "b"], [0, 1]),
    ],
)
def test_positions_ascend(holdings, ids, positions):
    np.testing.assert_array_equal(positions_of(np.array(holdings), ids), positions)


@pytest.mark.parametrize(
    ("holdings", "ids", "match"),
    [
        ([5, 3, 9], [5, 4], "forget got id 4, which the model does not hold"),
        ([5, 3, 9], -1, "forget got id -1.*it holds 3 samples"),
        ([5, 3, 9], [5, 5], "forget got id 5 twice"),
        ([5, 3, 9], [4, 4], "forget got id 4 twice"),
        ([5, 3, 9], 5.0, "integers or strings, got an array of dtype float64"),
        ([5, 3, 9], [True], "integers or strings, got an array of dtype bool"),
        ([5, 3, 9], "5", "forget got id 5"),
        (["5", "3"], 5, "forget got id 5"),
        (["a", "b"], ["a", "ab"], "forget got id ab"),
    ],
)
def test_positions_refused(holdings, ids, match):
    with pytest.raises(ValueError, match=match):
        positions_of(np.array(holdings), ids)


@pytest.mark.parametrize("ids", [np.array(["a"], dtype=object), [["a", "b"]], {"a"}])
def test_positions_of_other_containers(ids):
    try:
        positions_of(np.array(["a", "b"]), ids)
    except ValueError as error:
        assert "one-dimensional" in str(error)  # noqa: PT017, either answer is right


# -- through the estimators ---------------------------------------------------------------------


def test_numbers_are_never_reused(estimator):
    X, y = make_samples(estimator)
    estimator.fit(X[:20], y[:20]).forget([18, 19, 3])
    estimator.partial_fit(X[20:22], y[20:22])
    np.testing.assert_array_equal(estimator.ids_[-2:], [20, 21])
    estimator.forget([20, 21]).partial_fit(X[22:], y[22:])
    np.testing.assert_array_equal(estimator.ids_[-8:], range(22, 30))
    np.testing.assert_array_equal(estimator.fit(X, y).ids_, range(30))


def test_numbers_go_on_from_the_callers(estimator):
    X, y = make_samples(estimator)
    estimator.fit(X[:20], y[:20], ids=np.arange(20) * 10)
    estimator.partial_fit(X[20:22], y[20:22])
    np.testing.assert_array_equal(estimator.ids_[-2:], [191, 192])
    estimator.partial_fit(X[22:23], y[22:23], ids=[-5]).partial_fit(X[23:24], y[23:24])
    np.testing.assert_array_equal(estimator.ids_[-2:], [-5, 193])
    estimator.forget([-5, 10]).partial_fit(X[24:25], y[24:25], ids=[10])  # free again
    assert_same_model(estimator, refit(estimator), updates=8)


def test_strings_name_samples(estimator):
    X, y = make_samples(estimator)
    names = np.array([f"sample {i}" for i in range(29)] + ["a much longer name than the others"])
    estimator.fit(X[:20], y[:20], ids=names[:20]).partial_fit(X[20:], y[20:], ids=names[20:])
    np.testing.assert_array_equal(estimator.ids_, names)
    estimator.forget("sample 7").forget(list(names[[29, 0]]))
    np.testing.assert_array_equal(estimator.ids_, np.delete(names, [0, 7, 29]))
    assert_same_model(estimator, refit(estimator), updates=13)


def test_no_number_tells_of_an_id_that_has_left(estimator):
    X, y = make_samples(estimator)
    estimator.fit(X[:20], y[:20], ids=[*range(19), 8128]).forget(8128)
    estimator.partial_fit(X[20:21], y[20:21])
    assert estimator.ids_[-1] == 19


BAD_NEW_IDS = {
    "held": (lambda holdings: [100, holdings[0]], "already held"),
    "twice": (lambda holdings: [100, 100], "must be unique, got 100 twice"),
    "too few": (lambda holdings: [100], "got 1 ids for 2 samples"),
    "too many": (lambda holdings: [100, 101, 102], "got 3 ids for 2 samples"),
    "floats": (lambda holdings: [0.5, 1.5], "integers or strings"),
    "strings": (lambda holdings: ["a", "b"], "must be integers as those the model holds"),
}


def test_bad_new_ids(estimator):
    X, y = make_samples(estimator)
    before = snapshot(estimator.fit(X[:25], y[:25]))
    for make, match in BAD_NEW_IDS.values():
        with pytest.raises(ValueError, match=match):
            estimator.partial_fit(X[25:27], y[25:27], ids=make(estimator.ids_))
        assert_unchanged(estimator, before)
    estimator.partial_fit(X[25:27], y[25:27])
    np.testing.assert_array_equal(estimator.ids_, range(27))
    assert_same_model(estimator, refit(estimator), updates=2)


def test_strings_need_ids_to_go_on(estimator):
    X, y = make_samples(estimator)
    before = snapshot(estimator.fit(X[:25], y[:25], ids=[f"s{i}" for i in range(25)]))
    for ids, match in [(None, "pass `ids` for the new"), ([3], "must be strings as those")]:
        with pytest.raises(ValueError, match=match):
            estimator.partial_fit(X[25:26], y[25:26], ids=ids)
        assert_unchanged(estimator, before)


BAD_OLD_IDS = [
    (120, r"forget got id 120, which the model does not hold \(it holds 30 samples\)"),
    ([3, 120], "forget got id 120"),
    ([3, 4, 3], "forget got id 3 twice"),
    ("three", "forget got id three"),
    ([3.5], "integers or strings, got an array of dtype float64"),
]


def test_bad_ids_to_forget(estimator):
    X, y = make_samples(estimator)
    before = snapshot(estimator.fit(X, y))
    for ids, match in BAD_OLD_IDS:
        with pytest.raises(ValueError, match=match):
            estimator.forget(ids)
        assert_unchanged(estimator, before)
    assert_same_model(estimator.forget([3, 4]), refit(estimator), updates=2)


def test_forgotten_twice(estimator):
    X, y = make_samples(estimator)
    before = snapshot(estimator.fit(X, y).forget(5))
    with pytest.raises(ValueError, match="forget got id 5, which the model does not hold"):
        estimator.forget(5)
    assert_unchanged(estimator, before)


@pytest.mark.parametrize("number", [2**63, 2**70, -(2**63) - 1, -(2**70)])
def test_numbers_beyond_64_bits(number):
    with pytest.raises(ValueError, match="at least −2⁶³ and smaller than 2⁶³"):
        check_ids([number], 1)


def test_names_with_nul():
    with pytest.raises(ValueError, match="NUL characters"):
        check_ids(["a", "a\0"], 2)
