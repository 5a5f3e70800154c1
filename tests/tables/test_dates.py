"""Dates as features: notations, cycles, missing cells, files, conditions."""

from datetime import date, datetime, timedelta

import numpy as np
import pytest

import gramian
from gramian import KernelDiscriminant, TableModel
from gramian.tables import DateColumn, TableError, TableWarning
from gramian.tables._dates import iso_date, notations_of

MACHINE = KernelDiscriminant(gamma=0.5, ridge=0.1)
DAYS = [date(2023, 1, 5) + timedelta(days=17 * i) for i in range(40)]


@pytest.mark.parametrize(
    ("cell", "notation", "iso"),
    [
        ("2024-03-01", "year-month-day", "2024-03-01"),
        ("2024/3/1 7:05", "year-month-day", "2024-03-01T07:05:00"),
        ("2024-03-01T12:30:15.250+01:00", "year-month-day", "2024-03-01T12:30:15"),
        ("01.03.2024", "day.month.year", "2024-03-01"),
        ("1.3.2024 23:59", "day.month.year", "2024-03-01T23:59:00"),
        ("13/02/2024", "day/month/year", "2024-02-13"),
        ("02/13/2024", "month/day/year", "2024-02-13"),
        ("2024-03-01", "day.month.year", "2024-03-01"),
        (datetime(2024, 3, 1, 12), "year-month-day", "2024-03-01T12:00:00"),
        (date(2024, 3, 1), "year-month-day", "2024-03-01"),
        (" NA ", "day.month.year", ""),
        (None, "day.month.year", ""),
        ("31.02.2024", "day.month.year", None),
        ("1.2.3", "day.month.year", None),
        (20240301, "year-month-day", None),
    ],
)
def test_iso(cell, notation, iso):
    assert iso_date(cell, notation) == iso


def test_notations():
    assert notations_of(["2024-03-01", ""]) == [
        "year-month-day", "day.month.year", "day/month/year", "month/day/year"
    ]  # fmt: skip
    assert notations_of(["01.03.2024"]) == ["day.month.year"]
    assert notations_of(["01/03/2024", "02/13/2024"]) == ["month/day/year"]
    assert notations_of(["01/03/2024"]) == ["day/month/year", "month/day/year"]
    assert notations_of(["", None]) == notations_of(["soon"]) == []


def test_features_by_hand():
    values = np.array(["2023-07-02T12:00:00", "2024-02-29", ""], dtype=object)
    column = DateColumn.fit("d", values)
    assert column.parts == ("year", "season", "weekday", "time of day")
    years = np.array([2023.5, 2024 + 59 / 366])  # 2 July, noon, is the middle of 2023
    weekday, clock = np.array([6, 3]), np.array([0.5, 0.0])  # Sunday, Thursday
    angles = 2 * np.pi * np.column_stack([years % 1, weekday / 7, clock])
    scaled = (years - years.mean()) / years.std()
    expected = np.column_stack([scaled, np.sin(angles), np.cos(angles), [0, 0]])
    found = column.encode(values)
    np.testing.assert_allclose(found[:2], expected, atol=1e-10)  # of seconds in a year
    np.testing.assert_array_equal(found[2], [0] * 7 + [1])


def table(notation="%d.%m.%Y"):
    days = DAYS
    return {
        "day": [day.strftime(notation) for day in days],
        "x": np.arange(40) % 7,
        "late": [("yes" if 4 <= day.month <= 9 else "no") for day in days],
    }


def test_dates_are_used_though_all_are_different(tmp_path):
    model = TableModel(MACHINE, target="late").fit(table())
    assert type(model.columns_[0]) is DateColumn
    assert model.ignored_ == {}
    assert model.loo_score() > 0.8
    assert model.table_["day"][0] == "2023-01-05"
    gramian.save(model.forget([0, 1]).reselect(), tmp_path / "m")
    twin = gramian.load(tmp_path / "m")
    assert twin.columns_[0].format == "day.month.year"
    np.testing.assert_array_equal(twin.predict(table()), model.predict(table()))


@pytest.mark.parametrize(
    "column",
    [
        DAYS,
        np.array(DAYS, dtype="datetime64[ns]"),
        [datetime(day.year, day.month, day.day) for day in DAYS],
        [day.isoformat() for day in DAYS],
    ],
    ids=["dates", "datetime64", "datetimes", "iso"],
)
def test_dates_of_any_type(column):
    expected = TableModel(MACHINE, target="late").fit(table())
    model = TableModel(MACHINE, target="late").fit({**table(), "day": column})
    np.testing.assert_allclose(
        model.transform({**table(), "day": column})[:, :5], expected.transform(table())[:, :5]
    )


def test_order_of_day_and_month_that_cannot_be_known_is_remarked_on():
    early = [f"{1 + i % 9:02}/{1 + i % 11:02}/2024" for i in range(40)]
    with pytest.warns(TableWarning, match="taken as day/month/year; they could be month/day/year"):
        TableModel(MACHINE, target="late").fit({**table(), "day": early})


def test_what_is_no_date_later_is_named():
    model = TableModel(MACHINE, target="late").fit(table())
    with pytest.raises(TableError, match=r"row 2, column 'day': 'soon' is not a date \(day\.mon"):
        model.predict({"day": ["01.01.2024", "soon"], "x": [1, 2]})


def test_asked_for_they_stay_text():
    model = TableModel(MACHINE, target="late", categorical=["day"]).fit(table())
    assert model.ignored_ == {"day": "every text is different"}
