"""Every experiment: its cases are plain and distinct, and its report stands on made-up results."""

import json

import numpy as np
import pytest

from evidence import Figure, Table, Text
from evidence._markdown import markdown
from evidence._page import Section, page
from evidence._registry import BENCHMARKS, EXPERIMENTS, PAGE, select
from evidence._runner import execute
from evidence.datasets import names
from evidence.experiments import (
    andelic2007_regression,
    conformal,
    conformal_times,
    data_times,
    duan2008_tables,
    fisher,
    honest,
    kim2006_figure_1,
    kim2006_figure_2,
    kim2006_figure_3,
    label_errors,
    libraries,
    linear_svm,
    mixed_tables,
    ours_calibration,
    ours_exactness,
    ours_path,
    ours_updates,
    paper_methods,
    ridge_path,
    saadi2004_figure_1,
    stack_candidates,
    store_edits,
    widths,
    widths_classes,
)
from evidence.shared import ellipsoids

NAMES = [experiment.name for experiment in EXPERIMENTS]


@pytest.fixture(params=EXPERIMENTS, ids=NAMES)
def experiment(request):
    return request.param


# --- cases --------------------------------------------------------------------------------------


def test_names_are_distinct_and_papers_are_known():
    assert len(set(NAMES)) == len(NAMES)
    papers = {"kim2006", "andelic2007", "saadi2004", "kaieda2004", "duan2008", "ours"}
    assert {e.name.split("-")[0] for e in PAGE} == papers
    files = [experiment.file for experiment in BENCHMARKS]
    assert len(set(files)) == len(files)
    assert {e.page or bool(e.file) for e in EXPERIMENTS} == {True}


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
    assert [e.file for e in select(["selection"], BENCHMARKS)] == ["selection"]
    assert [e.file for e in select(["tuning"], BENCHMARKS)] == [
        "tuning_search",
        "tuning_seeds",
        "tuning_machines",
    ]
    assert [e.name for e in select(["updates"], BENCHMARKS)] == ["ours-updates"]
    chosen = [e.name for e in select(["duan2008", "kim2006"])]
    assert chosen == [n for n in NAMES if n.startswith(("kim2006", "duan2008"))]
    with pytest.raises(ValueError, match=r"no experiment 'kim'. There are: kim2006-figure-1, "):
        select(["kim"])


# --- reports on made-up results -----------------------------------------------------------------

OFFICIAL = {"official": True, "number": 1}


