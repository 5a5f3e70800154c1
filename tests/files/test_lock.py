"""Locks: one holder at a time, known by name, free when the holder is gone."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest

from gramian.files import FileInUseError, locked
from tests.interrupts import interrupted, lines_of

HOLD = """
import sys, time
from gramian.files import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of ``x``."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "x"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_free_lock_leaves_nothing(tmp_path):
    with locked(tmp_path / "x"):
        (lock,) = tmp_path.iterdir()
        assert lock.name == ".x.lock"
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


def test_holder_is_named(tmp_path, holder):
    match = r"x is in use by .*waited 0.1 s"
    with pytest.raises(FileInUseError, match=match) as caught, locked(tmp_path / "x", wait=0.1):
        raise AssertionError
    assert f"process {holder.pid} of " in str(caught.value)
    assert str(tmp_path / ".x.lock") in str(caught.value)


def test_other_files_are_free(tmp_path, holder):
    with locked(tmp_path / "y", wait=0.0):
        pass


def test_lock_of_a_killed_process_is_free(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / ".x.lock").exists()
    with locked(tmp_path / "x", wait=5.0):
        pass
    assert list(tmp_path.iterdir()) == []


def test_link_has_the_lock_of_its_file(tmp_path, holder):
    (tmp_path / "link").symlink_to(tmp_path / "x")
    with pytest.raises(FileInUseError), locked(tmp_path / "link", wait=0.05):
        raise AssertionError


def test_same_thread_may_ask_twice(tmp_path):
    with locked(tmp_path / "x"):
        with locked(tmp_path / "x", wait=0.0):
            pass
        assert (tmp_path / ".x.lock").exists()
    assert list(tmp_path.iterdir()) == []


def test_threads_take_turns(tmp_path):
    inside, most = [], []

    def work():
        for _ in range(20):
            with locked(tmp_path / "x"):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 80
    assert os.listdir(tmp_path) == []


def test_error_within_frees_the_lock(tmp_path):
    with pytest.raises(KeyboardInterrupt), locked(tmp_path / "x"):
        raise KeyboardInterrupt
    with locked(tmp_path / "x", wait=0.0):
        pass


def test_an_interrupt_at_any_line_leaves_the_lock_free(tmp_path):
    path = tmp_path / "x"

    def hold():
        with locked(path):
            pass

    lines_of(hold)  # what runs once for all
    for k in range(len(lines_of(hold))):
        assert interrupted(hold, k)
        with locked(path, wait=0.0):
            assert json.loads((tmp_path / ".x.lock").read_text())["process"] == os.getpid()
