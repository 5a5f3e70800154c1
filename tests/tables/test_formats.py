"""Numbers in other notations: read when asked, remarked on when not."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import gramian
from gramian import KernelDiscriminant, LeastSquaresSVR, TableModel
from gramian.tables import NumberFormat, TableError, TableWarning
from gramian.tables._formats import suspicion

MACHINE = KernelDiscriminant(gamma=0.5, ridge=0.1)


@pytest.mark.parametrize(
    ("written", "cell", "value"),
    [
        ({}, "57.9", 57.9),
        ({}, "57,9", None),
        ({"decimal": ","}, "57,9", 57.9),
        ({"decimal": ","}, "-1,5e3", -1500.0),
        ({"decimal": ","}, ",5", 0.5),
        ({"decimal": ","}, "57.9", None),
        ({"decimal": ","}, "", math.nan),
        ({"decimal": ","}, "NA", math.nan),
        ({"decimal": ","}, 57.9, 57.9),
        ({"decimal": ","}, ",", None),
        ({"decimal": ",", "thousands": "."}, "1.234.567,8", 1234567.8),
        ({"decimal": ",", "thousands": "."}, "12.34", None),
        ({"decimal": ",", "thousands": "."}, "1234,5", 1234.5),
        ({"thousands": ","}, "1,234", 1234.0),
        ({"thousands": ","}, "0,234", None),
        ({"thousands": " "}, "1\u202f234.5", 1234.5),
        ({"thousands": "'"}, "1’234", 1234.0),
        ({"unit": "kg"}, "57.9 kg", 57.9),
        ({"unit": "kg"}, "57.9kg", 57.9),
        ({"unit": "kg"}, "57.9", 57.9),
        ({"unit": "kg"}, "579 g", None),
        ({"unit": "%"}, "12 %", 12.0),
        ({"unit": "€"}, "€ 9.50", 9.5),
        ({"unit": "€"}, "€ 9.50 €", None),
        ({"unit": "kg/m2", "decimal": ","}, "23,1 kg/m2", 23.1),
        ({"missing": ("n.b.",)}, "n.b.", math.nan),
    ],
)
def test_number(written, cell, value):
    found = NumberFormat(**written).number(cell)
    assert found == pytest.approx(value, nan_ok=True) if value is not None else found is None


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"decimal": ";"}, "decimal must be one of"),
        ({"thousands": "_"}, "thousands must be one of"),
        ({"decimal": ",", "thousands": ","}, "must differ"),
    ],
)
def test_marks_are_checked(options, match):
    with pytest.raises(ValueError, match=match):
        NumberFormat(**options)


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        (
            ["57,9", "60,1", "3", "", "x"] * 9,
            r"^75 % of the cells of 'w' are numbers with a decimal comma \(such as '57,9'\). They "
            r"are taken as text; to read them as numbers: decimal=',' \(--decimal ,\)\.$",
        ),
        (["57.9 kg", "60.1 kg"], r"100 % .* the unit 'kg' .*units=\['w'\] \(--unit w\)"),
        (["5 %", "6.5 %"], r"the unit '%'"),
        (["57,9 kg", "60,1 kg"], r"a decimal comma and the unit 'kg'"),
        (["1.234,5", "12.000,0"], r"a decimal comma and '\.' between thousands"),
        (["1,234", "12,500"], r"',' between thousands .*thousands=','"),
        (["1,234", "12,500"], r"a decimal comma .*decimal=','"),
        (["1", "2", "3", "n.b."], r"75 % of the cells of 'w' are numbers, .*'n\.b\.'.*--missing"),
        (["red", "green", "3,5"], None),
        (["A12", "B7", "C9"], None),
        (["12A", "7B", "9C"], None),
        (["", None], None),
    ],
)
def test_suspicion(cells, match):
    found = suspicion(cells, "w", NumberFormat())
    if match is None:
        assert found is None
    else:
        assert re.search(match, found)


def german(n=30):
    """A table as a German spreadsheet writes it, and the same with plain numbers."""
    rng = np.random.default_rng(0)
    weight, price = rng.normal(70, 10, n).round(1), rng.normal(2000, 500, n).round(2)
    sick = weight + 10 * rng.standard_normal(n) > 70
    share = rng.uniform(0, 100, n).round(1)

    def written(values, places, unit=""):
        turn = str.maketrans(",.", ".,")
        return [f"{value:,.{places}f}".translate(turn) + unit for value in values]

    label = np.where(sick, "ja", "nein")
    text = {
        "gewicht": written(weight, 1, " kg"),
        "preis": written(price, 2),
        "anteil": written(share, 1, " %"),
        "krank": label,
    }
    return text, {"gewicht": weight, "preis": price, "anteil": share, "krank": label}


def test_asked_for_they_are_the_same_model_as_plain_numbers(tmp_path):
    text, plain = german()
    options = {"decimal": ",", "thousands": ".", "units": ["gewicht", "anteil"]}
    model = TableModel(MACHINE, target="krank", **options).fit(text)
    expected = TableModel(MACHINE, target="krank").fit(plain)
    np.testing.assert_array_equal(model.transform(text), expected.transform(plain))
    np.testing.assert_array_equal(model.transform(plain), expected.transform(plain))
    assert [column.format.unit for column in model.columns_] == ["kg", "", "%"]
    gramian.save(model.forget([3]).reselect(), tmp_path / "m")
    twin = gramian.load(tmp_path / "m")
    assert twin.columns_ == model.columns_
    np.testing.assert_array_equal(twin.predict(text), model.predict(text))


def test_not_asked_for_they_are_text_with_a_word():
    text, _ = german()
    with pytest.warns(TableWarning, match="numbers with a decimal comma"):
        model = TableModel(MACHINE, target="krank").fit({**text, "x": np.arange(30)})
    assert {"anteil", "preis"} <= set(model.ignored_)


def test_categorical_columns_are_left_in_peace():
    text, _ = german()
    names = ["gewicht", "preis", "anteil"]
    TableModel(MACHINE, target="krank", categorical=names).fit({**text, "x": np.arange(30)})


def test_two_units_in_one_column():
    table = {"w": ["57.9 kg", "579 g", "60 kg"], "y": ["a", "b", "a"]}
    with pytest.raises(TableError, match=r"'w' has numbers in 'kg' and in 'g'. Convert them"):
        TableModel(MACHINE, target="y", units=["w"]).fit(table)


def test_target_with_decimal_commas():
    text, plain = german()
    estimator = LeastSquaresSVR(gamma=0.5, C=10.0)
    options = {"decimal": ",", "thousands": ".", "units": ["gewicht", "anteil"]}
    model = TableModel(estimator, target="preis", **options).fit(text)
    np.testing.assert_array_equal(model.y_fit_, plain["preis"])
    assert model.score(text) == model.score(plain)


def test_target_that_is_no_column_of_classes():
    text, _ = german()
    model = TableModel(MACHINE, target="preis")
    with pytest.raises(TableError, match=r"no column of classes: 100 % .*--category"):
        model.fit({"x": np.arange(30), "preis": text["preis"]})
    names = [f"name {chr(65 + i)}" for i in range(30)]
    with pytest.raises(TableError, match="the 30 cells of 'preis' are 30 different texts"):
        model.fit({"x": np.arange(30), "preis": names})
    ages = [f"{i % 3} years" for i in range(30)]
    model.set_params(categorical=["preis"]).fit({"x": np.arange(30), "preis": ages})
    assert model.classes_.tolist() == ["0 years", "1 years", "2 years"]


def test_codes_with_leading_zeros_are_text():
    table = {"plz": ["01067", "80331", "01067", "80331"], "x": [1, 2, 3, 4], "y": [0, 1, 0, 1]}
    (plz, _) = TableModel(MACHINE, target="y").fit(table).columns_
    assert plz.levels == ("01067", "80331")
    named = TableModel(MACHINE, target="y", id_column="plz")
    ids = ["007", "7", "08", "9"]
    assert named.fit({**table, "plz": ids}).ids_.tolist() == ids
    coded = TableModel(MACHINE, target="y").fit({"x": [1, 2, 3, 4], "y": ["01", "02", "01", "02"]})
    assert coded.classes_.tolist() == ["01", "02"]


def test_marks_that_no_cell_has_are_not_proposed():
    asked = NumberFormat(decimal=",", thousands=".")
    told = suspicion([f"{i}.{i}5 kg" for i in range(30)], "x", replace(asked, unit="kg"))
    assert told.endswith(
        "to read them as numbers: decimal='.' (--decimal .), thousands=None (no --thousands)."
    )
