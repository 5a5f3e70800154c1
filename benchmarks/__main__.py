"""Run benchmarks by name, or all of them: ``python -m benchmarks [--quick] [NAME ...]``."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from time import perf_counter


def names() -> list[str]:
    """The benchmarks of this folder: its modules without a leading underscore."""
    return sorted(p.stem for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith("_"))


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for, in the order it was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(names())}")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are: {', '.join(names())}")
    lacking = [name for name in options.names or names() if not ran(name, options.quick)]
    if lacking:
        parser.exit(1, f"Not finished for lack of data: {', '.join(lacking)}.\n")


def ran(name: str, quick: bool) -> bool:
    """Run one benchmark; say so and go on where a data set is not there."""
    start = perf_counter()
    print(f"{name} …", flush=True)
    try:
        import_module(f"benchmarks.{name}").run(quick=quick)
    except FileNotFoundError as error:
        print(f"{name}: {error}", flush=True)
        return False
    print(f"{name}: {perf_counter() - start:.1f} s", flush=True)
    return True


if __name__ == "__main__":
    main()
