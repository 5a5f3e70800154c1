"""The commands of ``gramian store``."""

from __future__ import annotations

from typing import Any

import click

from gramian.cli._options import MODEL, NEW_STORE, OUTPUT, STORE, common_options, key_option
from gramian.cli._running import Commands, run_command


@click.group(cls=Commands)
def store() -> None:
    """Models in a database: edits are durable and have receipts, forgotten rows are erased."""


@store.command()
@click.argument("model", type=MODEL)
@click.argument("store", type=NEW_STORE)
@click.option("--key", type=MODEL, help="Private Ed25519 key (PEM) that signs the receipts.")
@click.option("--snapshot/--no-snapshot", default=True, show_default=True,
              help="Keep the coefficients, so that the store opens faster.")  # fmt: skip
@common_options
def create(**options: Any) -> None:
    """Make a new STORE from the model file MODEL.

    STORE is a file, or the address of a PostgreSQL database: postgresql://USER@HOST/DATABASE#NAME.
    With --keyring, which names a new file, rows are encrypted, and what is erased is gone from
    every copy.
    """
    run_command("store", {"task": "create", **options})


@store.command()
@click.argument("store", type=STORE)
@click.option("ids", "--id", multiple=True, metavar="ID", help="About this row. Repeatable.")
@common_options
def receipts(**options: Any) -> None:
    """List the receipts of STORE, or those about some rows.

    A receipt is open while a process that serves STORE may still answer from an older version.
    """
    run_command("store", {"task": "receipts", **options})


@store.command()
@click.argument("store", type=STORE)
@click.argument("number", type=int)
@click.option("-o", "--output", type=OUTPUT, required=True, help="JSON file to write.")
@common_options
def proof(**options: Any) -> None:
    """Write a receipt of STORE so that `gramian verify` can check it without the store."""
    run_command("store", {"task": "proof", **options})


@store.command()
@click.argument("store", type=STORE)
@click.argument("number", type=int)
@click.option("--to", "person", metavar="NAME", help="Who asked.")
@click.option("--office", metavar="TEXT", help="Who answers.")
@click.option("-o", "--output", type=OUTPUT, required=True, help="HTML page to write.")
@common_options
def letter(**options: Any) -> None:
    """Write a receipt of STORE as a letter to the person who asked."""
    run_command("store", {"task": "letter", **options})


@store.command()
@click.argument("store", type=STORE)
@key_option
@common_options
def compact(**options: Any) -> None:
    """Rewrite STORE without the space that forgotten rows have left."""
    run_command("store", {"task": "compact", **options})


@store.command("export")
@click.argument("store", type=STORE)
@click.option("-o", "--output", type=OUTPUT, required=True, help="Model file to write.")
@common_options
def export_store(**options: Any) -> None:
    """Write the present model of STORE to a model file."""
    run_command("store", {"task": "export", **options})


@store.command()
@click.argument("store", type=STORE)
@click.argument("file", type=OUTPUT)
@common_options
def backup(**options: Any) -> None:
    """Write a copy of STORE to the new FILE, also while it is served.

    Of a store with a keyring, the copy is encrypted, and rows that are erased later are gone from
    it, too. Keep the keyring elsewhere.
    """
    run_command("store", {"task": "backup", **options})


@store.command()
@click.argument("copy", type=STORE)
@click.argument("store", type=NEW_STORE)
@click.option("--new-keyring", type=OUTPUT, required=True, help="New file, for STORE.")
@key_option
@common_options
def restore(**options: Any) -> None:
    """Make a new STORE from COPY, without the rows that were erased since COPY was made.

    --keyring is that of the store as it is today.
    """
    run_command("store", {"task": "restore", **options})


@store.command()
@click.argument("source", type=STORE)
@click.argument("store", type=NEW_STORE)
@click.option("--new-keyring", type=OUTPUT, help="New file, for STORE.  [not encrypted]")
@common_options
def convert(**options: Any) -> None:
    """Copy the store SOURCE to the new STORE, from a file to a server or back.

    --keyring is that of SOURCE, if it has one.
    """
    run_command("store", {"task": "convert", **options})


@store.command()
@click.argument("store", type=STORE)
@key_option
@common_options
def reselect(**options: Any) -> None:
    """Choose scales and hyper-parameters of STORE anew on the rows it holds, with a receipt."""
    run_command("store", {"task": "reselect", **options})


@store.command()
@click.argument("store", type=STORE)
@common_options
def withheld(**options: Any) -> None:
    """List the rows of STORE that are out of the model and not erased yet."""
    run_command("store", {"task": "withheld", **options})


@store.command("take-back")
@click.argument("store", type=STORE)
@click.option("ids", "--id", multiple=True, required=True, metavar="ID",
              help="Row to learn again. Repeatable.")  # fmt: skip
@key_option
@common_options
def take_back(**options: Any) -> None:
    """Learn rows of STORE again that are withheld (`gramian forget --after`)."""
    run_command("store", {"task": "take-back", **options})


@store.command("erase-due")
@click.argument("store", type=STORE)
@click.option(
    "ids", "--id", multiple=True, metavar="ID", help="Row to erase, due or not. Repeatable."
)
@key_option
@common_options
def erase_due(**options: Any) -> None:
    """Erase the withheld rows of STORE whose time has come."""
    run_command("store", {"task": "erase-due", **options})
