"""Machines on partitions: figures, and one computation for all that ask for it."""

import numpy as np
import pytest

from evidence.experiments import (
    calibration,
    ours_peers,
    ours_stack,
    saadi2004_table_1,
    selection,
)
from evidence.shared import study


def test_figures_of_a_classifier_with_and_without_probabilities():
    found = study.run("wine", "KernelDiscriminant", 0)
    assert found["n"] == 90
    assert found["d"] == 13
    assert 0 <= found["error"] < 15
    assert found["log_loss"] < 0.5
    assert "log_loss" not in study.run("wine", "SVC", 0)


@pytest.mark.parametrize("targets", ["fisher", "signs"])
def test_the_paper_searches_by_the_simplex_method(targets):
    name = {"fisher": "saadi2004", "signs": "saadi2004, ±1"}[targets]
    chosen = study.MACHINES[name].get_params()
    assert (chosen["search"], chosen["criterion"]) == ("nelder-mead", "error")
    assert chosen["targets"] == targets


def test_experiments_share_what_they_compute():
    modules = (calibration, ours_peers, ours_stack, saadi2004_table_1, selection)
    assert {e.run for module in modules for e in module.EXPERIMENTS} == {study.run}
    names = {case["machine"] for m in modules for case in m.cases(False)}
    assert names == set(study.MACHINES)


def test_calibration_error_by_hand():
    confidence_level = np.array([0.9, 0.9, 0.9, 0.9, 0.51, 0.51])
    right = np.array([True, True, True, False, True, False])
    expected = (4 * abs(0.75 - 0.9) + 2 * abs(0.5 - 0.51)) / 6
    np.testing.assert_allclose(study.calibration_error(confidence_level, right), expected)
