"""The readings, samples and projections that the page of a served store shows."""

import numpy as np
import pytest

from gramian import LeastSquaresSVC
from gramian.serve import Tokens, add_token
from tests.serve.conftest import MODEL, classifier, pets, regressor

WATCH = f"ws://localhost{MODEL}/watch"


def blobs():
    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    return LeastSquaresSVC(gamma=0.5, C=10.0).fit(rng.normal(size=(45, 2)) + y[:, None], y)


def test_readings_follow_every_edit(client):
    expected = classifier()
    with client.websocket_connect(WATCH) as socket:
        socket.send_json({"token": None})
        welcome, reading = socket.receive_json(), socket.receive_json()
        assert welcome["scopes"] == ["predict", "learn", "forget", "admin"]
        assert welcome["classes"] == [0, 1]
        assert reading["n"] == 40
        assert reading["error"] == pytest.approx(1 - expected.loo_score())
        client.post(f"{MODEL}/forget", json={"ids": [3]})
        after = socket.receive_json()
        expected.forget([3])
        assert after["version"] > reading["version"]
        assert after["n"] == 39
        assert after["error"] == pytest.approx(1 - expected.loo_score())
        assert after["numerical_error"] < 1e-10
    with client.websocket_connect(WATCH) as socket:
        socket.send_json({"token": None})
        assert [one["n"] for one in socket.receive_json()["readings"]] == [40, 39]


def test_a_token_says_what_may_be_watched(serving, tmp_path):
    file = tmp_path / "tokens.json"
    secrets = {scope: add_token(file, scope, [scope]) for scope in ("predict", "learn", "admin")}
    found = {}
    with serving(tokens=Tokens(file)) as client:
        for name, secret in {**secrets, "none": None, "wrong": "x"}.items():
            with client.websocket_connect(WATCH) as socket:
                socket.send_json({"token": secret})
                answer = socket.receive_json()
                found[name] = answer["kind"], answer["scopes"]
        with client.websocket_connect(WATCH) as socket:
            socket.send_text("[]")
            assert socket.receive_json()["kind"] == "denied"
        headers = {"Authorization": f"Bearer {secrets['learn']}"}
        refused = client.post(f"{MODEL}/samples", json={"ids": [1]}, headers=headers)
        assert refused.status_code == 403
    assert found == {
        "predict": ("denied", ["predict"]),
        "learn": ("welcome", ["learn"]),
        "admin": ("welcome", ["predict", "learn", "forget", "admin"]),
        "none": ("denied", []),
        "wrong": ("denied", []),
    }


def test_samples_come_with_their_values(serving, client):
    model = classifier()
    answer = client.post(f"{MODEL}/samples", json={"ids": [7, 2]}).json()["samples"]
    assert [sample["id"] for sample in answer] == [2, 7]
    np.testing.assert_allclose(list(answer[1]["values"].values()), model.X_fit_[7])
    assert answer[0]["suggested"] == model.loo_predict()[2]
    assert client.post(f"{MODEL}/samples", json={"ids": [99]}).status_code in (404, 422)


def test_samples_of_a_table_have_the_names_of_its_columns(serving):
    with serving(pets()) as client:
        answer = client.post(f"{MODEL}/samples", json={"ids": ["pet 4"]}).json()["samples"]
    assert answer[0]["values"]["sound"] == "meow"
    assert answer[0]["target"] == "cat"


@pytest.mark.parametrize("model", [classifier, blobs, regressor, pets])
def test_a_projection_has_all_samples(serving, model):
    model = model()
    with serving(model) as client:
        found = client.post(f"{MODEL}/projection").json()
        sets = found["sets"]
        assert sets["confidence_level"] == 0.9
        assert 0.9 <= sets["covered"] <= 1.0
        assert sets["size"] > 0
    assert found["ids"] == model.ids_.tolist()
    assert len(found["x"]) == len(found["y"]) == found["n"]
    assert np.isfinite(found["x"] + found["y"]).all()
    if "labels" in found:
        assert len(found["claimed"]) == len(found["right"]) == found["n"]


def test_the_page_loads_nothing_from_elsewhere(client):
    page = client.get("/")
    assert page.status_code == 200
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "http" not in page.text.replace("http-equiv", "")


def test_sets_of_left_out_values():
    """With labels that are plain to see, a set of 90 % holds one label or none."""
    from gramian.serve._answers import left_out_sets
    from gramian.serve._live_store import Published

    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 2)) + 10.0 * y[:, None]
    plain = left_out_sets(Published(LeastSquaresSVC(gamma=0.1, C=1.0).fit(X, y), 0, True))
    assert plain["covered"] >= 0.9
    assert plain["size"] <= 1.0
    noise = np.random.default_rng(1).integers(0, 2, 60)
    blind = left_out_sets(Published(LeastSquaresSVC(gamma=0.1, C=1.0).fit(X, noise), 0, True))
    assert blind["size"] > 1.5
