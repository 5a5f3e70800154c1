import tracemalloc

import numpy as np
import pytest

import gramian.core.gram._memory as memory
from gramian.core.gram import LiveInverse, LiveSystem, factorize
from gramian.core.gram._memory import available_memory, require_memory
from gramian.core.gram._slots import SlotMatrix
from tests.core.gram.conftest import gram, row_block

GIB = 2**30


def refuse(rows, columns):
    raise AssertionError("no block may be computed")


def test_available_memory_is_a_plausible_number_of_bytes():
    free = available_memory()
    assert free is None or 2**20 < free < 2**50


def test_available_memory_without_a_meminfo_file(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "absent")
    assert available_memory() is None or available_memory() > 2**20


def test_a_system_that_tells_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "absent")
    monkeypatch.setattr(memory, "_LIMITS", ())
    monkeypatch.setattr(memory.os, "sysconf_names", {})
    assert available_memory() is None


def test_available_memory_reads_the_right_line(monkeypatch, tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemFree: 2 kB\nMemAvailable:      3 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", meminfo)
    monkeypatch.setattr(memory, "_LIMITS", ())
    assert available_memory() == 3 * 1024


@pytest.mark.parametrize("version", [0, 1])
def test_available_memory_knows_the_limit_of_a_container(monkeypatch, tmp_path, version):
    files = [(tmp_path / f"limit{i}", tmp_path / f"usage{i}") for i in range(2)]
    files[version][0].write_text("5000\n")
    files[version][1].write_text("3000\n")
    if version == 1:
        files[0][0].write_text("max\n")
        files[0][1].write_text("3000\n")
    monkeypatch.setattr(memory, "_LIMITS", files)
    assert available_memory() == 2000
    (tmp_path / "memory.stat").write_text("anon 7\ninactive_file 500\nactive_file 9\n")
    assert available_memory() == 2500


def test_a_container_without_a_limit_changes_nothing(monkeypatch, tmp_path):
    files = (tmp_path / "limit", tmp_path / "usage")
    files[0].write_text("max\n")
    files[1].write_text("3000\n")
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemAvailable: 3 kB\n")
    monkeypatch.setattr(memory, "_LIMITS", [files])
    monkeypatch.setattr(memory, "_MEMINFO", meminfo)
    assert available_memory() == 3 * 1024


def test_too_much_is_refused_with_the_numbers(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 3 * GIB // 2)
    message = r"The job needs 2\.0 GiB, and this machine has 1\.5 GiB free\. Give fewer samples"
    with pytest.raises(MemoryError, match=message) as refused:
        require_memory(2 * GIB, "The job")
    assert 'factor="single"' in str(refused.value)
    require_memory(GIB, "The job")


def test_an_unknown_amount_is_not_checked(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    require_memory(2**80, "The job")


@pytest.mark.parametrize(
    "factor",
    [
        "auto",
        "inverse",
        "cholesky",
        "qr",
    ],
)
def test_factorize_asks_before_it_allocates(monkeypatch, factor):
    n = 4000
    diagonal = np.ones(n)
    monkeypatch.setattr(memory, "available_memory", lambda: 2**20)
    tracemalloc.start()
    try:
        with pytest.raises(MemoryError, match=r"4000 samples needs 0\.[0-9] GiB"):
            factorize(diagonal, refuse, factor)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_refused_growth_leaves_the_factor_as_it_was(monkeypatch):
    A = gram(20)
    factor = LiveInverse(SlotMatrix(np.diagonal(A)[:10].copy(), row_block(A)))
    before = factor.columns(np.arange(10))
    monkeypatch.setattr(memory, "available_memory", lambda: 0)
    with pytest.raises(MemoryError, match="Growing the Gram matrix to 28 slots"):
        factor.append(A[:10, 10:], A[10:, 10:])
    np.testing.assert_array_equal(factor.columns(np.arange(10)), before)


# -- the peak, in multiples of n² numbers -------------------------------------------------------

LIMIT = 2.2


def peak(work):
    """Most bytes held at once while ``work`` runs, counting what was traced before it."""
    tracemalloc.reset_peak()
    work()
    return tracemalloc.get_traced_memory()[1]


@pytest.fixture
def traced():
    tracemalloc.start()
    yield
    tracemalloc.stop()


def ridge_only(n):
    """A = 2 I, whose blocks cost nothing."""
    block = np.broadcast_to(0.0, (n, n))
    return np.full(n, 2.0), lambda rows, columns: block[rows, columns]


@pytest.mark.parametrize("factor", ["inverse", "cholesky"])
def test_peak_of_building(traced, factor):
    n = 1000
    assert peak(lambda: factorize(*ridge_only(n), factor)) <= LIMIT * 8 * n**2


def test_peak_of_growing(traced):
    factor, _ = factorize(*ridge_only(1000), "inverse")
    spare = factor._matrix.capacity - factor.n
    factor.append(np.zeros((factor.n, spare)), 2 * np.eye(spare))
    n = factor.n
    vectors = 8 * 10 * n  # a few, beside the matrices
    grown = peak(lambda: factor.append(np.zeros((n, 1)), np.eye(1)))
    assert grown <= LIMIT * 8 * n**2 + vectors
    assert factor._matrix.capacity > n


def test_peak_of_edits_and_reads(traced):
    factor, _ = factorize(*ridge_only(1000), "inverse")
    n = factor.n
    ones = np.ones((n, 1))

    def work():
        factor.remove(np.array([5]))
        factor.append(np.zeros((n - 1, 1)), np.eye(1))
        factor.solve(ones)
        factor.diagonal()

    assert peak(work) <= LIMIT * 8 * n**2


def test_peak_of_refactoring(traced):
    n = 1000
    system = LiveSystem(*ridge_only(n), np.ones((n, 1)), "auto")
    assert peak(system.rebuild) <= LIMIT * 8 * n**2
