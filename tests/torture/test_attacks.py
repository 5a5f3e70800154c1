"""Every attack, short: the long ones are `make torture`."""

import pytest

from tests.estimators.conftest import ONE_OF_EACH
from tests.torture import chunks, edits, injection, numbers, signals, soak, store, threads, trace
from tests.torture.__main__ import table


def test_edits():
    tried, failures = edits.main(2, n=24)
    assert tried > 100
    assert not failures, failures[0]


@pytest.mark.parametrize("case", [name for name in numbers.CASES if "00 " not in name])
def test_numbers(case):
    wrong = list(numbers.attempt(ONE_OF_EACH["kda"], numbers.CASES[case], 0))
    assert not wrong, wrong[0]


@pytest.mark.parametrize("case", chunks.CASES)
def test_dask(case):
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    with dask.config.set(scheduler="synchronous"):
        model, make = chunks.MODELS["classifier"], chunks.CASES[case]
        wrong = list(chunks.attempt(model, make, 0, methods=("partial_fit",)))
    assert not wrong, wrong[0]


def test_injection():
    for package in ("click", "fastapi", "httpx", "matplotlib", "prometheus_client"):
        pytest.importorskip(package)
    tried, failures = injection.main(0, n=2)
    assert tried > 50
    assert not failures, failures[0]


def test_signals():
    tried, failures = signals.main(0, seconds=0.6, names=("kda", "window"))
    assert tried > 0
    assert not failures, failures[0]


def test_threads():
    tried, failures = threads.main(0, seconds=None, n=4)
    assert tried > 0
    assert not failures, failures[0]


def test_soak():
    report = {}
    tried, failures = soak.main(0, seconds=0.3, report=report)
    assert tried > 0
    assert not failures, failures[0]
    assert "p99" in report["soak"]


def test_a_forgotten_row_cannot_be_rebuilt_after_refactor():
    report = {}
    tried, failures = trace.main(0, n=5, report=report)
    assert tried == 5
    assert not failures, failures[0]
    assert report["trace"].startswith("5 of 5 rows were rebuilt")  # the attack itself is sound


def test_store_kills():
    tried, failures = store.kills(0, n=3, steps=("begun", "row", "committed"), times=1, calls=False)
    assert tried >= 3
    assert not failures, failures[0]


@pytest.mark.parametrize("way", [{"reader": True}, {"table": True}], ids=str)
def test_store_erasure(way):
    tried, failures = store.erasure(0, n=60, **way)
    assert tried == 60
    assert not failures, failures[0]


def test_store_flips():
    tried, failures, _ = store.flips(0, every=400)
    assert tried > 50
    assert not failures, failures[0]


def test_store_drops():
    tried, failures = store.drops()
    assert tried > 10
    assert not failures, failures[0]


def test_table():
    rows = [("edits", ("promise", "attack", "edits", 1.0), 1234, ["one"])]
    assert table(rows).splitlines()[-1] == "| promise | `edits`: attack | 1,234 edits | 1 |"
