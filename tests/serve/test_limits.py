"""Requests that cost more than they weigh, and clients that take their time."""

import json
import socket
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread, current_thread

import numpy as np
import pytest

from gramian import KernelDiscriminant
from gramian.serve import Limits, _answers, _bodies, _requests, _rows, _tensors, create_app
from gramian.serve._bodies import Tensor
from gramian.serve._connections import limited_server
from gramian.store import Store
from tests.serve.conftest import MODEL, classifier, pets, samples, tensor

X, Y = samples(8, seed=2)
LENGTH = "Inference-Header-Content-Length"


def with_bytes(head, data):
    """Body and headers of a request with tensors behind its JSON."""
    text = json.dumps(head).encode()
    return {"content": text + data, "headers": {LENGTH: str(len(text))}}


def texts(n, data):
    size = {"binary_data_size": len(data)}
    return {"name": "sound", "shape": [n], "datatype": "BYTES", "parameters": size}


# -- limits before reading, reading in linear time beside the event loop -------------------------


def test_rows_are_counted_before_any_is_read(serving, monkeypatch):
    monkeypatch.setattr(_tensors, "_texts", None)  # reading a text would fail
    data = b"\0\0\0\0" * 20_000
    with serving(pets()) as client:
        answer = client.post(
            f"{MODEL}/infer", **with_bytes({"inputs": [texts(20_000, data)]}, data)
        )
    assert answer.status_code == 422
    assert "20000 rows" in answer.json()["detail"]


class Counted:
    """Bytes that count how many of them were taken out."""

    taken = 0

    def __init__(self, data):
        self.data = data

    def __len__(self):
        return len(self.data)

    def __getitem__(self, some):
        part = self.data[some]
        self.taken += len(part)
        return part


def test_rows_to_learn_have_a_number_of_their_own(serving):
    with serving(classifier(), limits=Limits(learned=5)) as client:
        body = {"inputs": [tensor(X[:6])], "targets": Y[:6].tolist()}
        refused = client.post(f"{MODEL}/learn", json=body)
        assert refused.status_code == 422
        assert "5" in refused.json()["detail"]
        assert client.post(f"{MODEL}/infer", json={"inputs": body["inputs"]}).status_code == 200
        body = {"inputs": [tensor(X[:5])], "targets": Y[:5].tolist()}
        assert client.post(f"{MODEL}/learn", json=body).status_code == 200


def test_texts_are_read_once():
    written = [b"", b"a", "é".encode(), b"long" * 9] * 100
    data = Counted(b"".join(len(one).to_bytes(4, "little") + one for one in written))
    described = Tensor(name="sound", shape=[400], datatype="BYTES")
    assert [*_tensors._texts(described, data)] == [one.decode() for one in written]
    assert data.taken == len(data)
    for n, said in ((399, "more than its shape"), (401, "end within")):
        with pytest.raises(ValueError, match=said):
            [*_tensors._texts(described.model_copy(update={"shape": [n]}), data)]
    with pytest.raises(ValueError, match="end within"):
        [*_tensors._texts(described, Counted(data.data[:-1]))]


def test_tensors_behind_the_json_are_no_copies_of_the_rest():
    data = np.arange(50, dtype="<f8").tobytes()
    size = {"binary_data_size": 8}
    many = [Tensor(name=str(i), shape=[1], datatype="FP64", parameters=size) for i in range(50)]
    found = _tensors.read_tensors(many, data)
    whole = np.frombuffer(data, dtype=np.uint8)
    assert [float(found[str(i)][0]) for i in range(50)] == list(range(50))
    assert all(np.shares_memory(whole, part) for part in found.values())


def test_names_of_columns_are_checked_before_a_table_is_made(serving):
    body = {"records": [{f"c{i}": 1} for i in range(2000)]}
    with serving(pets()) as client:
        tracemalloc.start()
        answer = client.post(f"{MODEL}/infer", json=body)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert answer.status_code == 422
        assert "no column 'c0'; its columns are weight, sound" in answer.json()["detail"]
        assert peak < 2000 * 2000 * 8 / 2  # half of a table of all names
        known = {"weight": 4.0, "sound": "meow", "name": "Tom", "animal": "cat"}
        assert client.post(f"{MODEL}/infer", json={"records": [known]}).status_code == 200