STUDY = {"error": 15.0, "seconds": 0.5, "n": 170, "d": 13, **OFFICIAL}
EXACT = {"floor": 1e-14, "live": 1e-14, "refit": 1e-14, "drift": 1e-14, "rebuilt": 0, "end": "qr"}
HONEST = ("left_out", "reported", "true", "covered", "labels", "alone", "alone_covered")
MADE_UP = {
    "tuning_machines": {"ladder": 90.0, "path": 90.5, "ladder (s)": 0.5, "path (s)": 1.0},
    "kim2006-table-1": {"whole": 16.0, "adaptive": 16.0, "difference": 0.0, "order": 0.0},
    "kim2006-figure-3": {"seconds": 0.1, "error": 20.0, "difference": 1e-12},
    "paper_methods": {"theirs": 0.2, "ours": 0.1},
    "andelic2007-regression": {"mse": 10.0, "share": 5.0, "seconds": 1.0, **OFFICIAL},
    "orthogonal_large": {"centres": 5, "seconds": 1.0, "memory": 0.1, "learn": 1.0, "forget": 1.0},
    "gpu": {"fit": 1.0, "bytes": 1e9, "refit": 2.0, "drift": 1e-12}
    | dict.fromkeys(("learn", "learn_64", "forget", "loo"), 1e-3),
    "gpu_orthogonal": {"found": 5, "choice": 1.0, "bytes": 1e9, "drift": 1e-12, "learned": 2.0},
    "tuning_seeds": {"nats": 10.0, "error": 5.0},
    "gpu_tuned": {"seconds": 3.0, "gamma": 0.1, "C": 10.0, "loo": 0.9},
    "gpu_agreement": {"decisions": 1e-12, "left_out": 1e-12},
    "gpu_single": {"bytes": 1e9, "drift": 1e-13, "decisions": 1e-12, "left_out": 1e-5}
    | dict.fromkeys(("fit", "learn", "forget", "read"), 0.1),
    "gpu_peers": dict.fromkeys(("ours", "learn", "theirs", "fantasy"), 0.1),
    "gpu_letter": {"seconds": 3.0, "error": 4.0, "left_out": 4.5, "gamma": 0.1, "C": 10.0},
    "dask_rows": {"found": [[1000, 0.5, 100.0]]},
    "fisher_updates": {"fit": 1.0, "learn": 0.01, "forget": 0.001},
    "fisher_leave_one_out": {"exact": 5.0, "rows": 6.0, "test": 5.5, "rms": 0.1},
    "fisher_exactness": {"live": 1e-12, "fit": 1e-12, "equation": 1e-9, "rebuilt": 1},
    "kaieda2004-table-8": {"seconds": 0.5, **OFFICIAL},
    "ellipsoidal_edits": {"times": {"fit": 1.0, "retune": 0.5}, "size": 600, **OFFICIAL},
    "duan2008-tables-1-and-2-lssvm": dict.fromkeys(
        ("fit", "inverse", "cholesky", "forget", "difference"), 0.1
    ),
    "duan2008-tables-1-and-2-lsvm": dict.fromkeys(
        ("fit", "direct", "iteration", "pivot", "difference", "support"), 0.1
    ),
    "linear_svm": {"RidgeClassifier.fit": 1.0, "fit": 1.0, "learn one sample": 1e-3},
    "ours-updates": {"refit": 1.0, "learn": 0.01, "forget": 0.001, "memory": 1e-4},
    "ours-exactness": {"marks": [1, 2], "distances": [1e-14, 1e-13], **EXACT},
    "ours-path": {"seconds": 0.1, "difference": 1e-12},
    "ridge_path": {"path": 0.1, "bare": 0.05, "folds": 2.0, "refit": 0.1, "fit": 0.2},
    "ours-calibration": {
        **{"log_loss": 0.3, "brier": 0.1, "error": 10.0},
        **dict.fromkeys(("count", "expected", "observed"), [1.0] * ours_calibration.BINS),
    },
    "calibration": {**STUDY, "log_loss": 0.3, "ece": 5.0, "proba_error": 15.0},
    "label_errors": {
        **dict.fromkeys(("precision", "flipped", "forgotten", "clean"), 80.0),
        **STUDY,
    },
    "data_times": {"seconds": 0.1, "refits": 100.0, "difference": 1e-12},
    "conformal_coverage": {"covered": [80.0, 90.0, 95.0]},
    "conformal_sets": {"ours": 0.9, "split": 0.9, "ours_size": 1.0, "split_size": 1.1, "n": 200},
    "conformal_tuning": {"same": [0.88, 0.9], "apart": [0.9, 0.91]},
    "widths_exactness": {"difference": 1e-14, "refits": 1.0, "seconds": 1e-3},
    "widths_coverage": {
        **{"covered": [[8.0, 9.0, 9.5], [8.0, 9.0, 9.5]], "asked": [10.0, 10.0]},
        "widths": [9.0, 20.0],
    },
    "widths_classes": {score: [0.9, 0.8, 0.7, 1.2] for score in widths_classes.SCORES},
    "widths_turns": {"shares": [[0.8, 0.9, 0.95], [0.9, 0.95, 1.0]]},
    "widths_times": {"first": 1.0, "later": 0.5},
    "conformal_times": {"seconds": 0.1, "ends": [[0.0, 1.0]]},
    "store": {**dict.fromkeys(store_edits.TIMES, 0.1), "epoch": 0.5},
    **{f"honest_{what}": dict.fromkeys(HONEST, 30.0) for what in ("noise", "tables", "groups")},
    "honest_subjects": dict.fromkeys((*HONEST, "subjects"), 30.0),
    "default_times": {"seconds": 1.0, "yardstick": 0.01, "score": 0.9},
    "flattery": {"left_out": 9.0, "fresh": 10.0},
    "stream_choices": {"error": 1.0, "no_change": 2.0},
    "stream_steps": {
        **dict.fromkeys(
            ["step", "typical", "predict", "edit", "SGD", "linear", "knn", "forest"], 1e-4
        ),
        "refit": 1e-2,
    },
    "stream_kinds": dict.fromkeys(["step", "typical", "edit"], 1e-4),
    "stream_exactness": {"off": 1e-14, "drift": 1e-15, "rebuilds": 0},
    "stream_million": {"off": 1e-14, "drift": 1e-15, "rebuilds": 0},
    "threads": {
        "seconds": {"fit": 0.1, "stack": 0.4, "edit": 1e-3, "infer": None},
        "before": 0.1,
        "processor": "p",
    },
    "ours-libraries": {"learn": 0.1, "forget": None, "error": 1e-15},
}


