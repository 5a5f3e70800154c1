"""Run the service until it is told to stop."""

from __future__ import annotations

import logging
import warnings
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import uvicorn

from gramian.files import StrPath
from gramian.serve._app import create_app
from gramian.serve._limits import Limits
from gramian.serve._tokens import Tokens
from gramian.store import Store

log = logging.getLogger("uvicorn.error")


def run(
    path: StrPath,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    name: str | None = None,
    tokens: StrPath | None = None,
    limits: Limits | None = None,
    key: Any = None,
    **options: Any,
) -> None:
    """Serve a store; returns after SIGINT or SIGTERM, when every edit that was taken is on disk.

    Parameters
    ----------
    path : str or path
        Of the store.
    host : str
        Address to listen on. Another one than that of this machine needs tokens.
    port : int
    name : str, optional
        Of the model, in paths; by default that of the file.
    tokens : str or path, optional
        File of tokens.
    limits : Limits, optional
    key : str or path, optional
        Private key that signs the receipts.
    options
        For uvicorn, such as ``ssl_keyfile`` and ``ssl_certfile``.

    Raises
    ------
    ValueError
        If other machines could reach it without a token.
    """
    if not is_loopback(host) and tokens is None:
        raise ValueError(
            f"{host} can be reached from other machines, so clients need tokens: make a file of "
            f"them by `gramian token FILE` and give it by --tokens."
        )
    known = None if tokens is None else Tokens.read(tokens)
    store = Store.open(path, key=key)
    app = create_app(store, name=name or Path(path).stem, tokens=known, limits=limits)
    config = uvicorn.Config(
        app, host=host, port=port, access_log=False, server_header=False, **options
    )
    config.load()  # also sets up the log
    if not is_loopback(host) and not config.is_ssl:
        log.warning("without TLS, tokens and rows can be read on the way: give --ssl-certfile.")
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    uvicorn.Server(config).run()


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
