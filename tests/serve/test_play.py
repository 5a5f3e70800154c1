"""The socket of the page, without a browser."""

import json
import struct
from contextlib import ExitStack

import numpy as np
import pytest

pytest.importorskip("uvicorn")

from starlette.websockets import WebSocketDisconnect

from gramian.serve import create_play
from gramian.serve._choices import OFFERS
from gramian.serve._play import VISITORS
from gramian.serve._toys import CLASSES, CURVES
from tests.serve.conftest import TestClient

SOCKET = "ws://localhost/socket"


@pytest.fixture
def client():
    return TestClient(create_play(), "http://localhost")


@pytest.fixture
def ask(client):
    """Sends a request and reads the answer with its arrays."""
    with client.websocket_connect(SOCKET) as socket:
        assert read(socket.receive_bytes())["kind"] == "offers"

        def send(request):
            if isinstance(request, bytes):
                socket.send_bytes(request)
            else:
                socket.send_text(request if isinstance(request, str) else json.dumps(request))
            return read(socket.receive_bytes())

        yield send


def read(message):
    (length,) = struct.unpack_from("<I", message)
    answer, offset = json.loads(message[4 : 4 + length]), 4 + length
    assert offset % 4 == 0
    for name, kind, size in answer["arrays"]:
        answer[name] = np.frombuffer(message, f"<{kind}4", size, offset)
        offset += 4 * size
    assert offset == len(message)
    return answer


def test_edits_are_answered_with_a_picture(ask):
    picture = ask({"do": "start", "data": "two moons", "turn": 7})
    assert picture["turn"] == 7
    assert picture["n"] == len(picture["ids"]) == len(picture["rows"]) == len(picture["own"])
    assert picture["values"].shape == (128 * 96,)
    before = picture["values"]
    learned = ask({"do": "edit", "learn": [[900, 0.25, 0.5, 1]], "forget": []})
    assert learned["n"] == picture["n"] + 1
    assert learned["edits"] == 1
    forgotten = ask({"do": "edit", "learn": [], "forget": [900]})
    np.testing.assert_allclose(forgotten["values"], before, rtol=0, atol=1e-6)


@pytest.mark.parametrize("data", [*CLASSES, *CURVES])
def test_every_problem_starts(ask, data):
    estimator = "LeastSquaresSVR" if data in CURVES else "LeastSquaresSVC"
    picture = ask({"do": "start", "estimator": estimator, "data": data})
    assert picture["kind"] == "picture"
    assert ("values" in picture) == (not data.startswith("empty"))


@pytest.mark.parametrize("estimator", OFFERS)
def test_every_estimator_proves_itself(ask, estimator):
    data = "wave" if OFFERS[estimator].task == "curve" else "XOR"
    ask({"do": "start", "estimator": estimator, "data": data})
    ask({"do": "edit", "learn": [[900, 0.25, 0.5, 0]], "forget": [3, 5]})
    proof = ask({"do": "prove"})
    assert proof["edits"] == 3
    assert proof["difference"] < 1e-8
    assert proof["refit_ms"] > 0


def test_the_search_tells_its_path(ask):
    ask({"do": "start", "data": "XOR"})
    path = ask({"do": "choose"})
    best = path["values"].argmin()
    assert len(path["values"]) == len(path["gammas"]) == len(path["ridges"]) > 20
    assert path["gammas"].min() <= path["gamma"] <= path["gammas"].max()
    assert path["ridges"].min() <= path["ridge"] <= path["ridges"].max()
    assert path["values"][best] <= path["values"][0]
    refused = ask({"do": "set", "estimator": "LagrangianSVC"}) and ask({"do": "choose"})
    assert refused["message"] == "LagrangianSVC has no closed form along a path."


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("data", [name for name in (*CLASSES, *CURVES) if "empty" not in name])
def test_every_step_of_the_search_can_be_shown(ask, data, kernel):
    estimator = "LeastSquaresSVR" if data in CURVES else "LeastSquaresSVC"
    ask({"do": "start", "estimator": estimator, "kernel": kernel, "data": data})
    path = ask({"do": "choose"})
    assert path["kind"] == "path", path
    for trial in {path["ridges"].argmin(), path["ridges"].argmax(), path["gammas"].argmin()}:
        change = {name: float(path[f"{name}s"][trial]) for name in ("gamma", "ridge")}
        shown = ask({"do": "set", **change})
        assert shown["kind"] == "picture", shown


