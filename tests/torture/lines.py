"""An interrupt at every execution of every line of every edit, by the tests of the estimators."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

from tests.estimators.test_interrupts import EDITS, ONE_OF_EACH
from tests.torture.common import Clock

ROOT = Path(__file__).parents[2]
FILE = "tests/estimators/test_interrupts.py"


def sweep(name, edit, timeout):
    """Interrupt one edit of one estimator at every line; the failures, None if time ran out."""
    case = f"{FILE}::test_an_interrupt_at_any_line[{edit}-{name}]"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", case]
    environment = {**os.environ, "GRAMIAN_EVERY_LINE": "line"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env=environment,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode == 0 and "1 passed" in done.stdout:
        return []
    why = re.findall(r"^E +(.*)", done.stdout, re.MULTILINE)
    return [f"lines {case}: {(why or [done.stdout[-200:]])[0]}"]


def main(seed=0, seconds=120.0):
    """Sweeps of edits in random order while there is time; how many were finished, failures."""
    order = [(name, edit) for name in ONE_OF_EACH for edit in EDITS]
    random.Random(seed).shuffle(order)
    clock, tried, failures = Clock(seconds), 0, []
    for name, edit in order:
        if not clock.goes_on():
            break
        wrong = sweep(name, edit, max(10.0, seconds / 3))
        if wrong is not None:
            tried += 1
            failures += wrong
    return tried, failures
