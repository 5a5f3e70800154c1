"""Work side by side: the same results, one thread of BLAS, and what the user allows."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread, get_ident
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from gramian.core.arrays import one_blas_thread, side_by_side, using_jobs
from gramian.core.arrays._threads import _library, n_threads


def blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_are_in_order(jobs):
    with using_jobs(jobs):
        assert side_by_side(lambda x: x * x, range(20)) == [x * x for x in range(20)]
        assert side_by_side(str, []) == []


def test_as_many_threads_as_asked_for_work_at_a_time():
    def meet(_):
        barrier.wait(timeout=30)  # fails unless so many are here at once
        return get_ident()

    for jobs in (2, 3):
        barrier = Barrier(jobs)
        with using_jobs(jobs):
            assert len(set(side_by_side(meet, range(jobs)))) == jobs


def test_nested_work_has_the_same_threads():
    """Never more than asked for at a time, and those that are done help others."""
    busy, most = [], []

    def count(number):
        busy.append(number)
        most.append(len(busy))
        time.sleep(0.002)
        busy.remove(number)
        return number

    def tens(k):
        return side_by_side(lambda j: count(10 * k + j), range(9))

    def nested(k):
        return [] if k else side_by_side(lambda j: count(10 * k + j), range(12))

    with using_jobs(3):
        assert side_by_side(tens, range(5)) == [[10 * k + j for j in range(9)] for k in range(5)]
        assert max(most) <= 3
        most.clear()
        assert side_by_side(nested, range(3)) == [[*range(12)], [], []]
        assert max(most) <= 3


def test_first_error_is_raised_when_what_had_begun_is_done():
    done = []

    def work(number):
        if number < 2:
            barrier.wait(timeout=30)
            if number == 1:
                time.sleep(0.05)
            raise KeyError(number)
        done.append(number)

    barrier = Barrier(2)
    with using_jobs(2), pytest.raises(KeyError, match="0"):
        side_by_side(work, range(50))
    assert len(done) < 48


def test_errstate_reaches_the_threads():
    with np.errstate(divide="raise"), using_jobs(2), pytest.raises(FloatingPointError):
        side_by_side(lambda x: np.ones(2) / x, [1.0, np.zeros(2)])


def test_blas_has_one_thread_meanwhile_and_what_it_had_afterwards():
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert blas_threads() == {1}
            with one_blas_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
            assert side_by_side(lambda _: blas_threads(), range(3)) == [{1}] * 3
        assert blas_threads() == before
        with one_blas_thread(numbers=100):  # BLAS takes one by itself
            assert blas_threads() == before
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            _ = 1 / 0
        assert blas_threads() == before


def test_blas_stays_limited_until_the_last_thread_is_done():
    def work(number):
        with one_blas_thread():
            barrier.wait(timeout=30)
            if number == 1:
                left.wait(timeout=30)
                return blas_threads()
        left.wait(timeout=30)
        return None

    barrier, left = Barrier(2), Barrier(2)
    with threadpool_limits(limits=2, user_api="blas"), using_jobs(2):
        assert side_by_side(work, range(2))[1] == {1}


def test_any_thread_limits_blas_and_any_lifts_the_limit():
    """Whichever thread was the first to set it: threadpoolctl ignores all others."""

    def work():
        with one_blas_thread():
            seen.append(blas_threads())

    seen = []
    with threadpool_limits(limits=2, user_api="blas"):  # set by this thread
        before = blas_threads()
        with one_blas_thread():
            pass
        other = Thread(target=work)
        other.start()
        other.join()
        assert seen == [{1}]
        assert blas_threads() == before
        with ThreadPoolExecutor(1) as pool:
            block = one_blas_thread()
            pool.submit(block.__enter__).result()
            assert blas_threads() == {1}
            block.__exit__(None, None, None)
        assert blas_threads() == before


def test_other_libraries_are_left_to_threadpoolctl():
    """Those of which each thread has threads of its own, and those that are not OpenBLAS."""
    other = SimpleNamespace(
        threading_layer="openmp", get_num_threads=lambda: 3, set_num_threads=print
    )
    assert _library(other) == (other.get_num_threads, other.set_num_threads)


def test_number_of_threads_is_what_was_allowed(monkeypatch):
    monkeypatch.setattr("gramian.core.arrays._threads._cores", lambda: 3)
    with threadpool_limits(limits=1, user_api="blas"):
        assert n_threads() == 1
        with using_jobs(2):
            assert n_threads() == 2
        with parallel_config(n_jobs=2, backend="threading"):
            assert n_threads() == 2
    with threadpool_limits(limits=2, user_api="blas"):
        assert n_threads() == 2
        with one_blas_thread():  # which is our own limit, not the user's
            assert n_threads() == 2
        with parallel_config(n_jobs=1):
            assert n_threads() == 1
        inside = Parallel(n_jobs=2, backend="threading")(delayed(n_threads)() for _ in range(2))
        assert inside == [1, 1]
        with using_jobs(None):
            assert n_threads() == 2


def test_few_samples_have_few_threads_unless_more_are_asked_for(monkeypatch):
    monkeypatch.setattr("gramian.core.arrays._threads._cores", lambda: 16)
    monkeypatch.setattr("gramian.core.arrays._threads._libraries", list)
    assert [n_threads(n) for n in (10, 300, 1_000, 100_000)] == [2, 2, 4, 16]
    with using_jobs(8):
        assert n_threads(10) == 8


def test_a_thread_that_becomes_free_helps_with_a_call_that_began_before():
    """The first item of two lasts; the second one's own items wait for the thread of the first."""

    def work(number):
        if number == 0:
            began.wait(timeout=30)  # the nested call has begun, without a helper
            return None
        began.wait(timeout=30)
        return side_by_side(meet, range(2))

    def meet(_):
        met.wait(timeout=30)  # fails unless two threads are here at once
        return get_ident()

    began, met = Barrier(2), Barrier(2)
    with using_jobs(2):
        _, threads = side_by_side(work, range(2))
    assert len(set(threads)) == 2


def test_an_interrupt_waits_for_what_has_begun():
    """One that comes to the calling thread, while another works for it."""
    done = []

    def work(number):
        if get_ident() == calling:
            begun.wait(timeout=30)
            raise KeyboardInterrupt
        begun.wait(timeout=30)
        time.sleep(0.05)
        done.append(number)

    begun, calling = Barrier(2), get_ident()
    with using_jobs(2), pytest.raises(KeyboardInterrupt):
        side_by_side(work, range(9))
    assert len(done) == 1


def test_calls_in_calls_in_calls_by_any_number_of_threads():
    def tree(depth):
        return 1 if depth == 0 else sum(side_by_side(tree, [depth - 1] * 3))

    for jobs in (2, 3, 7):
        with using_jobs(jobs):
            assert tree(5) == 3**5
