"""Reports as files of docs/benchmarks."""

import json

import pytest

from evidence import Cell, Figure, Table, Text
from evidence._markdown import markdown, write

FACTS = {"numpy": "2.0", "processor": "one"}
PARTS = [
    Text("A note."),
    Figure(b"<svg/>", "A drawing."),
    Table(
        ["n", "append (ms)", "who"],
        [[4000, 0.123456, "us | them"], [10, 1234567.0, None], [1, None, Cell("2", "+1 sd", True)]],
        "All of them",
    ),
]


def test_markdown_has_title_parts_command_and_machine():
    page = markdown("toy", "A title", PARTS, FACTS)
    assert page.startswith("# A title\n\nA note.\n\n![A drawing.](toy.svg)\n\n**All of them**\n\n")
    for line in (
        "| n | append (ms) | who |\n| --- | --- | --- |",
        "| 4,000 | 0.123 | us \\| them |",
        "| 10 | 1,234,567 |  |",
        "| 1 |  | 2 (+1 sd ▲) |",
        "`python -m evidence bench toy`, measured on: numpy 2.0; processor one.",
    ):
        assert line in page


def test_write_makes_all_files_over_older_ones(tmp_path):
    folder = tmp_path / "new"
    for _ in range(2):
        written = write(folder, "toy", "A title", [*PARTS, PARTS[1]], FACTS)
    assert sorted(path.name for path in folder.iterdir()) == sorted(written)
    assert sorted(written) == ["toy.json", "toy.md", "toy.svg", "toy_2.svg"]
    content = json.loads((folder / "toy.json").read_text(encoding="utf-8"))
    (table,) = content["tables"]
    assert table["columns"] == ["n", "append (ms)", "who"]
    assert table["rows"][:2] == [[4000, 0.123456, "us | them"], [10, 1234567.0, None]]
    assert content["machine"] == FACTS


def test_infinity_is_no_json(tmp_path):
    with pytest.raises(ValueError, match="Out of range float"):
        write(tmp_path, "toy", "A title", [Table(["n"], [[float("inf")]])], FACTS)
    assert list(tmp_path.iterdir()) == []
