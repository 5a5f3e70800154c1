"""Operations on tensors, against those of NumPy on the same numbers."""

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the operations on a device are those of torch")

from gramian.core import arrays  # noqa: E402
from gramian.core.arrays import _torch, to_device, to_host  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(params=[7, 50])
def n(request, monkeypatch):
    monkeypatch.setattr(_torch, "BLOCK", 16)  # several blocks, the last of them narrower
    monkeypatch.setattr(_torch, "ROTATED", 8)
    monkeypatch.setattr(_torch, "ADDED", 8)
    return request.param


def definite(n, dtype=float):
    A = np.random.default_rng(n).normal(size=(n, n + 3))
    S = A @ A.T / n + np.eye(n)
    return S.astype(dtype) + (1j * np.eye(n) if dtype is complex else 0)


def two(S, below=7.0):
    """One triangle of S above a constant, as arrays of both homes."""
    whole = np.asfortranarray(np.triu(S) + below * np.tril(np.ones_like(S), -1))
    return whole, to_device(whole.copy(), DEVICE)


def same(device, numpy, tol=1e-12):
    np.testing.assert_allclose(to_host(device), numpy, rtol=tol, atol=tol)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("lower", [False, True])
def test_symmetric_product(n, dtype, lower):
    S = definite(n, dtype)
    X = np.random.default_rng(0).normal(size=(n, 2)).astype(dtype)
    _, buffer = two(S, 0.0)
    stored = buffer.T.copy() if lower else buffer
    same(arrays.symmetric_product(stored, to_device(X, DEVICE), lower=lower), S @ X)


def test_add_outer_leaves_the_other_triangle(n):
    S, W = definite(n), np.random.default_rng(1).normal(size=(n, 3))
    _, buffer = two(S)
    arrays.add_outer(buffer, W, -1.0)
    same(buffer, np.triu(S - W @ W.T) + 7.0 * np.tril(np.ones_like(S), -1))


def test_cholesky_and_inverse_in_place(n):
    S = definite(n)
    _, buffer = two(S)
    assert arrays.factor_cholesky(buffer) == 0
    same(np.triu(to_host(buffer)), np.linalg.cholesky(S).T)
    X = np.random.default_rng(2).normal(size=(n, 2))
    half = arrays.solve_upper(buffer, to_device(X, DEVICE), transposed=True)
    same(arrays.solve_upper(buffer, half), np.linalg.solve(S, X))
    norm = np.abs(S).sum(axis=0).max()
    exact = 1.0 / (norm * np.abs(np.linalg.inv(S)).sum(axis=0).max())
    assert exact <= 1.0001 * arrays.reciprocal_condition(buffer, norm) < 3 * exact
    arrays.invert_cholesky(buffer)
    same(buffer, np.triu(np.linalg.inv(S)) + 7.0 * np.tril(np.ones_like(S), -1), 1e-10)


def test_a_matrix_that_is_not_definite_names_its_pivot(n):
    S = definite(n)
    S[n - 2, n - 2] = -1.0
    assert arrays.factor_cholesky(two(S)[1]) == arrays.factor_cholesky(two(S)[0]) == n - 1


def test_rows_are_added_to_a_cholesky_factor(n):
    S, rows = definite(n), np.random.default_rng(3).normal(size=(2, n))
    R = to_device(np.triu(np.linalg.cholesky(S).T), DEVICE)
    arrays.add_rows_to_cholesky(R, rows)
    found = np.triu(to_host(R))
    same(found.T @ found, S + rows.T @ rows)


def test_triangles(n):
    R = np.triu(np.linalg.cholesky(definite(n)).T)
    same(arrays.invert_upper(to_device(R.copy(), DEVICE)), np.linalg.inv(R))
    L, U = np.linalg.cholesky(definite(3)), np.random.default_rng(4).normal(size=(n, 3))
    same(
        arrays.scale_by_cholesky(to_device(U, DEVICE), to_device(L, DEVICE)), U @ np.linalg.inv(L.T)
    )
    same(arrays.solve_lower(to_device(L, DEVICE), U[:3]), np.linalg.solve(L, U[:3]))
    found, info = arrays.small_cholesky(to_device(definite(3), DEVICE))
    assert info == 0
    same(found, L)
    S = definite(5, complex)
    found = to_host(arrays.complex_cholesky(to_device(S, DEVICE)))
    same(found @ found.T, S)