@pytest.mark.parametrize("data", ['{"a":1},' * 40_000, "[]," * 100_000, '"a",' * 300_000])
def test_bodies_are_weighed_before_they_are_read(serving, monkeypatch, data):
    monkeypatch.setattr(_bodies.Infer, "model_validate_json", None)
    body = f'{{"inputs": [{{"data": [{data[:-1]}]}}]}}'
    with serving(limits=Limits(values=250_000)) as client:
        answer = client.post(f"{MODEL}/infer", content=body)
    assert answer.status_code == 413
    assert "more than 250000 values" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("relabel", {"ids": [1], "targets": ["a"] * 50_000 + ["b" * 2000]}),
        ("forget", {"ids": ["a"] * 50_000 + ["b" * 2000]}),
        ("infer", {"records": [{"a": [1]}] * 5_000}),
        ("infer", {"inputs": [{"name": 1}] * 5_000}),
    ],
)
def test_a_refusal_is_no_larger_than_its_request(client, route, body):
    """Every fault of every element in every form that it may have would be."""
    content = json.dumps(body)
    tracemalloc.start()
    answer = client.post(f"{MODEL}/{route}", content=content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer.status_code == 422
    assert len(answer.content) < 2000
    assert peak < 60 * len(content)


def test_large_bodies_are_read_beside_the_event_loop(client, monkeypatch):
    threads, read = [], _rows.read_rows

    def seen(*args):
        threads.append(current_thread().name)
        return read(*args)

    monkeypatch.setattr("gramian.serve._routes.read_rows", seen)
    for n in (1, 3000):
        rows = np.ones((n, 3)).tolist()
        sent = {"name": "X", "shape": [n, 3], "datatype": "FP64", "data": rows}
        padded = json.dumps({"inputs": [sent]}).ljust(_requests._SMALL + 1 if n > 1 else 0)
        assert client.post(f"{MODEL}/infer", content=padded).status_code == 200
    assert not threads[0].startswith("gramian-read")
    assert threads[1].startswith("gramian-read")


def test_cells_have_a_length(serving):
    with serving(pets()) as client:
        answer = client.post(f"{MODEL}/infer", json={"records": [{"sound": "a" * 100_000}]})
    assert "100000 characters" in answer.json()["detail"]


def test_long_texts_make_no_wide_arrays(client):
    long = "a" * 100_000
    cells = {**tensor(X[:1]), "shape": [1, 3], "data": [long, "", ""]}
    wide = [
        ("infer", {"inputs": [{**cells, "shape": [1000, 3], "data": [long] + [""] * 2999}]}),
        ("learn", {"inputs": [tensor(X[:2])], "targets": [long, "a"]}),
        ("forget", {"ids": [long, "a"]}),
    ]
    tracemalloc.start()
    codes = [client.post(f"{MODEL}/{route}", json=body).status_code for route, body in wide]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert codes == [422] * 3
    assert peak < 2_000_000 * 4


def test_bytes_of_all_requests_together(serving):
    body = json.dumps({"inputs": [tensor(X)]})
    with serving(limits=Limits(bodies=len(body) - 1)) as client:
        answer = client.post(f"{MODEL}/infer", content=body)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        small = json.dumps({"inputs": [tensor(X[:1])]})
        for _ in range(5):  # what was answered counts no more
            assert client.post(f"{MODEL}/infer", content=small).status_code == 200


def test_an_answer_has_a_size(serving):
    body = {"inputs": [tensor(np.ones((100, 3)))], "parameters": {"probabilities": True}}
    with serving(limits=Limits(values=440)) as client:
        assert "numbers" in client.post(f"{MODEL}/infer", json=body).json()["detail"]


# -- costly answers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "route", "body"),
    [
        ("predict_set", "infer", {"inputs": [tensor(X)], "parameters": {"sets": True}}),
        (
            "loo_predict_proba",
            "infer",
            {"inputs": [tensor(X)], "parameters": {"probabilities": True}},
        ),
        ("loo_predict_proba", "samples", {"ids": [1]}),
        ("drift", "numerical-error", None),
    ],
)
def test_no_answer_holds_the_store(client, monkeypatch, method, route, body):
    begun, refine, real = Event(), Event(), getattr(KernelDiscriminant, method)

    def waits(self, *args, **options):
        if current_thread().name.startswith("gramian-compute"):
            begun.set()
            assert refine.wait(20)
        return real(self, *args, **options)

    with ThreadPoolExecutor(1) as pool, monkeypatch.context() as patched:
        patched.setattr(KernelDiscriminant, method, waits)
        verb = "GET" if body is None else "POST"
        asked = pool.submit(client.request, verb, f"{MODEL}/{route}", json=body)
        try:
            assert begun.wait(20)
            edit = {"inputs": [tensor(X[:1])], "targets": [0]}
            learned = client.post(f"{MODEL}/learn", json=edit)
            assert learned.json()["model_version"] == "1"
            assert client.post(f"{MODEL}/forget", json={"ids": [3]}).status_code == 200
        finally:
            refine.set()
        assert asked.result().status_code == 200
    assert client.post(f"{MODEL}/audit", json={"refit": True}).json()["passed"]


