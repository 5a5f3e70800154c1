"""The benchmarks' table writer and timer; what they measure is not tested."""

import gc
import json
import platform

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from benchmarks import __main__ as runner
from benchmarks import _harness as harness


@pytest.fixture
def table():
    table = harness.Table("toy", "A title", ("n", "append (ms)", "who"), note="A note.")
    table.add(np.int64(4000), np.float64(0.123456), "us | them")
    table.add(10, 1234567.0, None)
    return table


def test_markdown_has_title_note_rows_and_machine(table):
    page = table.markdown()
    assert page.startswith("# A title\n\nA note.\n\n| n | append (ms) | who |\n| --- | --- | --- |")
    assert "| 4,000 | 0.123 | us \\| them |" in page
    assert "| 10 | 1,234,567 |  |" in page
    assert f"numpy {np.__version__}" in page


@pytest.mark.parametrize(
    ("value", "cell"),
    [(0.0, "0"), (1.0, "1"), (12.345, "12.3"), (999.9, "1,000"), (6.1e-13, "6.1e-13"), ("a", "a")],
)
def test_cells(value, cell):
    assert harness._cell(value) == cell


def test_write_makes_both_files_over_older_ones(table, tmp_path):
    folder = tmp_path / "new"
    table.write(folder)
    table.write(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["toy.json", "toy.md"]
    assert (folder / "toy.md").read_text(encoding="utf-8") == table.markdown()
    content = json.loads((folder / "toy.json").read_text(encoding="utf-8"))
    assert content["columns"] == ["n", "append (ms)", "who"]
    assert content["rows"] == [[4000, 0.123456, "us | them"], [10, 1234567.0, None]]
    assert content["machine"] == harness.machine()


def test_row_of_wrong_length_is_refused(table):
    with pytest.raises(ValueError, match="toy: 3 columns, got 2 values"):
        table.add(1, 2)
    assert len(table.rows) == 2


def test_machine_names_no_host_and_no_folder():
    text = json.dumps(harness.machine())
    assert not platform.node() or platform.node() not in text
    assert "/lib" not in text
    assert all(harness.machine().values())


def test_time_call_prepares_each_call_afresh():
    seen, states = [], iter(range(10))
    timing = harness.time_call(seen.append, repeat=3, setup=lambda: (next(states),))
    assert seen == [0, 1, 2]
    assert 0 <= timing.best <= timing.median
    assert gc.isenabled()


def test_time_call_restores_the_collector_after_an_error():
    with pytest.raises(ZeroDivisionError):
        harness.time_call(lambda: 1 / 0)
    assert gc.isenabled()
    with pytest.raises(ValueError, match="repeat must be >= 1, got 0"):
        harness.time_call(lambda: None, repeat=0)


def test_limit_threads():
    with harness.limit_threads(1):
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}


def test_runner_refuses_an_unknown_name(capsys):
    with pytest.raises(SystemExit):
        runner.main(["nothing"])
    assert "no benchmark nothing; there are:" in capsys.readouterr().err


def test_runner_runs_what_is_asked_for(monkeypatch, capsys):
    calls = []

    class Module:
        def __init__(self, name):
            self.name = name

        def run(self, quick):
            calls.append((self.name, quick))

    monkeypatch.setattr(runner, "names", lambda: ["loo", "updates"])
    monkeypatch.setattr(runner, "import_module", Module)
    runner.main(["--quick", "updates"])
    runner.main([])
    assert calls == [
        ("benchmarks.updates", True),
        ("benchmarks.loo", False),
        ("benchmarks.updates", False),
    ]
