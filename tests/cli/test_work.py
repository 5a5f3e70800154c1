"""Long computations: their result, their errors, their clock, and ^C."""

import os
import signal
import subprocess
import sys
import time

import pytest

from gramian.cli import _work
from gramian.cli._work import patiently

STUBBORN = """
import sys, ctypes
from gramian.cli import _work, main
from gramian.cli._app import app

@app.command()
def stubborn():
    print("started", flush=True)
    _work.patiently(lambda: ctypes.CDLL(None).usleep(60_000_000), "sleeping")  # hears nothing

sys.argv = ["gramian", "stubborn"]
main()
"""


def test_result_and_error():
    assert patiently(lambda: 7, "work") == 7
    with pytest.raises(ValueError, match="odd"):
        patiently(lambda: int("odd"), "work", quiet=True)


def test_line_now_and_then_without_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(_work, "_LINE_EVERY", 0.05)
    patiently(lambda: time.sleep(0.3), "fitting", expected=2.0)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("fitting: 0 s, about 2 s left") for line in lines)
    patiently(lambda: time.sleep(0.15), "fitting", quiet=True)
    assert capsys.readouterr().err == ""


def test_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    patiently(lambda: time.sleep(0.25), "fitting", expected=0.1)
    assert "fitting" in capsys.readouterr().err


def test_an_estimate_that_is_used_up_grows():
    assert _work._state(5.0, 10.0)["left"] == "about 5 s left"
    assert _work._state(20.0, 10.0)["total"] == 22.0
    assert _work._state(20.0, None) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt_is_obeyed_though_the_work_does_not_hear_it(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", STUBBORN],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=dict(os.environ),
    )
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)  # the work takes a minute
    assert process.returncode == 1
    assert "Aborted!" in error


def test_work_that_hears_an_interrupt_tidies_up(monkeypatch):
    tidy = []

    def busy():
        try:
            while True:
                time.sleep(0.01)
        finally:
            tidy.append(True)

    class Interrupting(_work._Lines):
        def tick(self):
            raise KeyboardInterrupt

    monkeypatch.setattr(_work, "_Lines", Interrupting)
    with pytest.raises(KeyboardInterrupt):
        patiently(busy, "work")
    assert tidy == [True]
    assert not _work.unfinished()
