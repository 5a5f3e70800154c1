"""The files of deployment/: they can be parsed, and the commands in them are ours."""

import json
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from configparser import ConfigParser
from pathlib import Path

import pytest

from gramian.serve import add_token
from gramian.store import Store
from tests.serve.conftest import classifier

pytest.importorskip("click")
pytest.importorskip("yaml")

import click
import yaml

from gramian.cli._app import app

FOLDER = Path(__file__).parents[2] / "deployment"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="deployment/ is not in this copy")


def understood(words):
    """The arguments of a command of gramian, which knows all of its options."""
    command = app
    while isinstance(command, click.Group):
        command, words = command.commands[words[0]], words[1:]
    return command.make_parser(click.Context(command)).parse_args(list(words))[0]


def unit():
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str
    parser.read(FOLDER / "gramian@.service")
    return parser


def test_the_image_is_slim_and_not_root():
    lines = (FOLDER / "Dockerfile").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    assert re.findall(r"^USER (.*)$", text, re.MULTILINE) == ["10001"]
    assert "slim" in text
    extras = re.search(r'"\.\[(.*)\]"', text)[1].split(",")
    project = (FOLDER.parent / "pyproject.toml").read_text()
    for extra in extras:
        assert re.search(rf"^{extra} = \[", project, re.MULTILINE), extra
    copied = {name for found in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE)
              for name in found.split()}  # fmt: skip
    allowed = (FOLDER / "Dockerfile.dockerignore").read_text().splitlines()
    for name in copied:
        assert (FOLDER.parent / name).exists(), name
        assert f"!{name}" in allowed
    assert json.loads(re.search(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)[1]) == ["gramian"]


def test_two_replicas_and_a_database_in_the_compose_file():
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]
    assert services["first"] == services["second"]
    replica = services["first"]
    given = understood(replica["command"])
    assert given["stores"] == ("postgresql://gramian@database/gramian",)
    assert given["tokens"].startswith("/keys/")
    assert given["keyring"].startswith("/keys/")
    assert replica["depends_on"]["database"]["condition"] == "service_healthy"
    assert (FOLDER / replica["build"]["context"] / replica["build"]["dockerfile"]).exists()
    upstream = re.findall(r"server (\w+):8080", (FOLDER / "nginx.conf").read_text())
    assert set(upstream) == set(services) - {"database", "proxy"}
    told = "".join((FOLDER / "compose.yaml").read_text().split("\n#")[1:5])
    for words in re.findall(r"(?:first|\\\n)\s+((?:store|token) .*)", told.replace("\\", "")):
        understood(shlex.split(words.splitlines()[0]))


def test_alerts_ask_for_measurements_that_there_are(client):
    text = client.get("/metrics").text
    alerts = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
    for alert in alerts:
        for name in re.findall(r"gramian_\w+", alert["expr"]):
            assert f"# TYPE {name.removesuffix('_total')}" in text, name


@pytest.mark.slow
def test_the_command_of_the_unit_runs(tmp_path):
    words = shlex.split(unit()["Service"]["ExecStart"].replace("%i", "pets"))
    assert words.pop(0) == "/opt/gramian/bin/gramian"
    given = understood(words)
    assert given["access_log"]
    assert given["json_log"]
    Store.create(tmp_path / "pets.store", classifier()).close()
    token = add_token(tmp_path / "tokens.json", "shop", ["predict"])
    here = [str(tmp_path / Path(word).name) if word.startswith("/") else word for word in words]
    plain = here[: here.index("--ssl-keyfile")] + here[here.index("--access-log") :]
    plain[plain.index("--port") + 1] = "0"
    plain[plain.index("--host") + 1] = "127.0.0.1"
    command = [sys.executable, "-m", "gramian.cli", *plain]
    it = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        lines = map(json.loads, iter(it.stderr.readline, ""))
        told = (line["message"] for line in lines if "running on" in line["message"])
        url = next(told).split(" on ")[1].split()[0]
        head = {"Authorization": f"Bearer {token}"}
        asked = urllib.request.Request(f"{url}/v2/models/pets", headers=head)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert json.load(answer)["name"] == "pets"
        it.send_signal(signal.SIGTERM)
        it.communicate(timeout=30)
    finally:
        it.kill()
    assert it.returncode in (0, -signal.SIGTERM)
