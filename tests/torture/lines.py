"""An interrupt at every execution of every line of every edit, and of every read after an edit."""

from __future__ import annotations

import random

from tests.estimators.test_interrupts import (
    EDITS,
    ONE_OF_EACH,
    OWN_EDITS,
    READS,
    check_goes_on,
    equal,
    samples,
    seen,
    start,
    twin,
)
from tests.interrupts import SOURCE, interrupted, lines_of
from tests.torture.common import Clock

SWEEPS = [
    *((name, edit) for name in ONE_OF_EACH for edit in EDITS),
    *OWN_EDITS,
    *((name, read) for name in ONE_OF_EACH for read in READS),
]
GOES_ON = 7  # every so many interrupts, the model must also learn and forget
FEW = {"max_basis": 3}  # each centre runs the same lines again


def sweep(name, what, clock):
    """Interrupt one edit or read at every line; how many there are, were tried, and failures."""
    model = start(name, **(FEW if name in ("oks", "okr") else {}))
    X, y = samples(model)
    call = {**EDITS, **READS, **{edit: run for (_, edit), run in OWN_EDITS.items()}}[what]
    if what in READS:  # which carry out in place what an edit has deferred
        model = EDITS["forget"](model, X, y)
    done = twin(model)
    lines = lines_of(lambda: call(done, X, y))
    outcomes = [seen(twin(model)), seen(done)]
    tried, failures = 0, []
    while tried < len(lines) and clock.goes_on():
        torn = twin(model)
        interrupted(lambda torn=torn: call(torn, X, y), tried)
        problem = _judge(torn, outcomes, tried)
        if problem:
            file, number = lines[tried]
            where = f"{file.removeprefix(SOURCE)}:{number}"
            failures.append(f"lines {name} {what}, line {tried}, {where}: {problem}")
        tried += 1
    return len(lines), tried, failures


def _judge(model, outcomes, number):
    """What is wrong with an interrupted model."""
    try:
        found = seen(model)
        if not any(equal(found, outcome) for outcome in outcomes):
            return "torn"
        if number % GOES_ON == 0:
            check_goes_on(model)
    except Exception as error:
        return f"raised {error!r:.200}"
    return None


def main(seed=0, seconds=None, n=None, report=None):
    """Sweeps in random order while there is time; interrupts, and failures."""
    order = list(SWEEPS)
    random.Random(seed).shuffle(order)
    clock, total, swept, failures = Clock(seconds, n), 0, 0, []
    for name, what in order:
        lines, tried, wrong = sweep(name, what, clock)
        total, swept = total + tried, swept + (tried == lines)
        failures += wrong
        if tried < lines:
            break
    if report is not None:
        report["lines"] = f"every line of {swept} of {len(SWEEPS)} edits and reads"
    return total, failures
