"""A small store, and a client of its service that needs no socket."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")
pytest.importorskip("prometheus_client")
pytest.importorskip("uvicorn")

from gramian import KernelDiscriminant, LeastSquaresSVR, TableModel
from gramian.serve import create_app
from gramian.store import Store

with warnings.catch_warnings():  # starlette announces another client
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

MODEL = "/v2/models/m"


def samples(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, (X[:, 0] + 0.3 * rng.standard_normal(n) > 0).astype(int)


def tensor(X, name="X", datatype="FP64"):
    X = np.asarray(X)
    return {
        "name": name,
        "shape": list(X.shape),
        "datatype": datatype,
        "data": X.ravel().tolist(),
    }


def classifier():
    return KernelDiscriminant(gamma=0.3, ridge=0.1).fit(*samples())


def regressor():
    X, _ = samples()
    return LeastSquaresSVR(gamma=0.3, C=10.0).fit(X, X[:, 0] ** 2)


def pets():
    rng = np.random.default_rng(0)
    dog = np.arange(30) % 2 == 1
    table = {
        "name": [f"pet {i}" for i in range(30)],
        "weight": (np.where(dog, 20.0, 5.0) + rng.standard_normal(30)).tolist(),
        "sound": np.where(dog, "woof", "meow").tolist(),
        "animal": np.where(dog, "dog", "cat").tolist(),
    }
    machine = KernelDiscriminant(gamma=0.3, ridge=0.1)
    return TableModel(machine, target="animal", id_column="name").fit(table)


@pytest.fixture
def serving(tmp_path):
    """Opens a service of a model; the client has ``store`` and ``live``."""

    @contextmanager
    def open_service(model=None, path="a.store", **options):
        model = classifier() if model is None else model
        store = Store.create(tmp_path / path, model)
        app = create_app({"m": store}, **options)
        with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
            client.store, client.live = store, app.state.stores["m"]
            yield client

    return open_service


@pytest.fixture
def client(serving):
    with serving() as client:
        yield client


@pytest.fixture
def post(client):
    """Sends JSON to a route of the model, checks the status, and reads the answer."""

    def send(route, body, status=200):
        answer = client.post(f"{MODEL}/{route}", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    return send
