"""Models and tables that the tests of files and receipts share."""

import numpy as np
import pytest
from sklearn.base import clone

from gramian import (
    KernelDiscriminant,
    LeastSquaresSVC,
    LeastSquaresSVR,
    StackedKernelClassifier,
)
from tests.estimators.conftest import ESTIMATORS, ONE_OF_EACH
from tests.tables.conftest import table, table_model

__all__ = ["table", "table_model"]

# Every estimator of the contract's tests, and forms of samples, ids and parameters that a file
# must keep apart.
VARIANTS = {
    "array parameter": KernelDiscriminant(gamma=np.array([0.5, 1.0, 0.1]), ridge=0.1),
    "numpy scalars": LeastSquaresSVC(gamma=np.float32(0.5), C=np.int64(4)),
    "class weights": LeastSquaresSVC(gamma=0.5, C=4.0, class_weight={0: 2.0, 1: 0.5}),
    "chosen": KernelDiscriminant(random_state=0),
    "chosen by feature": LeastSquaresSVR(metric="ard", random_state=0),
    "linear": KernelDiscriminant(kernel="linear"),
    "chosen kernel": LeastSquaresSVC("loo", random_state=0),
    "chosen stack": StackedKernelClassifier(("rbf", "laplacian+diagonal"), random_state=0),
}
FORMS = (
    "fuzzy-svd",
    "kda-ridge-0",
    "kfd-penalized",
    "lssvc-linear",
    "lsvc-linear",
    "lssvr-linear",
    "stack-r",
)
MODELS = {**ONE_OF_EACH, **{name: ESTIMATORS[name] for name in FORMS}, **VARIANTS}


@pytest.fixture(params=MODELS)
def unfitted(request):
    """Each estimator and variant."""
    return clone(MODELS[request.param])
