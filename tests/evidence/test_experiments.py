"""Every experiment: its cases are plain and distinct, and its report stands on made-up results."""

import json

import numpy as np
import pytest

from gramian.datasets import names
from evidence import EXPERIMENTS, Figure, Table, Text, select
from evidence.experiments import (
    _ellipsoids,
    _learning,
    andelic2007_regression,
    duan2008_tables,
    kim2006_figure_1,
    kim2006_figure_2,
    kim2006_figure_3,
    ours_calibration,
    ours_exactness,
    ours_path,
    ours_updates,
    saadi2004_figure_1,
)
from evidence._page import Section, page
from evidence._runner import execute

NAMES = [experiment.name for experiment in EXPERIMENTS]


@pytest.fixture(params=EXPERIMENTS, ids=NAMES)
def experiment(request):
    return request.param


# --- cases --------------------------------------------------------------------------------------


def test_names_are_distinct_and_papers_are_known():
    assert len(set(NAMES)) == len(NAMES)
    papers = {"kim2006", "andelic2007", "saadi2004", "kaieda2004", "duan2008", "ours"}
    assert {name.split("-")[0] for name in NAMES} == papers


@pytest.mark.parametrize("quick", [True, False])
def test_cases_are_plain_and_distinct(experiment, quick):
    cases = list(experiment.cases(quick))
    texts = {json.dumps(case, sort_keys=True, allow_nan=False) for case in cases}
    assert len(texts) == len(cases) > 0
    assert [json.loads(json.dumps(case)) for case in cases] == cases


def test_quick_is_less(experiment):
    assert len(list(experiment.cases(True))) <= len(list(experiment.cases(False)))


def test_data_sets_are_known(experiment):
    known = {case["data"] for case in experiment.cases(False) if "data" in case}
    assert known <= set(names())


def test_select_by_name_and_by_beginning():
    assert [e.name for e in select()] == NAMES
    assert [e.name for e in select(["ours-path"])] == ["ours-path"]
    chosen = [e.name for e in select(["duan2008", "kim2006"])]
    assert chosen == [n for n in NAMES if n.startswith(("kim2006", "duan2008"))]
    with pytest.raises(ValueError, match=r"no experiment 'kim'. There are: kim2006-figure-1, "):
        select(["kim"])


# --- reports on made-up results -----------------------------------------------------------------

OFFICIAL = {"official": True, "number": 1}


def made_up(name, case):
    """Values that a case could have."""
    rng = np.random.default_rng(0)
    if name == "kim2006-figure-1":
        errors = [None, *rng.uniform(15, 18, len(kim2006_figure_1.EXPONENTS) - 1)]
        return {"svd": 17.0, "qr": errors, "auto": errors, **OFFICIAL}
    if name == "kim2006-table-1":
        return {"whole": 16.0, "adaptive": 16.0, "difference": 1e-14, "order": 1e-14, **OFFICIAL}
    if name == "kim2006-figure-3":
        return {"seconds": 0.1, "error": 20.0, "difference": 1e-12}
    if name == "saadi2004-figure-1":
        times = {
            work: 0.1 for work in saadi2004_figure_1.WORK if work != "direct" or case["direct"]
        }
        return {"seconds": times, **({"difference": 1e-15} if case["direct"] else {})}
    if name == "kaieda2004-tables-5-to-7":
        counts = {} if case["kind"] == "Conventional" else {"selected": 12}
        return {"tuned": 96.0 + rng.random(), "untuned": 95.0, **counts, **OFFICIAL}
    if name == "kaieda2004-table-8":
        return {"seconds": 0.5, **OFFICIAL}
    if name == "duan2008-tables-1-and-2":
        return {"direct": 0.2, "decremental": 0.1, "difference": 1e-16}
    if name == "andelic2007-sinc":
        values = {"rmse": 0.1, "centres": 3}
        shown = case["seed"] == 0 and (case["n"], case["noise"]) == (100, 0.1)
        fit = {"x": [0.0, 1.0], "y": [1.0, 0.8], "chosen": [1], "fit": [0.0] * 201}
        return {**values, **(fit if shown else {})}
    if name == "andelic2007-regression":
        return {"mse": 10.0, "share": 5.0, **OFFICIAL}
    if name == "andelic2007-classification":
        return {"error": 5.0, "share": 10.0, **OFFICIAL}
    if name == "ours-updates":
        return {"refit": 1.0, "learn": 0.01, "forget": 0.001, "memory": 1e-4}
    if name == "ours-peers":
        return {"error": 3.0, "seconds": 0.5, **OFFICIAL}
    return {"error": 15.0, "untuned": 16.0, **OFFICIAL}


COMPUTED = ("kim2006-figure-2", "ours-exactness", "ours-path", "ours-calibration")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in COMPUTED])
@pytest.mark.parametrize("share", [1, 3])
def test_reports_make_a_page_of_all_and_of_some_results(name, share):
    (experiment,) = select([name])
    cases = list(experiment.cases(True))[::share]
    parts = experiment.report([{**case, **made_up(name, case)} for case in cases])
    assert any(isinstance(part, Table) for part in parts)
    assert all(isinstance(part, Table | Figure | Text) for part in parts)
    assert page("T", [], {}, [Section(name, experiment.title, parts)])


