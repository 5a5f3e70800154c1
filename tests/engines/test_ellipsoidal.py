"""The regions of the fuzzy classifier: values that never change, whatever interrupts an edit."""

import copy
import pickle
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import gramian
from gramian import EllipsoidalFuzzyClassifier
from gramian.engines import InputRegion, KernelRegion, SvdRegion, in_double
from gramian.kernels import GramSamples, Precomputed, make_kernel
from tests.tolerance import tolerance

KERNEL = make_kernel("poly", gamma=0.5, degree=2)
INSIDE = str(Path(gramian.__file__).parent)


def samples(n=8, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def region(kind, members, kernel=KERNEL):
    none, weight = members[:0], np.empty(0)
    empty = {
        "input": lambda: InputRegion(kernel, none, weight, 1e-3),
        "svd": lambda: SvdRegion(kernel, none, weight, 1e-3, "sigma"),
        "kpca": lambda: KernelRegion(kernel, none, weight, 1e-6, 1e-3),
    }[kind]()
    return empty.append(members, np.ones(len(members)))


# -- one region ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["input", "svd", "kpca"])
def test_edits_equal_a_new_region_and_leave_the_old_alone(kind):
    X, Q, weight = samples(), samples(4, seed=1), np.ones(8)
    start = region(kind, X[:6])
    before = start.distances(Q)
    longer = start.append(X, weight)
    np.testing.assert_allclose(longer.distances(Q), region(kind, X).distances(Q), rtol=1e-9)
    gone, rest = np.array([1, 7]), np.delete(np.arange(8), [1, 7])
    shorter = longer.remove(gone, X[rest], weight[rest])
    np.testing.assert_allclose(shorter.distances(Q), region(kind, X[rest]).distances(Q), rtol=1e-9)
    np.testing.assert_allclose(
        shorter.loo_distances(), region(kind, X[rest]).loo_distances(), rtol=1e-7
    )
    np.testing.assert_array_equal(start.distances(Q), before)


@pytest.mark.parametrize("kind", ["svd", "kpca"])
def test_a_kernel_matrix_stands_for_the_samples(kind):
    X, Q = samples(), samples(4, seed=1)
    K = GramSamples(KERNEL(X, X).astype(np.float32))
    some = np.array([0, 2, 3, 7])
    own = in_double(K[some])
    assert own.K.shape == (4, 4)
    assert own.dtype == np.float64
    by_matrix = region(kind, in_double(GramSamples(KERNEL(X, X))[some]), Precomputed())
    by_samples = region(kind, X[some])
    np.testing.assert_allclose(
        by_matrix.distances(KERNEL(Q, X[some])), by_samples.distances(Q), rtol=1e-9
    )


def test_double_precision_dense_and_csr():
    X = samples().astype(np.float32)
    assert in_double(X).dtype == in_double(sparse.csr_array(X)).dtype == np.float64
    by_csr = region("input", in_double(X))
    assert isinstance(by_csr.adopt(sparse.csr_matrix(X)), np.ndarray)


def test_left_out_distances_are_computed_once():
    one = region("kpca", samples())
    assert one.loo_distances() is one.loo_distances()
    assert one.loo_distances(True) is not one.loo_distances()


def test_drift_is_rounding():
    assert region("kpca", samples()).drift() < tolerance(8, cond=1e3, power=1)


# -- interrupts ---------------------------------------------------------------------------------


def make(**settings):
    return EllipsoidalFuzzyClassifier(**{"gamma": 0.5, "epsilon": 1e-3, "tau": 1e-4, **settings})


def data(n=12):
    X = samples(n, seed=5)
    return X, np.array(["ant", "bee"])[(X[:, 0] > 0).astype(int)]


def seen(model):
    """All that tells two versions of a model apart."""
    parts = [model.decision_function(QUERIES), model.loo_decision_function()]
    return model.ids_.tolist(), model.classes_.tolist(), model.slopes_.tolist(), *map(bytes, parts)


def interrupted_at(line, edit):
    """Run an edit, and raise KeyboardInterrupt at the so many-th line within gramian."""
    lines = 0

    def trace(frame, event, arg):
        nonlocal lines
        if not frame.f_code.co_filename.startswith(INSIDE):
            return None
        if event == "line":
            lines += 1
            if lines == line:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        edit()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


QUERIES = samples(5, seed=9)
X_MORE, Y_MORE = samples(2, seed=6), np.array(["bee", "cat"])
EDITS = {
    "fit": lambda model: model.fit(*data(10)),
    "partial_fit": lambda model: model.partial_fit(X_MORE, Y_MORE),
    "forget": lambda model: model.forget([0, 3]),
    "refactor": lambda model: model.refactor(),
    "reselect": lambda model: model.reselect(),
    "retune": lambda model: model.retune(),
}


@pytest.mark.parametrize(
    ("settings", "step"),
    [({}, 17), ({"distance": "input", "tune": True}, 1)],
    ids=["kpca", "input"],
)
@pytest.mark.parametrize("name", EDITS)
def test_an_interrupt_leaves_the_model_before_or_after(name, settings, step):
    """At every line, and at one of 17 where selections repeat the same lines over and over."""
    start = make(**settings).fit(*data()).partial_fit(X_MORE + 1, ["ant", "ant"])
    stored = pickle.dumps(start)
    before = seen(start)
    after = seen(EDITS[name](copy.deepcopy(start)))
    for line in count(1, step):
        model = pickle.loads(stored)
        if not interrupted_at(line, lambda model=model: EDITS[name](model)):
            break
        found = seen(model)
        assert found in (before, after), f"line {line}"
        model.partial_fit(X_MORE, ["ant", "bee"], ids=[98, 99]).forget([98, 99])
        assert model.ids_.tolist() == found[0]
        expected = np.frombuffer(found[-2])
        decided = model.decision_function(QUERIES).ravel()
        np.testing.assert_allclose(decided, expected, rtol=1e-7, atol=1e-9)
    assert line > 20
