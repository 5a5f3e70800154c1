"""The Open Inference Protocol: what goes in, what comes out."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gramian import LeastSquaresSVR
from tests.serve.conftest import MODEL, classifier, pets, regressor, samples, tensor

X, Y = samples(7, seed=1)


def outputs(answer):
    return {
        output["name"]: np.reshape(output["data"], output["shape"])
        for output in answer.json()["outputs"]
    }


def test_health_and_metadata(client):
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").json()["ready"]
    assert client.get(f"{MODEL}/ready").json()["name"] == "m"
    assert "binary_tensor_data" in client.get("/v2").json()["extensions"]
    about = client.get(MODEL).json()
    assert about["inputs"] == [{"name": "X", "datatype": "FP64", "shape": [-1, 3]}]
    assert about["outputs"][0] == {"name": "prediction", "datatype": "INT64", "shape": [-1]}
    assert about["versions"] == ["0"]
    assert client.get("/v2/models/other").status_code == 404


@pytest.mark.parametrize("datatype", ["FP64", "FP32", "INT64", "INT8"])
@pytest.mark.parametrize("nested", [False, True])
def test_tensors_of_numbers(client, datatype, nested):
    rows = np.round(4 * X) if datatype.startswith("INT") else X.astype(np.float32)
    rows = rows.astype({"FP64": "f8", "FP32": "f4", "INT64": "i8", "INT8": "i1"}[datatype])
    sent = {**tensor(rows, datatype=datatype), **({"data": rows.tolist()} if nested else {})}
    answer = client.post(f"{MODEL}/infer", json={"inputs": [sent], "id": "a"})
    assert answer.json()["id"] == "a"
    assert_array_equal(outputs(answer)["prediction"], classifier().predict(rows))


def test_outputs_by_parameters_and_by_name(client):
    model, body = classifier(), {"inputs": [tensor(X)]}
    flags = {"probabilities": True, "decision": True}
    flagged = outputs(client.post(f"{MODEL}/infer", json={**body, "parameters": flags}))
    assert list(flagged) == ["prediction", "probabilities", "decision", "classes"]
    np.testing.assert_allclose(flagged["probabilities"], model.predict_proba(X), rtol=1e-10)
    np.testing.assert_allclose(flagged["decision"], model.decision_function(X), rtol=1e-10)
    assert_array_equal(flagged["classes"], model.classes_)
    named = client.post(f"{MODEL}/infer", json={**body, "outputs": [{"name": "decision"}]})
    assert list(outputs(named)) == ["decision"]
    unknown = client.post(f"{MODEL}/infer", json={**body, "outputs": [{"name": "lower"}]})
    assert unknown.status_code == 422
    assert "no output 'lower'" in unknown.json()["detail"]


def test_many_rows_are_predicted_in_a_thread(client, monkeypatch):
    monkeypatch.setattr("gramian.serve._routes._FEW", 0)
    answer = client.post(f"{MODEL}/infer", json={"inputs": [tensor(X)]})
    assert_array_equal(outputs(answer)["prediction"], classifier().predict(X))


def test_bytes_behind_the_json(client):
    data = X.tobytes()
    head = {"name": "X", "shape": [7, 3], "datatype": "FP64"}
    head["parameters"] = {"binary_data_size": len(data)}
    asked = [
        {"name": "prediction", "parameters": {"binary_data": True}},
        {"name": "decision", "parameters": {"binary_data": False}},
    ]
    text = json.dumps({"inputs": [head], "outputs": asked}).encode()
    length = "Inference-Header-Content-Length"
    answer = client.post(f"{MODEL}/infer", content=text + data, headers={length: str(len(text))})
    size = int(answer.headers[length])
    written = json.loads(answer.content[:size])["outputs"]
    assert written[0]["parameters"] == {"binary_data_size": 56}
    found = np.frombuffer(answer.content[size:], dtype="<i8")
    assert_array_equal(found, classifier().predict(X))
    np.testing.assert_allclose(written[1]["data"], classifier().decision_function(X))
    for content, given in [
        (text + data[:-8], str(len(text))),
        (text + data + b"more", str(len(text))),
        (text, "99999"),
        (text, "x"),
    ]:
        answer = client.post(f"{MODEL}/infer", content=content, headers={length: given})
        assert answer.status_code in (400, 422)


@pytest.mark.parametrize("form", ["records", "columns", "bytes"])
def test_a_table_by_the_names_of_its_columns(serving, form):
    table = {"weight": [4.0, 21.0, None], "sound": ["meow", "woof", "woof"]}
    records = [{"weight": w, "sound": s} for w, s in zip(*table.values(), strict=True)]
    headers, content = {}, None
    if form == "records":
        body = {"records": records}
    else:
        table["weight"][2] = 19.0
        texts = {"name": "sound", "shape": [3], "datatype": "BYTES", "data": table["sound"]}
        body = {"inputs": [tensor([[w] for w in table["weight"]], "weight"), texts]}
    if form == "bytes":
        packed = b"".join(len(t).to_bytes(4, "little") + t.encode() for t in table["sound"])
        del texts["data"]
        texts["parameters"] = {"binary_data_size": len(packed)}
        body["parameters"] = {"binary_data_output": True}
    text = json.dumps(body).encode()
    if form == "bytes":
        headers, content = {"Inference-Header-Content-Length": str(len(text))}, text + packed
    with serving(pets()) as client:
        answer = client.post(f"{MODEL}/infer", content=content or text, headers=headers)
        kinds = [column["datatype"] for column in client.get(MODEL).json()["inputs"]]
    assert kinds == ["FP64", "BYTES"]
    if form == "bytes":
        assert answer.content.endswith(b"\3\0\0\0cat\3\0\0\0dog\3\0\0\0dog")
    else:
        assert outputs(answer)["prediction"].tolist() == pets().predict(table).tolist()


def test_columns_of_a_model_with_named_features(serving):
    pandas = pytest.importorskip("pandas")
    frame, y = pandas.DataFrame(X, columns=["a", "b", "c"]), X[:, 0]
    model = LeastSquaresSVR(gamma=0.3, C=10.0).fit(frame, y)
    records = frame[["c", "a", "b"]].to_dict("records")
    expected = model.predict(frame)
    with serving(model) as client:
        with pytest.warns(UserWarning, match="feature names"):  # which `run` ignores
            answer = client.post(f"{MODEL}/infer", json={"records": records})
        np.testing.assert_allclose(outputs(answer)["prediction"], expected)
        wrong = client.post(f"{MODEL}/infer", json={"records": [{"a": 1}]})
        assert "the columns of this model are a, b, c" in wrong.json()["detail"]
        text = client.post(f"{MODEL}/infer", json={"records": [{"a": "x", "b": 1, "c": 2}]})
        assert text.status_code == 422


def test_a_regressor(serving):
    with serving(regressor()) as client:
        answer = client.post(f"{MODEL}/infer", json={"inputs": [tensor(X)]})
        np.testing.assert_allclose(outputs(answer)["prediction"], regressor().predict(X))
        loo = client.get(f"{MODEL}/loo").json()
        assert loo["score"] == pytest.approx(regressor().loo_score())
        worst = client.get(f"{MODEL}/doubt?count=3").json()["samples"]
        errors = np.abs(regressor().y_fit_ - regressor().loo_predict())
        assert [sample["id"] for sample in worst] == np.argsort(-errors)[:3].tolist()


guarantees = pytest.mark.skipif(
    not hasattr(LeastSquaresSVR, "predict_interval"), reason="no sets and intervals yet"
)


@guarantees
def test_sets(client):
    asked = {"sets": True, "confidence_level": 0.8}
    answer = client.post(f"{MODEL}/infer", json={"inputs": [tensor(X)], "parameters": asked})
    assert list(outputs(answer)) == ["prediction", "sets", "classes"]
    assert_array_equal(outputs(answer)["sets"], classifier().predict_set(X, confidence_level=0.8))


@guarantees
@pytest.mark.parametrize("options", [{"mondrian": True}, {"score": "adaptive"}])
def test_how_sets_are_made(client, options, monkeypatch):
    asked = {"sets": True, "confidence_level": 0.8, **options}
    for row in X[:4, None]:  # one by one, since parts of an answer draw numbers of their own
        monkeypatch.setattr(np.random.mtrand, "_rand", np.random.RandomState(0))
        body = {"inputs": [tensor(row)], "parameters": asked}
        found = outputs(client.post(f"{MODEL}/infer", json=body))["sets"]
        assert_array_equal(found, classifier().predict_set(row, 0.8, random_state=0, **options))
    del asked["sets"]
    refused = client.post(f"{MODEL}/infer", json=body)
    assert refused.status_code == 422
    assert "is for sets of classes, which were not asked for" in refused.json()["error"]


@guarantees
def test_intervals(serving):
    asked = {"intervals": True, "confidence_level": 0.8}
    with serving(regressor()) as client:
        answer = client.post(f"{MODEL}/infer", json={"inputs": [tensor(X)], "parameters": asked})
    found = outputs(answer)
    assert list(found) == ["prediction", "lower", "upper"]
    expected = regressor().predict_interval(X, confidence_level=0.8)
    np.testing.assert_allclose(np.column_stack([found["lower"], found["upper"]]), expected)


@guarantees
def test_widths_of_intervals(serving):
    asked = {"intervals": True, "confidence_level": 0.8, "width": "local"}
    body = {"inputs": [tensor(X)], "parameters": asked}
    with serving(regressor()) as client:
        found = outputs(client.post(f"{MODEL}/infer", json=body))
        asked.pop("intervals")
        refused = client.post(f"{MODEL}/infer", json=body)
        wrong = client.post(f"{MODEL}/infer", json={**body, "parameters": {"width": "wide"}})
    expected = regressor().predict_interval(X, confidence_level=0.8, width="local")
    np.testing.assert_allclose(np.column_stack([found["lower"], found["upper"]]), expected)
    assert refused.status_code == wrong.status_code == 422
    assert 'width="local" is for intervals' in refused.json()["error"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "either inputs or records"),
        ({"inputs": []}, "no rows"),
        ({"records": []}, "no rows"),
        ({"records": [{"a": 1.0}]}, "knows no names"),
        ({"inputs": [tensor(X), tensor(X)]}, "two inputs have the name 'X'"),
        ({"inputs": [{**tensor(X), "shape": [3, 3]}]}, "shape [3, 3] but 21 elements"),
        ({"inputs": [{**tensor(X), "data": None}]}, "no data"),
        ({"inputs": [{**tensor(X), "data": [[1], [2, 3]]}]}, "no array"),
        ({"inputs": [{**tensor(X), "data": ["a"] * 21}]}, "must be numbers"),
        ({"inputs": [{**tensor(X), "datatype": "BYTES"}]}, "must be strings"),
        ({"inputs": [{**tensor(X), "datatype": "INT64"}]}, "must be numbers, as INT64"),
        ({"inputs": [tensor(np.full((1, 3), 300), datatype="INT8")]}, "INT8 cannot hold"),
        ({"inputs": [tensor(X[:, :2])]}, "features"),
        ({"inputs": [tensor(X[:, 0])]}, "one tensor of numbers with the shape [rows, 3]"),
        ({"inputs": [tensor(X[:0])]}, "no rows"),
        ({"inputs": [tensor(np.ones((11, 3)))]}, "at most 10"),
        ({"inputs": [tensor(X), tensor(X[:2], "Z")]}, "different numbers of rows"),
        ({"inputs": [tensor(X), tensor(X, "Z")]}, "has the shape [7, 3], not [rows]"),
        ({"inputs": [tensor([[1e308, 1e308, 1e308]], datatype="FP32")]}, "infinity"),
        ({"inputs": [tensor(X)], "parameters": {"confidence_level": 2}}, "less than 1"),
        ({"inputs": [{**tensor(X), "shape": [-1, 3]}]}, "greater than or equal to 0"),
    ],
)
def test_refusals_say_what_is_wrong(serving, body, said):
    from gramian.serve import Limits

    with serving(limits=Limits(rows=10)) as client:
        answer = client.post(f"{MODEL}/infer", json=body)
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        assert said in answer.json()["detail"]
        assert answer.json()["error"] == answer.json()["detail"]
        assert client.post(f"{MODEL}/infer", content=b"{").status_code == 400


def test_a_real_client_gets_predictions(serving, tmp_path):
    http = pytest.importorskip("tritonclient.http")
    from tests.serve.sockets import served

    with served(tmp_path, classifier()) as port:
        client = http.InferenceServerClient(f"127.0.0.1:{port}")
        assert client.is_server_live()
        assert client.is_server_ready()
        assert client.is_model_ready("m")
        assert client.get_model_metadata("m")["platform"] == "gramian"
        for binary in (True, False):
            sent = http.InferInput("X", X.shape, "FP64")
            sent.set_data_from_numpy(X, binary_data=binary)
            asked = http.InferRequestedOutput("prediction", binary_data=binary)
            found = client.infer("m", [sent], outputs=[asked]).as_numpy("prediction")
            assert_array_equal(found, classifier().predict(X))
        sent = http.InferInput("X", [1, 2], "FP64")
        sent.set_data_from_numpy(X[:1, :2])
        with pytest.raises(http.InferenceServerException, match="features"):
            client.infer("m", [sent])
        client.close()
