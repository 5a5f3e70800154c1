"""ONNX graphs, run by onnxruntime, against the models themselves."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gramian
from gramian import (
    EllipsoidalFuzzyClassifier,
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LagrangianSVC,
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
    TableModel,
)
from gramian.export import ExportError, register_converters

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
MODELS = [
    KernelDiscriminant(gamma=0.5, ridge=0.1),
    KernelDiscriminant("laplacian", gamma=0.5, ridge=0.1),
    KernelDiscriminant("poly", gamma=0.1, ridge=0.1, degree=2),
    KernelDiscriminant(gamma=[0.1, 0.2, 0.3, 0.4], ridge=0.1),
    LeastSquaresSVC("linear", C=1.0),
    KernelFisherDiscriminant(gamma=0.5, ridge=0.1),
    LagrangianSVC(gamma=0.5, C=1.0),
    OrthogonalKernelClassifier(gamma=0.5, ridge=0.1, max_basis=20),
    LeastSquaresSVR(gamma=0.5, C=10.0),
    OrthogonalKernelRegressor(gamma=0.5, ridge=0.1, max_basis=20),
]


def run(graph, **inputs):
    session = runtime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    values = session.run(None, inputs)
    return dict(zip([output.name for output in session.get_outputs()], values, strict=True))


def assert_same(found, model, X):
    if not is_classifier(model):
        expected = model.predict(X).reshape(len(X), -1)
        np.testing.assert_allclose(found["variable"], expected, rtol=1e-9, atol=1e-9)
        return
    assert found["label"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-9)
    if "decision" in found:
        expected = model.decision_function(X).reshape(len(X), -1)
        np.testing.assert_allclose(found["decision"], expected, rtol=1e-9, atol=1e-9)


def fitted(model, classes=3):
    X, y = IRIS if is_classifier(model) else DIABETES
    X, y = (X[y < classes], y[y < classes]) if is_classifier(model) else (X[:150], y[:150])
    return clone(model).fit(X, y), X


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_estimators(model):
    model, X = fitted(model)
    assert_same(run(gramian.to_onnx(model), X=X + 0.05), model, X + 0.05)


def test_two_classes_and_texts():
    X, y = IRIS[0][50:], np.array(["", "versicolor", "virginica"])[IRIS[1][50:]]
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    assert_same(run(gramian.to_onnx(model), X=X), model, X)


def test_samples_far_from_zero():
    X, y = IRIS[0] + 1e4, IRIS[1]
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    assert_same(run(gramian.to_onnx(model), X=X), model, X)


def test_several_targets():
    X, y = DIABETES[0][:100], np.column_stack([DIABETES[1][:100], DIABETES[0][:100, 0]])
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y)
    assert_same(run(gramian.to_onnx(model), X=X), model, X)


def test_table():
    rng = np.random.default_rng(0)
    weight = np.where(rng.random(60) < 0.1, np.nan, rng.normal(20, 5, 60))
    sound = rng.choice(["woof", "meow", ""], 60)
    table = {"weight": weight, "age": rng.integers(1, 9, 60), "sound": sound}
    table["animal"] = np.where((sound == "woof") | (np.nan_to_num(weight) > 22), "dog", "cat")
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="animal").fit(table)
    asked = {**table, "sound": np.where(np.arange(60) % 7 == 0, "new", sound)}
    inputs = {
        "weight": weight[:, None],
        "age": asked["age"].astype(float)[:, None],
        "sound": asked["sound"].astype(object)[:, None],
    }
    found = run(gramian.to_onnx(model), **inputs)
    assert found["label"].tolist() == model.predict(asked).tolist()
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(asked), atol=1e-9)


def test_what_has_no_graph_is_refused():
    X, y = IRIS
    with pytest.raises(ExportError, match="no expansion in a single kernel"):
        gramian.to_onnx(EllipsoidalFuzzyClassifier(gamma=0.5, tune=False).fit(X[:60], y[:60] > 0))
    with pytest.raises(ExportError, match="cannot export kernel='precomputed'"):
        gramian.to_onnx(KernelDiscriminant("precomputed", ridge=0.1).fit(X @ X.T, y))
    days = [f"2024-01-{1 + i:02}" for i in range(20)]
    table = {"day": days, "x": range(20), "y": ["a", "b"] * 10}
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="y").fit(table)
    with pytest.raises(ExportError, match="column of dates 'day'"):
        gramian.to_onnx(model)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[8]], ids=repr)
def test_pipelines_by_skl2onnx(model):
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import DoubleTensorType

    register_converters()
    X, y = IRIS if is_classifier(model) else (DIABETES[0][:150], DIABETES[1][:150])
    pipe = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    options = {"zipmap": False} if is_classifier(model) else None
    graph = skl2onnx.to_onnx(
        pipe, initial_types=[("X", DoubleTensorType([None, X.shape[1]]))], options=options
    )
    assert_same(run(graph, X=X), pipe, X)
