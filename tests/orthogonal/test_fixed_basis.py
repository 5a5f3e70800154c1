"""The centres of a basis."""

import numpy as np
import pytest

from gramian.orthogonal._fixed_basis import _independent


@pytest.mark.parametrize("rank", [3, 6])
def test_centres_that_depend_on_earlier_ones_are_left_out(rank):
    A = np.random.default_rng(0).normal(size=(6, rank))
    A[2] = A[0] - 2.0 * A[1] if rank == 3 else A[2]
    K = A @ A.T
    kept, factor = _independent(K)
    assert kept.tolist() == ([0, 1, 3] if rank == 3 else [*range(6)])
    np.testing.assert_allclose(factor, np.linalg.cholesky(K[np.ix_(kept, kept)]), atol=1e-10)


def test_no_centre_at_all():
    kept, factor = _independent(np.empty((0, 0)))
    assert (kept.shape, factor.shape) == ((0,), (0, 0))
