"""Several services of one store on a server."""

import secrets
import time
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from starlette.websockets import WebSocketDisconnect

from gramian.serve import Limits, create_app, store_name
from gramian.serve._live_store import LiveStore
from gramian.serve._metrics import Metrics
from gramian.store import Store, StoreError
from tests.serve.conftest import MODEL, TestClient, classifier, samples, tensor
from tests.serve.link import Link
from tests.serve.test_edits import learn

X, Y = samples(20, seed=9)


class Place:
    """A store on a server, and services of it."""

    def __init__(self, server, folder):
        self.schema, self.keyring = f"s{secrets.token_hex(6)}", folder / "keyring"
        self.server = server
        Store.create(self.address(server.port), classifier(), keyring=self.keyring).close()

    def address(self, port):
        return f"postgresql://gramian@127.0.0.1:{port}/postgres#{self.schema}"

    @contextmanager
    def serving(self, port=None, **limits):
        store = Store.open(self.address(port or self.server.port), keyring=self.keyring)
        app = create_app({"m": store}, limits=Limits(**limits))
        with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
            client.live = app.state.stores["m"]
            yield client


@pytest.fixture
def place(server, tmp_path):
    return Place(server, tmp_path)


@pytest.fixture
def pair(place):
    with place.serving() as one, place.serving() as two:
        yield one, two


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def edit(client, route, **body):
    answer = client.post(f"{MODEL}/{route}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def decisions(client, version):
    asked = {"decision": True, "min_version": version}
    answer = client.post(f"{MODEL}/infer", json={"inputs": [tensor(X)], "parameters": asked}).json()
    assert int(answer["model_version"]) >= version, answer
    return answer["outputs"][1]["data"]


def open_receipts(client):
    return client.get(f"{MODEL}/receipts").json()["open"]


def test_every_replica_takes_edits_and_all_answer_alike(pair):
    one, two = pair
    for k, client in enumerate((one, two, one, two)):
        made = edit(client, "learn", inputs=[tensor(X[[k]])], targets=[int(Y[k])], ids=[100 + k])
        assert made["ids"] == [100 + k]
    edit(two, "forget", ids=[3, 101])
    edit(one, "relabel", ids=[5], targets=[1 - int(classifier().y_fit_[5])])
    ours, theirs = decisions(one, 6), decisions(two, 6)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    model = one.live.store.model
    twin = type(model)(gamma=0.3, ridge=0.1).fit(model.X_fit_, model.y_fit_)
    np.testing.assert_allclose(ours, twin.decision_function(X), atol=1e-10)
    assert {100, 102, 103} <= set(two.live.published.model.ids_.tolist())
    until(lambda: open_receipts(one) == open_receipts(two) == [])
    assert one.get(f"{MODEL}/loo?min_version=6").json()["version"] == 6
    assert two.post(f"{MODEL}/audit", json={"refit": True}).json()["passed"]
    seen = [client.get(f"{MODEL}/data-drift").json() for client in pair]
    assert [one["rows"] for one in seen] == [3, 3]  # the fourth left before anyone looked


def test_a_version_that_is_not_there_is_waited_for(place):
    with place.serving(behind=0.1) as client:
        for ask in (
            lambda: client.get(f"{MODEL}/loo?min_version=7"),
            lambda: client.post(
                f"{MODEL}/infer", json={"inputs": [tensor(X)], "parameters": {"min_version": 7}}
            ),
        ):
            answer = ask()
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
            assert "version 7 is not here yet: this is 0" in answer.json()["detail"]
        assert client.get(f"{MODEL}/loo?min_version=x").status_code == 422


def test_a_receipt_is_open_until_every_replica_has_confirmed(pair, monkeypatch):
    one, two = pair
    monkeypatch.setattr(two.live, "_assign", lambda published: time.sleep(0.5))
    edit(one, "forget", ids=[3])
    assert open_receipts(one) == [1]
    assert 'gramian_open_receipts{model="m"} 1.0' in one.get("/metrics").text
    monkeypatch.undo()
    until(lambda: open_receipts(one) == [])


@pytest.mark.slow
def test_a_replica_that_is_cut_off_answers_nothing_and_comes_back(place):
    link = Link(place.server.port)
    with ExitStack() as stack:
        stack.callback(link.close)
        one = stack.enter_context(place.serving())
        two = stack.enter_context(place.serving(link.port, lease=2.0))
        stack.callback(link.mend)  # what hangs would keep it from ending
        assert two.get("/v2/health/ready").status_code == 200
        with two.websocket_connect(f"ws://localhost{MODEL}/watch") as page:
            page.send_json({"token": None})
            assert [page.receive_json()["kind"] for _ in range(2)] == ["welcome", "reading"]
            link.cut()
            edit(one, "forget", ids=[3])

            def silent():
                seen = open_receipts(one)  # asked first: what is answered later was open now
                status = two.post(f"{MODEL}/infer", json={"inputs": [tensor(X)]}).status_code
                assert (status, seen) == (200, [1]) or status == 503
                return status == 503

            until(silent)
            with pytest.raises(WebSocketDisconnect) as ended:
                page.receive_json()
            assert ended.value.code == 1013
        for route in (MODEL, f"{MODEL}/loo", f"{MODEL}/receipts", "/v2/health/ready"):
            answer = two.get(route)
            assert answer.status_code == 503
            assert "out of sight" in answer.json()["detail"]
        assert two.get("/v2/health/live").status_code == 200
        text = two.get("/metrics").text
        assert 'gramian_answering{model="m"} 0.0' in text
        assert "leave_one_out" not in text
        until(lambda: open_receipts(one) == [])  # nobody waits for it any more
        link.mend()
        until(lambda: two.get("/v2/health/ready").status_code == 200)
        assert two.live.published.version == 1
        np.testing.assert_allclose(decisions(one, 1), decisions(two, 1), atol=1e-12)


def test_an_edit_in_doubt_is_not_made_again(tmp_path, monkeypatch):
    """Two requests in one block, and an error after the block was written."""
    store = Store.create(tmp_path / "a.store", classifier())
    live = LiveStore("m", store, Limits(), Metrics())
    make = store.learn

    def fail(*args, **options):
        make(*args, **options)
        raise StoreError("the disk fails. The edit was made, and has receipt 1.")

    monkeypatch.setattr(store, "learn", fail)
    answers = [live.submit(learn(0)), live.submit(learn(1))]
    live.start()
    for answer in answers:
        with pytest.raises(StoreError, match="The edit was made"):
            answer.result()
    live.close()
    with Store.open(tmp_path / "a.store") as store:
        assert (store.version, len(store.model.ids_)) == (1, 42)


@pytest.mark.parametrize(
    ("store", "name"),
    [
        ("postgresql://a@b:5/shop#pets", "pets"),
        ("postgresql://a@b/shop", "shop"),
        ("postgresql://b", "gramian"),
        ("/x/pets.store", "pets"),
    ],
)
def test_names_of_stores(store, name):
    assert store_name(store) == name
