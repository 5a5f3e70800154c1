"""The commands and their options.

Nothing heavy is imported here, so that ``gramian --help`` answers at once. Each command is a module
with a function `run`, which returns facts, and a function `show`, which prints them.
"""

from __future__ import annotations

from typing import Any

import click

from gramian import __version__
from gramian.cli._options import (
    MODEL,
    OUTPUT,
    STORE,
    TABLE,
    NumberOr,
    common_options,
    drop_option,
    edit_options,
    json_option,
    reading_options,
)
from gramian.cli._running import Commands, RunOptions, run_command
from gramian.cli._store_commands import store


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="gramian %(version)s")
@click.option("--traceback", is_flag=True, help="Show where in the code an error came from.")
@click.pass_context
def app(context: click.Context, traceback: bool) -> None:
    """Kernel estimators that learn one sample, forget one, and know their leave-one-out error.

    \b
    gramian fit train.csv --target y -o model.gram
    gramian predict model.gram new.csv -o out.csv
    gramian forget model.gram --id 17 --receipt receipts.jsonl

    A MODEL is a model file or a store (`gramian store create`), whose edits are durable and have
    receipts. Tables are CSV (comma, semicolon or tab; names in the first line) or parquet. Exit
    codes: 0 success, 1 a problem with the data, 2 with the command.
    """
    context.obj = RunOptions(traceback, watched=context.obj is True)


@app.command()
@click.argument("table", type=TABLE)
@click.option("--target", required=True, metavar="COLUMN", help="Column to predict.")
@click.option("--id", "id_column", metavar="COLUMN", help="Unique names of the rows.  [0, 1, 2, …]")
@click.option("--subject", "subject_column", metavar="COLUMN",
              help="Whose row it is, such as a patient: rows of one subject are left out together.",
              )  # fmt: skip
@click.option(
    "--estimator",
    metavar="NAME",
    default="auto",
    show_default=True,
    help="auto chooses by target, rows and memory; stack has several kernels. Others: "
    "discriminant, fisher, ls-svc, ls-svr, lagrangian, orthogonal, orthogonal-regressor, fuzzy.",
)
@click.option("--kernel",
              type=click.Choice(["rbf", "laplacian", "exponential", "linear", "poly", "loo"]),
              help="loo: the best of the first three.  [rbf; several for stack]")  # fmt: skip
@click.option("--gamma", type=NumberOr("loo", "scale", "cv"),
              help="Width of the kernel.  [loo or cv]")  # fmt: skip
@click.option("--metric", type=click.Choice(["diagonal", "ard"]),
              help="Weights of the columns: diagonal from slopes, ard a width for each.  [none]",
              )  # fmt: skip
@click.option("--ridge", type=NumberOr("loo", "cv"),
              help="Regularisation; 1/C for estimators with C.  [loo or cv]")  # fmt: skip
@click.option("--device", metavar="NAME", help="Device to compute on, such as cuda.  [the CPU]")
@click.option("--category", "categorical", multiple=True, metavar="COLUMN",
              help="Take the numbers in this column as text. Repeatable.")  # fmt: skip
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column to leave out. Repeatable.")
@click.option("--decimal", type=click.Choice([".", ","]), default=".", show_default=True,
              help="Decimal mark of the numbers in TABLE.")  # fmt: skip
@click.option("--thousands", type=click.Choice([",", ".", " ", "'"]),
              help="Mark between their groups of three digits.")  # fmt: skip
@click.option("--unit", "units", multiple=True, metavar="COLUMN",
              help="Column of numbers with a unit, such as 57.9 kg. Repeatable.")  # fmt: skip
@click.option("--missing", multiple=True, metavar="TEXT",
              help="Another text for a missing number. Repeatable.")  # fmt: skip
@click.option("--max-levels", type=click.IntRange(1), metavar="NUMBER",
              help="How many texts of a column get a feature each.  [50, or all that occur twice]",
              )  # fmt: skip
