"""Long computations: a process that works, one that watches; its clock, and ^C."""

import os
import signal
import subprocess
import sys
import time

import pytest

from gramian.cli import _work
from gramian.cli._work import patiently

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes by fork")

COMMAND = """
import sys, ctypes, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
from gramian.cli import _work, main
from gramian.cli import _app

class Module:
    @staticmethod
    def run(quiet):
        print("started", flush=True)
        _work._LINE_EVERY = 0.05
        _work.patiently({work}, "working")
        return {{}}
    @staticmethod
    def show(facts):
        print("shown")

_work._LINE_EVERY = 0.2
_app.import_module = lambda name: Module

@_app.app.command()
@_app.json_option
def work(**options):
    _app._run("work", options)

sys.argv = ["gramian", "work"]
main()
"""
STUBBORN = "lambda: ctypes.PyDLL(None).usleep(60_000_000)"  # keeps every thread waiting
HEARING = "lambda: [time.sleep(0.01) for _ in range(6000)]"


def start(work, folder):
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND.format(work=work)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )


def test_result_and_error():
    assert patiently(lambda: 7, "work") == 7
    with pytest.raises(ValueError, match="odd"):
        patiently(lambda: int("odd"), "work", quiet=True)


def test_lines_now_and_then_without_a_terminal(tmp_path):
    out, error = start("lambda: time.sleep(0.9)", tmp_path).communicate(timeout=60)
    assert out.split() == ["started", "shown"]
    assert "working: 0 s\n" in error


@pytest.mark.parametrize("work", [STUBBORN, HEARING], ids=["stubborn", "hearing"])
def test_interrupt_is_obeyed(work, tmp_path):
    process = start(work, tmp_path)
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=30)  # the work takes a minute
    assert process.returncode == 1
    assert "Aborted!" in error
    assert "shown" not in out


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells of a parent's death")
def test_who_kills_the_one_kills_the_other(tmp_path):
    work = "lambda: (print(__import__('os').getpid(), flush=True), time.sleep(60))"
    with start(work, tmp_path) as process:
        process.stdout.readline()
        child = int(process.stdout.readline())
        process.kill()
    for _ in range(100):
        if not os.path.exists(f"/proc/{child}"):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child goes on")


def test_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = _work.shown("fitting")
    assert isinstance(bar, _work.Bar)
    bar.tick()
    bar.stop()


def test_lock_of_a_killed_process_is_removed(tmp_path):
    (tmp_path / ".model.gram.lock").write_text("{}")
    _work.tidy(str(tmp_path / "model.gram"))
    assert list(tmp_path.iterdir()) == []
