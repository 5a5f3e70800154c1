"""The papers' tables and figures on one page, and the tables of docs/benchmarks.

NAME is an experiment or how several begin, as kim2006; all by default. A run that was interrupted
goes on from where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from evidence._registry import BENCHMARKS, GPU, PAGE, select
from evidence._run import BENCHMARKS as FOLDER
from evidence._run import (
    CACHE,
    QUICK,
    ROOT,
    Summary,
    compute,
    duration,
    write_benchmarks,
    write_page,
)
from evidence._runner import Event

LISTS = {"papers": PAGE, "bench": BENCHMARKS, "gpu": GPU}


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 1 where something failed or, of benchmarks, was not there."""
    options = parser().parse_args(arguments)
    if options.command == "list" or options.list:
        print(listing() if options.command == "list" else named(options.command))
        return 0
    try:
        summary = run(options)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        if options.traceback:
            raise
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Finished cases are kept: the same command goes on from there.", file=sys.stderr)
        return 130
    return tell(summary, options)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m evidence", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="names and titles")
    for name, words in (
        ("papers", "the papers' tables and figures, and ours, on one page of HTML"),
        ("bench", "speed and accuracy against peers, into docs/benchmarks"),
        ("gpu", "speed on a GPU, into docs/benchmarks"),
    ):
        command = commands.add_parser(name, help=words, description=words)
        command.add_argument("names", nargs="*", metavar="NAME")
        command.add_argument("--quick", action="store_true", help="few partitions, small sizes")
        command.add_argument("--jobs", type=int, metavar="N", help="processes; one a core")
        command.add_argument("--list", action="store_true", help="names and titles")
        command.add_argument("--again", action="store_true", help="forget what was computed")
        command.add_argument("--json", action="store_true", help="say what was done in JSON")
        command.add_argument("--traceback", action="store_true", help="show where a case failed")
        command.add_argument("--cache", type=Path, default=CACHE, help=argparse.SUPPRESS)
    page, *others = (commands.choices[name] for name in LISTS)
    default = ROOT / "reports" / "reproduce.html"
    page.add_argument("-o", "--output", type=Path, default=default, help="the page to write")
    for command in others:
        command.add_argument(
            "-o", "--output", type=Path, metavar="FOLDER", help="in place of docs/benchmarks"
        )
    return top


def listing() -> str:
    return "\n\n".join(f"python -m evidence {name} …\n{named(name)}" for name in LISTS)


def named(command: str) -> str:
    names = {(e.name if command == "papers" else e.file): e.title for e in LISTS[command]}
    return "\n".join(f"  {name:26} {title}" for name, title in names.items())


def run(options: argparse.Namespace) -> Summary:
    experiments = select(options.names, LISTS[options.command])
    computed = compute(
        experiments,
        quick=options.quick,
        jobs=options.jobs,
        cache=options.cache,
        again=options.again,
        follow=None if options.json else tell_tenths,
    )
    if options.command == "papers":
        return write_page(computed, options.output, quick=options.quick)
    return write_benchmarks(computed, options.output or (QUICK if options.quick else FOLDER))


def tell(summary: Summary, options: argparse.Namespace) -> int:
    """Say what was done, what was not there and what failed; the exit code."""
    if options.traceback:
        print("\n".join(summary.tracebacks), file=sys.stderr)
    for text in (*(f"Note: {reason}." for reason in summary.unavailable), *summary.failures):
        print(text, file=sys.stderr)
    facts = summary._asdict()
    del facts["tracebacks"]
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        noun = "cases" if summary.cases != 1 else "case"
        some = f"{summary.computed:,} of " if summary.computed < summary.cases else ""
        what = f"{some}{summary.cases:,} {noun} computed, {duration(summary.seconds)}"
        print("\n".join([*(f"Saved {path}" for path in summary.output), what]))
    lacking = options.command != "papers" and summary.unavailable
    return 1 if summary.failures or lacking else 0


def tell_tenths(event: Event) -> None:
    """A line whenever another tenth of the cases is finished."""
    before, now = (10 * done // event.total for done in (event.done - 1, event.done))
    if now > before:
        name = event.task.experiment.name
        print(f"{event.done:,} of {event.total:,} cases, {name}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
