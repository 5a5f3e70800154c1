"""Errors of the disk at every write, sync and truncation of an edit: what is said of it is true.

A process edits a store while `strace` lets its k-th call fail, or every call from the k-th on, as
if the disk were full or broken. Its answer (made, not made, or that this shows later) must be what
is found when the store is opened again; then the audit passes, and a row that was forgotten is in
none of its files.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import gramian
from gramian.store import Store, StoreError
from tests.torture.common import Clock
from tests.torture.store import is_traced

FORK = multiprocessing.get_context("fork")
CALLS = "pwrite64,write,fdatasync,fsync,ftruncate,rename,unlink"
ERRORS = ("EIO", "ENOSPC")
MOST = 60  # calls of an edit
_ROWS = np.random.default_rng(0).standard_normal((34, 3))
_LABELS = ["a", "b"] * 17

EDITS = {
    "learn": lambda store: store.learn(_ROWS[30:], _LABELS[30:], ids=list(range(30, 34))),
    "forget": lambda store: store.forget([3, 4]),
    "relabel": lambda store: store.relabel([5], ["a"]),
    "compact": lambda store: store.compact(),
}
AFTER = {
    "learn": list(range(34)),
    "forget": [i for i in range(30) if i not in (3, 4)],
    "relabel": [*(i for i in range(30) if i != 5), 5],
    "compact": list(range(30)),
}


def make_store(folder, *, sealed):
    """A store of 30 rows in a folder; how it is opened."""
    options = {"keyring": folder / "keyring"} if sealed else {}
    model = gramian.KernelDiscriminant(gamma=0.3, ridge=0.1).fit(_ROWS[:30], _LABELS[:30])
    Store.create(folder / "a.store", model, snapshot=False, **options).close()
    return options


def _edit(path, options, action, said, ready, go):
    """Edit when told to, and leave what came of it in shared memory."""
    store = Store.open(path, **options)
    ready.set()
    go.wait()
    try:
        EDITS[action](store)
        text = "made"
    except StoreError as error:
        text = str(error)
    except BaseException as error:
        text = f"raised {error!r}"
    said.value = text.encode()[:4000]
    with contextlib.suppress(StoreError):  # the disk may still be broken
        store.close()


def attempt(path, options, action, rule):
    """What an edit says whose calls fail by this rule of strace; None if none was reached."""
    said, ready, go = FORK.Array("c", 4096), FORK.Event(), FORK.Event()
    process = FORK.Process(target=_edit, args=(path, options, action, said, ready, go))
    process.start()
    ready.wait()
    log = path.with_name("strace.log")
    words = ["strace", "-qq", "-f", "-o", str(log), "-e", f"inject={CALLS}:{rule}"]
    tracer = subprocess.Popen([*words, "-p", str(process.pid)], stderr=subprocess.DEVNULL)
    while not is_traced(process.pid) and tracer.poll() is None:
        time.sleep(0.005)
    go.set()
    process.join(60)
    if process.is_alive():
        process.kill()
        return "did not end"
    tracer.wait()
    injected = "(INJECTED)" in log.read_text()
    log.unlink()
    return said.value.decode() if injected else None


def judge(path, options, action, text):
    """What is wrong with the store, or with what was said of it."""
    if text.startswith(("raised", "did not end")):
        yield text
    with Store.open(path, **options) as store:
        made, held = store.version == 1, store.model.ids_.tolist()
        if not store.audit(refit=True).passed:
            yield "the audit fails"
    if held != (AFTER[action] if made else list(range(30))):
        yield f"holds other rows than version {int(made)} has"
    if action != "compact" and _claim(text) not in (made, None):
        yield f"was{' ' if made else ' not '}made, and it was said: {text}"
    left = [f.name for f in path.parent.iterdir() if _ROWS[3].tobytes() in f.read_bytes()]
    if left and 3 not in held:
        yield f"the forgotten row is in {left}"


def _claim(text):
    """Whether the edit was made, as it was said; None if that was left open."""
    if "Whether the edit was made" in text:
        return None
    return text == "made" or "The edit was made" in text


def main(seed=0, seconds=None, n=None):
    """Every edit, with a keyring and without, for every call; number of errors, and failures."""
    if reason := missing():
        return 0, [f"not tried: {reason}"]
    cases = [(action, sealed) for sealed in (False, True) for action in EDITS]
    random.Random(seed).shuffle(cases)
    clock, tried, failures, over = Clock(seconds, n), 0, [], set()
    with tempfile.TemporaryDirectory() as name:
        for k in range(1, MOST):
            for action, sealed in cases:
                for last in ("", "+"):
                    if (action, sealed) in over or not clock.goes_on():
                        continue
                    rule = f"error={ERRORS[(seed + k) % 2]}:when={k}{last}"
                    text, wrong = _tried(Path(name), action, sealed, rule)
                    if text is None:
                        over.add((action, sealed))
                        continue
                    tried += 1
                    what = f"store-disk {action}{' sealed' if sealed else ''} {rule}"
                    failures += [f"{what}: {fault}" for fault in wrong]
    return tried, failures


def missing():
    """Why nothing can be tried here, or None."""
    if not shutil.which("strace"):
        return "strace is not there"
    traced = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False)
    return f"strace may not trace: {traced.stderr[-100:]!r}" if traced.returncode else None


def _tried(folder, action, sealed, rule):
    """What one edit said, and what is wrong then."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        options = make_store(Path(name), sealed=sealed)
        path = Path(name) / "a.store"
        text = attempt(path, options, action, rule)
        try:
            return text, [] if text is None else list(judge(path, options, action, text))
        except Exception as error:
            return text, [f"cannot be opened again: {error!r:.300}; said: {text}"]
