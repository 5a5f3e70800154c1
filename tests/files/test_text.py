"""Words of files and tables: no control characters, and no formulas."""

import pytest

from gramian.core.text import csv_cell, excerpt, without_controls


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain ü 漢 …", "plain ü 漢 …"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x9b31m\x7f", "\\x9b31m\\x7f"),
        ("\u202egpj", "\\u202egpj"),
        ("\ud800", "\\ud800"),
    ],
)
def test_control_characters_are_written_out(text, safe):
    assert without_controls(text) == safe


def test_kept_characters_are_kept():
    assert without_controls("a\nb\x1b", "\n") == "a\nb\\x1b"


def test_long_words_are_cut():
    assert excerpt("x" * 100) == "x" * 79 + "…"
    assert excerpt([1, 2]) == "[1, 2]"
    assert len(excerpt("\x1b" * 10**6)) < 400


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\\r=1"),
        ("\x1b[31m", "'\\x1b[31m"),
        ("-1.5e3", "-1.5e3"),
        ("+4", "+4"),
        ("-inf", "-inf"),
        ("cat", "cat"),
        ("two\nlines", "two\nlines"),
        ("", ""),
        (-3, -3),
        (0.5, 0.5),
    ],
)
def test_cells(cell, safe):
    assert csv_cell(cell) == safe