def made_up(name, case):
    """Values that a case could have."""
    rng = np.random.default_rng(0)
    if name == "service":
        load = [[route, 100, 0, 2.0, 9.0] for route in ("infer", "learn", "forget")]
        return {"found": load if case["task"] == "load" else [[1000.0, 900.0, 600.0, 1500.0]]}
    if name in ("widths", "widths_folds"):
        counts = [[9.0] * 5, [10.0] * 5]
        ours = {"local": counts, "constant": counts, "local width": 1.0, "constant width": 1.1}
        ours |= {"local folds": [0.9, 0.91, 0.3], "constant folds": [0.9, 0.91, 0.3]}
        ours |= {"held": 400, "asked": 2000}
        return ours if case["who"] in widths.OURS else {"own": counts, "own width": 1.2}
    if name == "kim2006-figure-1":
        errors = [None, *rng.uniform(15, 18, len(kim2006_figure_1.EXPONENTS) - 1)]
        return {"svd": 17.0, "qr": errors, "auto": errors, **OFFICIAL}
    if name == "andelic2007-classification":
        values = {"error": 5.0, "centres": 10, "fit": 1.0, "predict": 0.1}
        models = ("SVC", "paper", "shared", "one-vs-rest")
        found = dict.fromkeys(models, values)
        return {"found": found, "classes": 10, "size": 600, **OFFICIAL}
    if name == "andelic2007-sinc":
        shown = case["seed"] == 0 and (case["n"], case["noise"]) == (100, 0.1)
        fit = {"x": [0.0, 1.0], "y": [1.0, 0.8], "chosen": [1], "fit": [0.0] * 201}
        return {"rmse": 0.1, "centres": 3, "seconds": 0.1, **(fit if shown else {})}
    if name == "saadi2004-figure-1":
        work = [w for w in saadi2004_figure_1.WORK if w != "refits" or case["refits"]]
        differences = {"off_rows": 1e-14, **({"off_refits": 1e-15} if case["refits"] else {})}
        return {"seconds": dict.fromkeys(work, 0.1), **differences}
    if name == "kaieda2004-tables-5-to-7":
        counts = {} if case["kind"] == "Conventional" else {"selected": 12}
        return {"tuned": 96.0 + rng.random(), "untuned": 95.0, **counts, **OFFICIAL}
    if name == "mixed_tables":
        kind = {"classes": "classes" in case["table"], "rows": 100, "confirms": case["n"] > 0}
        return {"error": 0.2, "log_loss": 0.3, "seconds": 1.0, "processor": "P, 2 cores", **kind}
    if name == "stack_candidates":
        kind = {"classes": "classes" in case["table"], "rows": 100, "confirms": case["n"] > 0}
        one = {"error": 0.2, "log_loss": 0.3, "used": True, "seconds": 1.0}
        several = (stack_candidates.CHOSEN, stack_candidates.ALL)
        names = (stack_candidates.BASE, *stack_candidates.MORE, *several)
        return {"stacks": dict.fromkeys(names, one), **kind}
    if name == "stack_parts":
        kind = {"classes": "classes" in case["table"], "rows": 100, "confirms": case["n"] > 0}
        return {"error": 0.2, "log_loss": 0.3, "seconds": 1.0, "used": True, **kind}
    if name == "more_rows":
        return {**STUDY, "rows": 200, "estimator": "ls-svr", "classes": False, "processor": "P"}
    return MADE_UP.get(name, {**STUDY, "untuned": 16.0})


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != "kim2006-figure-2"])
@pytest.mark.parametrize("share", [1, 3])
def test_reports_stand_on_all_and_on_some_results(name, share):
    (experiment,) = (experiment for experiment in EXPERIMENTS if experiment.name == name)
    cases = list(experiment.cases(True))[::share]
    parts = experiment.report([{**case, **made_up(name, case)} for case in cases])
    assert any(isinstance(part, Table) for part in parts)
    assert all(isinstance(part, Table | Figure | Text) for part in parts)
    assert page("T", [], {}, [Section(name, experiment.title, parts)])
    assert markdown(name, experiment.title, parts, {}).startswith(f"# {experiment.title}\n")


