"""``python -m tests.serve.measure``: how far a replica is behind, and what two of them save.

Two replicas of 1,000 samples with 20 features, on a PostgreSQL server that syncs to disk. Needs an
idle machine: the delay is wall-clock time.
"""

from __future__ import annotations

import http.client
import json
import os
import tempfile
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Event, Thread

import numpy as np

from gramian import KernelDiscriminant
from gramian.store import Store
from tests import postgres
from tests.torture.forks import Forks
from tests.torture.replicas import MODEL, Replica

EDITS, RATE, CLIENTS = 1_000, 50.0, 8
REQUESTS, RUNS = 600, 5
RNG = np.random.default_rng(0)


@contextmanager
def replicas():
    """Two of them that are ready."""
    server, forks, made = postgres.Server(durable=True), Forks(), []
    X = RNG.standard_normal((1_000, 20))
    model = KernelDiscriminant(gamma=0.05, ridge=0.1).fit(X, (X[:, 0] > 0).astype(int))
    try:
        with tempfile.TemporaryDirectory() as folder:
            address, keyring = f"{server.url}#measure", Path(folder) / "keyring"
            Store.create(address, model, keyring=keyring).close()
            made += [Replica(address, keyring, forks) for _ in range(2)]
            for replica in made:
                replica.wait()
            yield made
    finally:
        for replica in made:
            replica.kill()
        forks.close()
        server.remove()


def rows():
    data = RNG.standard_normal(20).tolist()
    return {"inputs": [{"name": "X", "shape": [1, 20], "datatype": "FP64", "data": data}]}


def together(function, arguments):
    """Run a function in one thread for each argument."""
    threads = [Thread(target=function, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def delays(one, two):
    """Milliseconds from the answer to an edit until the other replica shows its version."""
    acknowledged, shown, ended, turns = {}, {}, Event(), count()
    begun = time.monotonic() + 0.5

    def follow():
        link = http.client.HTTPConnection("127.0.0.1", two.port)
        version = 1
        while not ended.is_set():
            link.request("GET", f"{MODEL}/ready?min_version={version}")
            answer = link.getresponse()
            answer.read()
            if answer.status == 200:
                shown[version] = time.monotonic()
                version += 1

    def edit(_):
        link = http.client.HTTPConnection("127.0.0.1", one.port)
        while (turn := next(turns)) < EDITS:
            body = {**rows(), "targets": [turn % 2], "ids": [10_000 + turn]}
            time.sleep(max(0.0, begun + turn / RATE - time.monotonic()))
            link.request("POST", f"{MODEL}/learn", json.dumps(body))
            made = json.loads(link.getresponse().read())
            acknowledged.setdefault(int(made["model_version"]), time.monotonic())

    follower = Thread(target=follow)
    follower.start()
    together(edit, range(CLIENTS))
    rate = EDITS / (time.monotonic() - begun)
    time.sleep(1.0)
    ended.set()
    follower.join()
    both = acknowledged.keys() & shown.keys()
    return rate, 1e3 * np.array([max(0.0, shown[v] - acknowledged[v]) for v in both])


def processor_time(targets):
    """Seconds of processor that each replica takes while each target answers its share."""

    def ask(replica):
        link, body = http.client.HTTPConnection("127.0.0.1", replica.port), json.dumps(rows())
        for _ in range(REQUESTS):
            link.request("POST", f"{MODEL}/infer", body)
            link.getresponse().read()

    before = [replica.seconds for replica in targets]
    together(ask, targets)
    return [replica.seconds - seconds for replica, seconds in zip(targets, before, strict=True)]


def main():
    with replicas() as (one, two):
        rate, behind = delays(one, two)
        print(
            f"{EDITS} edits, {rate:.0f} a second, in {len(behind)} blocks: a replica is "
            f"{np.median(behind):.1f} ms behind (median), {np.quantile(behind, 0.99):.1f} (p99)"
        )
        gains = []
        for _ in range(RUNS):
            alone, shared = processor_time([one, one])[0], processor_time([one, two])
            gains.append(2 * alone / sum(shared))
        print(f"infer, two replicas against one, by processor time: {np.median(gains):.2f} ×")
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
