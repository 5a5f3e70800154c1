"""``gramian report``: one page that needs nothing else."""

import base64
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import gramian as package
from gramian import KernelDiscriminant, LeastSquaresSVR
from gramian.cli._report import _signed
from tests.cli.conftest import make_rows, write_csv

pytest.importorskip("matplotlib")


class Page(HTMLParser):
    """Collects tags, addresses and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.words.append(data)


def read(path):
    return Page(path.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_page_stands_alone(gramian, folder):
    fit = ("fit", "train.csv", "--target", "animal", "--id", "name", "-o", "model.gram")
    gramian(*fit, "--estimator", "discriminant")
    out = gramian("report", "model.gram", "-o", "report.html").stdout
    assert out == "Saved report.html: Calibration, Coverage, Search, Influence.\n"
    page = read(folder / "report.html")
    assert (folder / "report.html").stat().st_mode & 0o077 == 0
    assert len(page.addresses) == 4
    for address in page.addresses:
        assert address.startswith("data:image/svg+xml;base64,")
        svg = base64.b64decode(address.split(",", 1)[1])
        assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "script" not in page.tags
    text = " ".join(page.words)
    for words in ("Exact leave-one-out error", "pet 8", "said cat", "fingerprint", "gamma", "AUC"):
        assert words in text
    for words in (
        "always cat",
        "linear model",
        "Which columns matter",
        "was chosen again without each of",
    ):
        assert words in text


@pytest.mark.slow
def test_same_model_same_page(gramian, model, folder):
    pages = []
    for _ in range(2):
        gramian("report", model, "-o", "report.html")
        pages.append((folder / "report.html").read_bytes())
    assert pages[0] == pages[1]


def test_controls_and_marks_of_direction_are_written_out(gramian, folder):
    write_csv("train.csv", [[*row[:4], f"\x1b\u202e{row[4]}$"] for row in make_rows()])
    fit = ("fit", "train.csv", "--target", "animal", "--id", "name", "-o", "model.gram")
    gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    gramian("report", "model.gram", "-o", "report.html")
    page = read(folder / "report.html")
    assert r"said \x1b\u202ecat$" in page.words
    for address in page.addresses:
        ElementTree.fromstring(base64.b64decode(address.split(",", 1)[1]))


def test_text_of_the_table_is_escaped(gramian, folder):
    write_csv("train.csv", [[*row[:4], f"<b>{row[4]}</b>"] for row in make_rows()])
    fit = ("fit", "train.csv", "--target", "animal", "--id", "name", "-o", "model.gram")
    gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    gramian("report", "model.gram", "-o", "report.html")
    page = read(folder / "report.html")
    assert "b" not in page.tags
    assert "said <b>cat</b>" in page.words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (
            KernelDiscriminant(gamma=0.5, ridge=0.1),
            ["Decision boundary", "Calibration", "Coverage", "Influence"],
        ),
        (
            KernelDiscriminant(gamma=4.0, ridge=0.0),
            ["Decision boundary", "Calibration"],
        ),
        (LeastSquaresSVR(gamma=0.5), ["Left-out predictions", "Coverage", "Search", "Influence"]),
    ],
)
def test_figures_that_make_sense(as_json, folder, estimator, expected):
    X = np.random.default_rng(0).standard_normal((20, 2))
    package.save(estimator.fit(X, np.sign(X[:, 0])), "plain.gram")
    facts = as_json("report", "plain.gram", "-o", "report.html")
    assert facts == {"output": "report.html", "figures": expected}
    honest = "leave-one-out error serves" in (folder / "report.html").read_text(encoding="utf-8")
    assert honest == ("Search" not in expected)  # nothing was chosen


def test_without_matplotlib_the_remedy_is_named(gramian, model, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = gramian("report", model, "-o", "report.html", code=1)
    assert re.search(r"pip install \"gramian\[plot\]\"", result.stderr)
    assert not (folder / "report.html").exists()


def test_classes_dates_and_folded_columns(gramian, folder, monkeypatch):
    rng = np.random.default_rng(0)
    X, label = rng.standard_normal((90, 60)).round(3), np.array(["yes", "no", "abstains"])
    y = label[np.where(np.arange(90) < 4, 2, np.arange(90) % 2)]
    rows = [[*row, target] for row, target in zip(X.tolist(), y, strict=True)]
    write_csv("votes.csv", rows, [*(f"c{j}" for j in range(60)), "vote"])
    fit = ("fit", "votes.csv", "--target", "vote", "--gamma", "0.01", "--ridge", "1")
    assert "never predicted: abstains (0 of 4)" in gramian(*fit, "-o", "votes.gram").stdout
    monkeypatch.setattr("gramian.cli._report.today", lambda: "2026-02-03")
    gramian("report", "votes.gram", "-o", "report.html")
    page = read(folder / "report.html")
    text = " ".join(page.words)
    for words in ("2026-02-03", "recall", "AUC", "never predicted: abstains (0 of 4)"):
        assert words in text
    assert "Predicting vote" in text
    assert "0.0 %" in text  # recall of the class that is never predicted
    assert "10 more columns" in text
    assert page.tags.count("details") == 1


def test_rises_that_are_rounding_alone():
    assert [_signed(x) for x in (7e-15, -7e-15, 0.25, -1.5)] == ["0", "0", "+0.25", "−1.5"]
