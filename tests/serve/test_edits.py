"""Edits: durable, in order, in blocks, and never in the way of readers."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import numpy as np
import pytest

from gramian import KernelDiscriminant, TableModel
from gramian.serve import Limits, create_app
from gramian.serve._edits import Forget, Learn, blocks
from gramian.serve._live_store import LiveStore
from gramian.serve._metrics import Metrics
from gramian.store import Store
from tests.serve.conftest import MODEL, TestClient, classifier, pets, samples, tensor

X, Y = samples(8, seed=2)


def rows(*places):
    return {"inputs": [tensor(X[list(places)])], "targets": Y[list(places)].tolist()}


def test_learn_forget_relabel(client, post):
    learned = post("learn", rows(0, 1))
    assert (learned["n"], learned["ids"], learned["model_version"]) == (42, [40, 41], "1")
    assert learned["receipt"]["n_after"] == 42
    assert post("forget", {"ids": [40, 3]})["n"] == 40
    flipped = [int(1 - Y[1])]
    assert post("relabel", {"ids": [41], "targets": flipped})["ids"] == [41]
    expected = classifier().partial_fit(X[:2], Y[:2]).forget([40, 3, 41])
    expected.partial_fit(X[1:2], flipped, ids=[41])
    answer = post("infer", {"inputs": [tensor(X)], "outputs": [{"name": "decision"}]})
    found = answer["outputs"][0]["data"]
    np.testing.assert_allclose(found, expected.decision_function(X), rtol=1e-9)
    assert answer["model_version"] == "3"
    receipts = client.get(f"{MODEL}/receipts?after=1&limit=1").json()
    assert (receipts["total"], len(receipts["receipts"])) == (4, 1)
    assert receipts["receipts"][0]["action"] == "forget"
    assert post("audit", {"refit": True})["passed"]


def test_rows_of_a_person_come_with_it_and_leave_together(serving):
    model = KernelDiscriminant(gamma=0.3, ridge=0.1)
    people = np.arange(40) // 2
    with serving(model.fit(*samples(), groups=people)) as client:

        def send(route, body, status=200):
            answer = client.post(f"{MODEL}/{route}", json=body)
            assert answer.status_code == status, answer.text
            return answer.json()

        assert "have groups" in str(send("learn", rows(0), 422))
        send("learn", {**rows(0, 1), "groups": [3]}, 422)
        assert send("learn", {**rows(0, 1), "groups": [3, 99]})["ids"] == [40, 41]
        tried = send("forget", {"groups": [3], "dry_run": True})
        assert (tried["ids"], tried["n"]) == ([6, 7, 40], 39)
        gone = send("forget", {"groups": [3], "verify": True})
        assert (gone["ids"], gone["n"], gone["receipt"]["count"]) == ([6, 7, 40], 39, 3)
        assert gone["receipt"]["verified"]
        assert "group 3" in str(send("forget", {"groups": [3]}, 422))
        assert "one of the two" in str(send("forget", {}, 422))
        assert "one of the two" in str(send("forget", {"ids": [1], "groups": [1]}, 422))
        assert client.store.audit(refit=True).passed
        expected = model.forget(groups=[3]).partial_fit(X[1:2], Y[1:2], groups=[99])
        found = client.store.read(lambda held: held.loo_decision_function())
        np.testing.assert_allclose(found, expected.loo_decision_function(), atol=1e-12)


@pytest.mark.parametrize("column", [None, "owner"])
def test_a_table_with_owners(serving, column):
    table = {name: values.tolist() for name, values in pets().table_.items()}
    owners, known = [f"owner {i // 3}" for i in range(30)], pets()
    table |= {"name": known.ids_.tolist(), "animal": known.y_fit_.tolist()}
    table |= {} if column is None else {column: owners}
    model = TableModel(
        KernelDiscriminant(gamma=0.3, ridge=0.1),
        target="animal",
        id_column="name",
        subject_column=column,
    )
    model.fit(table, groups=None if column else owners)
    new = {"name": "Rex", "weight": 22.0, "sound": "woof", "animal": "dog"}
    with serving(model) as client:
        learn = f"{MODEL}/learn"
        assert client.post(learn, json={"records": [new]}).status_code == 422
        bodies = [{"records": [new], "groups": ["owner 3"]}]
        bodies += [{"records": [{**new, "name": "Ed", column: "owner 3"}]}] if column else []
        for body in bodies:
            answer = client.post(learn, json=body)
            assert answer.status_code == 200, answer.text
        gone = client.post(f"{MODEL}/forget", json={"groups": ["owner 3"]}).json()
        assert len(gone["ids"]) == 3 + len(bodies)
        facts = client.get(MODEL).json()["parameters"]
        assert facts["subject_column"] == column


def test_what_is_acknowledged_is_on_disk(serving, tmp_path):
    with serving() as client:
        client.post(f"{MODEL}/learn", json={**rows(0), "ids": [77]})
        with Store.open(tmp_path / "a.store", readonly=True) as other:
            assert 77 in other.model.ids_


def test_rows_of_a_table(serving):
    new = {"name": "Rex", "weight": 22.0, "sound": "woof", "animal": "dog"}
    bare = {"weight": 4.5, "sound": "meow"}
    with serving(pets()) as client:
        assert client.post(f"{MODEL}/learn", json={"records": [new]}).json()["ids"] == ["Rex"]
        body = {"records": [bare], "targets": ["cat"], "ids": ["Tom"]}
        assert client.post(f"{MODEL}/learn", json=body).json()["n"] == 32
        assert client.post(f"{MODEL}/learn", json={"records": [new]}).status_code == 422
        assert client.post(f"{MODEL}/learn", json={"records": [bare]}).status_code == 422
        assert client.post(f"{MODEL}/forget", json={"ids": ["Rex"]}).json()["n"] == 31


@pytest.mark.parametrize(
    ("route", "body", "said"),
    [
        ("learn", {"inputs": [tensor(X[:1])]}, "one for each of 1 rows, got none"),
        ("learn", {**rows(0), "targets": [0, 1]}, "one for each of 1 rows, got 2"),
        ("learn", {**rows(0), "targets": ["a"]}, "y must be numbers"),
        ("learn", {**rows(0), "targets": [True]}, "targets"),
        ("learn", {**rows(0, 1), "targets": [1, "a"]}, "targets"),
        ("learn", {**rows(0), "ids": [3]}, "already held"),
        ("learn", {**rows(0), "ids": []}, "one for each of 1 rows"),
        ("learn", {**rows(0), "ids": [2**63]}, "ids"),
        ("forget", {"ids": [99]}, "does not hold"),
        ("forget", {"ids": []}, "ids"),
        ("forget", {"ids": ["a"]}, "a"),
        ("forget", {"ids": list(range(39))}, "two classes|needs two|fewer than two"),
        ("relabel", {"ids": [3], "targets": [0, 1]}, "target"),
        ("relabel", {"ids": [99], "targets": [0]}, "does not hold"),
    ],
)
def test_a_refused_edit_changes_nothing(client, route, body, said):
    published = client.live.published
    answer = client.post(f"{MODEL}/{route}", json=body)
    assert answer.status_code == 422
    assert any(part in answer.json()["detail"] for part in said.split("|")), answer.text
    assert client.live.published is published
    assert client.store.version == 0


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("forget", {"ids": [3]}),
        ("learn", rows(0)),
        ("relabel", {"ids": [3], "targets": [0]}),
        ("samples", {"ids": [3]}),
        ("infer", {"inputs": [tensor(X)]}),
        ("audit", {}),
        ("projection", {}),
    ],
)
def test_unknown_fields_are_refused(client, post, route, body):
    assert "dry" in post(route, {**body, "dry": True}, 422)["detail"]
    post(route, {**body, "parameters": {"set": True}}, 422)
    if "inputs" in body:
        post(route, {"inputs": [{**tensor(X), "dtype": "FP64"}]}, 422)
    assert client.store.version == 0


def test_a_dry_run_changes_nothing(client, post):
    for route, body, n in (
        ("forget", {"ids": [3]}, 39),
        ("learn", rows(0, 1), 42),
        ("relabel", {"ids": [3], "targets": [1]}, 40),
    ):
        tried = post(route, {**body, "dry_run": True})
        assert (tried["n"], tried["dry_run"], tried["receipt"]) == (n, True, None)
        assert tried["model_version"] == "0"
    assert tried["ids"] == [3]
    assert "does not hold" in post("forget", {"ids": [99], "dry_run": True}, 422)["detail"]
    assert client.store.version == 0
    assert client.live.published.model.ids_.tolist() == classifier().ids_.tolist()
    said = post("forget", {"ids": [3], "dryrun": True}, 422)["detail"]
    assert said == "dryrun: there is no such field; /docs lists those that there are."
    for odd in ("yes", 1, None):
        post("forget", {"ids": [3], "dry_run": odd}, 422)
    assert post("forget", {"ids": [3], "dry_run": False})["n"] == 39


def test_forgetting_is_verified_if_asked_for(post):
    assert post("forget", {"ids": [3]})["receipt"]["verified"] is None
    receipt = post("forget", {"ids": [4], "verify": True})["receipt"]
    assert receipt["verified"] is True
    assert receipt["difference"] <= receipt["tolerance"]


def test_receipts_after_a_number(client, post):
    for name in (3, 4, 5):
        post("forget", {"ids": [name]})

    def numbers(query):
        return [one["number"] for one in client.get(f"{MODEL}/receipts{query}").json()["receipts"]]

    assert numbers("") == [0, 1, 2, 3]
    assert numbers("?after=1") == [2, 3]
    assert numbers("?after=3") == numbers("?after=39") == []
    assert numbers("?after=-1&limit=2") == [0, 1]
    assert client.get(f"{MODEL}/receipts").json()["open"] == []


def test_several_stores_in_one_service(tmp_path):
    made = {
        name: Store.create(tmp_path / f"{name}.store", model())
        for name, model in (("m", classifier), ("pets", pets))
    }
    with TestClient(create_app(made), "http://localhost") as client:
        assert client.get("/v2/health/ready").json()["models"] == ["m", "pets"]
        assert client.get("/v2").json()["models"] == ["m", "pets"]
        assert client.post("/v2/models/pets/forget", json={"ids": ["pet 3"]}).json()["n"] == 29
        assert client.post("/v2/models/m/forget", json={"ids": [3]}).json()["n"] == 39
        assert client.get("/v2/models/dogs").status_code == 404
        text = client.get("/metrics").text
        assert 'gramian_samples{model="pets"} 29.0' in text
        assert 'gramian_samples{model="m"} 39.0' in text
        assert 'gramian_edits_total{edit="forget",model="pets"} 1.0' in text
        described = client.get("/openapi.json").json()["paths"]["/v2/models/{model}/infer"]["post"]
        assert described["parameters"][0]["schema"]["enum"] == ["m", "pets"]
        for name in made:
            with client.websocket_connect(f"ws://localhost/v2/models/{name}/watch") as socket:
                socket.send_json({"token": None})
                assert socket.receive_json()["name"] == name
    assert all(store._writer is None for store in made.values())  # closed
    with pytest.raises(ValueError, match="needs a store"):
        create_app({})


def test_a_service_that_only_reads_follows_the_store(tmp_path):
    with Store.create(tmp_path / "a.store", classifier()) as store:
        reader = Store.open(tmp_path / "a.store", readonly=True)
        with TestClient(create_app({"m": reader}), "http://localhost") as client:
            for route, body in (("forget", {"ids": [3]}), ("learn", rows(0))):
                for dry in (False, True):
                    answer = client.post(f"{MODEL}/{route}", json={**body, "dry_run": dry})
                    assert answer.status_code == 403
                    assert "only reads" in answer.json()["detail"]
            store.forget([3])
            while client.get(MODEL).json()["versions"] != ["1"]:
                time.sleep(0.01)
            assert client.get(f"{MODEL}/loo").json()["n"] == 39
            assert store.audit().passed


# -- the queue ----------------------------------------------------------------------------------


@pytest.fixture
def live(tmp_path):
    """A store whose thread has not begun."""
    store = Store.create(tmp_path / "b.store", classifier())
    return LiveStore("m", store, Limits(waiting=8, batch=4), Metrics())


def learn(place, name=None):
    return Learn(X[[place]], Y[[place]], None if name is None else [name])


def test_blocks_keep_the_order():
    edits = [learn(0), learn(1), Forget([3]), learn(2), learn(3, 7), learn(4, 8), learn(5, "a")]
    edits += [learn(0)] * 5
    sizes = [len(block) for block in blocks([(edit, None) for edit in edits], most=4)]
    assert sizes == [2, 1, 1, 2, 1, 4, 1]


def test_simultaneous_learns_are_one_block(live):
    answers = [live.submit(learn(place)) for place in range(3)]
    answers.append(live.submit(Forget([0])))
    live.start()
    done = [answer.result() for answer in answers]
    assert [d.ids for d in done] == [[40], [41], [42], [0]]
    assert [d.published.version for d in done] == [1, 1, 1, 2]
    live.close()


def test_rows_of_a_table_are_one_block_too(tmp_path):
    def record(name, weight):
        row = {"name": [name], "weight": [weight], "sound": ["woof"], "animal": ["dog"]}
        return Learn(row, None, None)

    live = LiveStore("m", Store.create(tmp_path / "c.store", pets()), Limits(), Metrics())
    answers = [live.submit(record("Rex", 22.0)), live.submit(record("Bello", None))]
    live.start()
    assert [answer.result().ids for answer in answers] == [["Rex"], ["Bello"]]
    assert live.published.version == 1
    live.close()


def test_a_bad_request_spoils_no_other_of_its_block(live):
    bad = Learn(X[[1]] * np.nan, Y[[1]], None)
    answers = [live.submit(edit) for edit in (learn(0), bad, learn(2))]
    live.start()
    assert answers[0].result().ids == [40]
    with pytest.raises(ValueError, match="NaN"):
        answers[1].result()
    assert answers[2].result().ids == [41]
    live.close()


def test_an_edit_that_was_given_up_before_its_turn_is_not_made(live):
    first, second = live.submit(Forget([1])), live.submit(Forget([2]))
    assert first.cancel()
    live.start()
    assert second.result().ids == [2]
    assert 1 in live.published.model.ids_
    live.close()


def test_closing_finishes_what_waits(live, tmp_path):
    answers = [live.submit(learn(place)) for place in range(5)]
    live.start()
    live.close()
    assert all(answer.done() and answer.exception() is None for answer in answers)
    with Store.open(tmp_path / "b.store") as again:
        assert len(again.model.ids_) == 45


def test_closing_refuses_what_comes_too_late(live):
    answer = live.submit(learn(0))
    live.close()  # its thread never began
    with pytest.raises(Exception, match="shutting down"):
        answer.result()
    with pytest.raises(Exception, match="shutting down"):
        live.submit(learn(0))


def test_too_many_edits_are_refused_with_a_time_to_wait(serving):
    body = rows(0)
    with serving(limits=Limits(waiting=2)) as client, ThreadPoolExecutor(8) as pool:
        free, held = Event(), Event()

        def hold(model):
            held.set()
            free.wait()

        Thread(target=client.store.read, args=(hold,)).start()
        held.wait()  # as an edit that takes long
        sent = [pool.submit(client.post, f"{MODEL}/learn", json=body) for _ in range(8)]
        while sum(answer.done() for answer in sent) < 6:
            time.sleep(0.001)
        # Readers do not wait.
        answer = client.post(f"{MODEL}/infer", json={"inputs": body["inputs"]})
        assert answer.status_code == 200
        refused = [answer.result() for answer in sent if answer.done()]
        assert {answer.status_code for answer in refused} == {429}
        assert refused[0].headers["retry-after"] == "1"
        free.set()
        codes = sorted(answer.result().status_code for answer in sent)
        assert codes == [200] * 2 + [429] * 6
        assert len(client.live.published.model.ids_) == 42


def test_an_edit_that_cannot_be_shown_stops_no_other(live, monkeypatch):
    live.start()
    with monkeypatch.context() as broken:
        broken.setattr(live, "_present", lambda: 1 / 0)
        with pytest.raises(Exception, match="on disk but could not be published"):
            live.submit(learn(0)).result()
    assert live.submit(learn(1)).result().ids == [41]
    live.close()


def test_a_failing_disk(client, monkeypatch):
    def fail(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(client.store, "learn", fail)
    answer = client.post(f"{MODEL}/learn", json=rows(0))
    assert answer.status_code == 503
    assert "No space left" in answer.json()["detail"]


def test_an_unexpected_error_tells_the_log_places_and_no_values(client, monkeypatch, caplog):
    def fail(ids, **options):
        raise RuntimeError(f"secret {ids[0] + 0.5}")

    monkeypatch.setattr(client.store, "forget", fail)
    answer = client.post(f"{MODEL}/forget", json={"ids": [1234]})
    assert answer.status_code == 500
    assert "RuntimeError" in caplog.text
    assert "1234.5" not in caplog.text + answer.text


# -- what the model knows of itself -------------------------------------------------------------


def test_loo_doubt_numerical_error_and_metrics(client, post):
    post("learn", rows(0, 1, 2))
    model = classifier().partial_fit(X[:3], Y[:3])
    loo = client.get(f"{MODEL}/loo?samples=true").json()
    assert loo["error"] == pytest.approx(1 - model.loo_score())
    assert loo["predictions"] == model.loo_predict().tolist()
    worst = client.get(f"{MODEL}/doubt?count=4").json()["samples"]
    own = model.loo_predict_proba()[np.arange(43), model.y_fit_]
    assert [sample["id"] for sample in worst] == np.argsort(own)[:4].tolist()
    assert worst[0]["probability"] == pytest.approx(1.0 - own.min())
    measured = client.get(f"{MODEL}/numerical-error").json()
    assert 0 <= measured["numerical_error"] < 1e-10
    assert measured["rebuilds"] == []
    text = client.get("/metrics").text
    for line in (
        'gramian_samples{model="m"} 43.0',
        'gramian_version{model="m"} 1.0',
        'gramian_rebuilds{model="m"} 0.0',
        'gramian_edits_total{edit="learn",model="m"} 1.0',
        f'gramian_requests_total{{path="{MODEL}/learn",status="200"}} 1.0',
    ):
        assert line in text
    assert f'gramian_leave_one_out_error{{model="m"}} {loo["error"]}' in text
    for query in ("count=-1", "count=x", "count=99999"):
        assert client.get(f"{MODEL}/doubt?{query}").status_code == 422
    assert client.get(f"{MODEL}/loo?samples=maybe").status_code == 422
