"""Processes that answer for one store on a server: edits are followed, erasures are confirmed."""

import secrets
import signal
import time
from threading import Event

import numpy as np
import pytest

from gramian.store import NoLeaseError, OldCopyError, StoreBusyError, StoreError
from tests.postgres import Server
from tests.store.conftest import Place, fitted, make_rows


@pytest.fixture
def place(server, tmp_path):
    return Place(f"{server.url}#f{secrets.token_hex(6)}", keyring=tmp_path / "keyring")


@pytest.fixture
def pair(place):
    """Two open stores at one address."""
    X, y = make_rows()
    with place.create(fitted(X[:30], y[:30])) as one, place.open() as two:
        yield one, two


def until(condition, seconds=10.0):
    """Wait for something that another thread does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def assert_alike(one, two):
    X, _ = make_rows()
    assert (one.version, one.model.ids_.tolist()) == (two.version, two.model.ids_.tolist())
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-12)


def test_edits_take_turns_and_go_on_from_each_other(pair):
    X, y = make_rows()
    one, two = pair
    one.learn(X[30:32], y[30:32])
    two.forget([3, 30])
    two.relabel([5], ["yes" if y[5] == "no" else "no"])
    receipt = one.learn(X[33:34], y[33:34])
    assert (receipt.number, receipt.n_after) == (4, 31)
    two.refresh()
    assert_alike(one, two)
    expected = fitted(one.model.X_fit_, one.model.y_fit_)
    np.testing.assert_allclose(two.decision_function(X), expected.decision_function(X), atol=1e-12)
    assert two.audit(refit=True).passed


def test_what_others_do_is_seen_before_an_edit_is_judged(pair):
    one, two = pair
    one.forget(3)
    with pytest.raises(ValueError, match="does not hold"):
        two.forget(3)
    assert two.version == 1
    two.forget(4)
    one.refresh()
    assert_alike(one, two)


def test_followers_see_edits_and_confirm_them(pair):
    X, y = make_rows()
    one, two = pair
    seen = []
    with two.follow(on_change=seen.append) as following:
        assert following.answering
        one.forget(3)
        assert following.wait(1, 10)
        until(lambda: not one.open_receipts())
        two.learn(X[30:31], y[30:31])
        assert following.wait(2, 10)
        until(lambda: not one.open_receipts())
        assert seen == [1, 2]
        assert following.error is None
        following.check()
    assert not following.answering
    with pytest.raises(NoLeaseError, match="must not answer"):
        following.check()
    assert one._database.leases() == []


def test_a_receipt_is_open_until_every_lease_has_confirmed(pair):
    one, two = pair
    with one.follow(), two.follow() as following:
        two._lock.acquire()  # it cannot follow
        one.forget(3)
        until(lambda: one.open_receipts() == {1})
        time.sleep(0.1)
        assert one.open_receipts() == {1}
        assert following.version == 0
        two._lock.release()
        until(lambda: not one.open_receipts())
        assert following.version == 1


def test_a_lease_that_is_not_renewed_ends(pair):
    one, two = pair
    following = two.follow(seconds=0.5)
    following._ended.set()  # as if the process had stopped
    for thread in following._threads:
        thread.join()
    following._ended.clear()
    following._renew()
    one.forget(3)
    assert one.open_receipts() == {1}
    until(lambda: not one.open_receipts())
    assert not following.answering
    following._renew()  # it comes back, and has missed an erasure
    assert not following.answering
    following._step()
    assert following.answering
    following.close()


def test_all_versions_in_between_are_followed(pair):
    """A row that came and went, one that moved to the place of another, a new class that left."""
    X, y = make_rows()
    one, two = pair
    one.learn(X[30:33], ["new", *y[31:33]])
    one.forget([30, 7])
    one.learn(X[34:36], y[34:36])
    one.relabel([8], ["yes" if y[8] == "no" else "no"])
    one.forget([31])
    two.refresh()
    assert_alike(one, two)
    assert two.model.classes_.tolist() == ["no", "yes"]
    two.forget(9)
    assert two.audit(refit=True).passed


def test_numbers_are_given_once(pair):
    X, y = make_rows()
    one, two = pair
    one.learn(X[30:33], y[30:33])
    one.forget([32])
    two.learn(X[33:34], y[33:34])
    assert two.model.ids_.tolist()[-1] == 33
    assert two.audit().passed


def test_what_a_model_refuses_between_two_versions_is_read_anew(pair):
    """All rows of one class leave and others of it come: in between there is one class."""
    X, y = make_rows()
    one, two = pair
    old = [i for i in range(30) if y[i] == "no"]
    new = [i for i in range(30, 40) if y[i] == "no"]
    one.learn(X[new], y[new])
    one.forget(old)
    two.refresh()
    assert_alike(one, two)


def test_choices_made_anew_are_followed(pair):
    one, two = pair
    one.reselect()
    two.refresh()
    assert_alike(one, two)


def test_one_who_edits_for_long_is_waited_for(pair, place):
    one, _ = pair
    with place.open(wait=0.05) as third, one._backend.transaction():
        with pytest.raises(StoreBusyError, match=r"is being edited.*Nothing was changed"):
            third.forget(3)
        assert third.version == 0
    one.forget(3)


def test_a_connection_that_is_lost_is_made_anew(pair, place):
    one, two = pair
    with two.follow() as following:
        place.tamper(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'gramian' AND pid <> pg_backend_pid()"
        )
        assert one.forget(3).number == 1
        assert following.wait(1, 10)
        until(lambda: not one.open_receipts())
        assert_alike(one, two)


@pytest.mark.parametrize("step", ["changed", "row", "receipt", "commit", "committed"])
def test_a_server_that_is_lost_within_an_edit(pair, place, at_step, step):
    one, two = pair
    gone = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'gramian' AND pid <> pg_backend_pid()"
    )
    at_step(step, lambda: place.tamper(gone))
    made = step == "committed"
    if made:
        one.forget(3)
    else:
        with pytest.raises(StoreError, match="Nothing was changed"):
            one.forget(3)
    two.refresh()
    assert one.version == two.version == made
    assert one.forget(4).number == made + 1
    two.refresh()
    assert_alike(one, two)
    assert one.audit(refit=True).passed


@pytest.mark.slow
def test_a_server_that_stops_and_comes_back(tmp_path):
    X, y = make_rows()
    own = Server(durable=True)
    try:
        place = Place(own.url, keyring=tmp_path / "keyring")
        with place.create(fitted(X[:30], y[:30])) as one, place.open() as two:
            with two.follow(seconds=1.0) as following:
                one.forget(3)
                assert following.wait(1, 10)
                own.kill()
                with pytest.raises(StoreError, match=r"does not answer.*Nothing was changed"):
                    one.forget(4)
                assert one.predict(X[:2]).shape == (2,)
                until(lambda: not following.answering)
                own.start()
                assert one.forget(4).number == 2
                assert following.wait(2, 20)
                until(lambda: following.answering and not one.open_receipts())
            assert_alike(one, two)
            assert one.audit(refit=True).passed
    finally:
        own.remove()


@pytest.mark.slow
def test_a_server_that_goes_back_in_time_is_noticed(pair, place):
    one, two = pair
    with two.follow() as following:
        one.learn(*(part[30:31] for part in make_rows()))
        assert following.wait(1, 10)
        place.tamper("DELETE FROM receipts WHERE number = 1")
        with pytest.raises(OldCopyError, match="is an old copy"):
            one.forget(3)
        until(lambda: isinstance(following.error, OldCopyError), 20)
        assert not following.answering


# -- the end of following -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_server_that_hangs_does_not_hold_up_the_end(tmp_path):
    """Its processes are stopped: it takes connections and answers nothing."""
    X, y = make_rows()
    own = Server()
    try:
        place = Place(own.url, keyring=tmp_path / "keyring")
        place.create(fitted(X[:30], y[:30])).close()
        store = place.open(wait=1.0)
        following = store.follow(seconds=1.0)
        own.signal(signal.SIGSTOP)
        until(lambda: not following.answering)
        following.close(timeout=0.2)
        assert not any(thread.is_alive() for thread in following._threads)
        with pytest.raises(StoreError, match="does not answer"):
            store.forget(3)
        own.signal(signal.SIGCONT)
        assert store.forget(3).number == 1
        store.close()
    finally:
        own.signal(signal.SIGCONT)
        own.remove()


def test_what_never_ends_at_a_new_version_is_said(pair, monkeypatch):
    monkeypatch.setattr("gramian.store._following._LAST", 0.1)
    one, two = pair
    begun, go_on = Event(), Event()

    def show(version):
        begun.set()
        assert go_on.wait(60)

    following = two.follow(on_change=show)
    one.forget(3)
    assert begun.wait(10)
    with pytest.raises(StoreBusyError, match="is still being followed"):
        following.close(timeout=0.1)
    assert not following.answering
    go_on.set()
    following.close()
    assert one._database.leases() == []
