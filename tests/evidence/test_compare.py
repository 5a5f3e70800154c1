"""Published and ours: distances in deviations, flags beyond one."""

import numpy as np
import pytest

from evidence import Cell
from evidence._compare import (
    Spread,
    column,
    compared,
    few_partitions,
    grouped,
    spread,
)


def unbroken(text):
    return text.replace(" ", "\N{NBSP}")


def test_spread_of_values():
    values = [1.0, 2.0, 6.0]
    assert spread(values) == (np.mean(values), np.std(values, ddof=1))
    assert spread([3.0]) == (3.0, None)


def test_spread_as_text():
    assert Spread(16.125, 3.449).text(1) == unbroken("16.1 ± 3.4")
    assert Spread(2.0).text() == "2.00"


@pytest.mark.parametrize(
    ("ours", "published", "cell"),
    [
        (Spread(17.0, 1.0), Spread(16.0, 2.0), Cell(unbroken("17.0 ± 1.0"), "+0.5 sd")),
        (Spread(14.0, 1.0), Spread(16.0, 2.0), Cell(unbroken("14.0 ± 1.0"), "−1.0 sd")),
        (
            Spread(13.6, 1.0),
            Spread(16.0, 2.0),
            Cell(unbroken("13.6 ± 1.0"), "−1.2 sd", flagged=True),
        ),
        (Spread(13.0), Spread(16.0, 2.0), Cell("13.0", "−1.5 sd", flagged=True)),
        (Spread(17.0, 0.5), Spread(16.0), Cell(unbroken("17.0 ± 0.5"), "+2.0 sd", flagged=True)),
        (Spread(17.0), Spread(16.0), Cell("17.0", "+1.0")),
    ],
)
def test_compared(ours, published, cell):
    assert compared(ours, published, 1) == cell


def test_what_rounds_to_one_deviation_is_not_flagged():
    assert not compared(Spread(18.09), Spread(16.0, 2.0)).flagged


def test_few_partitions_are_remarked_on():
    remarks = [few_partitions(n) for n in (1, 2, 20)]
    assert remarks == ["one partition only", "mean of 2 partitions only", ""]


def test_groups_keep_the_order():
    records = [{"a": 2, "b": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 3}]
    assert list(grouped(records, "a")) == [2, 1]
    assert grouped(records, "a", "b")[2, 3] == [records[2]]
    assert column(grouped(records, "a")[2], "b") == [1, 3]
