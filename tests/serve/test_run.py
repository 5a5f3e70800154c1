"""The service as a process, and its commands."""

import json
import logging
import os
import signal
import subprocess
import sys
import urllib.request

import pytest

import gramian
from gramian.serve import Tokens, run
from gramian.serve._logs import JsonLines, WithoutAddresses
from gramian.serve._run import is_loopback
from gramian.store import Store
from tests.serve.conftest import MODEL, classifier, samples, tensor

pytest.importorskip("click")

from click.testing import CliRunner
from websockets.sync.client import connect

from gramian.cli._app import app


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.0.0.1", 1), ("localhost", 1), ("::1", 1), ("0.0.0.0", 0), ("::", 0), ("a.example", 0)],
)
def test_addresses_of_this_machine(host, here):
    assert is_loopback(host) == bool(here)


def test_other_addresses_need_tokens(tmp_path):
    with pytest.raises(ValueError, match="clients need tokens"):
        run(tmp_path / "any.store", host="0.0.0.0")


def test_token_command(tmp_path):
    words = ["token", str(tmp_path / "t.json"), "--name", "ci", "--scope", "predict", "--json"]
    made = json.loads(CliRunner().invoke(app, words).output)
    token = Tokens(made["file"]).find(f"Bearer {made['token']}")
    assert token.name == "ci"
    assert token.scopes == ("predict",)
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 1
    assert "has a token named 'ci'" in again.output


def test_serve_command_says_what_is_no_store(tmp_path):
    model, other = tmp_path / "pets.gram", tmp_path / "more" / "pets.store"
    gramian.save(classifier(), model)
    other.parent.mkdir()
    for path in (tmp_path / "pets.store", other):
        Store.create(path, classifier()).close()
    for words, said in (
        ([model], f"gramian store create {model} {tmp_path / 'pets.store'}"),
        ([tmp_path / "pets.store", other], "would both be the model 'pets'"),
        ([tmp_path / "pets.store", other, "--name", "m"], "--name is for one store"),
        ([tmp_path / "none.store"], "none.store"),
    ):
        answer = CliRunner().invoke(app, ["serve", *map(str, words)])
        assert answer.exit_code != 0
        assert said in answer.output.replace("\n", "")


def test_lines_of_the_log():
    record = logging.LogRecord("gramian.serve", 40, "", 0, "it is %s", ("é",), None)
    assert json.loads(JsonLines().format(record))["message"] == "it is é"
    for name, level, module, kept in (
        ("uvicorn.error", 20, "uvicorn/server", True),
        ("uvicorn.error", 20, "websockets/server", False),
        ("uvicorn.error", 20, "websockets_impl", False),
        ("uvicorn.error", 30, "h11_impl", True),
        ("gramian.access", 20, "_logs", True),
    ):
        record = logging.LogRecord(name, level, f"{module}.py", 0, "", (), None)
        assert WithoutAddresses().filter(record) == kept


@pytest.mark.slow
def test_serve_command_answers_and_stops_with_the_edits_on_disk(tmp_path):
    path = tmp_path / "digits.store"
    Store.create(path, classifier()).close()
    words = [sys.executable, "-m", "gramian.cli", "serve", path, "--port", "0", "--name", "m"]
    words += ["--access-log", "--json-log", "--root-path", "/models"]
    X, y = samples(1, seed=5)
    body = {"inputs": [tensor(X)], "targets": y.tolist(), "ids": [1234567]}
    it = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        lines = map(json.loads, iter(it.stderr.readline, ""))
        told = (line["message"] for line in lines if "running on" in line["message"])
        url = next(told).split(" on ")[1].split()[0]
        asked = urllib.request.Request(f"{url}{MODEL}/learn", json.dumps(body).encode())
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert json.load(answer)["n"] == 41
        with connect(f"ws{url.removeprefix('http')}{MODEL}/watch") as page:
            page.send('{"token": null}')
            assert json.loads(page.recv(30))["kind"] == "welcome"
            port = page.local_address[1]
        it.send_signal(signal.SIGINT)
        _, said = it.communicate(timeout=30)
    finally:
        it.kill()
    assert it.returncode == 0
    logged = [json.loads(line) for line in said.splitlines()]
    seen = next(line for line in logged if line["logger"] == "gramian.access")
    assert {name: seen[name] for name in ("user", "method", "path", "status")} == {
        "user": "-", "method": "POST", "path": f"{MODEL}/learn", "status": 200
    }  # fmt: skip
    assert str(port) not in said
    assert "Traceback" not in said
    assert "1234567" not in said
    assert str(X[0, 0]) not in said
    with Store.open(path) as store:
        assert 1234567 in store.model.ids_
    assert not os.path.exists(f"{path}-wal")
