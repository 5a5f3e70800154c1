"""Experiments that other processes can find: quick, and wrong in every way a case can be."""

import os
import signal
import warnings
from pathlib import Path

from evidence import Cell, Experiment, Table, Text, UnavailableError


def cases(quick):
    return [{"i": i} for i in range(3 if quick else 6)]


def square(i):
    return {"square": i * i}


def counted(i, folder):
    """Leaves a trace of every time it is run."""
    with (Path(folder) / "trace").open("a") as stream:
        stream.write(f"{i}\n")
    return {"square": i * i}


def killed(i, folder):
    """Dies with its process at the third case, until a file says that it need not."""
    if i == 2 and not (Path(folder) / "go on").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return counted(i, folder)


def failing(i):
    if i % 2:
        raise ValueError(f"odd\n{i}")
    return square(i)


def infinite(i):
    return {"square": float("inf")}


def unavailable(i):
    raise UnavailableError("this version has no such estimator")


def warning(i):
    warnings.warn("mind the gap", RuntimeWarning, stacklevel=1)
    return square(i)


def report(records):
    rows = [
        [record["i"], Cell(str(record["square"]), flagged=record["i"] > 1)] for record in records
    ]
    return [Text("Squares & <roots>."), Table(["i", "square"], rows, "all of them")]


def broken_report(records):
    raise KeyError("no such column")


def experiment(run=square, name="fake-squares", **options):
    return Experiment(name, f"Fake: {name}", options.pop("cases", cases), run,
                      options.pop("report", report), **options)  # fmt: skip
