"""The regions of the fuzzy classifier: values that never change, whatever interrupts an edit."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import gramian
from gramian.core.kernels import Precomputed, make_kernel
from gramian.core.kernels._precomputed import GramSamples
from gramian.ellipsoidal._regions import InputRegion, KernelRegion, SvdRegion, in_double
from tests.tolerance import tolerance

KERNEL = make_kernel("poly", gamma=0.5, degree=2)
INSIDE = str(Path(gramian.__file__).parent)


def samples(n=8, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def region(kind, members, kernel=KERNEL):
    none, weight = members[:0], np.empty(0)
    empty = {
        "input": lambda: InputRegion(kernel, none, weight, 1e-3),
        "svd": lambda: SvdRegion(kernel, none, weight, 1e-3, "sigma"),
        "kpca": lambda: KernelRegion(kernel, none, weight, 1e-6, 1e-3),
    }[kind]()
    return empty.append(members, np.ones(len(members)))


# -- one region ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["input", "svd", "kpca"])
def test_edits_equal_a_new_region_and_leave_the_old_alone(kind):
    X, Q, weight = samples(), samples(4, seed=1), np.ones(8)
    start = region(kind, X[:6])
    before = start.distances(Q)
    longer = start.append(X, weight)
    np.testing.assert_allclose(longer.distances(Q), region(kind, X).distances(Q), rtol=1e-9)
    gone, rest = np.array([1, 7]), np.delete(np.arange(8), [1, 7])
    shorter = longer.remove(gone, X[rest], weight[rest])
    np.testing.assert_allclose(shorter.distances(Q), region(kind, X[rest]).distances(Q), rtol=1e-9)
    np.testing.assert_allclose(
        shorter.loo_distances(), region(kind, X[rest]).loo_distances(), rtol=1e-7
    )
    np.testing.assert_array_equal(start.distances(Q), before)


@pytest.mark.parametrize("kind", ["svd", "kpca"])
def test_a_kernel_matrix_stands_for_the_samples(kind):
    X, Q = samples(), samples(4, seed=1)
    K = GramSamples(KERNEL(X, X).astype(np.float32))
    some = np.array([0, 2, 3, 7])
    own = in_double(K[some])
    assert own.K.shape == (4, 4)
    assert own.dtype == np.float64
    by_matrix = region(kind, in_double(GramSamples(KERNEL(X, X))[some]), Precomputed())
    by_samples = region(kind, X[some])
    np.testing.assert_allclose(
        by_matrix.distances(KERNEL(Q, X[some])), by_samples.distances(Q), rtol=1e-9
    )


def test_double_precision_dense_and_csr():
    X = samples().astype(np.float32)
    assert in_double(X).dtype == in_double(sparse.csr_array(X)).dtype == np.float64
    by_csr = region("input", in_double(X))
    assert isinstance(by_csr.adopt(sparse.csr_matrix(X)), np.ndarray)


def test_left_out_distances_are_computed_once():
    one = region("kpca", samples())
    assert one.loo_distances() is one.loo_distances()
    assert one.loo_distances(True) is not one.loo_distances()


def test_drift_is_rounding():
    assert region("kpca", samples()).drift() < tolerance(8, cond=1e3, power=1)
