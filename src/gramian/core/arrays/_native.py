"""BLAS and LAPACK on blocks of a buffer, in place and without Python's lock.

SciPy's wrappers hold that lock while they compute, so that no other thread of the process runs
meanwhile, and they copy a block of a larger array. Its routines themselves are called here, at the
addresses that SciPy gives to Cython. A matrix is in Fortran order: the numbers of a column are
neighbours, and the columns may stand apart.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

from gramian.core.arrays._types import Array

_LETTERS = {"f": "s", "d": "d"}
_REALS: dict[str, Any] = {"f": ctypes.c_float, "d": ctypes.c_double}
_ADDRESSES = {**cython_lapack.__pyx_capi__, **cython_blas.__pyx_capi__}
_pointer, _signature = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_GetName
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_signature.restype, _signature.argtypes = ctypes.c_char_p, [ctypes.py_object]
# A SciPy that counts by 64 bits has another type than `int` in the signatures.
_Int: Any = ctypes.c_int if b" int *" in _signature(_ADDRESSES["dgemm"]) else ctypes.c_int64


def is_native(matrix: Any) -> bool:
    """Whether these routines take the matrix: of float32 or float64, with contiguous columns."""
    return (
        isinstance(matrix, np.ndarray)
        and matrix.dtype.char in _LETTERS
        and matrix.strides[0] == matrix.itemsize
    )


@cache
def _routine(name: str, char: str) -> Callable[..., None]:
    capsule = _ADDRESSES[_LETTERS[char] + name]
    signature = _signature(capsule)
    count = signature.count(b",") + 1
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(_pointer(capsule, signature))


def _call(name: str, *arguments: Any) -> None:
    """Call a routine with letters, whole numbers, factors and matrices.

    After each matrix or vector comes the distance of its columns or numbers, as all routines here
    want it.
    """
    char = next(value.dtype.char for value in arguments if isinstance(value, np.ndarray))
    real, passed = _REALS[char], []
    for value in arguments:
        if isinstance(value, np.ndarray):
            passed += [value.ctypes.data, ctypes.byref(_Int(_distance(value)))]
        elif isinstance(value, bytes | ctypes.c_void_p):
            passed.append(value)
        elif isinstance(value, int):
            passed.append(ctypes.byref(_Int(value)))
        else:
            passed.append(ctypes.byref(real(value) if isinstance(value, float) else value))
    _routine(name, char)(*passed)


def _distance(matrix: Array) -> int:
    """How many numbers after a column the next one begins; after a number, in a vector."""
    if matrix.ndim == 1:
        return matrix.strides[0] // matrix.itemsize
    rows, columns = matrix.shape
    return max(rows, 1) if columns < 2 else matrix.strides[1] // matrix.itemsize


def gemm(alpha: float, A: Array, B: Array, beta: float, C: Array, trans: bytes = b"NN") -> None:
    """``C = alpha A B + beta C``, with A and B transposed where ``trans`` says so."""
    depth = A.shape[0 if trans[:1] == b"T" else 1]
    _call("gemm", trans[:1], trans[1:], *C.shape, depth, alpha, A, B, beta, C)


def syrk(alpha: float, A: Array, C: Array, trans: bytes = b"N") -> None:
    """``C += alpha A Aᵀ``, or with AᵀA, in the upper triangle."""
    depth = A.shape[0 if trans == b"T" else 1]
    _call("syrk", b"U", trans, len(C), depth, alpha, A, 1.0, C)


def symv(triangle: bytes, S: Array, x: Array) -> Array:
    """``S x`` for the symmetric S in the upper (U) or lower (L) triangle."""
    y = np.empty(len(x), dtype=S.dtype)
    _call("symv", triangle, len(S), 1.0, S, x.astype(S.dtype, copy=False), 0.0, y)
    return y


def symm(triangle: bytes, S: Array, X: Array) -> Array:
    """``S X`` for the symmetric S in the upper (U) or lower (L) triangle."""
    out = np.empty(X.shape, dtype=S.dtype, order="F")
    _call("symm", b"L", triangle, *X.shape, 1.0, S, np.asfortranarray(X, S.dtype), 0.0, out)
    return out


def trsm(R: Array, B: Array) -> None:
    """``B = R⁻ᵀ B`` for the upper triangle R."""
    _call("trsm", b"L", b"U", b"T", b"N", *B.shape, 1.0, R, B)


def trmm(side: bytes, alpha: float, T: Array, B: Array, trans: bytes = b"N") -> None:
    """``B = alpha T B`` (side L) or ``alpha B T`` (side R) for the upper triangle T, or Tᵀ."""
    _call("trmm", side, b"U", trans, b"N", *B.shape, alpha, T, B)


def potrf(S: Array) -> int:
    """Replace S by R with ``S = RᵀR`` in the upper triangle; 0 or the 1-based bad pivot."""
    return _lapack("potrf", b"U", len(S), S)


def potri(R: Array) -> None:
    """Replace R by ``(RᵀR)⁻¹`` in the upper triangle."""
    bad = _lapack("potri", b"U", len(R), R)
    assert bad == 0, "a Cholesky factor has no zero on its diagonal"


def trtri(R: Array) -> int:
    """Replace the upper triangle R by its inverse; 0 or the 1-based zero on its diagonal."""
    return _lapack("trtri", b"U", b"N", len(R), R)


def lauum(T: Array) -> None:
    """Replace T by ``T Tᵀ`` in the upper triangle."""
    _lapack("lauum", b"U", len(T), T)


def syevd(S: Array) -> Array:
    """Replace the symmetric S by its eigenvectors, as columns; return the rising eigenvalues.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the algorithm does not converge, as with numbers that are not finite.
    """
    n = len(S)
    values = np.empty(n, dtype=S.dtype)
    work, whole = np.empty(1 + 6 * n + 2 * n * n, dtype=S.dtype), (_Int * (3 + 5 * n))()
    places = [array.ctypes.data_as(ctypes.c_void_p) for array in (values, work)]
    bad = _lapack("syevd", b"V", b"U", n, S, *places, len(work), whole, len(whole))
    if bad:
        raise np.linalg.LinAlgError(
            f"the eigenvalues of a matrix of {n} rows were not found (info {bad}): are all of its "
            f"numbers finite?"
        )
    return values


def _lapack(name: str, *arguments: Any) -> int:
    info = _Int(0)
    _call(name, *arguments, info)
    return int(info.value)
