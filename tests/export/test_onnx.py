"""ONNX graphs, run by onnxruntime, against the models themselves."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gramian
from gramian import (
    EllipsoidalFuzzyClassifier,
    KernelDiscriminant,
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    TableModel,
)
from gramian.core.kernels._expansion import KernelExpansion
from gramian.estimators import ESTIMATORS
from gramian.export import ExportError, predict_only, read_expansion, register_converters
from gramian.export import _onnx as onnx_module
from gramian.export._graph import Graph
from gramian.export._onnx_columns import encode_table
from gramian.tables import DateColumn

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
KERNELS = ["rbf", "laplacian", "exponential", "poly", "linear"]
WIDTHS = [0.1, 0.2, 0.3, 0.4]
GIVEN = {
    "gamma": 0.5, "ridge": 0.1, "C": 2.0, "degree": 2, "coef0": 0.5, "max_basis": 12,
    "random_state": 0, "tune": False,
}  # fmt: skip


def configured(cls, **special):
    """An estimator that searches nothing but what is special."""
    known = cls().get_params()
    return cls(**{name: value for name, value in (GIVEN | special).items() if name in known})


def configurations():
    """Every estimator with every kernel, with widths and a metric where it takes them."""
    for name, cls in ESTIMATORS.items():
        if name == "EllipsoidalFuzzyClassifier":  # no sum of kernels
            continue
        if name.startswith("Stacked"):
            yield configured(cls, kernel=["rbf", "laplacian", "rbf+diagonal"], gamma="loo", C="loo")
            steps = ["exponential+diagonal+thresholds", "rbf+thresholds"]
            yield configured(cls, kernel=steps, gamma="loo", weights=0.5)
            continue
        yield from (configured(cls, kernel=kernel) for kernel in KERNELS)
        yield from (configured(cls, kernel=kernel, gamma=WIDTHS) for kernel in KERNELS[:3])
        if "metric" in cls().get_params():
            yield configured(cls, metric="diagonal")
            yield configured(cls, kernel="laplacian", metric="diagonal")
    yield LeastSquaresSVC(kernel="loo", random_state=0)
    yield OrthogonalKernelClassifier(gamma=0.5, ridge=0.1, max_basis=12, basis="one-vs-rest")
    yield OrthogonalKernelClassifier(gamma=np.array(WIDTHS), ridge=0.1, max_basis=12)


MODELS = list(configurations())


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
    """On 80 samples, of whose four features one counts: a metric is kept."""
    X = np.random.default_rng(0).standard_normal((150, 4))
    y = np.digitize(X[:, 0], [-0.4, 0.4][: classes - 1]) if is_classifier(model) else 3.0 * X[:, 0]
    fit = clone(model).fit(X[:80], y[:80])
    assert getattr(model, "metric", None) is None or np.ptp(fit.metric_) > 0
    return fit, X


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "classes"),
    [(model, c) for model in MODELS for c in ([2, 3] if is_classifier(model) else [3])],
    ids=repr,
)
def test_estimators(model, classes, tmp_path):
    model, X = fitted(model, classes)
    graph = gramian.to_onnx(model)
    names = [output.name for output in graph.graph.output]
    assert names == (["label", "probabilities", "decision"] if is_classifier(model)
                     else ["variable"])  # fmt: skip
    found = run(graph, X=X + 0.05)
    assert_same(found, model, X + 0.05)
    predict_only(model, tmp_path / "m.npz")
    outputs = read_expansion(tmp_path / "m.npz").outputs(X + 0.05)
    np.testing.assert_allclose(outputs, found[names[-1]], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("suffix", ["onnx", "npz"])
def test_what_differs_from_the_model_is_not_written(tmp_path, monkeypatch, suffix):
    model, _ = fitted(KernelDiscriminant(gamma=0.5, ridge=0.1))
    if suffix == "onnx":
        monkeypatch.setitem(onnx_module._KERNELS, "rbf", onnx_module._exponential)
    else:
        monkeypatch.setattr(KernelExpansion, "terms", lambda self: (replace(self, intercept=1.0),))
    with pytest.raises(ExportError, match=r"differs from the model by .* own samples"):
        predict_only(model, tmp_path / f"m.{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("X", [IRIS[0].astype(np.float32), csr_array(IRIS[0])], ids=["32", "csr"])
def test_other_kinds_of_samples(X):
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, IRIS[1])
    found = run(gramian.to_onnx(model), X=IRIS[0])
    atol = 1e-4 if X.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(found["decision"], model.decision_function(X), atol=atol)


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
    days = np.datetime64("1968-02-20") + rng.integers(0, 40_000, 60)
    days[:4] = np.array(["1972-12-31", "2000-02-29", "2024-01-01", "1899-12-31"], dtype="M8[D]")
    times = days.astype("M8[s]") + rng.integers(0, 86_400, 60)
    times[9] = np.datetime64("NaT")
    table = {"weight": weight, "age": rng.integers(1, 9, 60), "sound": sound, "day": days}
    table["time"] = times
    table["animal"] = np.where((sound == "woof") | (np.nan_to_num(weight) > 22), "dog", "cat")
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="animal").fit(table)
    asked = {**table, "sound": np.where(np.arange(60) % 7 == 0, "new", sound)}
    inputs = {
        "weight": weight[:, None],
        "age": asked["age"].astype(float)[:, None],
        "sound": asked["sound"].astype(object)[:, None],
        "day": days.astype(float)[:, None],
        "time": np.where(np.isnat(times), np.nan, times.astype(float) / 86_400)[:, None],
    }
    assert [type(column).__name__[0] for column in model.columns_] == list("NNCDD")
    found = run(gramian.to_onnx(model), **inputs)
    assert found["label"].tolist() == model.predict(asked).tolist()
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(asked), atol=1e-9)


def test_every_day_of_four_centuries():
    graph, column = Graph(), DateColumn("day", 2000.0, 10.0, False, True)
    features = encode_table(graph, [column])
    graph.add("Identity", features, output="features")
    graph.give("features", graph.onnx.TensorProto.DOUBLE, 7)
    days = np.arange("1799-12-30", "2200-01-03", dtype="M8[D]")
    times = days.astype("M8[s]") + np.arange(len(days)) % 86_400
    texts = np.array([str(time) for time in times], dtype=object)
    found = run(graph.model("dates"), day=times.astype(float)[:, None] / 86_400)["features"]
    np.testing.assert_allclose(found, column.encode(texts), atol=1e-9)


def test_what_has_no_graph_is_refused():
    X, y = IRIS
    with pytest.raises(ExportError, match="it is no sum of kernels"):
        gramian.to_onnx(EllipsoidalFuzzyClassifier(gamma=0.5, tune=False).fit(X[:60], y[:60] > 0))
    with pytest.raises(ExportError, match="cannot export the precomputed kernel"):
        gramian.to_onnx(KernelDiscriminant("precomputed", ridge=0.1).fit(X @ X.T, y))
    with pytest.raises(ExportError, match="cannot export the callable kernel"):
        gramian.to_onnx(KernelDiscriminant(lambda A, B: A @ B.T, ridge=0.1).fit(X, y))


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("zipmap", [None, False, "columns"])
@pytest.mark.parametrize("model", [LeastSquaresSVC(gamma=0.5), LeastSquaresSVR(gamma=0.5, C=1.0)],
                         ids=repr)  # fmt: skip
def test_pipelines_by_skl2onnx(model, zipmap, precision):
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    register_converters()
    X, y = IRIS if is_classifier(model) else (DIABETES[0][:150], DIABETES[1][:150])
    pipe = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    options = {"zipmap": zipmap} if is_classifier(model) and zipmap is not None else None
    kind, dtype = {"double": (DoubleTensorType, float), "single": (FloatTensorType, np.float32)}[
        precision
    ]
    graph = skl2onnx.to_onnx(pipe, initial_types=[("X", kind([None, X.shape[1]]))], options=options)
    found = list(run(graph, X=X.astype(dtype)).values())
    close = {"rtol": 1e-9} if precision == "double" else {"rtol": 1e-4, "atol": 1e-5}
    if not is_classifier(model):
        np.testing.assert_allclose(found[0][:, 0], pipe.predict(X), **close)
        return
    assert found[0].tolist() == pipe.predict(X).tolist()
    if zipmap is None:  # a list of dicts of single precision
        P, close = np.array([list(row.values()) for row in found[1]]), {"atol": 1e-6}
    else:
        P = np.column_stack(found[1:])
    np.testing.assert_allclose(P, pipe.predict_proba(X), **close)
