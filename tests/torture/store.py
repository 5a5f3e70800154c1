"""Attacks on stores: killed processes, bytes of forgotten rows, and flipped bytes.

``kills(seed, n)`` kills a process that edits, at random moments and at every step and system call
of an edit; ``erasure(seed, n)`` looks for forgotten rows in every file; ``flips(seed)`` alters each
byte of a small store. Each returns the number of attempts and what went wrong.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import gramian
from gramian.files import difference_to_refit
from gramian.store import Store, audit
from gramian.store._sqlite import SQLiteFile
from tests.store.steps import STEPS, reached
from tests.torture.common import Clock

FORK = multiprocessing.get_context("fork")
CALLS = "pwrite64,write,fdatasync,fsync,ftruncate,unlink"


def make_store(path, rng, n=40):
    """A store of a small model with rows ``0``, ``1``, … as ids."""
    X = rng.standard_normal((n, 3))
    y = np.where(X[:, 0] > 0, "positive", "negative")
    model = gramian.KernelDiscriminant(gamma=0.3, ridge=0.1)
    model.fit(X, y, ids=[f"first{i}" for i in range(n)])
    Store.create(path, model).close()


# -- kills --------------------------------------------------------------------------------------


def edit(store, number):
    """The edit with this number, always the same one: most learn, every third forgets."""
    rng = np.random.default_rng(number)
    if number % 3 == 0:
        return store.forget([f"row{number - 1}"])
    X = rng.standard_normal((1, 3))
    label = "positive" if X[0, 0] > 0 else "negative"
    return store.learn(X, [label], ids=[f"row{number}"])


def held_after(number, n=40):
    """The ids after so many edits."""
    names = [f"first{i}" for i in range(n)]
    for k in range(1, number + 1):
        names = [x for x in names if x != f"row{k - 1}"] if k % 3 == 0 else [*names, f"row{k}"]
    return names


def _edit_until_killed(path, acknowledge, last, step=None, times=0, go=None):
    """Edit, and write the number of each edit to a pipe once it has returned."""
    left = [times]

    def happen(name):
        if name == step:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    reached(happen)
    with Store.open(path) as store:
        os.write(acknowledge, struct.pack("<q", store.version))
        if go is not None:
            os.read(go, 1)
        while store.version < last:
            edit(store, store.version + 1)
            os.write(acknowledge, struct.pack("<q", store.version))


def _killed(path, last, kill=None, after=1, **options):
    """The last acknowledged version of a process that edits and is killed.

    ``kill`` is called once there are ``after`` messages: the first one says that it is open.
    """
    get, put = os.pipe()
    process = FORK.Process(target=_edit_until_killed, args=(path, put, last), kwargs=options)
    process.start()
    os.close(put)
    acknowledged = b""
    while len(acknowledged) < 8 * after and (chunk := os.read(get, 8)):
        acknowledged += chunk
    if kill is not None:
        kill(process)
    process.join()
    while chunk := os.read(get, 65536):
        acknowledged += chunk
    os.close(get)
    whole = len(acknowledged) // 8
    number = struct.unpack_from("<q", acknowledged, 8 * (whole - 1))[0] if whole else None
    return number, process.exitcode


def _faults(path, before, acknowledged, n=40):
    """What is wrong with the store after a kill."""
    least = before if acknowledged is None else acknowledged
    with Store.open(path, readonly=True) as store:
        if not least <= store.version <= least + 1:
            yield f"version {store.version} after {least} was acknowledged"
        if store.model.ids_.tolist() != held_after(store.version, n):
            yield f"other rows than version {store.version} has"
        report = store.audit()
        if not report.passed:
            yield f"{[check for check in report.checks if not check.passed]}"
        difference = store.read(difference_to_refit)
        if not difference <= 1e-9:
            yield f"the model differs from a refit by {difference:.1e}"


def _version(path):
    with Store.open(path, readonly=True) as store:
        return store.version


def kills(seed=0, n=300, folder=None, steps=STEPS, times=3, calls=True, seconds=None):
    """``n`` kills at random moments, one at each step, and one before each system call."""
    rng, failures, tried, clock = random.Random(seed), [], 0, Clock(seconds)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / "a.store"
        make_store(path, np.random.default_rng(seed))

        def attempt(what, kill=None, **options):
            nonlocal tried
            before = _version(path)
            acknowledged, code = _killed(path, before + 400, kill, **options)
            tried += code == -signal.SIGKILL
            failures.extend(f"{what}: {fault}" for fault in _faults(path, before, acknowledged))
            return code

        def later(process):
            time.sleep(rng.uniform(0.0, 0.03))
            os.kill(process.pid, signal.SIGKILL)

        for step in steps:
            for k in range(times):
                attempt(f"kill at {step!r} {k}", step=step, times=k)
        if calls and shutil.which("strace"):
            tried += _kills_by_call(path, failures)
        for i in range(n):
            if clock.goes_on():
                attempt(f"kill {i}", later, after=2)
        left = [file.name for file in Path(name).iterdir() if file.name.startswith(".gramian")]
        failures += [f"{file} is left" for file in left]
    return tried, failures


def _kills_by_call(path, failures):
    """Kill before the k-th write, sync or truncation of three edits, for every k."""
    for k in range(1, 1000):
        before = _version(path)
        goes, go = os.pipe()

        def kill(process, k=k, go=go):
            inject = f"inject={CALLS}:signal=SIGKILL:when={k}"
            tracer = subprocess.Popen(
                ["strace", "-qq", "-f", "-o", os.devnull, "-e", inject, "-p", str(process.pid)],
                stderr=subprocess.DEVNULL,
            )
            while not is_traced(process.pid) and tracer.poll() is None:
                time.sleep(0.005)
            os.write(go, b"x")
            process.join()
            tracer.wait()

        acknowledged, code = _killed(path, before + 3, kill, go=goes)
        os.close(go)
        os.close(goes)
        failures.extend(f"kill at call {k}: {f}" for f in _faults(path, before, acknowledged))
        if code != -signal.SIGKILL:
            return k - 1
    return 1000


def is_traced(pid):
    """Whether `strace` has hold of a process, or it has ended."""
    with contextlib.suppress(OSError):
        return "TracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text()
    return True


# -- erasure ------------------------------------------------------------------------------------


def _hold_open(path, ready, done):
    """A reader that has read everything and keeps its connection."""
    connection = sqlite3.connect(path)
    connection.execute("SELECT * FROM rows").fetchall()
    ready.set()
    done.wait()


def _traces(folder, patterns):
    """The patterns that are in some file."""
    contents = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
    return [
        f"{pattern!r} in {name}"
        for pattern in patterns
        for name, content in contents.items()
        if pattern in content
    ]


def erasure(seed=0, n=1000, reader=False, folder=None, table=False):
    """Learn ``n`` rows in batches, forget them in others; look for each in every file."""
    rng, failures, size = np.random.default_rng(seed), [], max(1, n // 20)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / "a.store"
        held, rows = _secret_rows(rng, n, table)
        store = Store.create(path, held)
        ready, done = FORK.Event(), FORK.Event()
        process = FORK.Process(target=_hold_open, args=(path, ready, done))
        if reader:
            process.start()
            ready.wait()
        for start in range(0, n, size):
            learn, _ = rows(np.arange(start, min(n, start + size)))
            learn(store)
        leaving = rng.permutation(n)
        for start in range(0, n, size):
            some = leaving[start : start + size]
            _, patterns = rows(some)
            store.forget([f"patient-{i:06d}" for i in some])
            failures += _traces(name, patterns)
        _, patterns = rows(np.arange(n))
        labels = {f"diagnosis-{i // 50}-of-{n}".encode() for i in range(n)}
        failures += _traces(name, [*patterns, *labels])
        store.close()
        failures += _traces(name, [*patterns, *labels])
        if reader:
            done.set()
            process.join()
    return n, failures


def _secret_rows(rng, n, table):
    """A model of other rows, and a function that learns some rows and tells their bytes."""
    X = rng.standard_normal((n, 4))
    ids = [f"patient-{i:06d}" for i in range(n)]
    labels = [f"diagnosis-{i // 50}-of-{n}" for i in range(n)]
    base, kinds = rng.standard_normal((30, 4)), np.where(np.arange(30) % 2, "well", "ill")
    estimator = gramian.KernelDiscriminant(gamma=0.3, ridge=0.5)
    words = [f"village {value:.6f}" for value in X[:, 1]]
    if table:
        first = {"name": [f"base{i}" for i in range(30)], "x": base[:, 0], "d": kinds}
        first["place"] = ["here", "there"] * 15
        model = gramian.TableModel(estimator, target="d", id_column="name").fit(first)
    else:
        model = estimator.fit(base, kinds, ids=[f"base{i}" for i in range(30)])

    def rows(some):
        own = [ids[i] for i in some]
        if table:
            cells = {"name": own, "x": X[some, 0], "d": [labels[i] for i in some]}
            cells["place"] = [words[i] for i in some]
            patterns = [repr(float(X[i, 0])).encode() for i in some]
            patterns += [words[i].encode() for i in some]
            return (lambda store: store.learn(cells)), patterns + [x.encode() for x in own]
        patterns = [value.tobytes() for i in some for value in X[i]] + [x.encode() for x in own]
        y = [labels[i] for i in some]
        return (lambda store: store.learn(X[some], y, ids=own)), patterns

    return model, rows


# -- flips --------------------------------------------------------------------------------------


def _facts(path):
    """All that a store says, wherever in the file it stands."""
    contents, _ = SQLiteFile(path).read()
    taken = sorted(content for content in contents.rows.values() if any(content))
    return replace(contents, rows=dict(enumerate(taken)))


def _small_store(path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 2)), ["a", "b"] * 3
    model = gramian.KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y, ids=list("pqrstu"))
    with contextlib.suppress(ModuleNotFoundError):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = Ed25519PrivateKey.generate()
        with Store.create(path, model, key=key) as store:
            store.forget("p")
            store.learn(X[:1], ["b"], ids=["v"])
        return key.public_key()
    Store.create(path, model).close()
    return None


def flips(seed=0, every=1, first=0, folder=None, seconds=None):
    """Alter every ``every``-th byte of a small store: found, or nothing has changed."""
    rng, failures, found, tried, clock = random.Random(seed), [], 0, 0, Clock(seconds)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path, altered = Path(name) / "a.store", Path(name) / "altered" / "a.store"
        key = _small_store(path)
        good, facts = path.read_bytes(), _facts(path)
        altered.parent.mkdir()
        assert Store.open(path, readonly=True).audit(key).passed
        for position in _spread(range(first, len(good), every)):
            if not clock.goes_on():
                break
            for left in altered.parent.iterdir():  # a log, if the byte says that there is one
                left.unlink()
            content = bytearray(good)
            content[position] ^= rng.randrange(1, 256)
            altered.write_bytes(content)
            tried += 1
            if _is_found(altered, key):
                found += 1
            elif _facts(altered) != facts:
                failures.append(f"byte {position}: altered, and not found")
    return tried, failures, f"{found:,} found, {tried - found:,} changed nothing that is stored"


def _spread(positions):
    """The same positions, such that the first of them are spread over all."""
    return [k for start in range(16) for k in positions[start::16]]


def _is_found(path, key):
    return not audit(path, key).passed


def drops(folder=None):
    """Drop, exchange and alter receipts, rows and signatures by SQL; each must be found."""
    statements = {
        "the last receipt": "DELETE FROM receipts WHERE number = 2",
        "the first receipt": "DELETE FROM receipts WHERE number = 0",
        "order of receipts": "UPDATE receipts SET number = 9 WHERE number = 1; UPDATE receipts "
        "SET number = 1 WHERE number = 2; UPDATE receipts SET number = 2 WHERE number = 9",
        "a receipt twice": "UPDATE receipts SET content = (SELECT content FROM receipts WHERE "
        "number = 1) WHERE number = 2",
        "a row": "DELETE FROM rows WHERE place = 3",
        "a wiped row": "UPDATE rows SET content = zeroblob(length(content)) WHERE place = 3",
        "a row twice": "INSERT INTO rows SELECT 99, version, content FROM rows WHERE place = 3",
        "a signature": 'UPDATE receipts SET content = replace(content, \'"signature":"\', '
        '\'"signature":"00\') WHERE number = 1',
        "the key of ids": "UPDATE meta SET id_key = zeroblob(32)",
        "the settings": "UPDATE settings SET salt = zeroblob(32)",
        "a table more": "CREATE TABLE other (x)",
        "a trigger": "CREATE TRIGGER t AFTER UPDATE ON rows BEGIN DELETE FROM receipts; END",
    }
    failures = []
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path, altered = Path(name) / "a.store", Path(name) / "b.store"
        key = _small_store(path)
        for what, statement in statements.items():
            shutil.copy(path, altered)
            connection = sqlite3.connect(altered)
            connection.executescript(statement)
            connection.close()
            if not _is_found(altered, key):
                failures.append(f"{what}: not found")
            altered.unlink()
    return len(statements), failures
