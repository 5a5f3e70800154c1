"""The service as a process, and its commands."""

import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from gramian.serve import Tokens, run
from gramian.serve._run import is_loopback
from gramian.store import Store
from tests.serve.conftest import MODEL, classifier, samples, tensor

pytest.importorskip("click")

from click.testing import CliRunner

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
    token = Tokens.read(made["file"]).find(f"Bearer {made['token']}")
    assert token.name == "ci"
    assert token.scopes == ("predict",)
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 1
    assert "has a token named 'ci'" in again.output


def test_serve_command_answers_and_stops_with_the_edits_on_disk(tmp_path):
    path = tmp_path / "digits.store"
    Store.create(path, classifier()).close()
    words = [sys.executable, "-m", "gramian.cli", "serve", path, "--port", "0", "--name", "m"]
    X, y = samples(1, seed=5)
    body = {"inputs": [tensor(X)], "targets": y.tolist(), "ids": [1234567]}
    it = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        lines = iter(it.stderr.readline, "")
        url = next(line.split(" on ")[1].split()[0] for line in lines if "running on" in line)
        asked = urllib.request.Request(f"{url}{MODEL}/learn", json.dumps(body).encode())
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert json.load(answer)["n"] == 41
        it.send_signal(signal.SIGTERM)
        said = "".join(it.communicate(timeout=30))
    finally:
        it.kill()
    assert it.returncode in (0, -signal.SIGTERM)
    assert "1234567" not in said
    assert str(X[0, 0]) not in said
    with Store.open(path) as store:
        assert 1234567 in store.model.ids_
    assert not os.path.exists(f"{path}-wal")
