"""Long computations: a process that works, one that watches; its clock, and ^C."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rich.progress import Progress

from gramian import OrthogonalKernelRegressor, StackedKernelRegressor
from gramian.cli import _progress, _running
from gramian.core.progress import log_progress

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes by fork")

COMMAND = """
import sys, ctypes, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
from gramian.cli import main
from gramian.cli import _app, _options, _running

class Module:
    @staticmethod
    def run():
        print("started", flush=True)
        _running.step("working hard", 0.25, "one of four", 60.0)
        ({work})()
        return {{}}
    @staticmethod
    def show(facts):
        print("shown")

_running._PATIENCE, _running._LINE_EVERY = 0.3, 0.2
_running.import_module = lambda name: Module

@_app.app.command()
@_options.json_option
def work(**options):
    _running.run_command("work", options)

sys.argv = ["gramian", "work", *sys.argv[1:]]
main()
"""
STUBBORN = "lambda: ctypes.PyDLL(None).usleep(60_000_000)"  # keeps every thread waiting
HEARING = "lambda: [time.sleep(0.01) for _ in range(6000)]"


def start(work, folder, *words):
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND.format(work=work), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )


def test_lines_now_and_then_without_a_terminal(tmp_path):
    out, error = start("lambda: time.sleep(0.9)", tmp_path).communicate(timeout=60)
    assert out.split() == ["started", "shown"]
    assert "working hard: 0 s, about 60 s left, one of four" in error


def test_json_is_silent(tmp_path):
    process = start("lambda: time.sleep(0.9)", tmp_path, "--json")
    assert process.communicate(timeout=60) == ("started\n{}\n", "")


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


def test_time_left_counts_down_and_is_not_shown_when_it_is_over(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(_running, "monotonic", lambda: now[0])
    display = _running.Display("fitting")
    display.set(0.5, None, "8 of 16 rows")
    assert display._clock(3.0) == "3 s, 8 of 16 rows"
    display.set(0.5, 20.0, "8 of 16 rows")
    now[0] += 5.0
    assert display._clock(8.0) == "8 s, about 15 s left, 8 of 16 rows"
    now[0] += 20.0
    assert display._clock(28.0) == "28 s, 8 of 16 rows"


@pytest.mark.parametrize(("call", "each"), [(1.0, 0.003), (0.0, 0.2), (20.0, 0.001), (4.0, 0.0)])
def test_announced_seconds_are_those_that_it_takes(call, each, monkeypatch):
    clock, announced = [0.0], []
    monkeypatch.setattr(_progress, "perf_counter", lambda: clock[0])

    def step(what, done=None, detail="", left=None):
        announced.append((clock[0], left))

    def compute(X):
        clock[0] += call + each * len(X)
        return X

    monkeypatch.setattr(_progress, "step", step)
    X = np.arange(10_000.0)
    assert (_progress.in_batches("sets", compute, X) == X).all()
    assert [left for _, left in announced[:2]] == [None, None]  # one batch tells nothing
    for passed, left in announced[2:]:
        assert left == pytest.approx(clock[0] - passed, rel=1.0, abs=2 * call)
    assert clock[0] <= 1.5 * 10_000 * each + 12 * call


def test_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(_running, "_PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    display = _running.Display("fitting")
    display.set(0.5, 9.0, "")
    display.tick()
    assert isinstance(display._bar, Progress)
    display.stop()
    paused = _running.Display("-")
    paused.tick()
    assert paused._bar is None


def test_lock_of_a_killed_process_is_removed(tmp_path):
    (tmp_path / ".model.gram.lock").write_text("{}")
    _running.tidy(str(tmp_path / "model.gram"))
    assert list(tmp_path.iterdir()) == []


def test_what_a_computation_logs_is_shown(monkeypatch):
    shown, now = [], [0.0]
    monkeypatch.setattr(_progress, "monotonic", lambda: now[0])

    def step(what, done=None, detail="", left=None):
        shown.append((what, done, detail, left))

    monkeypatch.setattr(_progress, "step", step)
    with _progress.progress_of("error on new rows", only="folds"):
        log_progress(3, 500, "centres at most, on 90 rows")  # within a fold: not of this step
        now[0] = 4.0
        log_progress(1, 8, "folds")
        log_progress(2, 8, "folds")
    log_progress(3, 8, "folds")  # nobody listens any more
    assert shown == [
        ("error on new rows", None, "", None),
        ("error on new rows", 1 / 8, "1 of 8 folds", None),
        ("error on new rows", 2 / 8, "2 of 8 folds", pytest.approx(12.0)),
    ]


def test_a_fit_shows_settings_folds_and_centres(monkeypatch):
    shown = []
    monkeypatch.setattr(_progress, "step", lambda *words, detail="": shown.append(detail))
    X = np.random.default_rng(0).standard_normal((60, 2))
    for model in (StackedKernelRegressor(), OrthogonalKernelRegressor(max_basis=7)):
        with _progress.progress_of("fitting") as progress:
            model.set_params(callback=progress.trial).fit(X, np.sin(X[:, 0]))
    assert any(
        "settings tried, the last on 60 rows, 2 of 15 folds of parts" in detail for detail in shown
    )
    settings, centres = shown[-1].split(" settings tried, the last on 60 rows, ")
    assert int(settings) > 3
    assert centres == "7 of 7 centres at most, on 60 rows"
