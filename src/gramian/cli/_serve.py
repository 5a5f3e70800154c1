"""``gramian serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gramian.cli._show import echo
from gramian.store import is_address


def run(
    *,
    stores: tuple[str, ...],
    name: str | None,
    max_body: int,
    max_rows: int,
    max_waiting: int,
    max_connections: int,
    rate: Any,
    **options: Any,
) -> dict[str, Any]:
    """Serve until the process is stopped."""
    try:
        from gramian.serve import Limits, run
    except ModuleNotFoundError as error:
        needs = 'the service needs more packages: pip install "gramian[serve]".'
        raise ModuleNotFoundError(needs, name=error.name) from error
    limits = Limits(
        body=max_body * 2**20,
        rows=max_rows,
        waiting=max_waiting,
        rate=rate,
        connections=max_connections,
    )
    run(named(stores, name), limits=limits, **options)
    return {"stores": list(stores)}


def named(stores: tuple[str, ...], name: str | None) -> dict[str, str]:
    """The stores by the names of their models: those of the files, or for one store that given."""
    if name is not None and len(stores) > 1:
        raise ValueError("--name is for one store; several are named like their files.")
    from gramian.serve import store_name

    found: dict[str, str] = {}
    for path in stores:
        if not is_address(path):
            _check_file(path)
        model = name or store_name(path)
        if model in found:
            raise ValueError(f"{found[model]} and {path} would both be the model {model!r}.")
        found[model] = path
    return found


def _check_file(path: str) -> None:
    with open(path, "rb") as file:
        if file.read(4) == b"PK\x03\x04":
            raise ValueError(
                f"{path} is a model file, and a service needs a store. Make one: "
                f"gramian store create {path} {Path(path).with_suffix('.store')}"
            )


def show(facts: dict[str, Any]) -> None:
    echo(f"Closed {', '.join(facts['stores'])}.")
