"""Stores and the service, against the model in memory that has had the same edits."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gramian.store import Store
from tests.matrix.capabilities import Refused, capability
from tests.matrix.cases import Case, as_array
from tests.store.steps import reached

stores = partial(capability, group="store")
service = partial(capability, group="service", package="starlette")


def plain(case: Case, samples: Any, model: Any) -> Any:
    """Samples to learn, as numbers that a request can carry."""
    X = case.to_learn(model, samples)
    return X.toarray() if hasattr(X, "toarray") else as_array(X)


@stores("Store: learn, forget, relabel, audit")
def edits_last(case: Case, folder: Path) -> None:
    model = case.model()
    label = case.changed_label(5)
    with Store.create(folder / "m.store", case.model()) as store:
        X = case.to_learn(model, case.more)
        store.learn(X, case.y[case.more], ids=case.more)
        store.forget([3])
        store.relabel([5], [label])
    model.partial_fit(X, case.y[case.more], ids=case.more).forget([3]).relabel([5], [label])
    with Store.open(folder / "m.store") as store:
        assert store.model.ids_.tolist() == model.ids_.tolist()
        case.close(case.values(store.model), case.values(model))
        assert store.audit(refit=True).passed
        assert [receipt.action for receipt in store.receipts()] == [
            "create", "learn", "forget", "relabel",
        ]  # fmt: skip


@stores("Store: killed in an edit", slow=True)
def is_killed(case: Case, folder: Path) -> None:
    """Before the commit nothing has happened, after it everything has."""
    for step, gone in (("commit", False), ("committed", True)):
        path = folder / f"{step}.store"
        with Store.create(path, case.model()) as store:
            end = reached(partial(_dies, step))
            try:
                with pytest.raises(KeyboardInterrupt):
                    store.forget([3])
            finally:
                end()
        expected = case.model().forget([3]) if gone else case.model()
        with Store.open(path) as store:
            assert store.model.ids_.tolist() == expected.ids_.tolist()
            case.close(case.values(store.model), case.values(expected))
            assert store.audit(refit=True).passed


def _dies(step: str, reached: str) -> None:
    if step == reached:
        raise KeyboardInterrupt


class Client:
    """A client of a served store, which needs no socket."""

    def __init__(self, http: Any) -> None:
        self.http = http

    def ask(self, method: str, route: str, **options: Any) -> Any:
        """The answer; a problem that the service explains is raised as such."""
        answer = self.http.request(method, f"/v2/models/m/{route}", **options)
        assert answer.status_code < 500, answer.text
        content = answer.json()
        if answer.status_code >= 400:
            raise Refused(content.get("detail") or content["error"])
        return content


@contextmanager
def served(case: Case, folder: Path) -> Iterator[Client]:
    """A service of a store of the configuration's model."""
    from gramian.serve import create_app

    with warnings.catch_warnings():  # starlette announces another client
        warnings.simplefilter("ignore")
        from starlette.testclient import TestClient
    app = create_app({"m": Store.create(folder / "m.store", case.model())})
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as http:
        yield Client(http)


def tensor(X: Any) -> dict[str, Any]:
    """Samples for a request."""
    X = np.asarray(X, dtype=float)
    return {"name": "X", "shape": list(X.shape), "datatype": "FP64", "data": X.ravel().tolist()}


def inferred(case: Case, client: Client, model: Any, **parameters: Any) -> dict[str, Any]:
    """The outputs for the queries, as arrays by name."""
    X = case.queries(model)
    X = X.toarray() if hasattr(X, "toarray") else as_array(X)
    body = {"inputs": [tensor(X)], "parameters": parameters}
    outputs = client.ask("POST", "infer", json=body)["outputs"]
    return {one["name"]: np.array(one["data"]).reshape(one["shape"]) for one in outputs}


def same_values(case: Case, client: Client, model: Any) -> None:
    """The service predicts as the model does."""
    name = "decision" if case.classifies else "prediction"
    found = inferred(case, client, model, decision=case.classifies)[name]
    case.close(found, case.values(model))


@service("/infer")
def infers(case: Case, folder: Path) -> None:
    model = case.model()
    with served(case, folder) as client:
        same_values(case, client, model)
        if case.classifies:
            found = inferred(case, client, model, probabilities=True)
            case.close(found["probabilities"], model.predict_proba(case.queries(model)))
            assert (
                found["prediction"].tolist()
                == as_array(model.predict(case.queries(model))).tolist()
            )