@pytest.mark.parametrize("lower", [False, True])
def test_rows_of_a_triangle(n, lower):
    S = definite(n)
    stored = np.tril(S) if lower else np.triu(S)
    rows = np.array([0, n - 1, n // 2])
    same(to_device(stored, DEVICE).through("triangle_rows", rows, lower), S[rows])


def test_functions_of_numpy():
    A = np.random.default_rng(5).normal(size=(4, 3))
    B = to_device(A, DEVICE)
    same(np.abs(B).max(initial=0.0), np.abs(A).max())
    same(np.concatenate([B, A]), np.concatenate([A, A]))
    same(np.column_stack([B, A]), np.column_stack([A, A]))
    same(np.vstack([B, A]), np.vstack([A, A]))
    same(np.append(B[:, 0], A[:, 1]), np.append(A[:, 0], A[:, 1]))
    same(np.pad(B, ((0, 2), (0, 1))), np.pad(A, ((0, 2), (0, 1))))
    same(np.where(A > 0, B, 0.0), np.where(A > 0, A, 0.0))
    same(np.einsum("ij,ij->i", B, A), np.einsum("ij,ij->i", A, A))
    same(np.outer(B[:, 0], A[:, 1]), np.outer(A[:, 0], A[:, 1]))
    same(np.delete(B, np.array([1, 2]), axis=0), np.delete(A, [1, 2], axis=0))
    same(np.sum(B, axis=0, keepdims=True), A.sum(axis=0, keepdims=True))
    same(np.maximum(B, 0.5) ** 2, np.maximum(A, 0.5) ** 2)
    same(A @ B.T - 1.0 / B[0, 0], A @ A.T - 1.0 / A[0, 0])
    same(np.diag(B[:, 0]), np.diag(A[:, 0]))
    same(np.tril(B, -1) + np.triu(B), A)
    same(np.zeros_like(B) + np.ones_like(B) + np.ones((4, 3), like=B), np.full((4, 3), 2.0))
    same(np.full(2, 3.0, like=B) @ np.eye(2, like=B), [3.0, 3.0])
    assert np.flatnonzero(B[:, 0] > 0).tolist() == np.flatnonzero(A[:, 0] > 0).tolist()
    assert np.argmax(B[:, 0] > 0) == np.argmax(A[:, 0] > 0)
    assert np.shape(B) == (4, 3)
    assert np.ndim(B) == 2
    assert not np.iscomplexobj(B)
    assert bool(np.any(B > 0))
    assert float(np.trace(B[:3])) == pytest.approx(np.trace(A[:3]))
    assert float(B[:0].max(initial=-1.0)) == -1.0
    assert float(B.min()) == A.min()
    with pytest.raises(TypeError):
        np.sort(B)
    with pytest.raises(TypeError):
        np.arctan(B)


def test_a_device_that_is_not_there():
    with pytest.raises(ValueError, match="is not usable here"):
        arrays.find_device("nowhere")


def test_distances():
    X = np.random.default_rng(6).normal(size=(5, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    same(to_device(X, DEVICE).through("distances", X, 2.0), D)


@pytest.mark.parametrize("outlier", [0.0, 1e8])
def test_squares_by_a_product_and_directly(outlier, monkeypatch):
    monkeypatch.setattr(_torch, "FEW_PAIRS", 0)
    X = np.random.default_rng(7).normal(size=(90, 3))
    X[17] += outlier
    exact = -0.5 * np.square(X[:, None] - X).sum(axis=2)
    same(to_device(X, DEVICE).through("squares", X, 0.5), exact, 1e-13)


def test_solve_transposed_and_subtract_outer(n, monkeypatch):
    monkeypatch.setattr(_torch, "SOLVED", 16)
    rng = np.random.default_rng(4)
    U, X, z = np.linalg.cholesky(definite(n)).T, rng.normal(size=(5, n)).T, rng.normal(size=5)
    there = to_device(X.copy(order="F"), DEVICE)
    same(arrays.solve_transposed(U, there), np.linalg.solve(U.T, X))
    same(arrays.solve_transposed(U, X.copy(order="F")), np.linalg.solve(U.T, X))
    for rows in (X.copy(), to_device(X.copy(), DEVICE)):
        arrays.subtract_outer(rows, X[:, 0], z)
        same(rows, X - np.outer(X[:, 0], z))


def test_functions_for_the_choice_of_centres():
    A = np.random.default_rng(5).normal(size=(4, 4))
    B = to_device(A, DEVICE)
    same(np.vdot(B, B), np.vdot(A, A))
    same(np.linalg.norm(B), np.linalg.norm(A))
    same(np.linalg.eigh(B @ B.T)[0], np.linalg.eigh(A @ A.T)[0], 1e-9)
    same(B[None].swapaxes(0, 2), A[None].swapaxes(0, 2))
    expected = np.where(A > 0, 1.0 / A, np.inf)
    same(np.divide(1.0, B, out=np.full_like(B, np.inf), where=B > 0), expected)
    same(np.array(B.T, order="C", like=B), A.T)
    same(pickle.loads(pickle.dumps(B)), A)
    assert arrays.placed_like(A, A) is A
    assert arrays.on_device(arrays.placed_like(A, B))
    assert arrays.device_like(A) is None
    assert arrays.device_like(B) is B
