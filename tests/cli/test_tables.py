"""Tables in and out, and errors that name the place."""

import io
import sys

import pytest

from gramian.cli._tables import naming, read_table, to_csv, write_table
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


def test_cells_with_separators_and_line_breaks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n"1, or ""2""","one\ntwo"\n')
    assert read_table(str(path)) == {"a": ['1, or "2"'], "b": ["one\ntwo"]}


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
        (b"a,b\n1,2\n1\n", "t.csv: row 2: 1 cells, but there are 2 columns"),
        (b"a,b\n1,2,3\n", "t.csv: row 1: 3 cells, but there are 2 columns"),
        (b"a,,c\n1,2,3\n", "t.csv: column 2 has no name"),
        (b"a,a\n1,2\n", "t.csv: two columns have the name 'a'"),
        (b'a,b\n1,"2\n', "t.csv: line 2: unexpected end of data"),
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
