"""Tables in and out, and errors that name the place."""

import io
import sys

import numpy as np
import pytest

from gramian.cli._tables import ReadingOptions, naming, read_table, to_csv, write_table
from gramian.tables import TableError


@pytest.mark.parametrize(
    "content",
    [
        "a,b c\n1,x\n2,y\n",
        "\ufeffa;b c\r\n1;x\r\n2;y\r\n",
        'a\tb c\n"1"\tx\n\n2\ty',
        " a | b c\n1|x\n2|y\n",
    ],
)
def test_csv(content, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode())
    assert read_table(str(path)) == {"a": ["1", "2"], "b c": ["x", "y"]}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_tells_the_encoding(encoding, tmp_path):
    path = str(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_bytes("größe;b\r\n1;ü\r\n".encode(encoding))
    table = read_table(path)
    assert table == {"größe": ["1"], "b": ["ü"]}
    assert table.notation.marked
    write_table(path, {"x": [0.5]}, table.notation._replace(decimal=","))
    assert (tmp_path / "t.csv").read_bytes() == b"\xef\xbb\xbfx\n0,5\n"


@pytest.mark.parametrize(
    "content", [b"a,b,\n1,2,\n3,4,\n", b"a,b\n1,2,\n3,4,\n", b"a,b,\n1,2\n3,4\n"]
)
def test_a_delimiter_at_the_end_of_lines(content, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    assert read_table(str(tmp_path / "t.csv")) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_cells_with_separators_and_line_breaks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n"1, or ""2""","one\ntwo"\n')
    assert read_table(str(path)) == {"a": ['1, or "2"'], "b": ["one\ntwo"]}


def test_empty_lines_before_the_names(tmp_path, monkeypatch):
    monkeypatch.setattr("gramian.cli._tables.reading_options", lambda: ReadingOptions(skip=1))
    (tmp_path / "t.csv").write_text("Sales of 2024\n\na;b\n1,5;2\n")
    assert read_table(str(tmp_path / "t.csv")) == {"a": ["1,5"], "b": ["2"]}


def test_marks_within_quotes_separate_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'"a;b;c|d|e","f"\r\n"x\ry","z\nz"\r\n')
    assert read_table(str(path)) == {"a;b;c|d|e": ["x\ry"], "f": ["z\nz"]}


def test_table_without_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n")
    assert read_table(str(tmp_path / "t.csv")) == {"a": [], "b": []}


def test_standard_input(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    assert read_table("-") == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "t.csv: the file is empty"),
        (b"a,b\n1,2\n1\n", "t.csv: row 2: 1 cells, but there are 2 columns. A cell that has a sep"),
        (b"Trees, of May\na;b\n1;2\n3;4\n", "t.csv: row 1: 1 cells.*title: --skip-lines 1"),
        (b"Trees, of May\nand June\na;b;c\n1;2;3\n", "title: --skip-lines 2"),
        (b"a,b\n1,2,3\n", "t.csv: row 1: 3 cells, but there are 2 columns"),
        (b"a,,c\n1,2,3\n", "t.csv: column 2 has no name"),
        (b"Patients of 2024\n\na,b\n1,2\n", r"in 1 cell\(s\), and lines below have 2 cells"),
        (b"Sales;;\n\nof 2024;;\na;b;c\n1;2;3\n", "If it is a title: --skip-lines 3"),
        (b"Patients of 2024,,\na,b,c\n1,2,3\n", "If it is a title: --skip-lines 1"),
        (b"a,b,\n1,2,\n1,2,3\n", "t.csv: column 3 has no name"),
        ("a,b\n1,ü\n".encode("utf-16-le"), "it looks like --encoding utf-16-le"),
        (b"a,a\n1,2\n", "t.csv: two columns have the name 'a'"),
        (b'a,b\n1,"2\n1,2\n1,2\n', "t.csv: line 2: unexpected end of data. A cell with a quot"),
        (b"a,b\n1,2\n1,\x002\n", "a zero byte in line 3, which no text has: it is damaged"),
        ("a,b\n1,2\n".encode("utf-16-be"), "it looks like --encoding utf-16-be"),
        (b"PK\x03\x04\x00\x01", "t.csv is a spreadsheet or an archive. Save the sheet as CSV"),
        (b"\x1f\x8b\x08\x00", "t.csv is compressed. Unpack it first"),
        (b"caf\xe9\n", "t.csv is not UTF-8 text"),
    ],
)
def test_fault_is_named_with_its_place(content, match, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(TableError, match=match):
        read_table("t.csv")


def test_standard_input_is_named():
    with pytest.raises(TableError, match="standard input: odd"), naming("-"):
        raise ValueError("odd")


def test_csv_text():
    assert to_csv({"a": [1, 2], "b": ["x,y", 0.5]}) == 'a,b\n1,"x,y"\n2,0.5\n'


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.PQ"])
def test_written_table_reads_back(name, tmp_path):
    if not name.endswith("csv"):
        pytest.importorskip("pyarrow")
    path = str(tmp_path / name)
    write_table(path, {"a": [1, 2], "b": ["x", "y"]})
    table = read_table(path)
    assert {key: list(map(str, cells)) for key, cells in table.items()} == {
        "a": ["1", "2"],
        "b": ["x", "y"],
    }


def test_file_that_is_no_parquet_is_named(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "t.parquet").write_text("a,b\n")
    with pytest.raises(TableError, match=r"t\.parquet: "):
        read_table(str(tmp_path / "t.parquet"))


def test_without_pyarrow_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"gramian\[parquet\]"):
        write_table(str(tmp_path / "t.parquet"), {"a": [1]})
    with pytest.raises(ModuleNotFoundError, match=r"gramian\[parquet\]"):
        read_table(str(tmp_path / "t.parquet"))


