"""What durability costs: edits of a store against the same edits in memory and one bare commit.

The commit is that of the place: an fsync for a file, a transaction of one row on a server.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import SEED
from gramian import KernelDiscriminant
from gramian.store import FileKeyring, Store
from gramian.store._backend import Contents
from gramian.store._open import backend_of
from tests.postgres import Server, missing

FEATURES, RIDGE, THREADS, EDITS, BLOCK = 20, 1e-1, 1, 60, 4096
TIMES = ("commit", "forget", "learn", "store forget", "store learn")
PLACES = {"file": "file", "sealed": "file with a keyring", "server": "PostgreSQL"}
KEYS, EPOCHS = 100_000, 5


def cases(quick: bool) -> list[Parameters]:
    places = ["file", "sealed", *([] if missing() else ["server"])]
    sizes = [300] if quick else [2000, 4000]
    edits: list[Parameters] = [{"n": n, "place": place} for n in sizes for place in places]
    keys = KEYS // 100 if quick else KEYS
    return [*edits, *({"n": keys, "place": f"epoch, {place}"} for place in places[1:])]


def run(n: int, place: str) -> dict[str, Any]:
    """Median seconds of each call, one after the other in turn, so that all see the same disk."""
    kind = place.removeprefix("epoch, ")
    with TemporaryDirectory() as name, _server(kind) as server:
        folder = Path(name)
        address = folder / "a.store" if server is None else server.url
        if place != kind:
            return {"epoch": _epoch(address, folder / "keyring", n)}
        X = np.random.default_rng(SEED).standard_normal((n + EDITS, FEATURES))
        y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
        with threadpool_limits(limits=THREADS):
            model = KernelDiscriminant(gamma=1.0 / FEATURES, ridge=RIDGE).fit(X[:n], y[:n])
            keyring = None if kind == "file" else folder / "keyring"
            with Store.create(address, model, keyring=keyring) as store:
                store.forget(n - 1)  # builds the factor
                with _commits(server, folder / "bare") as commit:
                    return _times(model, store, X, y, n, commit)


@contextmanager
def _server(kind: str) -> Iterator[Any]:
    running = Server(durable=True) if kind == "server" else None
    try:
        yield running
    finally:
        if running is not None:
            running.remove()


@contextmanager
def _commits(server: Any, file: Path) -> Iterator[Callable[[], None]]:
    """A function that makes one small thing durable."""
    if server is None:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            yield lambda: (os.write(descriptor, os.urandom(BLOCK)), os.fsync(descriptor))[1]
        finally:
            os.close(descriptor)
        return
    import psycopg

    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE bare (content bytea)")
        yield lambda: connection.execute("INSERT INTO bare VALUES (%s)", [os.urandom(256)]) and None


def _times(
    model: Any, store: Store, X: Any, y: Any, n: int, commit: Callable[[], None]
) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {name: [] for name in TIMES}

    def timed(name: str, call: Callable[[], Any]) -> None:
        start = perf_counter()
        call()
        seconds[name].append(perf_counter() - start)

    for i in range(EDITS):
        row = X[n + i : n + i + 1], y[n + i : n + i + 1]
        timed("commit", commit)
        timed("forget", lambda i=i: model.forget(i).settle())
        timed("store forget", lambda i=i: store.forget(i))
        timed("learn", lambda row=row: model.partial_fit(*row))
        timed("store learn", lambda row=row: store.learn(*row))
    return {name: statistics.median(found) for name, found in seconds.items()}


def _epoch(address: Any, keyring: Path, n: int) -> float:
    """Median seconds of an erasure among so many rows, without a model: a new epoch."""
    backend = backend_of(address, FileKeyring.create(keyring))
    rows = {place: os.urandom(64) for place in range(n)}
    backend.create(Contents(bytes(32), (bytes(32), b"{}"), rows, [b"{}"], None, b""))
    backend.database.begin()
    found = []
    for number in range(EPOCHS):
        start = perf_counter()
        with backend.transaction(erases=True):
            backend.wipe(number, 64)
            backend.add_receipt(number + 1, b"{}", b"")
        found.append(perf_counter() - start)
    backend.close()
    return statistics.median(found)


def report(records: list[Record]) -> list[Part]:
    edits = [record for record in records if record["place"] in PLACES]
    rows = [
        [
            PLACES[record["place"]],
            record["n"],
            *(1e3 * record[name] for name in TIMES),
            record["store forget"] / (record["commit"] + record["forget"]),
            record["store learn"] / (record["commit"] + record["learn"]),
        ]
        for record in sorted(edits, key=lambda record: (record["n"], record["place"]))
    ]
    ratios = [f"store {edit} / (commit + {edit})" for edit in ("forget", "learn")]
    epochs = [
        [PLACES[record["place"].removeprefix("epoch, ")], record["n"], record["epoch"]]
        for record in records
        if record["place"] not in PLACES
    ]
    return [
        Text(
            f"`KernelDiscriminant`, {FEATURES} features, {THREADS} BLAS thread; medians of "
            f"{EDITS} calls of each kind, in turn. `commit` is the smallest durable write: for "
            f"a file, {BLOCK} bytes written to the end of another one and forced to disk; for "
            "PostgreSQL on the same computer, a transaction of one row. `forget` and `learn` "
            "are those of the model in memory, with `settle` after `forget`, as in a store; "
            "those of the store return when edit and receipt are on disk and, for `forget`, "
            "when the row is erased from it and, with a keyring, its key is destroyed."
        ),
        Table(["place", "n", *(f"{name} (ms)" for name in TIMES), *ratios], rows),
        Text(
            "A new epoch: what an erasure does with the keys of all remaining rows, including "
            f"its transaction; medians of {EPOCHS}."
        ),
        Table(["place", "row keys", "seconds"], epochs),
    ]


EXPERIMENTS = (benchmark("store", "Durable edits", cases, run, report),)
