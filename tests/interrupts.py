"""Interrupt a call at any line that it executes inside gramian."""

import dis
import sys
from functools import cache
from pathlib import Path

import gramian

SOURCE = str(Path(gramian.__file__).parent)


def lines_of(call):
    """Every line that a call executes inside gramian, as (file, number), in order."""
    lines = []

    def trace(frame, event, arg):
        if not frame.f_code.co_filename.startswith(SOURCE):
            return None
        if event == "line" and not _leaves_block(frame):
            lines.append((frame.f_code.co_filename, frame.f_lineno))
        return trace

    _traced(call, trace)
    return lines


def interrupted(call, k, error=KeyboardInterrupt):
    """Run a call and raise at the k-th line that it executes; whether it came so far."""
    left = k + 1

    def trace(frame, event, arg):
        nonlocal left
        if not frame.f_code.co_filename.startswith(SOURCE):
            return None
        if event == "line" and not _leaves_block(frame):
            left -= 1
            if left == 0:
                raise error
        return trace

    try:
        _traced(call, trace)
    except error:
        return True
    return False


def places(lines, every=None, most=150, turn=0):
    """Which lines to interrupt at: all, or distinct ones at their first execution, at most so many.

    Where there are more distinct lines, those are spread evenly over the call; others at each turn.
    """
    if every == "line":
        return range(len(lines))
    first = {}
    for k, line in enumerate(lines):
        first.setdefault(line, k)
    found = sorted(first.values())
    step = -(-len(found) // most)
    return sorted(
        {*found[turn % step :: step], *found[-10:]}
    )  # what comes last puts the edit in place


def _leaves_block(frame):
    """Whether this is the ``with`` line again, after its block and before ``__exit__`` is called.

    No signal arrives there: Python looks for signals after calls, when a function begins and when a
    loop goes on. An error from here would skip ``__exit__``, and no real one can.
    """
    return frame.f_lasti > _entries(frame.f_code).get(frame.f_lineno, frame.f_lasti)


@cache
def _entries(code):
    """Where each ``with`` statement of a function enters its block, by line."""
    entries = {}
    for instruction in dis.get_instructions(code):
        if instruction.opname == "BEFORE_WITH" and instruction.positions:
            entries.setdefault(instruction.positions.lineno, instruction.offset)
    return entries


def _traced(call, trace):
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
