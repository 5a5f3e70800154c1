"""Conditions: what parses, what compares, and that nothing is evaluated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramian as package
from gramian import KernelDiscriminant, TableModel
from gramian.cli._row_selection import Condition, ids_where, parse_condition
from tests.cli.conftest import write_csv


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age >= 65", ("age", ">=", "65")),
        ("age<65", ("age", "<", "65")),
        ("  city==Basel ", ("city", "==", "Basel")),
        ("first name != Ada Lovelace", ("first name", "!=", "Ada Lovelace")),
        ("\"a == b\" == 'x > y'", ("a == b", "==", "x > y")),
        ("sound == ''", ("sound", "==", "")),
        ("sound ==", ("sound", "==", "")),
        ("rate > -1e-3", ("rate", ">", "-1e-3")),
    ],
)
def test_condition(text, expected):
    assert parse_condition(text) == Condition(*expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "age",
        "age = '65",
        "== 65",
        "age => 65",
        "age =! 65",
        "age ! 65",
        "'age == 65",
        "age == '65",
    ],
)
def test_what_is_no_condition(text):
    with pytest.raises(ValueError, match="is not of the form COLUMN OP VALUE"):
        parse_condition(text)


_words = st.text(st.characters(codec="utf-8", exclude_characters="\"'\n\r"), min_size=1)


@given(_words, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), _words)
def test_quoted_names_and_values_are_kept(column, op, value):
    assert parse_condition(f"\"{column}\" {op} '{value}'") == Condition(column, op, value)


@pytest.fixture(scope="module")
def model():
    table = {
        "id": ["a", "b", "c", "d", "e"],
        "age": [10.0, 20.0, None, 40.0, 50.0],
        "city": ["Bern", "Basel", "", "Bern", "Bern"],
        "y": [0, 1, 0, 1, 1],
    }
    estimator = KernelDiscriminant(gamma=0.5, ridge=0.1)
    return TableModel(estimator, target="y", id_column="id").fit(table)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("age == 20", "b"),
        ("age != 20", "ade"),
        ("age < 20", "a"),
        ("age <= 20.0", "ab"),
        ("age > 20", "de"),
        ("age >= 2e1", "bde"),
        ("city == Bern", "ade"),
        ("city != 'Bern'", "bc"),
        ("city == ''", "c"),
        ("y == 0", "ac"),
        ("id == d", "d"),
        ("age > 99", ""),
    ],
)
def test_rows_that_meet_a_condition(model, text, ids):
    assert ids_where(model, parse_condition(text)) == list(ids)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("nose == 1", "no column 'nose'. It has: age, city, y, id"),
        ("city < Bern", "'city' is text: only == and != compare it"),
        ("age > old", "column 'age' has numbers, 'old' is none"),
        ("age == NA", "column 'age' has numbers, 'NA' is none"),
        ("age > __import__('os').getpid()", "has numbers"),
    ],
)
def test_condition_that_makes_no_sense(model, text, match):
    with pytest.raises(ValueError, match=match):
        ids_where(model, parse_condition(text))


def test_conditions_hold_for_what_is_left(model):
    twin = TableModel(**model.get_params(deep=False)).fit(
        {**model.table_, "id": model.ids_, "y": model.estimator_.y_fit_}
    )
    twin.forget(["a", "e"])
    assert ids_where(twin, parse_condition("city == Bern")) == ["d"]
    np.testing.assert_array_equal(twin.ids_, ["b", "c", "d"])


def test_dates_are_compared_as_dates(gramian, folder):
    rows = [[f"{1 + i % 28:02}.{1 + i // 4:02}.2024", i % 5, "ab"[i % 2]] for i in range(40)]
    write_csv("days.csv", rows, header=["day", "x", "y"], delimiter=";")
    words = ("fit", "days.csv", "--target", "y", "--gamma", "0.3", "--ridge", "0.1", "-o", "d.gram")
    assert "day.month.year: year, season, weekday" in gramian(*words).stdout
    gramian("forget", "d.gram", "--where", "day < 05.02.2024")
    held = package.load("d.gram").table_["day"]
    assert len(held) < 40
    assert min(held) >= "2024-02-05"
