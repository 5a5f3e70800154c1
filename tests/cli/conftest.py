"""A folder with tables and models, and a way to type commands in it."""

import csv
import json

import numpy as np
import pytest

pytest.importorskip("click")

from click.testing import CliRunner

from gramian.cli._app import app

HEADER = ["name", "weight", "age", "sound", "animal"]


def make_rows(n=40, seed=0):
    """Cats and dogs, with missing cells; row 8 is called a dog by mistake."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(max(n, 8)):
        dog = i % 2 == 1
        weight = f"{(20.0 if dog else 5.0) + 3 * rng.standard_normal():.2f}"
        sound = ["woof", "growl"][rng.integers(2)] if dog else ["meow", ""][rng.integers(2)]
        age, animal = int(rng.integers(1, 15)), "dog" if dog else "cat"
        rows.append([f"pet {i + 1}", weight, age, sound, animal])
    rows[3][1] = "NA"
    rows[7][1:4] = ["4.5", 7, "meow"]
    return rows[:n]


def write_csv(path, rows, header=HEADER, delimiter=","):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with ``train.csv`` and ``new.csv``."""
    monkeypatch.chdir(tmp_path)
    write_csv("train.csv", make_rows())
    write_csv("new.csv", [["new " + row[0][4:], *row[1:]] for row in make_rows(10, seed=1)])
    return tmp_path


@pytest.fixture
def gramian(folder):
    """Types a command; checks the exit code; returns what click's runner saw."""

    def type_command(*words, code=0, **options):
        result = CliRunner().invoke(app, [str(word) for word in words], **options)
        if code == 0 and result.exception is not None:
            raise result.exception
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    return type_command


@pytest.fixture
def as_json(gramian):
    """Types a command with ``--json`` and reads the answer."""
    return lambda *words: json.loads(gramian(*words, "--json").stdout)


@pytest.fixture
def model(gramian):
    """A model file with given hyper-parameters, so that no search runs."""
    fit = ("fit", "train.csv", "--target", "animal", "--id", "name", "-o", "model.gram")
    gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    return "model.gram"
