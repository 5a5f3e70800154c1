"""Run the service until it is interrupted."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gramian.files import StrPath
from gramian.serve._app import create_app
from gramian.serve._connections import limited_server
from gramian.serve._limits import Limits
from gramian.serve._logs import log_config
from gramian.serve._problems import log
from gramian.serve._tokens import Tokens
from gramian.store import Store, is_address


def run(
    stores: StrPath | Mapping[str, StrPath],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    tokens: StrPath | None = None,
    limits: Limits | None = None,
    key: Any = None,
    keyring: Any = None,
    anchor: StrPath | None = None,
    readonly: bool = False,
    access_log: bool = False,
    json_log: bool = False,
    **options: Any,
) -> None:
    """Serve stores; returns after SIGINT or SIGTERM, when every edit that was taken is on disk.

    Parameters
    ----------
    stores : str or path, or mapping of str to them
        Path of a store, whose model is named like the file, or paths by the names of models. The
        address of a server, ``postgresql://…``, may be served by any number of processes.
    host : str
        Address to listen on. One that other computers can reach needs tokens.
    port : int
    tokens : str or path, optional
        File of tokens.
    limits : Limits, optional
    key : str or path, optional
        Private key that signs the receipts.
    keyring : str or path, optional
        Where the key is that opens the rows.
    anchor : str or path, optional
        File of the last receipt, by which an old copy is recognised.
    readonly : bool
        Whether to serve stores that other processes edit, and follow their edits.
    access_log : bool
        Whether to log who asked for which route, without addresses and values.
    json_log : bool
        Whether to log in JSON.
    options
        For uvicorn, such as ``root_path``, ``ssl_keyfile`` and ``ssl_certfile``.

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
    known, limits = None if tokens is None else Tokens(tokens), limits or Limits()
    paths = stores if isinstance(stores, Mapping) else {store_name(stores): stores}
    with ExitStack() as opened:
        found = {}
        for name, path in paths.items():
            store = Store.open(path, readonly=readonly, key=key, keyring=keyring, anchor=anchor)
            found[name] = opened.enter_context(store)
        app = create_app(found, tokens=known, limits=limits)
        config = log_config(access=access_log, as_json=json_log)
        server = limited_server(app, limits, host=host, port=port, log_config=config, **options)
        if not is_loopback(host) and not server.config.is_ssl:
            log.warning("without TLS, tokens and rows can be read on the way: give --ssl-certfile.")
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        server.run()


def store_name(store: StrPath) -> str:
    """The name of a store's model: that of its file, or of its schema or database on a server."""
    if is_address(store):
        parts = urlsplit(os.fspath(store))
        return parts.fragment or parts.path.strip("/") or "gramian"
    return Path(store).stem


def is_loopback(host: str) -> bool:
    """Whether only this computer reaches an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