def test_encoding_and_notation_of_a_spreadsheet(gramian, as_json, folder):
    cells = [f"{150 + i},{i % 10};{'groß' if i > 9 else 'klein'}" for i in range(20)]
    (folder / "de.csv").write_bytes("\n".join(["Größe;Gruppe", *cells]).encode("cp1252"))
    given = ("--gamma", "0.3", "--ridge", "0.1")
    words = ("fit", "de.csv", "--target", "Gruppe", *given, "-o", "m.gram")
    assert "--encoding cp1252" in gramian(*words, code=1).stderr
    error = gramian(*words, "--encoding", "nonsense", code=1).stderr
    assert "--encoding: unknown encoding" in error
    error = gramian(*words, "--encoding", "cp1252", code=1).stderr
    assert "no column is left" in error
    assert "100 % of the cells of 'Größe' are numbers with a decimal comma" in error
    facts = as_json(*words, "--encoding", "cp1252", "--decimal", ",")
    assert facts["columns"][0]["mean"] == pytest.approx(159.95)
    assert facts["notes"] == []
    done = gramian("predict", "m.gram", "de.csv", "--encoding", "cp1252")
    assert "error 0.00%" in done.stderr


def test_title_missing_targets_and_the_notation_of_the_input(gramian, as_json, folder):
    cells = [f"{i},5;{'ab'[i % 2]};{i * i},25;" for i in range(40)]
    cells[3], cells[8] = "3,5;b;;", "8,5;a;NA;"
    title = ["Messungen 2024", "", "x;art;wert;"]
    (folder / "de.csv").write_bytes("\r\n".join([*title, *cells]).encode("utf-16"))
    words = ("fit", "de.csv", "--target", "wert", "--decimal", ",", "-o", "m.gram")
    given = (*words, "--gamma", "0.3", "--ridge", "0.1", "--skip-lines", "2")
    assert "--skip-lines 2" in gramian(*words, code=1).stderr
    error = gramian(*given, code=1).stderr
    assert "rows 4, 9, column 'wert': the target is missing. 2 of 40 rows have none" in error
    assert as_json(*given, "--drop-missing-target")["rows"] == 38
    assert "Left out: 2 rows without a target." in gramian(*given, "--drop-missing-target").stdout
    gramian("predict", "m.gram", "de.csv", "--skip-lines", "2", "-o", "out.csv")
    text = (folder / "out.csv").read_bytes().decode("utf-8-sig")
    assert text.startswith("row;prediction\n1;")
    assert all("." not in line and line.count(",") == 1 for line in text.splitlines()[1:])
    learn = ("learn", "m.gram", "de.csv", "--skip-lines", "2")
    assert "2 of 40 rows" in gramian(*learn, code=1).stderr
    assert as_json(*learn, "--drop-missing-target")["dropped"] == 2
    gramian("doubt", "m.gram", "--top", "3", "-o", "doubts.csv")
    assert (folder / "doubts.csv").read_text().startswith("id;given;suggested;error\n")
    assert len(as_json("relabel", "m.gram", "doubts.csv")["ids"]) == 3


def test_two_thousand_columns_are_folded(gramian, folder):
    rows = np.random.default_rng(0).standard_normal((20, 2000)).round(2)
    rows[:, 1500:] = 1.0
    lines = [",".join(map(str, [*row, "ab"[i % 2]])) for i, row in enumerate(rows)]
    names = ",".join([*(f"c{j}" for j in range(2000)), "y"])
    (folder / "wide.csv").write_text("\n".join([names, *lines]))
    words = ("fit", "wide.csv", "--target", "y", "--gamma", "0.001", "--ridge", "0.1")
    out = gramian(*words, "-o", "wide.gram").stdout
    assert len(out.splitlines()) < 60
    assert "… and 1,480 more: 1,480 of numbers" in out
    assert "c1509, … (500 columns) (constant)" in out
