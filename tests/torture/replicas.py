"""Replicas of one store, killed at random with their server: no edit is lost or doubled.

One client makes edits at replicas chosen at random. Rows have ids of the client's, so that it can
ask again after an edit in doubt: what was made is refused then. A kill falls at a random moment of
an edit, and a new process takes the place of the old one while edits go on. In the end there must
be one receipt for each edit, every replica must hold just what was acknowledged and give the same
decision values, and the store must pass its audit with a refit.

A replica runs the command `gramian serve`, in a fork of a process that has made the imports.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock

import numpy as np

from gramian import KernelDiscriminant
from tests import postgres
from tests.torture.common import Clock
from tests.torture.forks import Forks, is_alive

REPLICAS, HELD = 3, 60
EDIT = 0.1  # seconds from its start in which a kill falls
PATIENCE = 600.0  # seconds for a replica to become ready, on a computer that may be busy
QUERIES = np.random.default_rng(1).standard_normal((25, 3))
MODEL = "/v2/models/m"


class Replica:
    """A process that serves the store."""

    def __init__(self, address, keyring, forks):
        self._forks = forks
        self._words = ["serve", address, "--name", "m", "--keyring", str(keyring)]
        self._starting = Lock()
        self.start()

    def start(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = [*self._words, "--port", str(self.port)]
        self.pid = self._forks.start(words)

    @property
    def seconds(self):
        """Processor time so far."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def ask(self, path, body=None, timeout=30.0):
        """Status and answer; status 0 if there is none."""
        try:
            link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
            content = None if body is None else json.dumps(body)
            link.request("GET" if body is None else "POST", path, content)
            answer = link.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            return 0, repr(error)
        finally:
            link.close()

    def wait(self, seconds=PATIENCE):
        """Until it is ready; it is started again if it has ended."""
        end = time.monotonic() + seconds
        while self.ask("/v2/health/ready", timeout=2.0)[0] != 200:
            if time.monotonic() > end:
                raise RuntimeError("a replica does not become ready")
            self.revive()
            time.sleep(0.05)

    def revive(self):
        """Start it again if it has ended, as a supervisor does."""
        with self._starting:
            if not is_alive(self.pid):
                self.start()

    def kill(self):
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        while is_alive(self.pid):
            time.sleep(0.005)


