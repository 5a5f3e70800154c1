"""Cases go on whatever happens to others, and where an interrupted run left off."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evidence._runner import Task, execute, record_of, run_tasks
from evidence._store import Store
from tests.evidence import fakes

ROOT = Path(__file__).parents[2]


def tasks_of(*experiments, folder=None):
    extra = {} if folder is None else {"folder": str(folder)}
    return [Task(e, {**case, **extra}) for e in experiments for case in e.cases(False)]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "page.jsonl")


def traced(folder):
    return (folder / "trace").read_text().split()


# --- one case -----------------------------------------------------------------------------------


def test_a_case_has_plain_values():
    outcome = execute(lambda n: {"a": np.arange(n), "b": np.float64(0.5), "c": None}, {"n": 2})
    assert outcome.values == {"a": [0, 1], "b": 0.5, "c": None}
    assert outcome.seconds > 0
    assert outcome[2:] == ((), "", "", "")


def test_what_goes_wrong_in_a_case_is_its_outcome():
    outcome = execute(fakes.failing, {"i": 1})
    assert outcome.values is None
    assert outcome.error == "ValueError: odd 1"
    assert "in failing" in outcome.traceback


def test_infinity_is_a_failure():
    assert "Out of range float" in execute(fakes.infinite, {"i": 1}).error


def test_what_is_not_there_is_no_failure():
    outcome = execute(fakes.unavailable, {"i": 1})
    assert outcome.unavailable == "this version has no such estimator"
    assert outcome.error == ""


def test_warnings_are_kept():
    assert execute(fakes.warning, {"i": 1}).warnings == ("mind the gap",)


def test_an_interruption_is_not_an_outcome():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(interrupted, {})


# --- all of them --------------------------------------------------------------------------------


def test_several_processes_find_what_one_does(tmp_path):
    tasks = tasks_of(fakes.experiment(), fakes.experiment(fakes.failing, "fake-odd"))
    one, two = (run_tasks(tasks, Store(tmp_path / f"{jobs}.jsonl"), jobs=jobs) for jobs in (1, 2))
    assert [outcome.values for outcome in one] == [outcome.values for outcome in two]
    assert [outcome.error for outcome in one] == [outcome.error for outcome in two]
    assert [o.values for o in one][:3] == [{"square": 0}, {"square": 1}, {"square": 4}]
    assert [o.error for o in one][6:8] == ["", "ValueError: odd 1"]


def test_nothing_is_computed_twice(tmp_path, store):
    tasks = tasks_of(fakes.experiment(fakes.counted), folder=tmp_path)
    first = run_tasks(tasks, store)
    assert traced(tmp_path) == ["0", "1", "2", "3", "4", "5"]
    again = run_tasks(tasks, Store(store.path))
    assert len(traced(tmp_path)) == 6
    assert [outcome.values for outcome in again] == [outcome.values for outcome in first]
    assert again[0].seconds == pytest.approx(first[0].seconds, abs=1e-3)  # kept in milliseconds


def test_two_experiments_share_a_computation(tmp_path, store):
    names = ("fake-one", "fake-two")
    tasks = tasks_of(*(fakes.experiment(fakes.counted, name) for name in names), folder=tmp_path)
    events = []
    outcomes = run_tasks(tasks, store, follow=events.append)
    assert traced(tmp_path) == ["0", "1", "2", "3", "4", "5"]
    assert outcomes[:6] == outcomes[6:]
    assert [event.done for event in events] == list(range(1, 13))


def test_failed_cases_are_tried_again(store):
    tasks = tasks_of(fakes.experiment(fakes.failing))
    run_tasks(tasks, store)
    assert len(Store(store.path)) == 3


def test_other_code_other_cases(tmp_path, store, monkeypatch):
    tasks = tasks_of(fakes.experiment(fakes.counted), folder=tmp_path)
    run_tasks(tasks[:1], store)
    monkeypatch.setattr("evidence._environment.beneath", lambda: "another digest")
    run_tasks(tasks[:1], store)
    assert traced(tmp_path) == ["0", "0"]


def test_a_run_that_was_interrupted_goes_on(tmp_path, store):
    tasks = tasks_of(fakes.experiment(fakes.counted), folder=tmp_path)

    def interrupt(event):
        if event.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks, store, follow=interrupt)
    run_tasks(tasks, Store(store.path))
    assert traced(tmp_path) == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_run_that_was_killed_goes_on(tmp_path, store):
    code = """
import sys
from evidence._runner import Task, run_tasks
from evidence._store import Store
from tests.evidence import fakes
folder, page = sys.argv[1:]
run_tasks([Task(fakes.experiment(fakes.killed), {"i": i, "folder": folder}) for i in range(4)],
          Store(page))
"""
    command = [sys.executable, "-c", code, str(tmp_path), str(store.path)]
    assert subprocess.run(command, cwd=ROOT).returncode < 0
    assert traced(tmp_path) == ["0", "1"]
    (tmp_path / "go on").touch()
    subprocess.run(command, cwd=ROOT, check=True)
    assert traced(tmp_path) == ["0", "1", "2", "3"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_that_dies_is_reported(tmp_path, store):
    outcomes = run_tasks(tasks_of(fakes.experiment(fakes.killed), folder=tmp_path), store, jobs=2)
    assert "A process died" in outcomes[2].error
    (tmp_path / "go on").touch()
    again = run_tasks(tasks_of(fakes.experiment(fakes.killed), folder=tmp_path), store)
    assert [outcome.values["square"] for outcome in again] == [0, 1, 4, 9, 16, 25]


def test_timed_cases_come_last_and_in_this_process(store):
    timed = fakes.experiment(fakes.warning, name="fake-timed", timed=True)
    other = fakes.experiment()
    seen = []
    outcomes = run_tasks(
        tasks_of(timed, other), store, jobs=2, follow=lambda e: seen.append(e.task.experiment.name)
    )
    assert seen == ["fake-squares"] * 6 + ["fake-timed"] * 6
    assert outcomes[1].values == {"square": 1}


def test_cases_without_their_data_are_not_tried(store):
    experiment = fakes.experiment(fakes.failing)
    tasks = [Task(experiment, {"data": "nowhere", "i": 1}), Task(experiment, {"i": 2})]
    outcomes = run_tasks(tasks, store, absent={"nowhere": "it was not found"})
    assert outcomes[0].unavailable == "it was not found"
    assert outcomes[1].values == {"square": 4}


def test_a_follower_hears_of_every_case(store):
    tasks, events = tasks_of(fakes.experiment(fakes.failing)), []
    run_tasks(tasks, store, follow=events.append)
    run_tasks(tasks, store, follow=events.append)
    assert [(event.done, event.total) for event in events] == 2 * [(k, 6) for k in range(1, 7)]


def test_a_record_is_parameters_and_values(store):
    task = tasks_of(fakes.experiment())[2]
    assert record_of(task, run_tasks([task], store)[0]) == {"i": 2, "square": 4}