# --- small real ones ----------------------------------------------------------------------------


def reported(module, cases):
    outcomes = [execute(module.run, case) for case in cases]
    assert [outcome.error for outcome in outcomes] == [""] * len(cases)
    records = [{**case, **o.values} for case, o in zip(cases, outcomes, strict=True)]
    return records, module.EXPERIMENT.report(records)


def test_boundaries_coincide():
    records, parts = reported(kim2006_figure_2, kim2006_figure_2.cases(True))
    assert all(record["difference"] < 1e-12 for record in records)  # cond 10³, 12 samples
    assert b"<svg" in parts[1].svg


def test_steps_stay_at_a_refit():
    (record,), _ = reported(ours_exactness, [{"ridge": 0.1, "steps": 20}])
    assert record["marks"] == sorted(record["marks"])
    assert record["marks"][-1] == 20
    assert max(record["distances"]) < 1e-11  # cond about 10⁴, 200 samples


def test_path_of_ridges_by_three_roads():
    cases = [{"road": road, "n": 20, "length": 3} for road in ours_path.ROADS]
    records, _ = reported(ours_path, cases)
    assert all(record["difference"] < 1e-10 for record in records)  # cond about 10⁵


def test_calibration_counts_every_test_sample():
    cases = [
        {"samples": name, "method": method, "n": 40, "seed": 0}
        for name, method in zip(ours_calibration.SETS, ours_calibration.METHODS, strict=True)
    ]
    records, _ = reported(ours_calibration, cases)
    assert all(sum(record["count"]) == ours_calibration.N_TEST for record in records)
    assert all(0 < record["log_loss"] < 0.7 for record in records)


def test_run_times():
    (record,), _ = reported(saadi2004_figure_1, [{"n": 12, "direct": True}])
    assert record["difference"] < 1e-10  # cond about 10⁴
    reported(ours_updates, [{"n": 40}])


def test_leave_one_out_by_three_roads():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((15, 3))
    K, y = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)), np.where(X[:, 0] > 0, 1, -1)
    roads = [loo(K, y) for loo in kim2006_figure_3.LOO.values()]
    for values in roads[1:]:
        np.testing.assert_allclose(values, roads[0], rtol=1e-10)  # cond below 10³


# --- parts --------------------------------------------------------------------------------------


def test_inserting_one_by_one_is_fitting():
    class Recorder:
        def __init__(self):
            self.calls = []

        def fit(self, X, y):
            self.calls.append(X.tolist())

        def partial_fit(self, X, y):
            self.calls.append(X.tolist())

    model = _learning.fit_then_insert(Recorder(), np.arange(8), np.zeros(8))
    assert model.calls == [[0, 1, 2, 3, 4, 5], [6], [7]]


def test_largest_difference_is_relative():
    assert _learning.largest_difference([1.0, 2.0], np.array([1.0, 4.0])) == 0.5
    assert _learning.largest_difference([1.0], np.zeros(1)) == 1.0


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("linear", {"kernel": "linear"}),
        ("d2", {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 2}),
        ("γ1e-3", {"kernel": "rbf", "gamma": 1e-3}),
    ],
)
def test_kernels_by_the_names_of_the_tables(name, kernel):
    assert _ellipsoids.kernel_parameters(name) == kernel


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("Conventional", {"distance": "input", "zeta": 1e-6}),
        ("SVD (2)", {"distance": "svd", "sigma": 1e-8, "degree": 2}),
        ("KPCA I (1)", {"transductive": None, "epsilon": 1e-5, "kernel": "linear"}),
        ("KPCA III (3)", {"transductive": "basis", "epsilon": 1e-8, "gamma": 0.1, "tau": 1e-5}),
    ],
)
def test_classifiers_by_the_rows_of_the_tables(kind, parameters):
    model = _ellipsoids.multiclass_classifier(kind, "ann_thyroid")
    assert {name: getattr(model, name) for name in parameters} == parameters
    assert model.tune is True


def test_vectors_of_the_ellipsoids():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = np.repeat([0, 1], 20)
    model = _ellipsoids.fuzzy_classifier("SVD", 1e-8, "linear", inverse_of_small="zero").fit(X, y)
    assert _ellipsoids.selected(model._regions) == 2 * 2
    model = _ellipsoids.fuzzy_classifier("KPCA I", 1e-8, "linear").fit(X, y)
    assert _ellipsoids.selected(model._regions) == 2 * 2


def test_sex_becomes_three_features():
    X = np.array([[2.0, 0.5], [3.0, 0.7]])
    encoded = andelic2007_regression.encoded("abalone", X)
    np.testing.assert_array_equal(encoded, [[0, 1, 0, 0.5], [0, 0, 1, 0.7]])
    assert andelic2007_regression.encoded("boston", X) is X


def test_decremental_machines_have_the_parameters_of_the_paper():
    for name in duan2008_tables.MACHINES:
        model = duan2008_tables._machine(name, 50)
        assert (model.gamma, model.C) == (0.125, 1 / 50)