@drop_option
@click.option("--float32", is_flag=True, help="Half the memory, about seven digits.")
@click.option("--doubtful", type=click.IntRange(0), default=5, show_default=True,
              help="How many doubtful rows to list.")  # fmt: skip
@click.option("-o", "--output", type=OUTPUT, required=True, help="Model file to write.")
@reading_options
@json_option
def fit(**options: Any) -> None:
    """Fit a model to TABLE; hyper-parameters are chosen by exact leave-one-out."""
    run_command("fit", options)


@app.command()
@click.argument("model", type=STORE)
@click.argument("table", type=TABLE)
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@click.option("--confidence", type=NumberOr(), metavar="NUMBER",
              help="Add sets or intervals that hold the truth this often.")  # fmt: skip
@click.option("--width", type=click.Choice(["auto", "local", "constant", "density"]),
              default="auto", show_default=True,
              help="Of numbers, with --confidence: intervals that follow the noise, or not.",
              )  # fmt: skip
@click.option("--score", type=click.Choice(["margin", "adaptive"]),
              default="margin", show_default=True,
              help="Of classes, with --confidence: the smallest sets, or sets that are right about "
              "as often for hard rows as for easy ones.")  # fmt: skip
@click.option("--mondrian", is_flag=True,
              help="Of classes, with --confidence: hold the truth this often within each class.",
              )  # fmt: skip
@click.option("--fast", is_flag=True,
              help="With --confidence: from leave-one-out errors alone, an approximation.",
              )  # fmt: skip
@click.option("-o", "--output", type=OUTPUT, help="CSV or parquet.  [print CSV]")
@reading_options
@common_options
def predict(**options: Any) -> None:
    """Predict the target of each row of TABLE.

    If TABLE has the target, the predictions are compared with it.
    """
    run_command("predict", options)


@app.command()
@click.argument("model", type=STORE)
@click.argument("table", type=TABLE)
@drop_option
@edit_options
def learn(**options: Any) -> None:
    """Learn the rows of TABLE in addition to those that MODEL holds."""
    run_command("learn", options)


@app.command()
@click.argument("model", type=STORE)
@click.option("ids", "--id", multiple=True, metavar="ID", help="Row to forget. Repeatable.")
@click.option(
    "--ids-from", type=TABLE,
    help="File with one id per line, or a table with a column id, or named as MODEL's ids are.",
)  # fmt: skip
@click.option("--missing-ok", is_flag=True, help="Skip ids that MODEL does not hold.")
@click.option("--where", metavar="'COLUMN OP VALUE'",
              help="All rows of which this is true, such as 'name = Ada'; OP is = != < <= > >=.",
              )  # fmt: skip
@click.option("--subject", "subjects", multiple=True, metavar="NAME",
              help="All rows of this subject, of a model fitted with --subject. Repeatable.",
              )  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say which rows these are; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask, however many rows these are.")
@click.option("--verify", is_flag=True, help="Compare with a full refit; exit 1 if it differs.")
@click.option("--tolerance", type=NumberOr(), metavar="NUMBER",
              help="Relative difference that --verify allows.  [1e-8]")  # fmt: skip
@click.option("--reselect", is_flag=True,
              help="Choose scales and hyper-parameters anew on what is left.")  # fmt: skip
@click.option("--after", metavar="TIME",
              help="Of a store: leave the rows out of all answers now, and erase them after this "
                   "time, such as 14d or 12h; until then `gramian store take-back` learns them "
                   "again.")  # fmt: skip
@click.option("--receipt", type=OUTPUT, help="Add the receipt to this file, a line of JSON.")
@edit_options
def forget(**options: Any) -> None:
    """Forget rows exactly, and print a receipt.

    Before more than a fifth of the rows are forgotten, the command asks.
    """
    if not any(options[name] for name in ("ids", "ids_from", "where", "subjects")):
        raise click.UsageError("Say which rows: --id, --ids-from, --where or --subject.")
    run_command("forget", options)


