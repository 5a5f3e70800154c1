"""From names to a page and to files: through Python and from the command line."""

import json
import sys

import pytest

from evidence import __main__ as command
from evidence._run import compute, duration, write_benchmarks, write_page
from tests.evidence import fakes


@pytest.fixture
def page(tmp_path):
    return tmp_path / "new" / "page.html"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cases.jsonl"


@pytest.fixture
def typed(cache, monkeypatch):
    """Types a command, with these experiments in the place of all if there are any."""

    def run(*words, experiments=()):
        if experiments:
            monkeypatch.setattr(command, "LISTS", dict.fromkeys(command.LISTS, experiments))
        name, *rest = map(str, words)
        return command.main([name, "--jobs", "1", "--cache", str(cache), *rest])

    return run


# --- in Python ----------------------------------------------------------------------------------


def test_sections_of_everything_that_can_happen(page, cache):
    experiments = [
        fakes.experiment(),
        fakes.experiment(fakes.failing, "fake-odd"),
        fakes.experiment(fakes.unavailable, "fake-absent"),
        fakes.experiment(name="fake-broken", report=fakes.broken_report),
    ]
    computed = compute(experiments, quick=True, jobs=1, cache=cache)
    summary = write_page(computed, page, quick=True)
    assert summary.output == [str(page)]
    assert summary.cases == 12
    assert summary.unavailable == ["this version has no such estimator"]
    assert summary.failures == [
        "fake-odd: 1 case failed (i=1): ValueError: odd 1",
        "fake-broken: The report failed: KeyError: 'no such column'",
    ]
    assert len(summary.tracebacks) == 1
    text = page.read_text(encoding="utf-8")
    assert text.count("<section>") == 4
    assert "Squares &amp; &lt;roots&gt;." in text
    assert "quick: few partitions" in text
    assert str(page.parent) not in text


def test_files_of_what_is_complete_alone(tmp_path, cache):
    experiments = [
        fakes.experiment(file="squares"),
        fakes.experiment(fakes.failing, "fake-odd", file="odd"),
        fakes.experiment(fakes.unavailable, "fake-absent", file="absent"),
    ]
    summary = write_benchmarks(compute(experiments, jobs=1, cache=cache), tmp_path / "docs")
    assert [path.name for path in sorted((tmp_path / "docs").iterdir())] == [
        "squares.json",
        "squares.md",
    ]
    assert len(summary.output) == 2
    assert {failure.split(":")[0] for failure in summary.failures} == {"fake-odd"}


def test_missing_data_are_named_on_the_page(page, cache, tmp_path, monkeypatch):
    monkeypatch.delenv("GRAMIAN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    experiment = fakes.experiment(cases=lambda quick: [{"i": 1, "data": "ida_heart"}])
    summary = write_page(compute([experiment], jobs=1, cache=cache), page)
    assert summary.unavailable == ["the data set ida_heart was not found"]
    assert summary.failures == []
    assert "Not computed here: the data set ida_heart was not found." in page.read_text(
        encoding="utf-8"
    )


def test_page_and_files_share_the_file_of_finished_cases(tmp_path, page, cache):
    folder = {"cases": lambda quick: [{"i": 3, "folder": str(tmp_path)}], "file": "squares"}
    experiment = fakes.experiment(fakes.counted, report=lambda records: [], **folder)
    write_page(compute([experiment], jobs=1, cache=cache), page)
    write_benchmarks(compute([experiment], jobs=1, cache=cache), tmp_path)
    assert (tmp_path / "trace").read_text() == "3\n"
    compute([experiment], jobs=1, cache=cache, again=True)
    assert (tmp_path / "trace").read_text() == "3\n3\n"
    assert [json.loads(line)["values"] for line in cache.read_text().splitlines()] == [
        {"square": 9}
    ] * 2


def test_durations_in_words():
    assert [duration(s) for s in (0.2, 90, 600)] == ["0.2 seconds", "90.0 seconds", "10.0 minutes"]


def test_without_matplotlib_nothing_is_computed(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "gramian\[plot\]"'):
        compute([fakes.experiment()], cache=cache)
    assert not cache.exists()


# --- from the command line ----------------------------------------------------------------------


def test_a_real_experiment_from_name_to_page(page, typed, capsys):
    assert typed("papers", "kim2006-figure-2", "-o", page) == 0
    assert f"Saved {page}\n2 cases computed, " in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    for words in ("kim2006, Figure 2", "the contours perfectly match", "data:image/svg", "numpy"):
        assert words in text


def test_command_tells_how_far_it_is(page, typed, capsys):
    assert typed("papers", "--quick", "-o", page, experiments=[fakes.experiment()]) == 0
    assert "3 of 3 cases, fake-squares" in capsys.readouterr().err


def test_command_in_json(tmp_path, typed, capsys):
    experiments = [fakes.experiment(file="squares")]
    assert typed("bench", "--quick", "-o", tmp_path, "--json", experiments=experiments) == 0
    out, err = capsys.readouterr()
    facts = json.loads(out)
    assert facts["cases"] == 3
    assert facts["experiments"] == ["fake-squares"]
    assert facts["output"] == [str(tmp_path / "squares.md"), str(tmp_path / "squares.json")]
    assert err == ""


def test_quick_benchmarks_are_no_results(tmp_path, typed, monkeypatch):
    monkeypatch.setattr(command, "QUICK", tmp_path / "quick")
    monkeypatch.setattr(command, "FOLDER", tmp_path / "docs")
    experiments = [fakes.experiment(file="squares")]
    assert typed("bench", "--quick", experiments=experiments) == 0
    assert (tmp_path / "quick" / "squares.md").exists()
    assert not (tmp_path / "docs").exists()


def test_command_fails_when_a_case_fails_and_still_writes_the_page(page, typed, capsys):
    experiments = [fakes.experiment(fakes.failing)]
    assert typed("papers", "--quick", "-o", page, experiments=experiments) == 1
    assert "fake-squares: 1 case failed (i=1)" in capsys.readouterr().err
    assert page.exists()
    typed("papers", "--traceback", "-o", page, experiments=experiments)
    assert "in failing" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "code"), [("papers", 0), ("bench", 1)])
def test_what_was_not_there_fails_benchmarks_alone(name, code, page, typed, capsys):
    experiments = [fakes.experiment(fakes.unavailable, file="squares")]
    assert typed(name, "-o", page, experiments=experiments) == code
    assert "Note: this version has no such estimator." in capsys.readouterr().err


@pytest.mark.parametrize("words", [["list"], ["papers", "--list"]])
def test_command_lists_names(words, capsys):
    assert command.main(words) == 0
    out = capsys.readouterr().out
    assert "kim2006-figure-1" in out
    assert ("orthogonal_large" in out) == (words == ["list"])


def test_command_names_what_there_is(typed, capsys):
    assert typed("papers", "nonsense") == 1
    assert "no experiment 'nonsense'. There are: kim2006-figure-1" in capsys.readouterr().err


def test_an_interruption_says_how_to_go_on(typed, monkeypatch, capsys):
    def interrupted(experiments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "compute", interrupted)
    assert typed("papers", experiments=[fakes.experiment()]) == 130
    assert "Finished cases are kept" in capsys.readouterr().err
