"""How a command runs: watched by another process or not, with its errors as one line."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any, NamedTuple

import click

from gramian.cli import _work
from gramian.core.text import without_controls


class RunOptions(NamedTuple):
    """How commands run."""

    traceback: bool
    watched: bool
    """In a process of their own, by one that shows progress and obeys ^C."""


class Commands(click.Group):
    """Commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


_SERVERS = ("play", "serve")  # they handle signals by themselves, and end in their own time


def run_command(command: str, options: dict[str, Any]) -> None:
    """Run a command, in a child process if this one is to watch it."""
    context = click.get_current_context()
    if context.obj.watched and command not in _SERVERS:
        code = _work.watched(command)
        if code is not None:
            _work.tidy(options.get("output") or options.get("model") or "")
            context.exit(code)
    _work_on(command, options, context)


def _work_on(command: str, options: dict[str, Any], context: click.Context) -> None:
    """Run a command, tell what it returns, and turn errors of the data into one line."""
    as_json = options.pop("as_json")
    if as_json:
        _work.silence()
    module = import_module(f"gramian.cli._{command}")
    try:
        facts = module.run(**options, quiet=as_json)
    except (ValueError, OSError, MemoryError, ModuleNotFoundError) as error:
        if context.obj.traceback:
            raise
        raise click.ClickException(without_controls(str(error), "\n")) from error
    finally:
        _work.pause()
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        module.show(facts)
    if facts.get("failed"):
        context.exit(1)
