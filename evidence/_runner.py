"""Cases computed in several processes, each kept at once; timed ones alone, after the others."""

from __future__ import annotations

import json
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from time import perf_counter
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from evidence._environment import fingerprint
from evidence._experiment import Experiment, Parameters, Record, UnavailableError
from evidence._store import Store


class Task(NamedTuple):
    """One case of an experiment."""

    experiment: Experiment
    parameters: Parameters

    @property
    def key(self) -> str:
        """What the result depends on; not on which experiment asked."""
        run = self.experiment.run
        name = f"{run.__module__}.{run.__qualname__}"
        return json.dumps([name, self.parameters, fingerprint(run)], sort_keys=True)


class Outcome(NamedTuple):
    """What became of a case: values, or the reason why there are none."""

    values: dict[str, Any] | None = None
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    unavailable: str = ""
    error: str = ""
    traceback: str = ""


class Event(NamedTuple):
    """Progress of a run: another case is finished, or was found in the store."""

    task: Task
    outcome: Outcome
    done: int
    total: int


Follower = Callable[[Event], None]


def run_tasks(
    tasks: Sequence[Task],
    store: Store,
    *,
    jobs: int = 1,
    absent: Mapping[str, str] | None = None,
    follow: Follower | None = None,
) -> list[Outcome]:
    """Compute what the store does not have, once, and keep each case there when it is finished.

    Parameters
    ----------
    tasks : sequence of Task
    store : Store
        Failed cases are not kept, so that the next run tries them again.
    jobs : int
        Number of processes; 1 computes in this one. Each uses one BLAS thread. Cases of timed
        experiments run in this process, one by one, when all others are finished.
    absent : mapping, optional
        For data sets that are not there, the reason. Cases with such a set are not tried.
    follow : callable, optional
        Called with an `Event` for every case.

    Returns
    -------
    list of Outcome
        In the order of ``tasks``.
    """
    outcomes: dict[int, Outcome] = {}
    same: dict[str, list[int]] = {}
    for index, task in enumerate(tasks):
        same.setdefault(task.key, []).append(index)

    def finish(key: str, outcome: Outcome) -> None:
        for index in same[key]:
            outcomes[index] = outcome
            if follow is not None:
                follow(Event(tasks[index], outcome, len(outcomes), len(tasks)))

    missing = {}
    for key, places in same.items():
        task = max((tasks[index] for index in places), key=lambda task: task.experiment.timed)
        outcome = _kept(key, store) or _absent(task, absent or {})
        if outcome is None:
            missing[key] = task
        else:
            finish(key, outcome)
    for key, outcome in _computed(missing, jobs):
        if outcome.values is not None:
            _keep(store, key, outcome)
        finish(key, outcome)
    return [outcomes[index] for index in range(len(tasks))]


def execute(run: Callable[..., dict[str, Any]], parameters: Parameters) -> Outcome:
    """Compute one case, with one BLAS thread. Whatever goes wrong in it is its outcome."""
    start = perf_counter()
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            values = _plain(run(**parameters))
        except UnavailableError as error:
            return Outcome(unavailable=str(error))
        except Exception as error:
            return Outcome(error=one_line(error), traceback=traceback.format_exc())
    messages = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return Outcome(values, perf_counter() - start, messages)


def record_of(task: Task, outcome: Outcome) -> Record:
    """Parameters and values of a finished case, for `Experiment.report`."""
    return {**task.parameters, **(outcome.values or {})}


# --- the store ----------------------------------------------------------------------------------


def _kept(key: str, store: Store) -> Outcome | None:
    line = store.get(key)
    if line is None:
        return None
    return Outcome(line["values"], line["seconds"], tuple(line["warnings"]))


def _absent(task: Task, absent: Mapping[str, str]) -> Outcome | None:
    reason = absent.get(task.parameters.get("data", ""))
    return Outcome(unavailable=reason) if reason else None


def _keep(store: Store, key: str, outcome: Outcome) -> None:
    kept = {"values": outcome.values, "seconds": round(outcome.seconds, 3)}
    store.put(key, {**kept, "warnings": outcome.warnings})


# --- processes ----------------------------------------------------------------------------------


def _computed(missing: Mapping[str, Task], jobs: int) -> Iterator[tuple[str, Outcome]]:
    together = {key: task for key, task in missing.items() if not task.experiment.timed}
    if jobs > 1 and together:
        yield from _in_processes(together, jobs)
    for key, task in missing.items():
        if jobs == 1 or task.experiment.timed:
            yield key, execute(task.experiment.run, task.parameters)


def _in_processes(tasks: Mapping[str, Task], jobs: int) -> Iterator[tuple[str, Outcome]]:
    # Not forked: BLAS and its threads do not survive that everywhere.
    context, workers = get_context("spawn"), min(jobs, len(tasks))
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore_interruptions)
    try:
        futures = {
            pool.submit(execute, task.experiment.run, task.parameters): key
            for key, task in tasks.items()
        }
        for future in as_completed(futures):
            yield futures[future], _result(future)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interruptions() -> None:
    """One from the keyboard reaches all processes; it is for the parent to deal with."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _result(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        return Outcome(error="A process died, perhaps for lack of memory. Run it again to go on.")


# --- values -------------------------------------------------------------------------------------


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """As they will be read from the store: plain numbers, texts and lists."""
    return json.loads(json.dumps(values, allow_nan=False, default=lambda array: array.tolist()))


def one_line(error: Exception) -> str:
    """What went wrong, without line breaks."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
