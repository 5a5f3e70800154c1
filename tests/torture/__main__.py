"""``python -m tests.torture --seed 0 [--minutes 20] [NAME ...]``: attack every promise.

The attacks run in two processes (``--processes``), one thread of BLAS each. Each goes on until it
has tried what is asked of it or its share of the time is spent. ``--page`` writes the results into
a page of the documentation, beside those of another seed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.torture.attacks import ATTACKS, work
from tests.torture.page import Result, described, put, record

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
RECORDS = PAGE.with_suffix(".json")
PROCESSES = 2
SERVER = multiprocessing.get_context("forkserver")
MINUTES = 20.0


# -- all attacks, in two processes --------------------------------------------------------------


def attack(name, part, seed, seconds):
    """One part of an attack in a process of its own; a process that dies is a failure.

    It is forked from one that has imported everything.
    """
    with tempfile.TemporaryDirectory() as folder:
        found, said = Path(folder) / "found.json", Path(folder) / "said.txt"
        words = (name, part, seed, seconds, found, said)
        process = SERVER.Process(target=work, args=words)
        process.start()
        process.join()
        if process.exitcode:
            why = said.read_text(errors="replace")[-1000:] if said.exists() else ""
            return Result(name, 0, [f"{name} {part}: exit {process.exitcode} {why}"], seconds, "")
        return Result(name, **json.loads(found.read_text(encoding="utf-8")))


def attack_all(names, seed, scale, processes):
    """Yield the result of each attack when all its parts are there; the longest begin first."""
    jobs = [(name, part) for name in names for part in ATTACKS[name].parts]
    share = {job: scale * ATTACKS[job[0]].seconds * ATTACKS[job[0]].parts[job[1]] for job in jobs}
    jobs.sort(key=lambda job: -share[job])
    with ThreadPoolExecutor(processes) as pool:
        begun = {job: pool.submit(attack, *job, seed, share[job]) for job in jobs}
        for name in names:
            yield _together([begun[name, part].result() for part in ATTACKS[name].parts])


def _together(parts):
    failures = [failure for part in parts for failure in part.failures]
    tried, took = sum(part.tried for part in parts), sum(part.took for part in parts)
    notes = "; ".join(part.note for part in parts if part.note)
    return Result(parts[0].name, tried, failures, took, notes)


def command_of(options, names):
    """The command line that runs these attacks again."""
    words = f"python -m tests.torture --seed {options.seed} --minutes {options.minutes:g}"
    words += "" if options.processes == PROCESSES else f" --processes {options.processes}"
    return words if len(names) == len(ATTACKS) else f"{words} {' '.join(names)}"


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.torture", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ATTACKS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for all attacks together")
    parser.add_argument("--processes", type=int, default=PROCESSES, help="at the same time")
    parser.add_argument(
        "--page", action="store_true", help=f"write the results into {PAGE.relative_to(ROOT)}"
    )
    options = parser.parse_args(argv)
    names = [name for name in ATTACKS if name in options.names or not options.names]
    for name in options.names:
        if name not in ATTACKS:
            parser.error(f"there is no attack {name!r}; there are {', '.join(ATTACKS)}.")
    total = sum(ATTACKS[name].seconds for name in names)
    scale = 60.0 * options.processes * options.minutes / total
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    SERVER.set_forkserver_preload(["tests.torture.attacks"])
    results = []
    for result in attack_all(names, options.seed, scale, options.processes):
        results.append(result)
        name, tried, failures, took, note = result
        unit = ATTACKS[name].unit
        print(f"{name:13} {tried:>8,} {unit:21} {len(failures):>4} failures {took:6.0f} s  {note}")
        for failure in failures[:20]:
            print(f"    {failure}", flush=True)
    command = command_of(options, names)
    if options.page:
        put(described(record(results, options.seed, command, RECORDS), ATTACKS), PAGE)
    return int(any(result.failures for result in results))


if __name__ == "__main__":
    sys.exit(main())