class World:
    """A server, replicas, and what was acknowledged."""

    def __init__(self, folder, seed):
        from gramian.store import Store

        self.rng, self.server = np.random.default_rng(seed), postgres.Server(durable=True)
        self.address, self.keyring = f"{self.server.url}#torture", Path(folder) / "keyring"
        X = self.rng.standard_normal((HELD, 3))
        model = KernelDiscriminant(gamma=0.3, ridge=0.1).fit(X, (X[:, 0] > 0).astype(int))
        Store.create(self.address, model, keyring=self.keyring).close()
        self.rows = {i: (tuple(X[i]), int(X[i, 0] > 0)) for i in range(HELD)}
        self.next, self.seen, self.failures = HELD, Counter(), []
        self.made = 0
        self.forks, count = Forks(), range(REPLICAS)
        self.replicas = [Replica(self.address, self.keyring, self.forks) for _ in count]
        for replica in self.replicas:
            replica.wait()

    def edit(self):
        """One edit, asked for until it is for sure made."""
        if len(self.rows) < HELD or self.rng.random() < 0.5:
            row, name = self.rng.standard_normal(3), self.next
            self.next += 1
            body = {"name": "X", "shape": [1, 3], "datatype": "FP64", "data": row.tolist()}
            label = int(row[0] > 0)
            self._until(
                "learn", {"inputs": [body], "targets": [label], "ids": [name]}, "already held"
            )
            self.rows[name] = (tuple(row), label)
        else:
            name = int(self.rng.choice(list(self.rows)))
            self._until("forget", {"ids": [name]}, "does not hold")
            del self.rows[name]
        self.made += 1

    def _until(self, route, body, refused):
        doubt = False
        for _ in range(600):
            replica = self.replicas[int(self.rng.integers(len(self.replicas)))]
            status, answer = replica.ask(f"{MODEL}/{route}", body)
            self.seen[status] += 1
            if status == 200:
                return
            said = str(answer)
            if status == 422 and doubt and refused in said:
                self.seen["made though in doubt"] += 1
                return
            if status == 422:
                self.failures.append(f"{route} {body}: {said}")
                return
            doubt = True
            replica.revive()
            time.sleep(0.02)
        raise RuntimeError(f"{route} is not answered: {answer}")

    def edit_under_fire(self, killer):
        """One edit, and somewhere in it a kill of a replica or of the server."""
        victim = None if self.rng.random() < 0.25 else int(self.rng.integers(len(self.replicas)))
        struck = killer.submit(self._strike, victim, self.rng.random() * EDIT)
        self.edit()
        struck.result()

    def _strike(self, victim, delay):
        time.sleep(delay)
        if victim is None:
            self.seen["server killed"] += 1
            self.server.kill()
            self.server.start()
        else:
            self.seen["replicas killed"] += 1
            self.replicas[victim].kill()
            self.replicas[victim].revive()

    def compare(self):
        """Whether all replicas hold what was acknowledged and answer alike."""
        for replica in self.replicas:
            replica.wait()
        version = max(int(r.ask(MODEL)[1]["versions"][0]) for r in self.replicas)
        rows = {"name": "X", "shape": [25, 3], "datatype": "FP64", "data": QUERIES.ravel().tolist()}
        body = {"inputs": [rows], "parameters": {"decision": True, "min_version": version}}
        found = []
        for replica in self.replicas:
            status, answer = replica.ask(f"{MODEL}/infer", body)
            if status != 200 or int(answer["model_version"]) != version:
                self.failures.append(f"version {version}: {status} {answer}")
                return
            found.append(np.array(answer["outputs"][1]["data"]))
            held = replica.ask(f"{MODEL}/loo?samples=true")[1]["ids"]
            if sorted(held) != sorted(self.rows):
                self.failures.append(f"version {version}: other rows than were acknowledged")
        X = np.array([row for row, _ in self.rows.values()])
        y = np.array([label for _, label in self.rows.values()])
        model = KernelDiscriminant(gamma=0.3, ridge=0.1).fit(X, y)
        apart = max(float(np.abs(one - found[0]).max()) for one in found)
        off = float(np.abs(found[0] - model.decision_function(QUERIES)).max())
        self.seen["comparisons"] += 1
        if apart > 1e-12 or off > 1e-9:
            self.failures.append(f"version {version}: {apart:.1e} apart, {off:.1e} off a refit")

    def finish(self):
        """The audit, and that every receipt is closed."""
        from gramian.store import Store

        self.compare()
        with Store.open(self.address, readonly=True, keyring=self.keyring) as store:
            if store.version != self.made:
                self.failures.append(f"{self.made} edits have {store.version} receipts")
            report = store.audit(refit=True)
            if not report.passed:
                self.failures.append(f"the audit failed: {report.as_dict()}")
            end = time.monotonic() + 30.0
            while store.open_receipts() and time.monotonic() < end:
                time.sleep(0.1)
            if store.open_receipts():
                self.failures.append("receipts are open for ever")

    def close(self):
        for replica in self.replicas:
            replica.kill()
        self.forks.close()
        self.server.remove()


def main(seed, seconds=None, n=None, *, every=100, report=None):
    """Number of edits and failures; a kill about every so many edits."""
    if postgres.missing():
        raise RuntimeError(f"replicas: {postgres.missing()}")
    clock = Clock(seconds, n)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as killer:
        world = World(folder, seed)
        try:
            while clock.goes_on():
                if world.rng.random() < 1 / every:
                    world.edit_under_fire(killer)
                else:
                    world.edit()
                if world.made % 500 == 0:
                    world.compare()
            world.finish()
            if report is not None:
                report["replicas"] = ", ".join(f"{key} {n}" for key, n in world.seen.items())
            return world.made, world.failures
        finally:
            world.close()
