"""The tables that were typed in: they parse, are complete, and agree with each other."""

import pytest

from evidence._compare import Spread
from evidence.datasets import names
from evidence.published import duan2008, kaieda2004, kim2006, saadi2004
from evidence.published._table import read_table


def test_cells():
    table = read_table("name | a | b | c | d\nx | 1.5±0.2 | -2e-3 | d2 |\n")
    assert table == {"x": {"a": Spread(1.5, 0.2), "b": -2e-3, "c": "d2", "d": None}}


@pytest.mark.parametrize("text", ["n | a\nx | 1 | 2", "n | a\nx | 1\nx | 2"])
def test_rows_that_do_not_fit(text):
    with pytest.raises(ValueError, match="row 'x' is there twice, or has not 1 cells"):
        read_table(text)


@pytest.mark.parametrize(
    "table",
    [kim2006.TABLE_1, saadi2004.TABLE_1, kaieda2004.TABLE_10],
    ids=["kim", "saadi", "kaieda"],
)
def test_errors_are_spreads_in_per_cent_of_sets_that_there_are(table):
    assert set(table) <= set(names())
    for row in table.values():
        assert all(0 < cell.deviation < cell.mean < 50 for cell in row.values())


def test_both_papers_have_the_thirteen_sets():
    thirteen = {name for name in names() if name.startswith("ida_")}
    assert set(saadi2004.TABLE_1) == set(kaieda2004.TABLE_10) == set(kaieda2004.TABLE_9) == thirteen


def test_both_papers_quote_the_same_support_vector_machine():
    for name, row in kaieda2004.TABLE_10.items():
        quoted = saadi2004.TABLE_1[name]["SVM"]
        assert row["SVM"].mean == pytest.approx(quoted.mean, abs=0.051)  # one digit less
        assert row["SVM"].deviation == pytest.approx(quoted.deviation, abs=0.051)


def test_rates_and_numbers_of_vectors():
    assert list(kaieda2004.TABLE_5) == list(kaieda2004.TABLE_6)
    assert set(kaieda2004.TABLE_7) == set(kaieda2004.TABLE_5) - {"Conventional"}
    assert set(kaieda2004.TABLE_8) < set(kaieda2004.TABLE_5)
    for table in (kaieda2004.TABLE_5, kaieda2004.TABLE_6):
        assert all(70 < cell < 100 for row in table.values() for cell in row.values())
        iris = [row["iris_uci"] for row in table.values()]
        assert [round(rate * 0.75) / 0.75 for rate in iris] == pytest.approx(iris, abs=0.01)


def test_more_transduction_selects_no_fewer_vectors():
    for kernel in ("(1)", "(2)", "(3)"):
        for data in ("iris_uci", "ann_thyroid"):
            counts = [kaieda2004.TABLE_7[f"KPCA {n} {kernel}"][data] for n in ("I", "II", "III")]
            assert counts == sorted(counts)


def test_times_of_decremental_learning():
    assert len(duan2008.TABLES_1_AND_2) == 18
    for row, cells in duan2008.TABLES_1_AND_2.items():
        name, _, k = row.split(", ")
        assert name in names()
        assert int(k) in (1, 20, 50)
        for machine in ("LSVM", "LSSVM"):
            # The paper prints 3.1563 there, where the others of its kind suggest 34.1563.
            if (row, machine) != ("ida_german, 720, 20", "LSSVM"):
                assert cells[f"{machine} decremental"] < cells[f"{machine} direct"]