def test_nothing_keeps_a_copy_of_what_was_forgotten(client):
    asked = {"inputs": [tensor(X)], "parameters": {"sets": True}}
    client.post(f"{MODEL}/infer", json=asked)
    assert client.live._copy.version == 0
    client.post(f"{MODEL}/forget", json={"ids": [3]})
    assert client.live._copy is None
    assert 3 not in client.live.published.model.ids_


def test_a_large_model_is_not_copied(serving):
    asked = {"inputs": [tensor(X)], "parameters": {"sets": True, "confidence_level": 0.8}}
    with serving(limits=Limits(copied=10)) as client:
        answer = client.post(f"{MODEL}/infer", json=asked).json()["outputs"][1]
        assert client.live._copy is None
    expected = classifier().predict_set(X, confidence_level=0.8)
    np.testing.assert_array_equal(np.reshape(answer["data"], answer["shape"]), expected)


def test_so_many_costly_answers_at_a_time(serving, monkeypatch):
    begun, refine = Event(), Event()

    def waits(*args):
        begun.set()
        assert refine.wait(20)
        return {}

    monkeypatch.setattr(_answers, "left_out", waits)
    with serving(limits=Limits(costly=1)) as client, ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.get, f"{MODEL}/loo")
        assert begun.wait(20)
        refused = client.get(f"{MODEL}/doubt")
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "1"
        one = client.post(f"{MODEL}/infer", json={"inputs": [tensor(X[:1])]})
        assert one.status_code == 200  # cheap ones are answered
        refine.set()
        assert first.result().status_code == 200
        assert client.get(f"{MODEL}/doubt").status_code == 200


def test_sets_have_a_budget(serving, monkeypatch):
    clock = iter(range(10**6))
    monkeypatch.setattr(_answers, "monotonic", lambda: next(clock))
    asked = {"inputs": [tensor(X)], "parameters": {"sets": True}}
    with serving(limits=Limits(seconds=5.0)) as client:
        detail = client.post(f"{MODEL}/infer", json=asked).json()["detail"]
        assert "3 of 8 rows took 5 seconds" in detail
        assert "at most 3 rows" in detail


@pytest.mark.parametrize("rows", [X, {"a": X[:, 0].tolist()}])
def test_parts_are_the_whole(rows):
    def double(some):
        return 2 * np.array(some if isinstance(some, np.ndarray) else some["a"])

    whole = _answers.in_parts(double, rows, 60.0)
    np.testing.assert_array_equal(whole, double(rows))


# -- connections ---------------------------------------------------------------------------------


def closed(link):
    """Wait until the other side closes."""
    link.settimeout(30)
    try:
        while link.recv(2**16):
            pass
    except ConnectionResetError:
        pass
    return True


def health(port):
    with socket.create_connection(("127.0.0.1", port), 30) as link:
        link.sendall(
            b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        return link.recv(2**16)


@pytest.mark.slow
def test_slow_clients_make_room_and_do_not_keep_the_service_from_ending(tmp_path):
    store = Store.create(tmp_path / "a.store", classifier())
    limits = Limits(connections=8, head=0.5, receive=1.5, shutdown=20.0)
    server = limited_server(create_app({"m": store}), limits, port=0, log_level="error")
    thread = Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    post = b"POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    try:
        half = [socket.create_connection(("127.0.0.1", port)) for _ in range(30)]
        for link in half:
            link.sendall(b"GET /v2/health/live HT")
        assert b"200 OK" in health(port)
        body = socket.create_connection(("127.0.0.1", port))
        body.sendall(post)
        assert all(closed(link) for link in half)  # the last eight for want of a head
        assert closed(body)
        stuck = socket.create_connection(("127.0.0.1", port))
        stuck.sendall(post)
        assert b"200 OK" in health(port)
    finally:
        server.should_exit = True
        thread.join(15)
    assert not thread.is_alive()
    for link in (*half, body, stuck):
        link.close()
