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

from gramian.reproduce._environment import fingerprint
from gramian.reproduce._experiment import Experiment, Parameters, Record, UnavailableError
from gramian.reproduce._store import Store


class Task(NamedTuple):
    """One case of an experiment."""

    experiment: Experiment
    parameters: Parameters

    @property
    def key(self) -> str:
        """What the result depends on."""
        version = fingerprint(self.experiment.run)
        return json.dumps([self.experiment.name, self.parameters, version], sort_keys=True)


class Outcome(NamedTuple):
    """What became of a case: values, or the reason why there are none."""

    values: dict[str, Any] | None = None
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    unavailable: str = ""
    error: str = ""
    traceback: str = ""


class Event(NamedTuple):
    """Told to whoever follows a run: another case is finished, or was found in the store."""

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
    """Compute what the store does not have, and keep each case there when it is finished.

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

    def finish(index: int, outcome: Outcome) -> None:
        outcomes[index] = outcome
        if follow is not None:
            follow(Event(tasks[index], outcome, len(outcomes), len(tasks)))

    for index, task in enumerate(tasks):
        outcome = _kept(task, store) or _absent(task, absent or {})
        if outcome is not None:
            finish(index, outcome)
    for index, outcome in _computed(tasks, set(range(len(tasks))) - set(outcomes), jobs):
        if outcome.values is not None:
            _keep(store, tasks[index], outcome)
        finish(index, outcome)
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


def _kept(task: Task, store: Store) -> Outcome | None:
    line = store.get(task.key)
    if line is None:
        return None
    return Outcome(line["values"], line["seconds"], tuple(line["warnings"]))


def _absent(task: Task, absent: Mapping[str, str]) -> Outcome | None:
    reason = absent.get(task.parameters.get("data", ""))
    return Outcome(unavailable=reason) if reason else None


def _keep(store: Store, task: Task, outcome: Outcome) -> None:
    store.put(
        task.key,
        {
            "values": outcome.values,
            "seconds": round(outcome.seconds, 3),
            "warnings": outcome.warnings,
        },
    )


# --- processes ----------------------------------------------------------------------------------


def _computed(tasks: Sequence[Task], missing: set[int], jobs: int) -> Iterator[tuple[int, Outcome]]:
    together = [k for k in sorted(missing) if not tasks[k].experiment.timed]
    alone = [k for k in sorted(missing) if tasks[k].experiment.timed]
    if jobs == 1:
        together, alone = [], together + alone
    if together:
        yield from _in_processes(tasks, together, jobs)
    for k in alone:
        yield k, execute(tasks[k].experiment.run, tasks[k].parameters)


def _in_processes(
    tasks: Sequence[Task], chosen: Sequence[int], jobs: int
) -> Iterator[tuple[int, Outcome]]:
    # Not forked: BLAS and its threads do not survive that everywhere.
    context, workers = get_context("spawn"), min(jobs, len(chosen))
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore_interruptions)
    try:
        futures = {
            pool.submit(execute, tasks[k].experiment.run, tasks[k].parameters): k for k in chosen
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
        return Outcome(error="A process died, for want of memory perhaps. Run it again to go on.")


# --- values -------------------------------------------------------------------------------------


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """As they will be read from the store: plain numbers, texts and lists."""
    return json.loads(json.dumps(values, allow_nan=False, default=lambda array: array.tolist()))


def one_line(error: Exception) -> str:
    """What went wrong, without line breaks."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
