"""``gramian export``."""

from __future__ import annotations

from shlex import quote
from typing import Any

import click

from gramian.cli._opened import reading
from gramian.cli._show import echo
from gramian.export import predict_only as write


def run(*, model: str, predict_only: bool, output: str | None) -> dict[str, Any]:
    """Write what predictions need."""
    if not (predict_only and output):
        raise click.UsageError(
            f"a model can be exported for predictions alone: "
            f"gramian export {quote(model)} --predict-only -o {quote(output or 'model.onnx')}"
            f"{'' if output else ' (or -o model.npz)'}"
        )
    with reading(model) as opened:
        return {"model": model, "output": output, **write(opened.model, output)}


def show(facts: dict[str, Any]) -> None:
    """For people, with what the file tells of the samples."""
    echo(f"Saved {facts['output']}: it predicts as {facts['model']} does. No ids, no targets.")
    if facts["centres"]:
        echo(
            f"It holds {facts['centres']} of the {facts['held']} samples as centres, encoded but "
            f"readable: treat it like the data."
        )
    else:
        echo("It holds no samples: the kernel is linear.")