@service("/infer with sets or intervals")
def infers_sets(case: Case, folder: Path) -> None:
    model = case.model()
    X = case.queries(model)
    with served(case, folder) as client:
        if case.classifies:
            found = inferred(case, client, model, sets=True, confidence_level=0.8)["sets"]
            np.testing.assert_array_equal(found, as_array(model.predict_set(X, 0.8)))
        else:
            found = inferred(case, client, model, intervals=True, confidence_level=0.8)
            ends = np.stack([found["lower"], found["upper"]], axis=-1)
            case.close(ends, model.predict_interval(X, 0.8))


@service("/learn")
def service_learns(case: Case, folder: Path) -> None:
    model = case.model()
    with served(case, folder) as client:
        X = plain(case, case.more, model)
        body = {"inputs": [tensor(X)], "targets": case.y[case.more].tolist()}
        client.ask("POST", "learn", json={**body, "ids": case.more.tolist()})
        model.partial_fit(case.to_learn(model, case.more), case.y[case.more], ids=case.more)
        same_values(case, client, model)


@service("/forget")
def service_forgets(case: Case, folder: Path) -> None:
    with served(case, folder) as client:
        assert client.ask("POST", "forget", json={"ids": [3, 4]})["n"] == len(case.held) - 2
        same_values(case, client, case.model().forget([3, 4]))


@service("/relabel")
def service_relabels(case: Case, folder: Path) -> None:
    label = case.changed_label(5)
    with served(case, folder) as client:
        client.ask("POST", "relabel", json={"ids": [5], "targets": [label.tolist()]})
        same_values(case, client, case.model().relabel([5], [label]))


@service("/loo, /doubt")
def service_doubts(case: Case, folder: Path) -> None:
    model = case.model()
    with served(case, folder) as client:
        found = client.ask("GET", "loo?samples=true")
        np.testing.assert_allclose(found["score"], model.loo_score(), atol=1e-5)
        if case.classifies:
            assert found["predictions"] == as_array(model.loo_predict()).tolist()
        else:
            case.close(found["predictions"], model.loo_predict())
        assert len(client.ask("GET", "doubt?count=3")["samples"]) == 3


@service("/projection")
def projects(case: Case, folder: Path) -> None:
    with served(case, folder) as client:
        found = client.ask("POST", "projection", json={})
    assert sorted(found["ids"]) == case.held.tolist()
    assert np.isfinite([found["x"], found["y"]]).all()
    if not case.classifies:
        model = case.model()
        said = as_array(model.loo_predict()).reshape(len(case.held), -1)[:, 0]
        case.close(found["x"], said[found["ids"]])


@service("/samples")
def shows_samples(case: Case, folder: Path) -> None:
    with served(case, folder) as client:
        (found,) = client.ask("POST", "samples", json={"ids": [3]})["samples"]
    assert found["id"] == 3
    assert found["target"] == case.y[3].tolist()
    if case.how.form != "kernel":
        case.close([*found["values"].values()], case.X[3])


@service("/watch")
def watches(case: Case, folder: Path) -> None:
    model = case.model()
    with (
        served(case, folder) as client,
        client.http.websocket_connect("ws://localhost/v2/models/m/watch") as socket,
    ):
        socket.send_json({"token": None})
        welcome, reading = socket.receive_json(), socket.receive_json()
    assert reading["n"] == len(case.held)
    assert case.estimator in welcome.values()
    predicted = as_array(model.loo_predict())
    if case.classifies:
        expected = np.mean(predicted != model.y_fit_)
    else:
        expected = np.sqrt(np.mean((predicted - model.y_fit_) ** 2))
    np.testing.assert_allclose(reading["error"], expected, atol=1e-5)


@service("/audit")
def audits(case: Case, folder: Path) -> None:
    with served(case, folder) as client:
        client.ask("POST", "forget", json={"ids": [3]})
        found = client.ask("POST", "audit", json={"refit": True})
    assert found["passed"], found


@service("/numerical-error, /data-drift")
def measures(case: Case, folder: Path) -> None:
    with served(case, folder) as client:
        client.ask("POST", "forget", json={"ids": [3]})
        found = client.ask("GET", "numerical-error")
        client.ask("GET", "data-drift")
    assert found["numerical_error"] < (1e-3 if case.how.dtype == "float32" else 1e-9)
