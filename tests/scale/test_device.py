"""Dask arrays whose chunks are added up on a device, in the process of a worker."""

import numpy as np
import pytest
from sklearn.base import clone

torch = pytest.importorskip("torch", reason="a device is one of torch")
da = pytest.importorskip("dask.array", reason="Dask is not installed")
distributed = pytest.importorskip("distributed", reason="Dask's workers are not installed")

from gramian import OrthogonalKernelClassifier, OrthogonalKernelRegressor  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MODELS = [
    OrthogonalKernelClassifier(gamma=0.5, max_basis=12),
    OrthogonalKernelRegressor(gamma=0.5, max_basis=12),
]


@pytest.fixture(scope="module")
def worker():
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def arrays(n=400):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_worker_with_a_device(worker, model):
    X, y = arrays()
    chunks = [da.from_array(part, chunks=(100, *part.shape[1:])) for part in (X, y)]
    there = clone(model).set_params(device=DEVICE).fit(*chunks)
    here = clone(model).fit(X, y)
    np.testing.assert_array_equal(there.basis_, here.basis_)
    np.testing.assert_allclose(there.predict(X), here.predict(X), atol=1e-9)
    assert there.n_rows_ == 400
    lazy = there.predict(chunks[0])
    np.testing.assert_allclose(lazy.compute(), here.predict(X), atol=1e-9)
