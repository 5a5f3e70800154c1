"""Bad requests to a service: no 500, and the model is as before after each that is refused.

Bodies are made in three ways: from the OpenAPI schema (by schemathesis, where it is installed),
from sound bodies with a part exchanged, and from their bytes with some of them changed.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections import Counter
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from gramian import KernelDiscriminant
from tests.torture.common import Clock

MODEL = "/v2/models/m"
LENGTH = "Inference-Header-Content-Length"
STRANGE = (
    *(None, True, -1, 0, 1, 2**31, 2**63, -(2**63), 10**400, 0.5, 1e308, -1e400, float("nan")),
    *("", "a", "\0", "\ud800", "é" * 300, "1", "NaN", [], {}, [[]], [[1], [1, 2]], {"a": {}}),
    *(
        [None],
        [True],
        ["a", 1],
        [1e400],
        [[[1.0]]],
        "FP64",
        "BYTES",
        [1, 2],
        [0, 3],
        [2**31, 2**31],
    ),
)


@contextmanager
def service(model=None):
    """A client of a small model, without a socket, and its store."""
    from gramian.serve import create_app
    from gramian.store import Store

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from starlette.testclient import TestClient
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = model or KernelDiscriminant(gamma=0.3, ridge=0.1).fit(X, (X[:, 0] > 0).astype(int))
    with tempfile.TemporaryDirectory() as folder:
        store = Store.create(Path(folder) / "m.store", model)
        app = create_app({"m": store})
        with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
            yield client, store, app


def sound(rng, ids):
    """A route and a body that it takes."""
    X = rng.standard_normal((int(rng.integers(1, 4)), 3))
    rows = {"name": "X", "shape": list(X.shape), "datatype": "FP64", "data": X.ravel().tolist()}
    named = [int(name) for name in rng.choice(ids, 2, replace=False)]
    return [
        (
            "infer",
            {"inputs": [rows], "parameters": {"probabilities": True, "confidence_level": 0.9}},
        ),
        ("infer", {"inputs": [rows], "outputs": [{"name": "decision", "parameters": {}}]}),
        ("infer", {"records": [{"a": 1.0, "b": "text"}, {"a": None}]}),
        ("learn", {"inputs": [rows], "targets": [int(v > 0) for v in X[:, 0]]}),
        ("learn", {"inputs": [rows], "targets": [0] * len(X), "ids": named[:1] * len(X)}),
        ("forget", {"ids": named}),
        ("relabel", {"ids": named, "targets": [0, 1]}),
    ][int(rng.integers(7))]


def exchanged(value, rng):
    """The same value with one part, somewhere in it, exchanged for a strange one or left out."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
        return STRANGE[int(rng.integers(len(STRANGE)))]
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = keys[int(rng.integers(len(keys)))]
    made = value.copy()
    if rng.random() < 0.1:
        del made[key]
    else:
        made[key] = exchanged(made[key], rng)
    return made


def changed(content, rng):
    """The bytes with a few of them replaced, removed or repeated."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        start = int(rng.integers(len(data) + 1))
        stop = min(len(data), start + int(rng.integers(0, 4)))
        data[start:stop] = rng.bytes(int(rng.integers(0, 4)))
    return bytes(data)


def bad(rng, ids):
    """Route, bytes and headers of a request that is probably refused."""
    route, body = sound(rng, ids)
    way = rng.random()
    if way < 0.6:
        body = exchanged(body, rng)
    content = json.dumps(body).encode()
    if way > 0.6:
        content = changed(content, rng)
    headers = {"Content-Type": "application/json"}
    if rng.random() < 0.1:
        headers[LENGTH] = str(rng.choice([0, 1, len(content), len(content) - 1, "x", -1, 10**9]))
    return route, content, headers


class Watch:
    """Finds what is wrong with an answer, given the store before and after it."""

    def __init__(self, store, app):
        self.store, self.live = store, app.state.stores["m"]
        self.failures, self.statuses = [], Counter()
        self.version, self.published = store.version, self.live.published

    def see(self, status, what):
        """Note an answer."""
        self.statuses[status] += 1
        refused = status >= 400
        moved = self.store.version != self.version or self.live.published.version != self.version
        if status >= 500 or (refused and moved):
            self.failures.append(f"{status}, model {'changed' if moved else 'as before'}: {what}")
        self.version = self.store.version

    def finish(self):
        """Whether the model is still the one of its rows."""
        report = self.store.audit(refit=True)
        if not report.passed:
            self.failures.append(f"the audit failed: {report.as_dict()}")


def main(seed, seconds=None, n=None, *, schema=True, report=None):
    """Number of requests and failures."""
    rng, clock = np.random.default_rng(seed), Clock(seconds, n)
    with service() as (client, store, app):
        watch, live = Watch(store, app), app.state.stores["m"]
        while clock.goes_on():
            if len(app.state.stores["m"].published.model.ids_) < 12:  # so many were forgotten
                X = rng.standard_normal((30, 3))
                store.learn(X, (X[:, 0] > 0).astype(int))
                live._assign(live._present())
                watch.version = store.version
            route, content, headers = bad(rng, app.state.stores["m"].published.model.ids_)
            answer = client.post(f"{MODEL}/{route}", content=content, headers=headers)
            watch.see(answer.status_code, f"{route} {content[:300]!r} {headers}")
        known = schema and find_spec("schemathesis") is not None
        if known:
            by_schema(client, watch, 20 if n is not None else 100)
        watch.finish()
    if report is not None:
        counts = ", ".join(f"{v:,} × {k}" for k, v in sorted(watch.statuses.items()))
        report["requests"] = f"{counts}; {'with' if known else 'without'} schemathesis"
    return sum(watch.statuses.values()), watch.failures


def by_schema(client, watch, examples):
    """Requests that schemathesis makes from the OpenAPI schema."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, Verbosity, given, settings

    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    for result in schema.get_all_operations():
        operation = result.ok()

        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @given(case=operation.as_strategy())
        def call(case):
            if case.path.endswith("/audit"):  # which is slow
                case.query = {}
            known = case.as_transport_kwargs(base_url="http://localhost")
            answer = client.request(**known)
            watch.see(answer.status_code, f"{case.method} {case.path} {case.body!r:.300}")

        call()
