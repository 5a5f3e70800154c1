"""Commands that run at the same time on one model file: no edit is lost."""

import json
import multiprocessing
import sys

import pytest

import gramian as package
from gramian.cli._app import app
from gramian.files import locked
from tests.cli.conftest import make_rows, write_csv

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes by fork")


def _command(words):
    """In a process of its own, with what is imported already."""
    app(words, standalone_mode=False)


@pytest.mark.slow
def test_thirty_pairs_of_learn_and_forget(gramian, model, folder, capfd):
    fork = multiprocessing.get_context("fork")
    rows = make_rows(30, seed=3)
    for i, row in enumerate(rows):
        write_csv(f"row{i}.csv", [[f"new {i}", *row[1:]]])
        commands = [
            ["learn", model, f"row{i}.csv"],
            ["forget", model, "--id", f"pet {i + 1}", "--receipt", "r.jsonl"],
        ]
        pair = [fork.Process(target=_command, args=(words,)) for words in commands]
        for process in pair:
            process.start()
        for process in pair:
            process.join()
        assert [process.exitcode for process in pair] == [0, 0]
    held = package.load(model).ids_.tolist()
    assert sorted(held) == sorted(
        [f"pet {i}" for i in range(31, 41)] + [f"new {i}" for i in range(30)]
    )
    done = [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines()]
    assert [line["status"] for line in done] == ["pending", "done"] * 30
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    "words",
    [
        ("forget", "model.gram", "--id", "pet 1"),
        ("learn", "model.gram", "new.csv"),
        ("fit", "train.csv", "--target", "animal", "-o", "model.gram"),
    ],
    ids=lambda words: words[0],
)
def test_file_in_use_is_said_and_left(gramian, model, folder, monkeypatch, words):
    monkeypatch.setattr("gramian.files._lock.WAIT", 0.05)
    before = (folder / model).read_bytes()
    fork = multiprocessing.get_context("fork")
    ready, finish = fork.Event(), fork.Event()
    holder = fork.Process(target=_hold, args=(model, ready, finish))
    holder.start()
    ready.wait()
    try:
        result = gramian(*words, code=1)
    finally:
        finish.set()
        holder.join()
    assert "is in use by" in result.stderr
    assert f"process {holder.pid}" in result.stderr
    assert (folder / model).read_bytes() == before


def _hold(path, ready, finish):
    with locked(path):
        ready.set()
        finish.wait()