# --- small real ones ----------------------------------------------------------------------------


def reported(module, cases, k=0):
    experiment = module.EXPERIMENTS[k]
    outcomes = [execute(experiment.run, case) for case in cases]
    assert [outcome.error for outcome in outcomes] == [""] * len(cases)
    records = [{**case, **o.values} for case, o in zip(cases, outcomes, strict=True)]
    return records, experiment.report(records)


def test_boundaries_coincide():
    records, parts = reported(kim2006_figure_2, kim2006_figure_2.cases(True))
    assert all(record["difference"] < 1e-12 for record in records)  # cond 10³, 12 samples
    assert b"<svg" in parts[1].svg


def test_steps_stay_at_a_refit():
    (record,), _ = reported(ours_exactness, [{"ridge": 0.1, "factor": "auto", "steps": 20}])
    assert record["marks"] == sorted(record["marks"])
    assert record["marks"][-1] == 20
    assert max(record["distances"]) < 1e-11  # cond about 10⁴, 200 samples
    assert max(record["live"], record["refit"]) < 1e-11


def test_path_of_ridges_by_three_methods():
    cases = [{"road": road, "n": 20, "length": 3} for road in ours_path.ROADS]
    records, _ = reported(ours_path, cases)
    assert all(record["difference"] < 1e-10 for record in records)  # cond about 10⁵


def test_path_of_ridges_is_that_of_refits():
    X, y = ridge_path.samples(12)
    errors = ridge_path.loo_errors(X, y)
    K, ridge, rest = ridge_path.gram(X), ridge_path.RIDGES[5], ~np.eye(12, dtype=bool)
    left_out = [
        K[i, others] @ np.linalg.solve(K[np.ix_(others, others)] + ridge * np.eye(11), y[others])
        for i, others in enumerate(rest)
    ]
    np.testing.assert_allclose(errors[5], np.mean((left_out - y) ** 2), rtol=1e-10)  # cond 10³


def test_calibration_counts_every_test_sample():
    cases = [
        {"samples": name, "method": method, "n": 40, "seed": 0}
        for name, method in zip(ours_calibration.SETS, ours_calibration.METHODS, strict=True)
    ]
    records, _ = reported(ours_calibration, cases)
    assert all(sum(record["count"]) == ours_calibration.N_TEST for record in records)
    assert all(0 < record["log_loss"] < 0.7 for record in records)


def test_run_times_of_both_leave_one_outs():
    (record,), _ = reported(saadi2004_figure_1, [{"n": 12, "refits": True}])
    assert record["off_rows"] < 1e-10  # cond about 10⁴
    assert record["off_refits"] < 1e-10


def test_fisher_in_extended_precision():
    (record,), _ = reported(fisher, [{"ridge": 1.0, "edits": 4}], k=2)
    assert max(record["live"], record["fit"], record["equation"]) < 1e-10  # cond about 10⁴
    (record,), _ = reported(fisher, [{"samples": "twonorm", "gamma": 0.03, "seed": 0}], k=1)
    assert record["test"] < 10.0


