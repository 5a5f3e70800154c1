"""The attacks: what is promised, how it is attacked, and one of them in this process."""

from __future__ import annotations

import json
import os
import time
import warnings
from pathlib import Path
from typing import NamedTuple

from tests.torture import (
    chunks,
    commands,
    copies,
    digits,
    disk,
    edits,
    files,
    heavy,
    injection,
    lines,
    numbers,
    reopened,
    replicas,
    requests,
    sealed,
    signals,
    soak,
    store,
    threads,
    trace,
)


class Attack(NamedTuple):
    """What is promised, how it is attacked, and how much of it there is to be."""

    promise: str
    attack: str
    unit: str
    seconds: float
    """At most, of one process, where all attacks together have 20 minutes."""
    asked: int | None = None
    """How many to try; None: as many as there is time for, or all there are."""
    parts: dict = {"": 1.0}  # noqa: RUF012
    """What different processes can do, with its part of the time; ``asked`` is of all together."""


EDITS = {  # some estimators are slower
    **{"kda": 0.08, "kfd": 0.09, "lssvc": 0.05, "lssvr": 0.05, "lsvc": 0.28, "oks": 0.06},
    **{"okr": 0.04, "fuzzy": 0.11, "stack-c": 0.12, "stack-r": 0.12},
}
ATTACKS = {
    "edits": Attack(
        "After any edits the model equals one fitted to the samples that it holds",
        "random edits of ten estimators: ridges, weights, duplicates, outliers, classes, types",
        "edits",
        1160,
        20_000 * len(edits.ESTIMATORS),
        EDITS,
    ),
    "copies": Attack(
        "A model and its copies are not affected by each other's edits",
        "random edits of shallow and deep copies, snapshots and pickles, and of copies of these",
        "steps",
        60,
        10_000,
    ),
    "digits": Attack(
        "Leave-one-out values solve the estimator's own equations",
        "few samples, small ridges and linear kernels, compared with 50 digits; seven estimators",
        "models",
        60,
    ),
    "soak": Attack(
        "Memory, latency and accuracy stay constant",
        f"a window of {soak.N:,} samples for as long as there is time",
        "edits",
        300,
    ),
    "lines": Attack(
        "An interrupt at any line leaves the model as it was before the call or as it is after it",
        "an interrupt at every execution of every line of every edit, and of reads after an edit",
        "interrupts",
        260,
    ),
    "signals": Attack(
        "The same, by real signals",
        "SIGINT at random moments of fit, learn, forget, reselect, predict and leave-one-out",
        "interrupts",
        60,
        1_000,
    ),
    "kills": Attack(
        "A killed command leaves a model that loads and receipts that are true",
        "SIGKILL at random moments of gramian forget",
        "kills",
        160,
        1_000,
    ),
    "pairs": Attack(
        "Two commands at the same time lose no edit",
        "gramian learn and gramian forget on one file at once",
        "pairs",
        75,
        300,
    ),
    "files": Attack(
        "A model file can be used, or it is refused",
        "model files with altered structure and valid checksums",
        "files",
        110,
        10_000,
    ),
    "bytes": Attack(
        "A damaged file is refused, or loads as the original model",
        "model files with bytes changed, removed, inserted, exchanged or appended",
        "files",
        90,
        20_000,
    ),
    "threads": Attack(
        "Readers see one version, writers take turns",
        "one writer and two readers; two writers",
        "answers and edits",
        60,
    ),
    "numbers": Attack(
        "Unusual input gives a correct model or a clear error",
        f"{len(numbers.CASES)} strange kinds of samples, labels, ids, weights and classes on each"
        " estimator",
        "cases",
        60,
    ),
    "dask": Attack(
        "Dask arrays give the model of the same rows in memory, or a clear error",
        f"{len(chunks.CASES)} kinds of arrays: empty, unknown, uneven and lying chunks, NaN in one;"
        " workers that are killed",
        "arrays",
        100,
    ),
    "injection": Attack(
        "Names and cells of a table are never interpreted as code",
        "hostile columns, labels, ids and files in reports, figures, CSV, JSON, terminals, answers",
        "commands and requests",
        60,
    ),
    "requests": Attack(
        "A bad request gets a 4xx, and the model is unchanged",
        "bodies from the OpenAPI schema, with parts exchanged, with bytes changed",
        "requests",
        80,
    ),
    "heavy": Attack(
        "No request blocks the event loop for 250 ms or takes a gibibyte",
        "small but expensive bodies: texts, records, nesting, sets, near every limit",
        "requests",
        60,
    ),
    "replicas": Attack(
        "Replicas of a store lose or repeat no acknowledged edit, and give the same answers",
        "SIGKILL of three replicas and of the database server at random, while all make edits",
        "edits",
        120,
        10_000,
    ),
    "trace": Attack(
        "After settle(), a forgotten row cannot be computed from the model",
        "least squares on the pending updates of the live object",
        "rows",
        5,
        80,
    ),
    "store-kills": Attack(
        "A store has every acknowledged edit, and no part of another",
        "SIGKILL at random moments, at each step and before each system call of learns and forgets",
        "kills",
        90,
    ),
    "store-reopened": Attack(
        "After every acknowledged edit, a store can be opened again and is the same",
        "random edits of every estimator, in groups and with a keyring; opened after each",
        "edits",
        60,
    ),
    "store-disk": Attack(
        "After a disk error, what the store reports about an edit is true",
        "EIO and ENOSPC at each write, sync and truncation of four edits, once and from then on",
        "errors",
        60,
    ),
    "store-erasure": Attack(
        "No byte of a forgotten row is in any file of a store",
        "search for rows, labels and ids in all files, also while another process reads",
        "rows",
        40,
        3_000,
    ),
    "store-copies": Attack(
        "With a keyring, no erased row can be read in any copy of a store",
        "all files of a PostgreSQL server, its log, dumps and backups, with all remaining keys",
        "rows",
        60,
        1_000,
    ),
    "store-flips": Attack(
        "An audit finds every alteration",
        "every byte of a small store flipped; receipts, rows and signatures dropped or exchanged",
        "alterations",
        120,
    ),
}


