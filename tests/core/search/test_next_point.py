"""Where a search over one width looks next."""

from types import SimpleNamespace

import numpy as np
import pytest

from gramian.core.search._search import _STEP, _next_point


def trials(objective, places=(-1.0, 0.0, 2.0)):
    return [SimpleNamespace(gamma=np.exp(x), objective=objective(x)) for x in places]


def test_the_minimum_of_a_parabola():
    assert _next_point(trials(lambda x: (x - 0.4) ** 2)) == pytest.approx(0.4)
    assert _next_point(trials(lambda x: x**2)) is None  # it is there


def test_beyond_an_end():
    assert _next_point(trials(lambda x: x)) == pytest.approx(-1.0 - _STEP)
    assert _next_point(trials(lambda x: -x)) == pytest.approx(2.0 + _STEP)
