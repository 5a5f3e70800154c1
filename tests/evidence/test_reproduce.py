"""From names to a page: through Python and from the command line."""

import json
import sys

import pytest

pytest.importorskip("click")

from click.testing import CliRunner

import evidence as package
from gramian.cli import _reproduce as command
from gramian.cli._app import app
from evidence import _reproduce as module
from evidence import reproduce, run_experiments
from tests.evidence import fakes


@pytest.fixture
def page(tmp_path):
    return tmp_path / "page.html"


@pytest.fixture
def faked(monkeypatch):
    """Puts other experiments in the place of all."""

    def put(*experiments):
        monkeypatch.setattr(module, "select", lambda names: list(experiments))

    return put


def type_command(*words):
    return CliRunner().invoke(app, ["reproduce", *map(str, words)])


# --- in Python ----------------------------------------------------------------------------------


def test_a_real_experiment_from_name_to_page(page):
    summary = reproduce(["kim2006-figure-2"], output=page, jobs=1)
    assert summary.experiments == ["kim2006-figure-2"]
    assert summary.cases == 2
    assert summary.failures == summary.unavailable == []
    text = page.read_text(encoding="utf-8")
    for words in ("kim2006, Figure 2", "the contours perfectly match", "data:image/svg", "numpy"):
        assert words in text
    assert str(page.parent) not in text


def test_sections_of_everything_that_can_happen(page):
    experiments = [
        fakes.experiment(),
        fakes.experiment(fakes.failing, "fake-odd"),
        fakes.experiment(fakes.unavailable, "fake-absent"),
        fakes.experiment(name="fake-broken", report=fakes.broken_report),
    ]
    summary = run_experiments(experiments, output=page, quick=True)
    assert summary.cases == 12
    assert summary.unavailable == ["this version has no such machine"]
    assert summary.failures == [
        "fake-odd: 1 case failed (i=1): ValueError: odd 1",
        "fake-broken: The report failed: KeyError: 'no such column'",
    ]
    assert len(summary.tracebacks) == 1
    text = page.read_text(encoding="utf-8")
    assert text.count("<section>") == 4
    assert "Squares &amp; &lt;roots&gt;." in text
    assert "quick: few partitions" in text


def test_missing_data_are_named_on_the_page(page, tmp_path, monkeypatch):
    monkeypatch.delenv("GRAMIAN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    experiment = fakes.experiment(cases=lambda quick: [{"i": 1, "data": "ida_heart"}])
    summary = run_experiments([experiment], output=page)
    assert "ida_heart was not found and has no public home" in summary.unavailable[0]
    assert summary.failures == []
    assert "Not available: the data set ida_heart" in page.read_text(encoding="utf-8")


def test_finished_cases_lie_beside_the_page(page):
    run_experiments([fakes.experiment()], output=page)
    lines = page.with_suffix(".jsonl").read_text().splitlines()
    assert [json.loads(line)["values"]["square"] for line in lines] == [0, 1, 4, 9, 16, 25]


def test_without_matplotlib_nothing_is_computed(page, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "gramian\[plot\]"'):
        run_experiments([fakes.experiment()], output=page)
    assert not page.with_suffix(".jsonl").exists()


def test_public_names():
    assert {name: getattr(package, name) for name in package.__all__}
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


# --- from the command line ----------------------------------------------------------------------


def test_command_writes_the_page(page, faked):
    faked(fakes.experiment())
    result = type_command("--quick", "--jobs", 1, "-o", page)
    assert result.exit_code == 0, result.output
    assert f"Saved {page}: 3 cases in 0.0 minutes." in result.output.replace("\n", "")
    assert "3 of 3 cases, fake-squares" in result.stderr
    assert page.exists()


def test_command_in_json(page, faked):
    faked(fakes.experiment())
    result = type_command("--quick", "--jobs", 1, "-o", page, "--json")
    facts = json.loads(result.stdout)
    assert facts["cases"] == 3
    assert facts["experiments"] == ["fake-squares"]
    assert result.stderr == ""


def test_command_fails_when_a_case_fails_and_still_writes_the_page(page, faked):
    faked(fakes.experiment(fakes.failing))
    result = type_command("--quick", "--jobs", 1, "-o", page)
    assert result.exit_code == 1
    assert f"{page} is there, but:\nfake-squares: 1 case failed (i=1)" in result.output
    assert page.exists()


def test_command_tells_what_was_not_there(page, faked):
    faked(fakes.experiment(fakes.unavailable))
    result = type_command("--jobs", 1, "-o", page)
    assert result.exit_code == 0
    assert "Note: this version has no such machine." in result.stderr


def test_command_shows_where_a_case_failed_on_demand(page, faked):
    faked(fakes.experiment(fakes.failing))
    words = ["--traceback", "reproduce", "--jobs", "1", "-o", str(page)]
    assert "in failing" in CliRunner().invoke(app, words).output


def test_command_lists_names():
    result = type_command("--list")
    assert result.exit_code == 0
    assert "kim2006-figure-1" in result.output
    assert len(json.loads(type_command("--list", "--json").stdout)["experiments"]) == 18


def test_command_names_what_there_is(page):
    result = type_command("nonsense", "-o", page)
    assert result.exit_code == 1
    assert "no experiment 'nonsense'. There are: kim2006-figure-1" in result.output


def test_an_interruption_says_how_to_go_on(page, monkeypatch):
    def interrupted(names, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "reproduce", interrupted)
    result = type_command("-o", page)
    assert result.exit_code == 1
    assert "Finished cases are kept" in result.stderr


def test_a_bar_on_a_terminal(page, faked, monkeypatch):
    faked(fakes.experiment())
    monkeypatch.setattr(command.Console, "is_terminal", True)
    assert type_command("--quick", "--jobs", 1, "-o", page).exit_code == 0
