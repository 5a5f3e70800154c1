"""``gramian fit``: what it prints is true, and what it saves is the model."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor

import gramian as package
from gramian import (
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LeastSquaresSVC,
    LeastSquaresSVR,
    StackedKernelClassifier,
    StackedKernelRegressor,
)
from gramian.tables import number
from tests.cli.conftest import HEADER, make_rows, write_csv

FIT = ("fit", "train.csv", "--target", "animal", "-o", "model.gram")
NAMED = (*FIT, "--id", "name")


def test_output_for_people(gramian):
    out = gramian(*NAMED).stdout
    assert "StackedKernelClassifier on 40 rows, 8 features; the target has 2 classes." in out
    assert "some missing" in out
    assert "(missing), growl, meow, woof" in out
    first = out.index("Error on new rows, tuning included: ")
    assert first < out.index("Exact leave-one-out error with these choices: ")
    assert "said cat" in out
    assert "is dog" in out
    assert "Saved model.gram" in out
    first = out.split("Most doubtful rows")[1].splitlines()[3]
    assert first.split()[:4] == ["pet", "8", "dog", "cat"]


def test_numbers_are_those_of_real_refits(as_json):
    facts = as_json(*NAMED, "--estimator", "discriminant")
    model = package.load("model.gram")
    X, y = model.transform(model.table_), model.estimator_.y_fit_
    estimator = KernelDiscriminant(gamma=facts["chosen"]["gamma"], ridge=facts["chosen"]["ridge"])
    said = [
        clone(estimator).fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[[i]])[0]
        for i in range(40)
    ]
    expected = [[int(np.sum((y == a) & (np.array(said) == b))) for b in ("cat", "dog")]
                for a in ("cat", "dog")]  # fmt: skip
    assert facts["leave_one_out"]["classes"] == ["cat", "dog"]
    assert facts["leave_one_out"]["confusion"] == expected
    assert facts["leave_one_out"]["error"] == pytest.approx(np.mean(np.array(said) != y))
    assert facts["doubtful"][0]["id"] == "pet 8"
    assert facts["doubtful"][0]["probability"] > 0.5
    assert facts["rows"] == 40
    assert facts["target"]["held"] == {"cat": 20, "dog": 20}
    assert facts["seconds"]["all"] >= facts["seconds"]["fit"] > 0


def test_search_is_reproducible(as_json):
    assert as_json(*NAMED)["chosen"] == as_json(*NAMED)["chosen"]


def test_rows_without_ids_are_counted_from_zero(as_json):
    facts = as_json(*FIT, "--gamma", "0.3", "--ridge", "0.1", "--ignore", "name")
    assert facts["ignored"] == {"name": "asked for"}
    assert facts["doubtful"][0]["id"] == 7
    assert package.load("model.gram").ids_.tolist() == list(range(40))


def test_names_of_all_rows_are_left_out(as_json):
    facts = as_json(*FIT, "--gamma", "0.3", "--ridge", "0.1")
    assert facts["ignored"] == {"name": "every text is different"}


@pytest.mark.parametrize(
    ("estimator", "target", "expected"),
    [
        ("auto", "animal", KernelDiscriminant(gamma=0.3, ridge=0.25, random_state=0)),
        ("discriminant", "animal", KernelDiscriminant(gamma=0.3, ridge=0.25, random_state=0)),
        ("fisher", "animal", KernelFisherDiscriminant(gamma=0.3, ridge=0.25, random_state=0)),
        ("ls-svc", "animal", LeastSquaresSVC(gamma=0.3, C=4.0, random_state=0)),
        ("ls-svc", "age", LeastSquaresSVC(gamma=0.3, C=4.0, random_state=0)),
        ("auto", "weight", LeastSquaresSVR(gamma=0.3, C=4.0, random_state=0)),
        ("ls-svr", "age", LeastSquaresSVR(gamma=0.3, C=4.0, random_state=0)),
        ("stack", "animal", StackedKernelClassifier(gamma=0.3, C=4.0, random_state=0)),
        ("stack", "weight", StackedKernelRegressor(gamma=0.3, C=4.0, random_state=0)),
    ],
)
def test_estimator_fits_the_target(as_json, folder, estimator, target, expected):
    write_csv("train.csv", [row for row in make_rows() if row[1] != "NA"])
    words = ("fit", "train.csv", "--target", target, "--id", "name", "-o", "model.gram")
    facts = as_json(*words, "--estimator", estimator, "--gamma", "0.3", "--ridge", "0.25")
    assert facts["estimator"] == type(expected).__name__
    saved = package.load("model.gram")
    assert repr(saved.estimator) == repr(expected)
    assert ("rmse" in facts["leave_one_out"]) is is_regressor(expected)


def test_regression_for_people(gramian, folder):
    write_csv("train.csv", [row for row in make_rows() if row[1] != "NA"])
    words = ("fit", "train.csv", "--target", "weight", "--id", "name", "-o", "model.gram")
    out = gramian(*words, "--doubtful", "2").stdout
    assert "StackedKernelRegressor on 39 rows" in out
    assert "rmse" in out
    assert "mean absolute error" in out


def test_a_stack_for_people(gramian):
    out = gramian(*NAMED, "--estimator", "stack", "--gamma", "0.3", "--ridge", "0.1").stdout
    assert "StackedKernelClassifier on 40 rows" in out
    line = next(line for line in out.splitlines() if line.split()[:1] == ["kernel"])
    assert line.split()[1:] == ["rbf,", "laplacian,", "laplacian,", "exponential"]
    assert "none, none, diagonal, diagonal" in out


@pytest.mark.parametrize(
    "option", [("--metric", "ard"), ("--kernel", "linear"), ("--kernel", "loo")]
)
def test_kernels_and_widths(as_json, option):
    facts = as_json(*NAMED, *option)
    assert facts["chosen"]["kernel"] in ("rbf", "laplacian", "exponential", "linear")
    assert np.ndim(facts["chosen"].get("gamma", 0)) == (option[1] == "ard")


def test_widths_for_people(gramian):
    line = next(
        li for li in gramian(*NAMED, "--metric", "ard").stdout.splitlines() if "gamma" in li
    )
    assert line.count(",") == 7


def test_numbers_as_names(as_json):
    facts = as_json(*NAMED, "--gamma", "0.3", "--ridge", "0.1", "--category", "age")
    (age,) = [column for column in facts["columns"] if column["name"] == "age"]
    assert age["kind"] == "text"


def test_parquet_gives_the_same_model_as_csv(gramian, folder):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = dict(zip(HEADER, map(list, zip(*make_rows(), strict=True)), strict=True))
    columns["weight"] = [None if cell == "NA" else float(cell) for cell in columns["weight"]]
    parquet.write_table(pyarrow.table(columns), "train.parquet")
    given = ("--gamma", "0.3", "--ridge", "0.1", "--id", "name")
    gramian(*FIT, *given)
    one = package.files.fingerprint(package.load("model.gram"))
    gramian("fit", "train.parquet", *FIT[2:], *given)
    assert package.files.fingerprint(package.load("model.gram")) == one


@pytest.mark.parametrize(
    ("row", "column", "cell", "match"),
    [
        (4, 4, "", "train.csv: row 5, column 'animal': the target is missing"),
        (2, 0, "pet 1", "train.csv: row 3, column 'name': row 1 has the same id, pet 1"),
        (6, 1, "inf", "train.csv: row 7, column 'weight': 'inf' is not a finite number"),
    ],
)
def test_bad_cell_is_named(gramian, folder, row, column, cell, match):
    rows = make_rows()
    rows[row][column] = cell
    write_csv("train.csv", rows)
    assert match in gramian(*NAMED, code=1).stderr
    assert not (folder / "model.gram").exists()


def test_unknown_column_and_single_class_are_errors_of_the_data(gramian, folder):
    assert "train.csv: no column 'nose'" in gramian(*FIT, "--id", "nose", code=1).stderr
    write_csv("train.csv", [[*row[:4], "cat"] for row in make_rows()])
    assert "at least two classes" in gramian(*NAMED, code=1).stderr


def test_text_that_looks_like_markup_is_printed_as_it_is(gramian, folder):
    write_csv("train.csv", [[*row[:4], f"[red]{row[4]}[/]"] for row in make_rows()])
    assert "said [red]cat[/]" in gramian(*NAMED, "--gamma", "0.3", "--ridge", "0.1").stdout


# -- the estimator ------------------------------------------------------------------------------


def test_the_estimator_is_chosen_by_target_rows_and_memory(monkeypatch):
    from gramian.cli import _estimators

    def chosen(cells, one=False):
        return _estimators.choose_estimator(cells, number, 8, one=one)

    monkeypatch.setattr(_estimators, "available_memory", lambda: 2**30)
    assert chosen(["a", "b"] * 500) == (
        "stack-classifier",
        "classes, and no more than 5,000 rows (1,000): several kernels at once",
        {},
    )
    assert chosen([0.5 * i for i in range(200)])[0] == "stack-regressor"
    assert chosen(["a", "b"] * 100, one=True)[0] == "discriminant"
    short = chosen(["a", "b"] * 2000)
    assert (short.name, short.parameters) == ("discriminant", {"kernel": "loo"})
    assert short.why.endswith("and 1.4 GiB for several kernels are not free: the best of three")
    assert chosen(["a", "b"] * 2000, one=True).parameters == {}
    assert chosen([0.5 * i for i in range(4000)])[::2] == ("ls-svr", {"kernel": "loo"})
    drawn = {"selection": "random", "max_basis": 2000}
    assert chosen(["a", "b"] * 3000) == (
        "orthogonal",
        "classes, and more than 5,000 rows (6,000): a basis of 2,000 rows, the best of three "
        "kernels",
        {**drawn, "kernel": "loo", "metric": "ard"},
    )
    assert chosen(["a", "b"] * 3000, one=True).parameters == drawn
    monkeypatch.setattr(_estimators, "available_memory", lambda: 2**20)
    name, reason, _ = chosen([0.5 * i for i in range(4000)])
    assert name == "orthogonal-regressor"
    assert "takes 0.36 GiB with room to tune, of which 1 MiB are free" in reason
    monkeypatch.setattr(_estimators, "available_memory", lambda: None)
    assert chosen(["a", "b"] * 2000)[0] == "stack-classifier"


def test_reason_is_told_before_the_fit(gramian, as_json):
    told = gramian(*NAMED).stderr
    assert told.startswith("Estimator: stack-classifier (classes, and no more than")
    one = gramian(*NAMED, "--kernel", "rbf").stderr
    assert one.startswith("Estimator: discriminant (classes, and the matrix of 40")
    assert as_json(*NAMED)["estimator_reason"].startswith("classes")
    assert gramian(*NAMED, "--estimator", "ls-svc").stderr == ""


def test_whole_numbers_that_may_be_codes_are_remarked_on_and_can_be_classes(gramian, as_json):
    """26 codes of letters: a number to predict unless it is said otherwise."""
    write_csv("codes.csv", [[i % 26, i % 26] for i in range(520)], ["x", "y"])
    words = ("fit", "codes.csv", "--target", "y", "--gamma", "1", "--ridge", "0.1", "-o", "m.gram")
    hint = "numbers, 26 different ones, all whole: --category makes classes of them, and the matrix"
    assert gramian(*words).stderr.startswith(f"Estimator: ls-svr ({hint}")
    found = as_json(*words, "--category", "y")
    assert found["estimator"] == "KernelDiscriminant"
    assert found["estimator_reason"].startswith("classes, and the matrix")
    assert package.load("m.gram").predict({"x": [25, 0]}).tolist() == [25, 0]
    write_csv("codes.csv", [[i % 22, i % 22] for i in range(44)], ["x", "y"])
    stack = as_json(*words, "--estimator", "stack", "--category", "y")
    assert stack["estimator"] == "StackedKernelClassifier"


def test_numbers_of_many_values_or_few_rows_are_no_codes():
    from gramian.cli._estimators import choose_estimator

    for cells in ([i % 60 for i in range(6000)], [i % 26 for i in range(500)], [0.5, 1.5] * 600):
        assert choose_estimator(cells, number, 8).why.startswith("numbers, and")


def test_with_little_memory_the_best_of_three_kernels(as_json, monkeypatch):
    """A step is no place for the smooth kernel; a width of its own is still possible."""
    monkeypatch.setattr("gramian.cli._estimators.available_memory", lambda: 300_000)
    rows = [[0.1 * i, float(i > 40) + 0.001 * (i % 7)] for i in range(70)]
    write_csv("step.csv", rows, ["x", "y"])
    words = ("fit", "step.csv", "--target", "y", "-o", "m.gram")
    assert as_json(*words)["estimator_reason"].endswith(": the best of three")
    model = package.load("m.gram").estimator_
    assert model.kernel == "loo"
    assert model.kernel_.name in ("laplacian", "exponential")
    as_json(*words, "--gamma", "1")
    assert package.load("m.gram").estimator_.kernel == "rbf"


def test_float32(as_json):
    as_json(*NAMED, "--float32")
    model = package.load("model.gram")
    assert model.estimator_.X_fit_.dtype == np.float32


def test_a_target_with_a_unit_is_a_number(as_json, folder):
    write_csv("prices.csv", [[i, f"{3 * i}.50 EUR"] for i in range(30)], ["x", "price"])
    words = ("fit", "prices.csv", "--target", "price", "--unit", "price", "-o", "p.gram")
    assert "rmse" in as_json(*words, "--gamma", "0.1", "--ridge", "0.1")["leave_one_out"]


def test_a_column_that_is_spelt_otherwise(gramian):
    words = ("fit", "train.csv", "--target", "Animal", "-o", "m.gram")
    assert "no column 'Animal'. Did you mean 'animal'?" in gramian(*words, code=1).stderr
