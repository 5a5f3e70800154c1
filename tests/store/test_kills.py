"""A process that is killed at any step of an edit leaves the version before or after it."""

import multiprocessing
import os
import signal

import pytest

from gramian.store import Store
from gramian.store._keyring import FileKeyring
from tests.store.conftest import fitted, make_rows
from tests.store.steps import STEPS, reached

FORK = multiprocessing.get_context("fork")


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("action", ["learn", "forget"])
def test_a_kill_at_any_step(place, step, action, tmp_path):
    if (step, action) == ("erased", "learn"):
        pytest.skip("nothing is erased")
    X, y = make_rows()
    place.create(fitted(X[:30], y[:30])).close()

    def edit():
        store = place.open()
        reached(lambda name: name == step and os.kill(os.getpid(), signal.SIGKILL))
        if action == "learn":
            store.learn(X[30:31], y[30:31])
        else:
            store.forget([3, 4])

    process = FORK.Process(target=edit)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    made = step in ("committed", "erased", "seen")
    with place.open() as store:
        assert store.version == made
        rows = [*range(30), *([30] if made and action == "learn" else [])]
        gone = {3, 4} if made and action == "forget" else set()
        assert store.model.ids_.tolist() == [i for i in rows if i not in gone]
        if place.keyring is not None:
            assert len(FileKeyring(place.keyring).keys()) <= 2
            store.forget(9)
            assert len(FileKeyring(place.keyring).keys()) == 1  # no key of an older epoch is left
        assert store.audit(refit=True).passed


def test_a_writer_that_sleeps_does_not_overwrite_the_key_of_another(server, tmp_path):
    """It wakes up after the server has ended its turn, and another one has erased."""
    address = f"{server.url}#k{os.getpid()}x"
    X, y = make_rows()
    options = {"keyring": tmp_path / "keyring"}
    with (
        Store.create(address, fitted(X[:30], y[:30]), **options) as one,
        Store.open(address, **options) as two,
    ):
        inner = one._backend._inner
        turn = one._backend._keyring.turn

        def sleep():
            one._backend._keyring.turn = turn
            pid = inner._connection.info.backend_pid
            two._backend._inner._run("SELECT pg_terminate_backend(%s)", pid)
            two.forget(5)
            return turn()

        one._backend._keyring.turn = sleep
        with pytest.raises(OSError, match="Nothing was changed"):
            one.forget(3)
        assert one.version == two.version == 1
        assert one.forget(3).number == 2
        assert one.audit(refit=True).passed
