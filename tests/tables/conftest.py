"""Tables that the tests of tables, files and receipts share."""

import numpy as np
import pytest

from gramian import KernelDiscriminant, TableModel


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
    estimator = KernelDiscriminant(gamma=0.5, ridge=0.1)
    return TableModel(estimator, target="animal", id_column="name").fit(table)
