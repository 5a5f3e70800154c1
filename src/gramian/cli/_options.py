"""Types of arguments, and options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

READING = "gramian.reading"
OPENING = "gramian.opening"
MODEL = click.Path(exists=True, dir_okay=False)
NEW_FILE = click.Path(dir_okay=False)
TABLE = click.Path(exists=True, dir_okay=False, allow_dash=True)


class OutputPath(click.Path):
    """A file to write, in a folder that is there."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        folder = os.path.dirname(value) or "."
        if not os.path.isdir(folder):
            self.fail(f"Folder {folder!r} does not exist.", param, ctx)
        return super().convert(value, param, ctx)


OUTPUT = OutputPath(dir_okay=False, writable=True)


class StorePath(click.Path):
    """A store in a file, or the address of one on a server."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if str(value).startswith(("postgresql://", "postgres://")):
            return value
        return super().convert(value, param, ctx)


STORE = StorePath(exists=True, dir_okay=False)
NEW_STORE = StorePath(dir_okay=False)


class NumberOr(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in new ones
    """A number > 0, or one of some words."""

    name = "number"

    def __init__(self, *words: str) -> None:
        self.words = words

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "|".join((*self.words, "NUMBER"))

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str) or value in self.words:
            return value
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 < number < float("inf"):
            self.fail(f"{value!r} is neither {' nor '.join(('a number > 0', *self.words))}.")
        return number


Command = TypeVar("Command", bound=Callable[..., Any])


def reading_options(command: Command) -> Command:
    """Options of the tables that a command reads; `gramian.cli._tables` finds them there."""

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        context.meta.setdefault(READING, {})[str(parameter.name)] = value

    shared: dict[str, Any] = {"expose_value": False, "callback": keep}
    encoding = click.option(
        "--encoding", metavar="NAME", **shared,
        help="Of text files, such as cp1252 or latin-1.  [byte-order mark; that of the fit; utf-8]",
    )  # fmt: skip
    skip = click.option(
        "skip", "--skip-lines", type=click.IntRange(0), default=0, metavar="NUMBER", **shared,
        help="Lines of text files before the names of the columns, such as a title.",
    )  # fmt: skip
    return encoding(skip(command))


def store_options(command: Command) -> Command:
    """Options of a store with a keyring; `gramian.cli._opened` finds them there."""

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        context.meta.setdefault(OPENING, {})[str(parameter.name)] = value

    shared: dict[str, Any] = {"expose_value": False, "callback": keep, "type": NEW_FILE}
    keyring = click.option(
        "--keyring", envvar="GRAMIAN_KEYRING", metavar="FILE", **shared,
        help="Keyring of a store whose rows are encrypted.  [GRAMIAN_KEYRING]",
    )  # fmt: skip
    anchor = click.option(
        "--anchor", envvar="GRAMIAN_ANCHOR", metavar="FILE", **shared,
        help="Names the last receipt, by which an old copy is recognised.  [GRAMIAN_ANCHOR]",
    )  # fmt: skip
    return keyring(anchor(command))


def drop_option(command: Command) -> Command:
    """``--drop-missing-target`` of commands that learn."""
    return click.option(
        "--drop-missing-target", is_flag=True, help="Leave out rows without a target."
    )(command)


def json_option(command: Command) -> Command:
    """``--json``, the last option of every command."""
    return click.option("as_json", "--json", is_flag=True, help="Print JSON, for scripts.")(command)