@app.command()
@click.argument("model", type=STORE)
@click.option("--top", type=click.IntRange(1), metavar="K",
              help="How many rows.  [all whose class is not the most probable; 20 of numbers]",
              )  # fmt: skip
@click.option("-o", "--output", type=OUTPUT, help="CSV or parquet with all of them.")
@common_options
def doubt(**options: Any) -> None:
    """List the rows of MODEL whose targets are probably wrong.

    Every row is judged by the model without it. `gramian forget --ids-from` and `gramian relabel`
    take the table that -o writes.
    """
    run_command("doubt", options)


@app.command()
@click.argument("model", type=STORE)
@click.argument("table", type=TABLE, required=False)
@click.option("--column", metavar="COLUMN", default="suggested", show_default=True,
              help="Column of TABLE with the new targets; the ids are in its column id.",
              )  # fmt: skip
@click.option("ids", "--id", multiple=True, metavar="ID", help="Row to relabel. Repeatable.")
@click.option("--to", metavar="TARGET", help="New target of the rows named by --id.")
@edit_options
def relabel(**options: Any) -> None:
    """Give rows of MODEL other targets: those of TABLE, or one for the rows named by --id."""
    if bool(options["ids"]) != (options["to"] is not None):
        raise click.UsageError("--id and --to go together.")
    if bool(options["ids"]) == bool(options["table"]):
        raise click.UsageError("Give a TABLE, or --id and --to.")
    run_command("relabel", options)


@app.command()
@click.argument("receipt", type=MODEL)
@click.argument("model", type=STORE, required=False)
@click.option("every", "--all", is_flag=True, help="Every receipt of the file.  [the last]")
@click.option("--refit", is_flag=True, help="Compare the model with a full refit, too.")
@click.option("--tolerance", type=NumberOr(), metavar="NUMBER",
              help="Relative difference that --refit allows.  [1e-8]")  # fmt: skip
@click.option("--public-key", metavar="KEY",
              help="Who should have signed: a PEM file or 64 hexadecimal digits.")  # fmt: skip
@click.option("--head", metavar="HASH",
              help="Hash of a later receipt that you know from elsewhere.")  # fmt: skip
@common_options
def verify(**options: Any) -> None:
    """Check a receipt.

    A receipt of a model file is right if MODEL is the model of the last receipt in RECEIPT and
    holds none of its ids. A receipt of a store, as `gramian store proof` writes it, is right if it
    is in the chain that ends with the head it names, which needs no store; with MODEL, in the chain
    of that store.

    The exit code is 0 if all is right, otherwise 1.
    """
    run_command("verify", options)


@app.command()
@click.argument("model", type=STORE)
@click.option("--loo", is_flag=True, help="Exact leave-one-out error and doubtful rows.")
@click.option("--doubtful", type=click.IntRange(0), default=5, show_default=True,
              help="How many doubtful rows to list, with --loo.")  # fmt: skip
@common_options
def inspect(**options: Any) -> None:
    """Describe MODEL and what it holds."""
    run_command("inspect", options)


@app.command()
@click.argument("model", type=STORE)
@click.option("--predict-only", is_flag=True,
              help="Write coefficients and centres, no ids and no targets. Required.")  # fmt: skip
@click.option("-o", "--output", type=OUTPUT,
              help="ONNX if it ends in .onnx, else NumPy's npz.")  # fmt: skip
@common_options
def export(**options: Any) -> None:
    """Write MODEL for other programs, as a file that predicts and nothing else.

    The centres in it are samples that MODEL holds, unless the kernel is linear.
    """
    run_command("export", options)


@app.command()
@click.argument("model", type=STORE)
@click.option("--doubtful", type=click.IntRange(0), default=20, show_default=True,
              help="How many doubtful rows to list.")  # fmt: skip
