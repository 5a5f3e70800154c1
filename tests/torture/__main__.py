"""``python -m tests.torture --seed 0 [--minutes 20] [NAME ...]``: attack every promise."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

from tests.torture import (
    commands,
    edits,
    files,
    lines,
    numbers,
    requests,
    signals,
    soak,
    store,
    threads,
    trace,
)

PER_MINUTE = {"kills": 450, "pairs": 300, "files": 1500, "store-kills": 120}  # on two cores, about

# name: (promise, attack, what is counted, share of the time)
ATTACKS = {
    "edits": (
        "After any edits the model is the one fitted to what it holds",
        "random edits of eight estimators: ridges, weights, duplicates, outliers, classes, types",
        "edits",
        0.25,
    ),
    "signals": (
        "An interrupt leaves the model before the call, or the one after it",
        "SIGINT at random moments of fit, learn, forget, reselect, predict and leave-one-out",
        "interrupts",
        0.2,
    ),
    "lines": (
        "The same, wherever it falls",
        "an interrupt at every execution of every line of an edit",
        "edits swept",
        0.1,
    ),
    "threads": (
        "Readers see one version, writers take turns",
        "one writer and two readers; two writers",
        "answers and edits",
        0.08,
    ),
    "numbers": (
        "Bad numbers give a right model or a clear error",
        "78 strange kinds of samples, labels, ids, weights and classes on each estimator",
        "cases",
        0.0,
    ),
    "files": (
        "A file that loads can be used; another one is refused",
        "structurally altered model files whose checksums fit",
        "files",
        0.12,
    ),
    "kills": (
        "A killed command leaves a sound model and true receipts",
        "SIGKILL at random moments of gramian forget",
        "kills",
        0.1,
    ),
    "pairs": (
        "Commands at the same time lose no edit",
        "gramian learn and gramian forget on one file at once",
        "pairs",
        0.05,
    ),
    "soak": (
        "Memory, latency and accuracy stay",
        "a window of 500 samples for as long as there is time",
        "edits",
        0.1,
    ),
    "requests": (
        "A bad request gets a 4xx, and the model is as before",
        "bodies from the OpenAPI schema, with parts exchanged, with bytes changed",
        "requests",
        0.1,
    ),
    "trace": (
        "Nothing that gives a forgotten row back is left after refactor()",
        "least squares on what is pending in the live object",
        "rows",
        0.0,
    ),
    "store-kills": (
        "Of a store, every acknowledged edit is there and no half of another",
        "SIGKILL at random moments, at each step and before each system call of learns and forgets",
        "kills",
        0.15,
    ),
    "store-erasure": (
        "No byte of a forgotten row is in any file of a store",
        "rows, labels and ids looked for in all files, also while another process reads",
        "rows",
        0.0,
    ),
    "store-flips": (
        "An audit finds what was altered",
        "every byte of a small store flipped; receipts, rows and signatures dropped or exchanged",
        "alterations",
        0.0,
    ),
}


def run(name, seed, seconds, report):
    """Number tried and failures of one attack."""
    if name in ("kills", "pairs"):
        n = max(10, int(PER_MINUTE[name] * seconds / 60))
        return n, getattr(commands, name)(seed, n)
    if name == "files":
        n = max(50, int(PER_MINUTE[name] * seconds / 60))
        counts, failures = files.main(1_000_000 * seed, n)
        report["files"] = f"{counts['refused']} refused, {counts['used']} used"
        return sum(counts.values()), failures
    if name == "soak":
        return soak.main(seed, seconds, report=report)
    if name == "requests":
        return requests.main(seed, seconds, report=report)
    if name == "trace":
        return trace.main(seed, report=report)
    if name.startswith("store-"):
        return _attack_store(name, seed, seconds, report)
    modules = {"edits": edits, "signals": signals, "lines": lines, "threads": threads}
    return modules[name].main(seed, seconds) if name in modules else numbers.main(seed)


def _attack_store(name, seed, seconds, report):
    if name == "store-kills":
        return store.kills(seed, max(20, int(PER_MINUTE[name] * seconds / 60)))
    if name == "store-erasure":
        ways = ({}, {"reader": True}, {"table": True})
        found = [store.erasure(seed + i, **way) for i, way in enumerate(ways)]
        return sum(tried for tried, _ in found), [fault for _, faults in found for fault in faults]
    tried, failures, report[name] = store.flips(seed)
    dropped, more = store.drops()
    return tried + dropped, failures + more


def table(rows):
    """The results in Markdown."""
    lines = ["| promise | attack | tried | failures |", "|---|---|---|---|"]
    lines += [
        f"| {promise} | `{name}`: {attack} | {tried:,} {unit} | {len(failures)} |"
        for name, (promise, attack, unit, _), tried, failures in rows
    ]
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ATTACKS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=20.0, help="for all attacks together")
    parser.add_argument("--markdown", type=Path, help="write the table to this file")
    options = parser.parse_args(argv)
    names = options.names or list(ATTACKS)
    for name in names:
        if name not in ATTACKS:
            parser.error(f"there is no attack {name!r}; there are {', '.join(ATTACKS)}.")
    total = sum(ATTACKS[name][3] for name in names) or 1.0
    rows, report = [], {}
    for name in names:
        began = time.monotonic()
        seconds = 60.0 * options.minutes * ATTACKS[name][3] / total
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tried, failures = run(name, options.seed, seconds, report)
        rows.append((name, ATTACKS[name], tried, failures))
        took = time.monotonic() - began
        unit = ATTACKS[name][2]
        print(f"{name:13} {tried:>8,} {unit:18} {len(failures):>4} failures {took:6.0f} s", end=" ")
        print(report.get(name, ""), flush=True)
        for failure in failures[:20]:
            print(f"    {failure}", flush=True)
    found = table(rows)
    notes = "\n".join(f"- `{name}`: {text}." for name, text in report.items())
    print(f"\n{found}\n\n{notes}")
    if options.markdown:
        options.markdown.write_text(f"{found}\n\n{notes}\n")
    return int(any(failures for *_, failures in rows))


if __name__ == "__main__":
    sys.exit(main())
