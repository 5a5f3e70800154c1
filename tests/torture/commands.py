"""Commands that are killed or that run at the same time: no edit is lost, and no receipt lies.

``kills(seed, n)`` kills ``gramian forget`` at random moments; ``pairs(seed, n)`` runs ``learn`` and
``forget`` on one file at once. Both return the number of attempts and what went wrong. Processes
are forked, so that a command takes milliseconds.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import gramian
from gramian.cli._app import app
from gramian.files import remove_leftovers
from gramian.files._ledger import DONE, PENDING, VOID, check_record, read_records
from tests.torture.common import Clock

FORK = multiprocessing.get_context("fork")


def make_model(path, n):
    """A model of a table with rows ``r0``, ``r1``, …"""
    x = np.random.default_rng(0).standard_normal(n)
    label = np.where(np.arange(n) % 2, "b", "a")
    table = {"name": [f"r{i}" for i in range(n)], "x": x, "label": label}
    estimator = gramian.KernelDiscriminant(gamma=0.5, ridge=0.1)
    gramian.save(gramian.TableModel(estimator, target="label", id_column="name").fit(table), path)


def start(words):
    """A command in a process of its own, silent."""
    process = FORK.Process(target=_command, args=([str(word) for word in words],))
    process.start()
    return process


def _command(words):
    with open(os.devnull, "w") as sink, contextlib.redirect_stdout(sink):
        os.dup2(sink.fileno(), 1)
        app(words, standalone_mode=False)


def kills(seed=0, n=1000, seconds=None, folder=None):
    """Kill ``n`` commands; each time the next one must find a sound model and true receipts."""
    rng, failures, clock, attempt = random.Random(seed), [], Clock(seconds, n), 0
    with tempfile.TemporaryDirectory(dir=folder) as name:
        model, receipts = Path(name) / "m.gram", Path(name) / "r.jsonl"
        number = size = 0
        while clock.goes_on():
            attempt += 1
            if number >= size - 12:
                number, size = 0, 60
                receipts.unlink(missing_ok=True)
                make_model(model, size)
            words = ["forget", model, "--receipt", receipts]
            victim = start([*words, "--id", f"r{number}"])
            time.sleep(rng.uniform(0.0, 0.05))
            os.kill(victim.pid, signal.SIGKILL)
            victim.join()
            after = start([*words, "--id", f"r{number + 1}"])
            after.join()
            failures += [f"attempt {attempt}: {what}" for what in _faults(after, model, receipts)]
            number += 2
        failures += _leftovers(Path(name))
    return attempt, failures


def _faults(after, model, receipts):
    """What is wrong once a command has run after one that was killed."""
    if after.exitcode:
        yield f"the next command ended with {after.exitcode}"
    fitted = gramian.load(model)
    for record in read_records(receipts):
        held = check_record(record, fitted)["held"]
        if record["status"] == PENDING:
            yield "a receipt is pending still"
        if record["status"] == DONE and held:
            yield f"{held} are held, and their receipt says that they are gone"
        if record["status"] == VOID and not held:
            yield "rows are gone, and their receipt says that they are not"


def _leftovers(folder):
    for path in folder.glob(".gramian-*"):
        os.utime(path, (0, 0))
    remove_leftovers(folder)
    return [f"{path.name} is left" for path in folder.glob(".gramian-*")]


def pairs(seed=0, n=300, seconds=None, folder=None):
    """Learn and forget at the same time, ``n`` times; both edits must be there."""
    rng, failures, clock, i = random.Random(seed), [], Clock(seconds, n), -1
    with tempfile.TemporaryDirectory(dir=folder) as name:
        model, row = Path(name) / "m.gram", Path(name) / "row.csv"
        make_model(model, n + 20)
        while clock.goes_on():
            i += 1
            row.write_text(f"name,x,label\nnew{i},{rng.gauss(0, 1):.6f},{rng.choice('ab')}\n")
            both = [start(["learn", model, row]), start(["forget", model, "--id", f"r{i}"])]
            for process in both:
                process.join()
            held = set(gramian.load(model).ids_.tolist())
            if any(process.exitcode for process in both):
                failures.append(f"pair {i}: a command failed")
            if f"new{i}" not in held or f"r{i}" in held:
                failures.append(f"pair {i}: an edit was lost")
    return i + 1, failures


if __name__ == "__main__":
    arguments = [int(word) for word in sys.argv[1:3]]
    wrong = [*kills(*arguments)[1], *pairs(*arguments)[1]]
    print(*wrong, f"{len(wrong)} failures", sep="\n")
    sys.exit(bool(wrong))
