"""The page on made-up results: it stands alone, and says what is not there."""

import re
from html.parser import HTMLParser

import pytest

from evidence import Cell, Figure, Table, Text
from evidence._page import Section, number, page
from evidence._registry import PAGE, select
from evidence._runner import Outcome, Task
from evidence._section import make_section
from tests.evidence import fakes


def finished(experiment, *outcomes):
    tasks = [Task(experiment, case) for case in experiment.cases(False)]
    return list(zip(tasks, outcomes, strict=False))


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text.append(data)


def read(section, facts=None):
    return Reader(page("Title", ["Words."], facts or {"made": "today"}, [section]))


def test_all_text_is_escaped():
    section = Section("a", "A <b> & c", [Text("x < y"), Table(["<i>"], [["&amp;"]])])
    text = "".join(read(section).text)
    for part in ("A <b> & c", "x < y", "<i>", "&amp;"):
        assert part in text


def test_it_needs_nothing_from_elsewhere():
    drawing = Figure(b'<svg xmlns="http://www.w3.org/2000/svg"/>', "a drawing")
    reader = read(Section("a", "A", [drawing]))
    sources = [a["src"] for _, a in reader.tags if "src" in a]
    assert [source.split(",")[0] for source in sources] == ["data:image/svg+xml;base64"]
    assert all(a["href"].startswith("#") for _, a in reader.tags if "href" in a)
    assert not {"script", "link", "iframe"} & {tag for tag, _ in reader.tags}


def test_code_between_backticks():
    reader = read(Section("a", "A", [Text("Call `fit(X < y)`.")]))
    assert ("code", {}) in reader.tags
    assert "fit(X < y)" in reader.text


def test_flagged_cells_are_marked():
    section = Section("a", "A", [Table(["x", "y"], [[1.0, Cell("2.5", "+1.4 sd", True)]])])
    reader = read(section)
    assert ("td", {"class": "flagged"}) in reader.tags
    assert "+1.4 sd ▲" in reader.text


def test_columns_of_numbers_are_set_to_the_right():
    reader = read(Section("a", "A", [Table(["n", "word"], [[1, "a"], [None, "b"]])]))
    assert [a.get("class") for tag, a in reader.tags if tag == "th"] == ["number", None]


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="a row of 1 cells"):
        Table(["a", "b"], [[1]])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (12345, "12,345"),
        (0.12345, "0.123"),
        (1234.5, "1,234"),
        (1e-5, "1.0e-05"),
        (0.0, "0"),
        (2e6, "2,000,000"),
        (999.9, "1,000"),
        (-6.1e-13, "−6.1e-13"),
        ("as it is", "as it is"),
        (True, "True"),
    ],
)
def test_numbers_are_short(value, text):
    assert number(value) == text


# --- sections -----------------------------------------------------------------------------------


def test_a_section_reports_what_was_computed():
    experiment = fakes.experiment()
    section = make_section(experiment, finished(experiment, *[Outcome({"square": 4}, 0.5)] * 6))
    assert section.failures == section.unavailable == []
    assert section.notes == ["6 cases, 3.0 s."]
    assert section.parts[1].rows[2] == [2, Cell("4", flagged=True)]
    assert "python -m evidence papers fake-squares" in read(section).text


def test_a_section_says_what_failed():
    experiment = fakes.experiment()
    wrong, right = Outcome(error="ValueError: odd"), Outcome({"square": 0}, 1.0)
    section = make_section(experiment, finished(experiment, right, wrong, wrong))
    assert section.failures == ["2 cases failed (i=1 and others): ValueError: odd"]
    assert section.notes[0] == "1 of 3 cases, 1.0 s."
    assert len(section.parts[1].rows) == 1
    assert section.failures[0] in read(section).text


def test_a_section_says_what_is_not_there_and_has_no_report_then():
    experiment = fakes.experiment(report=fakes.broken_report)
    section = make_section(experiment, finished(experiment, *[Outcome(unavailable="no set")] * 3))
    assert section.unavailable == ["no set"]
    assert section.parts == []
    assert section.failures == []
    assert "Not computed here: no set." in read(section).text


def test_a_section_without_data_has_the_published_table_and_says_how_to_get_them():
    (experiment,) = select(["kim2006-table-1"], PAGE)
    tasks = [Task(experiment, parameters) for parameters in experiment.cases(True)]
    pairs = [(task, Outcome(unavailable="the data set was not found")) for task in tasks]
    text = "".join(read(make_section(experiment, pairs)).text)
    for word in ("As published: kim2006, Table 1", "16.1", "How to get the data", "PeerLoss"):
        assert word in text
    assert "16.1\N{NBSP}±\N{NBSP}3.5" in text


def test_a_report_that_fails_is_a_failure_of_its_section():
    experiment = fakes.experiment(report=fakes.broken_report)
    section = make_section(experiment, finished(experiment, Outcome({"square": 0})))
    assert section.failures == ["The report failed: KeyError: 'no such column'"]


def test_warnings_are_in_the_small_print():
    experiment = fakes.experiment()
    outcome = Outcome({"square": 0}, 0.0, ("mind the gap",))
    section = make_section(experiment, finished(experiment, outcome, outcome))
    assert section.notes[1] == "Warning of 2 cases: mind the gap"


def test_partitions_are_in_the_small_print():
    experiment = fakes.experiment()
    numbers = [1, 2, 3, 7, None, None]
    outcomes = [
        Outcome({"square": 0, "data": "x", "partition": k, "official": n is not None, "number": n})
        for k, n in enumerate(numbers)
    ]
    section = make_section(experiment, finished(experiment, *outcomes))
    assert section.notes[1] == (
        "Partitions of x: 4 official (1–3, 7), 2 random of the same sizes (seed 0)."
    )


def test_the_page_has_a_list_of_contents():
    text = page("T", [], {}, [Section("a", "First"), Section("b", "Second")])
    assert re.findall(r'<a href="#(\w)">(\w+)</a>', text) == [("a", "First"), ("b", "Second")]