# -- one attack, in this process ----------------------------------------------------------------


def run(name, part, seed, seconds, report):
    """Number tried and failures of one part of an attack."""
    asked, parts = ATTACKS[name].asked, len(ATTACKS[name].parts)
    if name == "edits":
        return edits.main(seed, seconds, names=(part,), most=asked / parts)
    if name in ("kills", "pairs"):
        return getattr(commands, name)(seed, asked, seconds)
    if name in ("files", "bytes"):
        way = "attempt" if name == "files" else "mutation"
        counts, failures = files.main(1_000_000 * seed, asked, way, seconds)
        report[name] = f"{counts['refused']:,} refused, {counts['used']:,} used"
        return sum(counts.values()), failures
    if name.startswith("store-"):
        return _attack_store(name, seed, seconds, report)
    if name == "trace":
        return trace.main(seed, n=asked, report=report)
    plain = {
        "signals": signals,
        "threads": threads,
        "numbers": numbers,
        "copies": copies,
        "digits": digits,
    }
    if name in plain:
        return plain[name].main(seed, seconds)
    modules = {"soak": soak, "lines": lines, "dask": chunks, "injection": injection}
    modules |= {"requests": requests, "heavy": heavy}
    if name == "replicas":
        return replicas.main(seed, seconds, asked, report=report)
    return modules[name].main(seed, seconds, report=report)


def _attack_store(name, seed, seconds, report):
    if name in ("store-reopened", "store-disk"):
        return {"store-reopened": reopened, "store-disk": disk}[name].main(seed, seconds)
    if name == "store-kills":
        return store.kills(seed, 10_000, seconds=seconds)
    if name == "store-erasure":
        rows = ATTACKS[name].asked // 3 if seconds >= ATTACKS[name].seconds else 100
        ways = ({}, {"reader": True}, {"table": True})
        found = [store.erasure(seed + i, rows, **way) for i, way in enumerate(ways)]
        return sum(tried for tried, _ in found), [fault for _, faults in found for fault in faults]
    if name == "store-copies":
        rows = ATTACKS[name].asked if seconds >= ATTACKS[name].seconds else 100
        return sealed.copies(seed, rows)
    tried, failures, report[name] = store.flips(seed, seconds=seconds)
    dropped, more = store.drops()
    return tried + dropped, failures + more


def work(name, part, seed, seconds, found, said):
    """Run one part of an attack in this process; what came of it goes into a file, as JSON."""
    with open(said, "wb") as stream:
        for descriptor in (1, 2):
            os.dup2(stream.fileno(), descriptor)
    report, began = {}, time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tried, failures = run(name, part, seed, seconds, report)
    took, note = time.monotonic() - began, report.get(name, "")
    result = {"tried": tried, "failures": failures, "took": took, "note": note}
    Path(found).write_text(json.dumps(result), encoding="utf-8")
