"""``gramian reproduce``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from gramian.cli._show import say, table
from gramian.reproduce import EXPERIMENTS, Event, reproduce


def run(*, names, quick, jobs, listed, output, quiet) -> dict[str, Any]:
    """Compute what was asked for and write the page; fail, once it is there, if a case failed."""
    if listed:
        return {"experiments": {e.name: e.title for e in EXPERIMENTS}}
    try:
        with _progress(quiet=quiet) as follow:
            summary = reproduce(names, output=output, quick=quick, jobs=jobs, follow=follow)
    except KeyboardInterrupt:
        click.echo("Finished cases are kept: the same command goes on from there.", err=True)
        raise
    if summary.failures:
        if click.get_current_context().obj:
            click.echo("\n".join(summary.tracebacks), err=True)
        raise click.ClickException("\n".join([f"{output} is there, but:", *summary.failures]))
    facts = summary._asdict()
    del facts["failures"], facts["tracebacks"]
    return facts


def show(facts: dict[str, Any]) -> None:
    """For people."""
    if "output" not in facts:
        table(["name", "title"], facts["experiments"].items())
        return
    for reason in facts["unavailable"]:
        click.echo(f"Note: {reason}.", err=True)
    minutes = facts["seconds"] / 60
    say(f"Saved {facts['output']}: {facts['cases']:,} cases in {minutes:.1f} minutes.")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """A bar on a terminal; elsewhere a line whenever another tenth of the cases is finished."""
    console = Console(stderr=True, highlight=False)
    if quiet:
        yield None
        return
    if not console.is_terminal:
        yield _tell_tenths
        return
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True,
    )  # fmt: skip
    task = bar.add_task("starting", total=None)

    def follow(event: Event) -> None:
        name = event.task.experiment.name
        bar.update(task, description=name, completed=event.done, total=event.total)

    with bar:
        yield follow


def _tell_tenths(event: Event) -> None:
    before, now = (10 * done // event.total for done in (event.done - 1, event.done))
    if now > before:
        name = event.task.experiment.name
        click.echo(f"{event.done:,} of {event.total:,} cases, {name}", err=True)
