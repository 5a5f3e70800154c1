"""``gramian export``: the file predicts, and what it tells is said."""

import numpy as np
import pytest

import gramian as package


def test_arrays(gramian, as_json, model):
    out = gramian("export", model, "--predict-only", "-o", "m.npz").stdout
    assert "No ids, no targets." in out
    assert "It holds 40 of the 40 samples as centres" in out
    with np.load("m.npz", allow_pickle=False) as file:
        assert "ids" not in file
        assert len(file["centres_0"]) == 40
    assert as_json("export", model, "--predict-only", "-o", "m.npz")["centres"] == 40


def test_linear_model_holds_no_samples(gramian):
    words = ("fit", "train.csv", "--target", "animal", "--ignore", "name", "--kernel", "linear")
    gramian(*words, "--ridge", "1", "--estimator", "ls-svc", "-o", "l.gram")
    assert (
        "It holds no samples" in gramian("export", "l.gram", "--predict-only", "-o", "l.npz").stdout
    )


def test_onnx(gramian, model):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    gramian("export", model, "--predict-only", "-o", "m.onnx")
    session = runtime.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])
    fitted = package.load(model)
    inputs = {
        name: values[:, None].astype(object if values.dtype == object else float)
        for name, values in fitted.table_.items()
    }
    labels = session.run(["label"], inputs)[0]
    assert labels.tolist() == fitted.predict(fitted.table_).tolist()


def test_it_must_be_asked_for(gramian, model):
    assert "--predict-only" in gramian("export", model, "-o", "m.npz", code=2).stderr


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ((), "gramian export model.gram --predict-only -o model.onnx (or -o model.npz)"),
        (("-o", "m 1.npz"), "gramian export model.gram --predict-only -o 'm 1.npz'"),
        (("--predict-only",), "gramian export model.gram --predict-only -o model.onnx (or -o"),
    ],
)
def test_what_can_be_exported_is_said(gramian, model, words, typed):
    said = gramian("export", model, *words, code=2).stderr
    assert "a model can be exported for predictions alone: " in said
    assert typed in " ".join(said.split())
