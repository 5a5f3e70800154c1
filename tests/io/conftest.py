"""Models and tables that the tests of files and receipts share."""

import numpy as np
import pytest
from sklearn.base import clone

from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR, TableModel
from tests.estimators.conftest import ESTIMATORS

# Every estimator of the contract's tests, and forms of samples, ids and parameters that a file
# must keep apart.
VARIANTS = {
    "array parameter": KernelDiscriminant(gamma=np.array([0.5, 1.0, 0.1]), ridge=0.1),
    "numpy scalars": LeastSquaresSVC(gamma=np.float32(0.5), C=np.int64(4)),
    "class weights": LeastSquaresSVC(gamma=0.5, C=4.0, class_weight={0: 2.0, 1: 0.5}),
    "chosen": KernelDiscriminant(random_state=0),
    "chosen by feature": LeastSquaresSVR(gamma="loo-ard", random_state=0),
    "linear": KernelDiscriminant(kernel="linear"),
}
MODELS = {**ESTIMATORS, **VARIANTS}


@pytest.fixture(params=MODELS)
def unfitted(request):
    """Each estimator and variant."""
    return clone(MODELS[request.param])


@pytest.fixture
def table():
    """Numbers, texts and missing cells; 24 rows, the last with a sound of its own."""
    rng = np.random.default_rng(0)
    dog = np.arange(24) % 2 == 1
    weight = np.where(dog, 30.0, 4.0) + rng.standard_normal(24)
    weight[3] = np.nan
    sound = np.where(dog, "woof", "meow").astype(object)
    sound[:4], sound[23] = ["", "hum", "meow", "hum"], "yodel 8128"
    return {
        "name": [f"pet {i}" for i in range(24)],
        "weight": weight,
        "sound": sound,
        "age": rng.integers(1, 15, 24),
        "animal": np.where(dog, "dog", "cat"),
    }


@pytest.fixture
def table_model(table):
    """A classifier of the table, named by its first column."""
    machine = KernelDiscriminant(gamma=0.5, ridge=0.1)
    return TableModel(machine, target="animal", id_column="name").fit(table)
