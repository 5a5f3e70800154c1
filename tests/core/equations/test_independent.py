"""Independent vectors against a row-by-row transcription of kaieda2004, eqs. (40)-(43)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.core.equations import (
    Independent,
    independent_append,
    independent_remove,
    independent_select,
)
from gramian.core.equations._independent import triangular_coordinates
from gramian.core.kernels import make_kernel
from tests.tolerance import tolerance

TAU = 1e-2
KERNELS = [
    make_kernel("linear"),
    make_kernel("poly", degree=2),
    make_kernel("rbf", gamma=0.3),
]


def samples(n, d=3, seed=0):
    """Random samples of which every fourth repeats an earlier one."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[3::4] = X[0 : len(X[3::4])]
    return X


def cholesky_by_rows(K, tau):
    """kaieda2004, eqs. (41)-(43), one row after the other, discarded rows left out."""
    basis, rows = [], []
    for o in range(len(K)):
        row = []
        for p, pivot_row in zip(basis, rows, strict=True):
            known = sum(a * b for a, b in zip(row, pivot_row, strict=False))
            row.append((K[o, p] - known) / pivot_row[-1])
        schur = K[o, o] - sum(a * a for a in row)
        if schur >= tau:
            basis.append(o)
            rows.append([*row, np.sqrt(schur)])
    L = np.zeros((len(basis), len(basis)))
    for i, row in enumerate(rows):
        L[i, : len(row)] = row
    return np.array(basis, dtype=int), L


def gram(kernel, X):
    """Columns and diagonal of the kernel matrix."""
    return lambda j: kernel(X, X[j : j + 1])[:, 0], kernel.diagonal(X)


def select(kernel, X, tau=TAU):
    return independent_select(*gram(kernel, X), tau)


def append(state, kernel, X, new, tau=TAU):
    # The RBF kernel refuses to be asked for no columns at all.
    cross = kernel(new, X[state.basis]) if len(state.basis) else np.empty((len(new), 0))
    return independent_append(state, cross, *gram(kernel, np.concatenate([X, new])), tau)


def remove(state, kernel, X, positions, tau=TAU):
    rest = np.delete(X, positions, axis=0)
    return independent_remove(state, positions, *gram(kernel, rest), tau)


def assert_same(actual, expected, updates=0):
    np.testing.assert_array_equal(actual.basis, expected.basis)
    scale = max(1.0, np.abs(expected.coordinates).max(initial=0.0))
    cond = scale / np.sqrt(TAU)
    atol = scale * tolerance(len(expected.coordinates), updates=updates, cond=cond, power=2)
    np.testing.assert_allclose(actual.coordinates, expected.coordinates, rtol=0, atol=atol)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("n", [1, 2, 40])
def test_select_is_the_row_by_row_factorisation(kernel, n):
    X = samples(n)
    basis, L = cholesky_by_rows(kernel(X, X), TAU)
    state = select(kernel, X)
    coordinates = np.linalg.solve(L, kernel(X[basis], X)).T
    assert_same(state, Independent(basis, coordinates))
    assert_same(Independent(state.basis, state.factor), Independent(basis, L))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_coordinates_reproduce_the_gram_matrix_up_to_tau(kernel):
    X = samples(40)
    state = select(kernel, X)
    K = kernel(X, X)
    error = K - state.coordinates @ state.coordinates.T
    atol = tolerance(40) * np.abs(K).max()
    assert np.abs(error[state.basis]).max() < atol
    assert -atol < np.diag(error).min()
    assert np.diag(error).max() < TAU
    assert len(state.basis) < 40


def test_only_the_columns_of_independent_vectors_are_asked_for():
    kernel, X = KERNELS[0], samples(40)
    asked = []

    def column(j):
        asked.append(j)
        return kernel(X, X[j : j + 1])[:, 0]

    state = independent_select(column, kernel.diagonal(X), TAU)
    assert asked == list(state.basis)
    assert len(asked) == X.shape[1]


def test_an_early_discarded_sample_has_a_coordinate_along_a_later_direction():
    X = np.array([[1.0, 0.0], [1.0, 0.05], [0.0, 1.0]])
    state = select(KERNELS[0], X)
    np.testing.assert_array_equal(state.basis, [0, 2])
    np.testing.assert_allclose(state.coordinates, X, atol=tolerance(3))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("block", [1, 7, 30])
def test_append_equals_select_on_the_longer_sequence(kernel, block):
    X = samples(40)
    state = select(kernel, X[:10])
    for end in range(10, 40, block):
        state = append(state, kernel, X[:end], X[end : end + block])
    assert_same(state, select(kernel, X))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_remove_equals_select_on_what_remains(kernel):
    X = samples(30)
    state = select(kernel, X)
    for i in range(30):
        assert_same(remove(state, kernel, X, i), select(kernel, np.delete(X, i, axis=0)))
    several = [0, 5, 8, 29]
    assert_same(remove(state, kernel, X, several), select(kernel, np.delete(X, several, axis=0)))
    assert_same(remove(state, kernel, X, np.arange(30)), select(kernel, X[:0]))


def test_a_discarded_sample_leaves_without_a_column():
    kernel, X = KERNELS[0], samples(20)
    state = select(kernel, X)
    i = int(np.setdiff1d(np.arange(20), state.basis)[0])
    shorter = independent_remove(state, i, pytest.fail, np.delete(kernel.diagonal(X), i), TAU)
    assert_same(shorter, select(kernel, np.delete(X, i, axis=0)))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_edit_script_equals_select_on_what_is_held(data):
    kernel = data.draw(st.sampled_from(KERNELS))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    X = rng.normal(size=(3, 3))
    state, edits = select(kernel, X), data.draw(st.integers(1, 12))
    for _ in range(edits):
        if len(X) and data.draw(st.booleans()):
            gone = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=3))
            state, X = remove(state, kernel, X, gone), np.delete(X, gone, axis=0)
        else:
            new = rng.normal(size=(data.draw(st.integers(1, 4)), 3))
            if len(X) and data.draw(st.booleans()):
                new[0] = X[0]
            state, X = append(state, kernel, X, new), np.concatenate([X, new])
        assert_same(state, select(kernel, X), updates=edits)


def test_edits_leave_the_old_state_and_the_inputs_alone():
    kernel, X = KERNELS[2], samples(20)
    state = select(kernel, X)
    basis, coordinates = state.basis.copy(), state.coordinates.copy()
    cross = kernel(X[:2] + 1, X[state.basis])
    before = cross.copy()
    append(state, kernel, X, X[:2] + 1)
    remove(state, kernel, X, int(state.basis[1]))
    triangular_coordinates(state.factor, cross)
    np.testing.assert_array_equal(state.basis, basis)
    np.testing.assert_array_equal(state.coordinates, coordinates)
    np.testing.assert_array_equal(cross, before)


def test_samples_at_the_origin_are_never_independent():
    X = np.zeros((3, 2))
    state = select(KERNELS[0], X)
    assert state.coordinates.shape == (3, 0)
    state = append(state, KERNELS[0], X, np.eye(2))
    np.testing.assert_array_equal(state.basis, [3, 4])


def test_single_precision_stays_single():
    X = samples(20).astype(np.float32)
    state = select(KERNELS[2], X)
    assert state.coordinates.dtype == np.float32
    assert append(state, KERNELS[2], X, X[:1] + 1).coordinates.dtype == np.float32


@pytest.mark.parametrize("tau", [0.0, -1.0, np.nan])
def test_tau_must_be_positive(tau):
    with pytest.raises(ValueError, match="tau must be > 0"):
        select(KERNELS[0], samples(3), tau)