def test_labels_are_flipped_to_other_classes():
    y = np.repeat(["a", "b", "c"], 20)
    wrong, where = label_errors.flipped(y, np.random.default_rng(0))
    assert np.flatnonzero(wrong != y).tolist() == sorted(where.tolist())
    assert len(where) == 6


MIXED = {"partition": 0, "n": 40}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "case"),
    [
        (ours_updates, {"n": 40}),
        (fisher, {"n": 40}),
        (paper_methods, {"work": "removal", "n": 20}),
        (paper_methods, {"work": "loo", "n": 20}),
        (linear_svm, {"n": 200}),
        (data_times, {"task": "values", "machine": "LeastSquaresSVC", "n": 30}),
        (data_times, {"task": "suggest", "machine": "KernelDiscriminant", "n": 30}),
        (conformal, {"machine": "LeastSquaresSVR, jackknife+", "start": 0, "draws": 2}),
        (conformal_times, {"what": "sets", "who": "KernelDiscriminant", "n": 40, "labels": 2}),
        (widths, {"table": "diabetes", "who": "least squares SVM", "partition": 0, "n": 40}),
        (widths_classes, {"table": "wine", "partition": 0, "n": 40}),
        (store_edits, {"n": 130, "place": "file"}),
        (mixed_tables, {"table": "made classes", "machine": "HistGradientBoosting", **MIXED}),
        (mixed_tables, {"table": "made numbers", "machine": "least squares SVM", **MIXED}),
        (libraries, {"library": "gramian LagrangianSVC", "version": "0", "n": 40}),
    ],
)
def test_small_sizes_run(module, case):
    reported(module, [case])


@pytest.mark.slow
def test_new_persons_of_a_table():
    case = {"model": "LeastSquaresSVC", "table": "made persons", "partition": 0}
    (record,), _ = reported(honest, [case], k=3)
    assert record["alone"] < record["reported"]  # persons tell of their own rows


def test_leave_one_out_by_three_methods():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((15, 3))
    K, y = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)), np.where(X[:, 0] > 0, 1, -1)
    methods = [loo(K, y) for loo in kim2006_figure_3.LOO.values()]
    for values in methods[1:]:
        np.testing.assert_allclose(values, methods[0], rtol=1e-10)  # cond below 10³


# --- parts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("linear", {"kernel": "linear"}),
        ("d2", {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 2}),
        ("γ1e-3", {"kernel": "rbf", "gamma": 1e-3}),
    ],
)
def test_kernels_by_the_names_of_the_tables(name, kernel):
    assert ellipsoids.kernel_parameters(name) == kernel


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
    model = ellipsoids.multiclass_classifier(kind, "ann_thyroid")
    assert {name: getattr(model, name) for name in parameters} == parameters
    assert model.tune is True


def test_vectors_of_the_ellipsoids():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = np.repeat([0, 1], 20)
    model = ellipsoids.fuzzy_classifier("SVD", 1e-8, "linear", inverse_of_small="zero").fit(X, y)
    assert ellipsoids.selected(model) == 2 * 2
    model = ellipsoids.fuzzy_classifier("KPCA I", 1e-8, "linear").fit(X, y)
    assert ellipsoids.selected(model) == 2 * 2


def test_sex_becomes_three_features():
    X = np.array([[2.0, 0.5], [3.0, 0.7]])
    encoded = andelic2007_regression.encoded("abalone", X)
    np.testing.assert_array_equal(encoded, [[0, 1, 0, 0.5], [0, 0, 1, 0.7]])
    assert andelic2007_regression.encoded("boston", X) is X


@pytest.mark.parametrize(("k", "C"), [(0, {}), (1, {"C": 1.0 / 60})])
def test_forgetting_is_fitting_to_the_others(k, C, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    whole = type("Whole", (), {"X": X, "y": np.where(X[:, 0] > 0, 1, -1)})
    monkeypatch.setattr(duan2008_tables, "dataset", lambda name: whole)
    outcome = execute(
        duan2008_tables.EXPERIMENTS[k].run, {"data": "ida_thyroid", "m": 60, "k": 20, **C}
    )
    assert outcome.error == ""
    assert outcome.values["difference"] < 1e-10  # cond about 60
