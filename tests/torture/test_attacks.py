"""Every attack, short: the long ones are `make torture`."""

import argparse

import pytest

from tests.estimators.conftest import ONE_OF_EACH
from tests.torture import (
    chunks,
    copies,
    digits,
    disk,
    edits,
    files,
    injection,
    lines,
    numbers,
    reopened,
    signals,
    soak,
    store,
    threads,
    trace,
)
from tests.torture.__main__ import PAGE, command_of
from tests.torture.attacks import ATTACKS
from tests.torture.common import bad_error
from tests.torture.page import BEGIN, END, Result, described, put, record, table

HEAVY = Result("heavy", 7, [], 60.0, "")

pytestmark = pytest.mark.slow


def test_edits():
    tried, failures = edits.main(2, n=24)
    assert tried > 100
    assert not failures, failures[0]


@pytest.mark.parametrize(("name", "seed"), [("oks", 3_000_041), ("okr", 22_000_030)])
def test_edits_of_a_basis_in_single_precision(name, seed):
    """Of a linear kernel more centres than features, which rounding alone tells apart."""
    tried, failures = edits.run_script(name, seed)
    assert tried == edits.EDITS
    assert not failures, failures[0]


def test_copies():
    names = ("kda", "lsvc", "oks", "fuzzy", "lssvr-linear", "stack-r", "precomputed")
    tried, failures = copies.main(1, n=1, names=names)
    assert tried > 50
    assert not failures, failures[0]


def test_digits():
    tried, failures = digits.main(3, n=4)
    assert tried == 4 * len(digits.NAMES)
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


def test_lines():
    tried, failures = lines.main(0, n=150)
    assert tried == 150
    assert not failures, failures[0]


def test_blindly_altered_files():
    counts, failures = files.main(5, 150, "mutation")
    assert sum(counts.values()) == 150
    assert not failures, failures[0]


def test_injection():
    for package in ("click", "starlette", "httpx", "matplotlib", "prometheus_client"):
        pytest.importorskip(package)
    tried, failures = injection.main(0, n=1)
    assert tried > 50
    assert not failures, failures[0]


def test_signals():
    tried, failures = signals.main(0, seconds=0.6, names=("window",))
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


def test_stores_opened_again():
    tried, failures = reopened.main(1, n=1, names=("okr", "fuzzy"))
    assert tried > 10
    assert not failures, failures[0]


def test_errors_of_the_disk():
    if reason := disk.missing():
        pytest.skip(reason)
    tried, failures = disk.main(2, n=4)
    assert tried == 4
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


def test_table(tmp_path):
    path = tmp_path / "page.json"
    record([Result("pairs", 1, [], 1.0, "")], 1, "old", path)
    record([Result("pairs", 1234, ["one"], 60.0, "said"), HEAVY], 3, "command", path)
    kept = record([HEAVY._replace(tried=9)], 5, "other", path)
    assert list(kept) == ["3", "5"]
    pairs, heavy = table(kept, ATTACKS).splitlines()[2:]
    promise = f"{ATTACKS['pairs'].promise} | `pairs`: {ATTACKS['pairs'].attack}"
    assert pairs == f"| {promise} | 300 | 1,234 pairs | 1 | | |"
    assert heavy.endswith("|  | 7 requests | 0 | 9 requests | 0 |")


def test_results_are_described(tmp_path):
    path = tmp_path / "page.json"
    every = [HEAVY._replace(name=name) for name in ATTACKS]
    record(
        [*every[:-1], Result("store-flips", 4, ["one: 1\n  two\nthree"], 30.0, "")], 3, "a", path
    )
    text = described(record([Result("pairs", 2, [], 120.0, "said")], 3, "a pairs", path), ATTACKS)
    assert f"- `a`, all others: {(len(ATTACKS) - 2 + 0.5):.0f} minutes.\n- `a pairs`: 2 min" in text
    assert "- `pairs`, seed 3: said." in text
    assert text.endswith("Failures:\n\n- `store-flips`, seed 3: one: three")


def test_the_command_runs_the_attacks_again():
    options = argparse.Namespace(seed=3, minutes=0.5, processes=1)
    command = "python -m tests.torture --seed 3 --minutes 0.5 --processes 1"
    assert command_of(options, list(ATTACKS)) == command
    assert command_of(options, ["pairs", "soak"]) == f"{command} pairs soak"


def test_the_table_is_put_into_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
    put("new", page)
    assert page.read_text() == f"above\n{BEGIN}\n\nnew\n\n{END}\nbelow\n"
    assert PAGE.read_text(encoding="utf-8").count(BEGIN) == 1


@pytest.mark.parametrize("module", ["sklearn.utils.validation", "gramian.estimators._base"])
def test_an_error_is_known_by_its_module_not_by_the_folder(module):
    """A clone is a folder named gramian, and so is every package installed below it."""
    where = "/a folder/gramian/.venv/lib/site-packages/sklearn/utils/validation.py"
    raising = compile("raise ValueError('No full stop')", where, "exec")
    with pytest.raises(ValueError, match="No full stop") as caught:
        exec(raising, {"__name__": module})
    assert (bad_error(caught.value) is None) == module.startswith("sklearn")
