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


def is_address(path: str) -> bool:
    """As `gramian.store.is_address`, which takes long to import."""
    return path.startswith(("postgresql://", "postgres://"))


class StorePath(click.Path):
    """A store in a file, or the address of one on a server."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return value if is_address(str(value)) else super().convert(value, param, ctx)


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
    shared: dict[str, Any] = {"expose_value": False, "callback": _kept(READING)}
    encoding = click.option(
        "--encoding", metavar="NAME", **shared,
        help="Encoding of text files, such as cp1252.  [byte-order mark; that of the fit; utf-8]",
    )  # fmt: skip
    skip = click.option(
        "skip", "--skip-lines", type=click.IntRange(0), default=0, metavar="NUMBER", **shared,
        help="Lines to skip before the names of the columns, such as a title.",
    )  # fmt: skip
    return encoding(skip(command))


def common_options(command: Command) -> Command:
    """Options of a store with a keyring, which `gramian.cli._opened` finds, and ``--json``."""
    shared: dict[str, Any] = {
        "expose_value": False, "callback": _kept(OPENING), "type": NEW_FILE, "metavar": "FILE"
    }  # fmt: skip
    keyring = click.option(
        "--keyring", envvar="GRAMIAN_KEYRING", **shared,
        help="Keyring of a store whose rows are encrypted.  [GRAMIAN_KEYRING]",
    )  # fmt: skip
    anchor = click.option(
        "--anchor", envvar="GRAMIAN_ANCHOR", **shared,
        help="Names the last receipt, so that an old copy is recognised.  [GRAMIAN_ANCHOR]",
    )  # fmt: skip
    return keyring(anchor(json_option(command)))


def edit_options(command: Command) -> Command:
    """Options of commands that change a model, in a file or in a store."""
    key = click.option("--key", type=MODEL, help="Private key that signs the receipts of a store.")
    output = click.option("-o", "--output", type=OUTPUT, help="Model file to write.  [MODEL]")
    return key(output(reading_options(common_options(command))))


def key_option(command: Command) -> Command:
    """``--key`` of commands that write receipts of a store."""
    return click.option("--key", type=MODEL, help="Private key that signs the receipts.")(command)


def drop_option(command: Command) -> Command:
    """``--drop-missing-target`` of commands that learn."""
    return click.option(
        "--drop-missing-target", is_flag=True, help="Leave out rows without a target."
    )(command)


def json_option(command: Command) -> Command:
    """``--json``, the last option of every command."""
    return click.option("as_json", "--json", is_flag=True, help="Print JSON, for scripts.")(command)


def _kept(place: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """A callback that keeps the value of an option for what reads it later."""

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        context.meta.setdefault(place, {})[str(parameter.name)] = value

    return keep
