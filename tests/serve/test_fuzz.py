"""Two hundred bad requests; `make torture` sends thousands, also from the OpenAPI schema."""

import pytest

from tests.torture import heavy, requests


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # of labels, in sklearn
def test_bad_requests():
    report = {}
    tried, failures = requests.main(0, n=200, schema=False, report=report)
    assert tried == 200
    assert not failures, failures[0]
    assert "× 422" in report["requests"]


@pytest.mark.slow
def test_requests_that_cost_more_than_they_weigh():
    report = {}
    tried, failures = heavy.main(
        3, n=12, kinds=(0, 1, 2, 5, 6, 7, 8), report=report
    )  # no sets: slow
    assert tried == 12
    assert not failures, failures[0]
    assert "ms of processor time" in report["heavy"]