@click.option("-o", "--output", type=OUTPUT, required=True, help="HTML page to write.")
@common_options
def report(**options: Any) -> None:
    """Write a self-contained HTML page about MODEL, with figures."""
    run_command("report", options)


@app.command()
@click.argument("store", type=STORE)
@click.option("--public-key", metavar="KEY",
              help="Who should have signed: a PEM file or 64 hexadecimal digits.")  # fmt: skip
@click.option("--refit", is_flag=True, help="Compare the model with a full refit, too.")
@common_options
def audit(**options: Any) -> None:
    """Check STORE: file, chain of receipts, signatures, rows, settings.

    The exit code is 0 if all is right, otherwise 1.
    """
    run_command("audit", options)


app.add_command(store)


@app.command()
@click.argument("stores", metavar="STORE...", type=STORE, nargs=-1, required=True)
@click.option("--host", default="127.0.0.1", show_default=True,
              help="Address to listen on; one that others can reach needs --tokens.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True)
@click.option("--name", help="Name of the model in paths.  [that of the file]")
@click.option("--tokens", type=MODEL, help="File of tokens that `gramian token` made.")
@click.option("--key", type=MODEL, help="Private key (PEM) that signs the receipts.")
@click.option("--keyring", type=MODEL, envvar="GRAMIAN_KEYRING",
              help="Keyring that opens the rows.  [GRAMIAN_KEYRING]")  # fmt: skip
@click.option("--anchor", type=click.Path(dir_okay=False), envvar="GRAMIAN_ANCHOR",
              help="File of the last receipt, by which an old copy is recognised.")  # fmt: skip
@click.option("--ssl-keyfile", type=MODEL, help="Private key of the server.")
@click.option("--ssl-certfile", type=MODEL, help="Certificate of the server.")
@click.option("--readonly", is_flag=True,
              help="Serve stores that other processes edit, and follow their edits.")  # fmt: skip
@click.option("--root-path", default="", help="Path at which a proxy shows the service.")
@click.option("--access-log", is_flag=True,
              help="Log who asked for which route, without addresses and values.")  # fmt: skip
@click.option("--json-log", is_flag=True, help="Log in JSON.")
@click.option("--max-body", type=click.IntRange(1), default=8, show_default=True, metavar="MIB",
              help="Largest request.")  # fmt: skip
@click.option("--max-rows", type=click.IntRange(1), default=10_000, show_default=True,
              help="Most rows in a request.")  # fmt: skip
@click.option("--max-waiting", type=click.IntRange(1), default=256, show_default=True,
              help="Most edits that may wait.")  # fmt: skip
@click.option("--max-connections", type=click.IntRange(1), default=512, show_default=True,
              help="Most open connections.")  # fmt: skip
@click.option("--rate", type=NumberOr(), metavar="NUMBER",
              help="Most requests a second from one client.  [no limit]")  # fmt: skip
def serve(**options: Any) -> None:
    """Serve STOREs over HTTP: predictions by the Open Inference Protocol, edits with receipts.

    A STORE is a file, or the address of one on a server, postgresql://…, which any number of
    processes may serve.
    """
    run_command("serve", options)


@app.command()
@click.argument("file", type=OUTPUT)
@click.option("--name", required=True, help="Who gets it.")
@click.option("scopes", "--scope", multiple=True, required=True,
              type=click.Choice(["predict", "learn", "forget", "admin"]),
              help="What it allows; admin includes all. Repeatable.")  # fmt: skip
@click.option("--days", type=float, metavar="DAYS", help="Days until it expires.  [never]")
@json_option
def token(**options: Any) -> None:
    """Make a token for `gramian serve` and add its hash to FILE."""
    run_command("token", options)


@app.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8765, show_default=True)
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser.")
def play(**options: Any) -> None:
    """Paint samples on a page, and watch a model learn and forget them."""
    click.echo(f"Gramian plays at http://{options['host']}:{options['port']}/ (Ctrl+C ends it).")
    run_command("play", options)
