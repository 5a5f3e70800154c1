"""The shape of the house: few classes in an estimator, few functions crossed by a call."""

import re
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import gramian
from gramian import KernelDiscriminant
from gramian.estimators import ESTIMATORS
from tests.documented import CODE, PenalizedKernelClassifier

SOURCE = Path(gramian.__file__).parent
LAYERS = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())


@pytest.mark.parametrize("cls", [*ESTIMATORS.values(), PenalizedKernelClassifier])
def test_an_estimator_has_at_most_three_classes_of_gramian(cls):
    ours = [c for c in cls.__mro__ if c.__module__.startswith("gramian") or c is cls]
    assert len(ours) <= 3, ours


def crossed(call):
    """The functions of gramian that a call crosses."""
    seen = set()

    def profile(frame, event, arg):
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCE)):
            seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (lambda model, X, y: model.fit(X[::2], y[::2]), 50),
        (lambda model, X, y: model.partial_fit(X[1:2], y[1:2]), 40),
        (lambda model, X, y: model.forget([3]), 25),
        (lambda model, X, y: model.predict_proba(X), 25),
    ],
    ids=["fit", "partial_fit", "forget", "predict_proba"],
)
def test_a_call_crosses_few_functions(call, most):
    X, y = load_iris(return_X_y=True)
    model = KernelDiscriminant(gamma=0.1, ridge=1e-2).fit(X[::2], y[::2])
    model.loo_score()
    found = crossed(lambda: call(model, X, y))
    assert len(found) <= most, sorted(found)


def test_a_machine_takes_forty_lines():
    assert len([line for line in CODE.splitlines() if line.strip()]) <= 40


def test_layers_import_one_another_through_their_packages():
    """No underscored module of one layer is imported by another."""
    found = []
    for path in SOURCE.rglob("*.py"):
        own = path.relative_to(SOURCE).parts[0]
        for layer, module in re.findall(r"from gramian\.(\w+)\.(_\w+) import", path.read_text()):
            if layer != own:
                found.append(f"{path.relative_to(SOURCE)}: gramian.{layer}.{module}")
    assert found == []


def test_the_gram_layer_loads_without_scikit_learn():
    import subprocess

    code = (
        "import sys, gramian.gram; print([m for m in sys.modules if m.split('.')[0] == 'sklearn'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