def test_a_sample_is_shown_away_and_returns(ask):
    picture = ask({"do": "start", "data": "one outlier"})
    without = ask({"do": "without", "id": 40})
    again = ask({"do": "details"})
    gone = ask({"do": "edit", "forget": [40]})
    np.testing.assert_allclose(without["values"], gone["values"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(again["values"], picture["values"], rtol=0, atol=1e-6)


def test_layers_come_with_the_details(ask):
    ask({"do": "start", "data": "XOR"})
    details = ask({"do": "details", "layers": ["sets", "influence", "membership"]})
    assert details["p_values"].shape == (2 * 64 * 48,)
    assert details["influence"].shape == (60,)
    assert "membership" not in details
    ask({"do": "set", "estimator": "EllipsoidalFuzzyClassifier"})
    details = ask({"do": "details", "layers": ["sets", "influence", "membership"]})
    assert details["membership"].shape == (2 * 64 * 48,)
    assert details["threshold"] > 0
    assert "p_values" in details or details["progress"] < 1
    ask({"do": "start", "estimator": "LeastSquaresSVR", "data": "wave"})
    details = ask({"do": "details", "layers": ["sets"]})
    assert details["widths"] == ["local", "constant"]
    assert details["intervals"].shape == (2 * len(details["confidences"]) * 65 * 2,)
    local, constant = details["intervals"].reshape(2, -1, 65, 2)[:, 5]
    assert np.ptp(local[:, 1] - local[:, 0]) > np.ptp(constant[:, 1] - constant[:, 0])


def test_a_model_comes_and_goes_with_its_second_class(ask):
    one = ask({"do": "start", "rows": [[0, 0.0, 0.0, 0], [1, 0.5, 0.5, 0]]})
    assert one["n"] == 2
    assert "values" not in one
    assert "two classes" in ask({"do": "prove"})["message"]
    two = ask({"do": "edit", "learn": [[2, 1.0, 0.0, 3]]})
    assert two["classes"] == [0, 3]
    assert "values" not in ask({"do": "edit", "forget": [2]})


WRONG = {
    "not JSON": "do must be|Expecting value",
    "[1]": "do must be one of",
    '{"do": "dance"}': "got 'dance'",
    '{"do": "start", "data": "nothing"}': "data must be one of",
    '{"do": "start", "estimator": "Oracle"}': "estimator must be one of",
    '{"do": "set", "kernel": "warm"}': "kernel must be one of",
    '{"do": "set", "gamma": NaN}': "gamma must be from",
    '{"do": "set", "ridge": true}': "ridge must be a number",
    '{"do": "edit", "learn": [[1, 2]]}': "a row must be",
    '{"do": "edit", "learn": [[900, 1e400, 0, 0]]}': "outside the plane",
    '{"do": "edit", "learn": [[900, 0, 0, 5]]}': "outside the plane",
    '{"do": "edit", "learn": [[0, 0, 0, 0]]}': "id 0, which is held",
    '{"do": "edit", "learn": [[900, 0, 0, 0], [900, 0, 0, 0]]}': "the same id",
    '{"do": "edit", "learn": {"a": 1}}': "must be a list",
    '{"do": "edit", "forget": [99999]}': "id 99999, which is not held",
    '{"do": "edit", "forget": 3}': "ids must be a list",
    '{"do": "edit", "forget": ["3"]}': "an id must be a whole number",
    '{"do": "without", "id": 99999}': "id 99999 is not held",
    '{"do": "details", "layers": ["cake"]}': "a layer must be one of sets",
    '{"do": "details", "layers": [[]]}': "a layer must be one of sets",
    '{"do": ["start"]}': "got ['start']",
    '{"do": "start", "data": []}': "data must be one of",
    '{"do": "start", "estimator": {}}': "estimator must be one of",
    '{"do": "set", "kernel": ["rbf"]}': "kernel must be one of",
    b"\xff\xfe not a text": "can't decode",
    b"{}": "do must be one of",
    "": "Expecting value",
    "[" * 100_000: "recursion",
    '{"do": "details", "layers": 3}': "layers must be a list",
}


def test_what_is_refused_changes_nothing(ask):
    before = ask({"do": "start", "data": "XOR"})
    for text, message in WRONG.items():
        refused = ask(text)
        assert refused["kind"] == "error", text
        assert any(part in refused["message"] for part in message.split("|")), refused
    after = ask({"do": "details"})
    np.testing.assert_array_equal(after["ids"], before["ids"])
    np.testing.assert_array_equal(after["values"], before["values"])


def test_a_script_makes_the_same_model(ask):
    picture = ask({"do": "start", "data": "XOR", "gamma": 1.5})
    space = {}
    code = ask({"do": "python"})["text"]
    exec(code.replace("print(", "error = 1 - model.loo_score() #"), space)
    assert space["model"].gamma == 1.5
    assert space["error"] == pytest.approx(picture["error"])


def test_a_page_holds_no_more_samples_than_it_says(ask):
    rows = [[i, -2 + 4 * i / 2000, (i % 7) / 7, i % 2] for i in range(2001)]
    assert "at most 2000" in ask({"do": "start", "rows": rows})["message"]
    ask({"do": "start", "estimator": "OrthogonalKernelClassifier", "rows": rows[:1999]})
    assert ask({"do": "edit", "learn": [rows[1999]]})["n"] == 2000
    assert "2000 samples at most" in ask({"do": "edit", "learn": [rows[2000]]})["message"]
    assert ask({"do": "edit", "learn": [rows[2000]], "forget": [5]})["n"] == 2000


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://elsewhere.example"},
        {"host": "elsewhere.example"},
        {"host": "elsewhere.example", "origin": "http://elsewhere.example"},
        {"origin": "foo://localhost"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_pages_of_other_sites_are_refused(client, headers):
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(SOCKET, headers=headers) as socket,
    ):
        socket.receive_bytes()
    if "host" in headers:
        assert client.get("/", headers=headers).status_code == 403


def test_so_many_visitors_at_a_time(client):
    with ExitStack() as stack:
        for _ in range(VISITORS):
            stack.enter_context(client.websocket_connect(SOCKET)).receive_bytes()
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(SOCKET) as socket:
            socket.receive_bytes()
    with client.websocket_connect(SOCKET) as socket:
        assert read(socket.receive_bytes())["kind"] == "offers"


def test_the_page_loads_nothing_from_elsewhere(client):
    page = client.get("/")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "http" not in page.text
    assert client.get("/plane.js").status_code == client.get("/style.css").status_code == 200
    assert client.get("/../_play.py").status_code == 404
