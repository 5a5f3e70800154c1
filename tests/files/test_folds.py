"""What was chosen without each fold, in files: the same sets after loading, and no nonsense."""

import numpy as np
import pytest

import gramian
from gramian import (
    EllipsoidalFuzzyClassifier,
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    StackedKernelClassifier,
    StackedKernelRegressor,
)
from gramian.files import ModelFileError, fingerprint
from gramian.files._validate import check_state
from tests.estimators.conftest import make_samples, queries

MODELS = {
    "lssvc": LeastSquaresSVC(random_state=0),
    "lssvr": LeastSquaresSVR(metric="ard", random_state=0),
    "oks": OrthogonalKernelClassifier(max_basis=6, random_state=0),
    "fuzzy": EllipsoidalFuzzyClassifier(gamma=0.5),
    "stack-c": StackedKernelClassifier(("rbf", "laplacian+diagonal"), random_state=0),
    "stack-r": StackedKernelRegressor(("rbf+ard", "laplacian"), random_state=0),
}


def answers(model):
    sure = getattr(model, "p_values", None) or model.predict_interval
    return sure(queries())


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_as_sure_as_the_saved_one(name, tmp_path):
    model = MODELS[name]
    X, y = make_samples(model, 30)
    mark = fingerprint(model.fit(X, y))
    found = model.nested_score(None if name.startswith("stack") else 3)
    expected = answers(model)
    assert fingerprint(model) == mark  # a read is no edit
    gramian.save(model, tmp_path / "model.gram")
    twin = gramian.load(tmp_path / "model.gram")
    assert twin.nested_score().score == pytest.approx(found.score)
    np.testing.assert_array_equal(twin.nested_score().fold, found.fold)
    np.testing.assert_allclose(answers(twin), expected, rtol=1e-9)


def test_folds_that_do_not_hold_together():
    model = OrthogonalKernelClassifier(max_basis=6, random_state=0)
    X, y = make_samples(model, 30)
    model.fit(X, y).nested_score(3)
    state = model._get_state()
    check_state(model, state)
    good = state["without folds"]
    chosen = good["chosen"]
    for bad in (
        {**good, "folds": good["folds"] + 1},
        {**good, "folds": good["folds"][1:]},
        {**good, "chosen": []},
        {**good, "chosen": [{}, *chosen[1:]]},
        {**good, "chosen": [{**chosen[0], "chosen_ridge": -1.0}, *chosen[1:]]},
        {**good, "chosen": [{**chosen[0], "gamma": np.nan}, *chosen[1:]]},
        {"folds": good["folds"]},
    ):
        with pytest.raises(ModelFileError, match="holds no valid model"):
            check_state(model, {**state, "without folds": bad})
