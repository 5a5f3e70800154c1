"""EllipsoidalFuzzyClassifier against kaieda2004's equations written out, and against refits."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from gramian import EllipsoidalFuzzyClassifier
from gramian.core.kernels import make_kernel
from gramian.ellipsoidal import _regions
from tests.ellipsoidal.test_ellipsoids import (
    floored_cholesky_by_elements,
    literal_kernel_distances,
    literal_svd_distances,
)
from tests.ellipsoidal.test_slopes import literal_tuning
from tests.estimators.conftest import (
    assert_unchanged,
    close_values,
    make_samples,
    queries,
    snapshot,
)

TAU, EPSILON = 1e-4, 1e-2
FORMS = {
    "KPCA I": {"transductive": None},
    "KPCA II": {"transductive": "basis"},
    "KPCA III": {"transductive": "queries"},
    "SVD": {"distance": "svd", "sigma": 1e-2},
    "SVD zero": {"distance": "svd", "sigma": 1e-2, "inverse_of_small": "zero"},
    "input": {"distance": "input", "zeta": 0.3},
}
each_form = pytest.mark.parametrize("form", FORMS)


def make(form="KPCA II", **parameters):
    settings = {"gamma": 0.5, "tau": TAU, "epsilon": EPSILON, "tune": True, **FORMS[form]}
    return EllipsoidalFuzzyClassifier(**{**settings, **parameters})


def samples(n=45, classes=3):
    X, y = make_samples(make(), n, classes=classes)
    return X, np.array(["ant", "bee", "wasp", "yak"])[y]


def literal_distances(form, X, T):
    """δ² of T from a class with the members X, by the paper's sums."""
    kernel = make_kernel("rbf", gamma=0.5)
    units = np.eye(3)
    if form == "KPCA I":
        return literal_kernel_distances(kernel, X, units[:0], T, TAU, EPSILON)
    if form == "KPCA II":
        return literal_kernel_distances(kernel, X, units, T, TAU, EPSILON)
    if form == "KPCA III":
        own = [np.vstack([units, t]) for t in T]
        return np.concatenate(
            [
                literal_kernel_distances(kernel, X, extra, t[None], TAU, EPSILON)
                for extra, t in zip(own, T, strict=True)
            ]
        )
    if form == "input":
        L = floored_cholesky_by_elements(np.cov(X, rowvar=False, bias=True), 0.3)
        return (np.linalg.solve(L, (T - X.mean(axis=0)).T) ** 2).sum(axis=0)
    small = FORMS[form].get("inverse_of_small", "sigma")
    return literal_svd_distances(kernel(X, X), kernel(T, X), 1e-2, small)


def literal_mahalanobis(form, X, y, T):
    return np.column_stack([literal_distances(form, X[y == label], T) for label in np.unique(y)])


def assert_close_distances(actual, expected):
    # eigenvalues down to ε and pivots down to τ: eps / (τ ε), and √eps for the root in the SVD's
    np.testing.assert_allclose(actual, expected, rtol=1e-7)


def assert_same_classifier(a, b):
    """Equal slopes and decision values, of models that hold the same samples in one order."""
    np.testing.assert_array_equal(a.ids_, b.ids_)
    np.testing.assert_array_equal(a.classes_, b.classes_)
    np.testing.assert_allclose(a.slopes_, b.slopes_, rtol=1e-9)  # quotients of distances
    np.testing.assert_allclose(a.mahalanobis(queries()), b.mahalanobis(queries()), rtol=1e-9)


# -- distances, degrees, decisions --------------------------------------------------------------


@each_form
def test_distances_are_the_papers_sums(form):
    X, y = samples()
    model = make(form).fit(X, y)
    assert_close_distances(model.mahalanobis(queries()), literal_mahalanobis(form, X, y, queries()))


@each_form
def test_slopes_are_tuned_to_the_training_distances(form):
    X, y = samples(24)
    distances = literal_mahalanobis(form, X, y, X)
    expected, counts = literal_tuning(distances, np.unique(y, return_inverse=True)[1], 10, 0.1)
    model = make(form).fit(X, y)
    # quotients of distances
    np.testing.assert_allclose(model.slopes_ / model.slopes_[0], expected / expected[0], rtol=1e-6)
    assert model.score(X, y) == counts[-1] / 24
    own = model.predict_membership(X)[np.arange(24), np.unique(y, return_inverse=True)[1]]
    assert np.sort(own)[12] == pytest.approx(0.5, rel=1e-9)  # half have ½ or more
    np.testing.assert_array_equal(make(form, tune=False).fit(X, y).slopes_, 1.0)


def test_decisions_follow_the_tuned_distances():
    for classes in (2, 3):
        X, y = samples(classes=classes)
        model = make().fit(X, y)
        tuned = model.mahalanobis(queries()) / model.slopes_
        logs = -np.log(tuned)
        expected = logs[:, 1] - logs[:, 0] if classes == 2 else logs
        np.testing.assert_allclose(model.decision_function(queries()), expected, rtol=1e-12)
        np.testing.assert_array_equal(
            model.predict(queries()), model.classes_[np.argmin(tuned, axis=1)]
        )


def test_memberships_are_degrees_that_need_not_add_up_to_one():
    X, y = samples()
    model = make("input").fit(X, y)
    degrees = model.predict_membership(X)
    np.testing.assert_array_equal(degrees, np.exp(-model.mahalanobis(X) / model.slopes_))
    assert degrees.shape == (45, 3)
    assert (degrees >= 0).all()
    assert (degrees <= 1).all()
    assert (degrees.sum(axis=1) > 1.1).any()
    assert (model.predict_membership(X + 9.0).sum(axis=1) < 0.1).all()
    np.testing.assert_array_equal(model.classes_[degrees.argmax(axis=1)], model.predict(X))


def test_far_samples_still_have_a_nearest_class():
    X, y = samples()
    model = make("input").fit(X, y)
    far = 1e3 * queries()
    np.testing.assert_array_equal(model.predict_membership(far), 0.0)
    nearest = np.argmin(model.mahalanobis(far) / model.slopes_, axis=1)
    np.testing.assert_array_equal(model.predict(far), model.classes_[nearest])


# -- learning and forgetting --------------------------------------------------------------------


@each_form
def test_edits_and_retune_equal_a_fit(form):
    X, y = samples()
    model = make(form).fit(X[:30], y[:30]).partial_fit(X[30:38], y[30:38]).forget([0, 7, 31])
    model.partial_fit(X[38:], y[38:]).forget([12]).retune()
    rest = np.delete(np.arange(45), [0, 7, 12, 31])
    assert_same_classifier(model, make(form).fit(X[rest], y[rest], ids=rest))


@each_form
@pytest.mark.parametrize("seed", range(3))
def test_scripts_of_single_edits_equal_a_fit(form, seed):
    X, y = samples()
    rng = np.random.default_rng(seed)
    holdings, unused = list(range(0, 45, 2)), list(range(1, 45, 2))
    model = make(form, tune=False).fit(X[holdings], y[holdings], ids=holdings)
    for _ in range(12):
        if rng.integers(2):
            i = unused.pop(rng.integers(len(unused)))
            model.partial_fit(X[[i]], y[[i]], ids=[i])
            holdings.append(i)
        else:
            i = holdings.pop(rng.integers(len(holdings)))
            model.forget(i)
            unused.append(i)
    assert_same_classifier(
        model, make(form, tune=False).fit(X[holdings], y[holdings], ids=holdings)
    )
    assert model.drift() < 1e-12


def test_edits_keep_the_slopes():
    X, y = samples()
    two = y != "bee"
    model = make().fit(X[two][:20], y[two][:20])
    before = model.slopes_.copy()
    model.partial_fit(X[two][20:], y[two][20:]).forget([3, 4])
    np.testing.assert_array_equal(model.slopes_, before)
    model.partial_fit(X[~two], y[~two])
    np.testing.assert_array_equal(model.classes_, ["ant", "bee", "wasp"])
    mean = np.sqrt(before[0] * before[1])
    np.testing.assert_array_equal(model.slopes_[[0, 2]], before)
    np.testing.assert_allclose(model.slopes_[1], mean, rtol=1e-14)  # of two logarithms
    model.forget(model.ids_[model.y_fit_ == "ant"])
    np.testing.assert_allclose(model.slopes_, [mean, before[1]], rtol=1e-14)
    model.retune()
    fresh = make().fit(model.X_fit_, model.y_fit_, ids=model.ids_)
    assert_same_classifier(model, fresh)


def test_retune_tunes_what_was_fitted_untuned():
    X, y = samples()
    model = make(tune=False).fit(X, y)
    assert model.retune() is model
    np.testing.assert_array_equal(model.slopes_, make().fit(X, y).slopes_)


def test_a_failed_retune_leaves_the_model():
    X, y = samples()
    model = make().fit(X, y)
    before = snapshot(model)
    model.set_params(eta=2.0)
    with pytest.raises(ValueError, match="eta in"):
        model.retune()
    assert_unchanged(model.set_params(eta=0.1), before)


def test_refactor_selects_the_same_vectors():
    X, y = samples()
    model = make().fit(X[:30], y[:30]).partial_fit(X[30:], y[30:]).forget([2, 9])
    before = model.mahalanobis(queries())
    assert model.rebuild() is model
    np.testing.assert_allclose(model.mahalanobis(queries()), before, rtol=1e-9)
    (event,) = model.rebuilds_
    assert (event.reason, event.n_samples, event.edits) == ("asked for", 43, 17)


def test_what_was_chosen_on_samples_is_named():
    X, y = samples(16, classes=2)
    assert make(tune=False).fit(X, y).chosen_on_data_ == ()
    assert make(tune=False).fit(X, y).retune().chosen_on_data_ == ("slopes",)
    assert make(gamma="scale").fit(X, y).forget(3).chosen_on_data_ == ("gamma", "slopes")
    assert make("input", zeta="cv", gamma="cv").fit(X, y).chosen_on_data_ == ("zeta", "slopes")
    model = make(epsilon="cv", tune=False).fit(X, y).forget(3)
    assert model.chosen_on_data_ == ("epsilon",)
    fresh = make(epsilon="cv", tune=False).fit(X[model.ids_], y[model.ids_], ids=model.ids_)
    assert_same_classifier(model.reselect(fresh=True), fresh)


@each_form
def test_refitted_has_the_slopes_of_the_model(form):
    X, y = samples()
    model = make(form).fit(X, y).forget([2, 9])
    assert_same_classifier(model.refitted(), model)
    np.testing.assert_array_equal(model.refitted().slopes_, model.slopes_)


@pytest.mark.parametrize("form", ["KPCA I", "KPCA II", "SVD"])
def test_the_state_is_the_model(form):
    X, y = samples()
    model = make(form, gamma="scale").fit(X[:30], y[:30]).partial_fit(X[30:], y[30:]).forget(2)
    twin = clone(model)
    twin._set_state(model._get_state())
    assert twin.mahalanobis(queries()).tobytes() == model.mahalanobis(queries()).tobytes()
    for each in (twin, model):
        each.partial_fit(X[:2] + 1, y[:2]).forget(5)
    assert_same_classifier(twin, model)


# -- leave-one-out ------------------------------------------------------------------------------


def left_out_distances(model):
    """δ² of each held sample by a model of the others."""
    X, y = model.X_fit_, model.y_fit_
    rows = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        fresh = clone(model).set_params(tune=False)
        fresh.partial_fit(X[rest], y[rest], classes=model.classes_)
        rows.append(fresh.mahalanobis(X[i : i + 1])[0])
    return np.array(rows)


@each_form
def test_left_out_values_keep_the_slopes(form):
    X, y = samples(24)
    model = make(form).fit(X, y)
    expected = -np.log(left_out_distances(model) / model.slopes_)
    np.testing.assert_allclose(model.loo_decision_function(), expected, rtol=1e-7, atol=1e-9)
    right = model.classes_[expected.argmax(axis=1)] == y
    assert model.loo_score() == right.mean()


def test_slopes_may_be_tuned_to_left_out_distances():
    X, y = samples(24)
    model = make(tune="loo").fit(X, y)
    labels = np.unique(y, return_inverse=True)[1]
    expected, counts = literal_tuning(left_out_distances(model), labels, 10, 0.1)
    # quotients of distances
    np.testing.assert_allclose(model.slopes_ / model.slopes_[0], expected / expected[0], rtol=1e-6)
    assert model.loo_score() == counts[-1] / 24


def test_values_of_classes_without_others_are_finite():
    X, y = samples(12, classes=2)
    y[0] = "yak"
    model = make(tune=False).partial_fit(X, y, classes=["ant", "bee", "wasp", "yak"])
    for decision in (model.loo_decision_function(), model.decision_function(queries())):
        assert np.isfinite(decision).all()
        np.testing.assert_allclose(decision[:, 2], -np.log(np.finfo(float).max))
    assert model.loo_predict()[0] != "yak"
    np.testing.assert_array_equal(model.mahalanobis(queries())[:, 2], np.inf)
    probability = model.predict_proba(queries())
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(
        model.classes_[probability.argmax(axis=1)], model.predict(queries())
    )


def test_a_sample_that_is_far_from_both_classes_is_undecided():
    X, y = samples(12, classes=2)
    model = make(tune=False).partial_fit(X[:1], y[:1], classes=["ant", "bee"])
    np.testing.assert_array_equal(model.loo_decision_function(), [0.0])


# -- transduction -------------------------------------------------------------------------------


def test_no_prediction_depends_on_other_queries():
    X, y = samples()
    for form in FORMS:
        model = make(form).fit(X, y)
        one_by_one = np.vstack([model.mahalanobis(q[None]) for q in queries()])
        np.testing.assert_allclose(model.mahalanobis(queries()), one_by_one, rtol=1e-9)


def test_a_query_outside_the_span_is_farther():
    X, y = samples()
    spans = make("KPCA II").fit(X, y).mahalanobis(queries())
    queried = make("KPCA III").fit(X, y).mahalanobis(queries())
    assert (queried >= spans * (1 - 1e-9)).all()
    assert (queried > 2 * spans).any()


@pytest.mark.parametrize("tune", [True, False])
def test_all_queries_at_once(tune):
    kernel, (X, y) = make_kernel("rbf", gamma=0.5), samples()
    T = 1.5 * queries(9)
    extra = np.vstack([np.eye(3), T])

    def distances(Q):
        return np.column_stack(
            [
                literal_kernel_distances(kernel, X[y == label], extra, Q, TAU, EPSILON)
                for label in np.unique(y)
            ]
        )

    labels = np.unique(y, return_inverse=True)[1]
    slopes = literal_tuning(distances(X), labels, 10, 0.1)[0] if tune else np.ones(3)
    expected = np.unique(y)[np.argmin(distances(T) / slopes, axis=1)]
    model = make(tune=tune).fit(X, y)
    before = snapshot(model)
    np.testing.assert_array_equal(model.transduce(T), expected)
    np.testing.assert_array_equal(make("KPCA III", tune=tune).fit(X, y).transduce(T), expected)
    assert_unchanged(model, before)


def test_without_unit_vectors_queries_stand_alone():
    X, y = samples()
    model = make("KPCA I", tune=False).fit(X, y)
    assert len(model.transduce(queries())) == 7


@pytest.mark.parametrize("form", ["SVD", "input"])
def test_transduce_is_for_kernel_components(form):
    X, y = samples()
    with pytest.raises(ValueError, match='transduce needs distance="kpca"'):
        make(form).fit(X, y).transduce(queries())


# -- novelty ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["KPCA II", "KPCA III", "input"])
def test_novelty_is_in_units_of_left_out_distances(form):
    X, y = samples(24)
    model = make(form).fit(X, y)
    complete = make("KPCA III" if form.startswith("KPCA") else form).fit(X, y)
    left_out = left_out_distances(complete)
    labels = np.unique(y, return_inverse=True)[1]
    own = left_out[np.arange(24), labels]
    units = [np.quantile(own[labels == c], 0.5, method="inverted_cdf") for c in range(3)]
    expected = (complete.mahalanobis(queries()) / units).min(axis=1)
    np.testing.assert_allclose(model.novelty(queries()), expected, rtol=1e-6)  # of 1/(τ ε)
    threshold = np.quantile((left_out / units).min(axis=1), 0.95, method="inverted_cdf")
    assert model.novelty_threshold_ == pytest.approx(threshold, rel=1e-6)


@pytest.mark.parametrize("form", ["KPCA I", "KPCA II", "KPCA III", "input"])
def test_a_far_sample_is_new(form):
    X, y = samples()
    model = make(form, gamma=0.1, epsilon=1e-3).fit(X, y)
    known = (model.novelty(X) <= model.novelty_threshold_).mean()
    assert known > 0.9
    assert (model.novelty(X + 12.0) > model.novelty_threshold_).all()


def test_edits_move_the_threshold():
    X, y = samples()
    model = make().fit(X, y)
    before = model.novelty_threshold_
    model.forget(range(5))
    fresh = make().fit(X[5:], y[5:])
    assert model.novelty_threshold_ == pytest.approx(fresh.novelty_threshold_, rel=1e-7)
    assert model.novelty_threshold_ != before


# -- hyper-parameters ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "names"),
    [("KPCA II", ["gamma", "tau", "epsilon"]), ("SVD", ["gamma", "sigma"]), ("input", ["zeta"])],
)
def test_cross_validation_chooses_the_best_candidate(form, names):
    X, y = samples(16, classes=2)
    model = make(form, **dict.fromkeys(names, "cv")).fit(X, y)
    assert list(model.cv_scores_) == names
    for name, scores in model.cv_scores_.items():
        best = max(score for _, score in scores)
        first = next(value for value, score in scores if score == best)
        assert getattr(model, f"{name}_") == first
    chosen = {name: getattr(model, f"{name}_") for name in names}
    assert_same_classifier(model, make(form, **chosen).fit(X, y))


def test_chosen_values_stay_until_reselect():
    X, y = samples(24)
    model = make("input", zeta="cv").fit(X[:12], y[:12])
    chosen = model.zeta_
    model.partial_fit(X[12:], y[12:])
    assert model.zeta_ == chosen
    assert_same_classifier(model.reselect(), make("input", zeta="cv").fit(X, y))
    assert model.rebuilds_[-1].reason == "the hyper-parameters were chosen anew"


def test_kernels_without_gamma_have_none():
    X, y = samples(12)
    model = make(kernel="linear", gamma="cv", epsilon="cv").fit(X, y)
    assert model.gamma_ is None
    assert list(model.cv_scores_) == ["epsilon"]
    assert make("input").fit(X, y).gamma_ is None


@pytest.mark.parametrize(
    ("settings", "kernel"),
    [
        ({"kernel": "rbf", "gamma": 0.6}, lambda X, Y: np.exp(-0.2 * distance2(X, Y))),
        (
            {"kernel": "poly", "gamma": 1.0, "degree": 2},
            lambda X, Y: ((1 + X @ Y.T) / 4) ** 2,
        ),
    ],
    ids=["rbf", "poly"],
)
def test_normalised_kernels(settings, kernel):
    """kaieda2004, eqs. (72) and (73)."""
    X, y = samples()
    normalised = make(normalize=True, **settings).fit(X, y).mahalanobis(queries())
    np.testing.assert_allclose(
        normalised, make(kernel=kernel).fit(X, y).mahalanobis(queries()), rtol=1e-7
    )


def distance2(X, Y):
    return ((X[:, None] - Y) ** 2).sum(axis=2)


# -- inputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["KPCA I", "SVD", "SVD zero"])
def test_precomputed_equals_the_kernel(form):
    X, y = samples()
    K = np.exp(-0.5 * distance2(X, X))
    matrix = make(form, kernel="precomputed", transductive=None).fit(K[:30, :30], y[:30])
    matrix.partial_fit(K[30:], y[30:]).forget([1, 33]).retune()
    model = make(form).fit(X, y).forget([1, 33]).retune()
    rest = np.delete(np.arange(45), [1, 33])
    np.testing.assert_array_equal(matrix.X_fit_, K[np.ix_(rest, rest)])
    np.testing.assert_allclose(matrix.slopes_, model.slopes_, rtol=1e-9)
    cross = np.exp(-0.5 * distance2(queries(), X[rest]))
    np.testing.assert_allclose(matrix.mahalanobis(cross), model.mahalanobis(queries()), rtol=1e-9)
    np.testing.assert_allclose(
        matrix.loo_decision_function(), model.loo_decision_function(), rtol=1e-7, atol=1e-9
    )
    assert matrix.novelty(cross).shape == (7,)


@pytest.mark.parametrize("settings", [{"distance": "input"}, {"normalize": True}, {}])
def test_precomputed_values_are_not_samples(settings):
    X, y = samples()
    with pytest.raises(ValueError, match="the samples themselves"):
        make(kernel="precomputed", **settings).fit(X @ X.T, y)
    model = make("KPCA I", kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="kernel values to each of the 45 samples"):
        model.predict(X)
    with pytest.raises(ValueError, match="transduce needs"):
        model.transduce(X @ X.T)


@each_form
def test_csr_equals_dense(form):
    X, y = samples()
    X[np.abs(X) < 0.4] = 0.0
    dense = make(form).fit(X, y)
    model = make(form).fit(sparse.csr_array(X[:30]), y[:30]).partial_fit(X[30:], y[30:]).retune()
    np.testing.assert_allclose(model.slopes_, dense.slopes_, rtol=1e-7)
    for Q in (queries(), sparse.csr_array(queries())):
        np.testing.assert_allclose(model.mahalanobis(Q), dense.mahalanobis(queries()), rtol=1e-7)
    if form.startswith("KPCA"):
        np.testing.assert_array_equal(model.transduce(X), dense.transduce(X))


@each_form
def test_weights_repeat_samples(form):
    X, y = samples(30)
    weight = np.random.default_rng(3).integers(1, 4, 30)
    repeated = np.repeat(np.arange(30), weight)
    weighted = make(form).fit(X[:20], y[:20], sample_weight=weight[:20])
    weighted.partial_fit(X[20:], y[20:], sample_weight=weight[20:]).retune()
    many = make(form).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.slopes_, many.slopes_, rtol=1e-6)
    np.testing.assert_allclose(
        weighted.mahalanobis(queries()), many.mahalanobis(queries()), rtol=1e-7
    )


def test_precision_is_double_within_and_that_of_the_samples_outside():
    X, y = samples()
    X = X.astype(np.float32)
    single, double = make().fit(X, y), make().fit(X.astype(float), y)
    np.testing.assert_array_equal(single.slopes_, double.slopes_)
    for method in ("decision_function", "predict_proba", "mahalanobis"):
        found = getattr(single, method)(queries().astype(np.float32))
        expected = getattr(double, method)(queries().astype(np.float32).astype(float))
        close_values(found, expected, dtype=np.float32)
    assert single.decision_function(X).dtype == single.loo_decision_function().dtype == np.float32
    assert double.decision_function(X).dtype == double.loo_decision_function().dtype == float


def test_shown_arrays_cannot_change_the_model():
    X, y = samples()
    model = make().fit(X, y)
    before, left_out = snapshot(model), model.loo_decision_function()
    for shown in (model.X_fit_, model.loo_decision_function(), model.mahalanobis(X)):
        shown[...] = 0
    assert_unchanged(model, before)
    np.testing.assert_array_equal(model.loo_decision_function(), left_out)


def test_svd_without_leave_one_out(monkeypatch):
    """What O(n⁴) can be spared: all but the tuning to left-out samples, and what says so."""

    def refused(*_):
        raise AssertionError("leave-one-out")

    monkeypatch.setattr(_regions, "svd_loo_distances", refused)
    X, y = samples()
    model = make("SVD", tune=True).fit(X[:40], y[:40])
    model.partial_fit(X[40:], y[40:]).forget([3]).retune().predict(X)
    for needs in (lambda: make("SVD", tune="loo").fit(X, y), lambda: model.predict_proba(X)):
        with pytest.raises(AssertionError, match="leave-one-out"):
            needs()


def test_exact_duplicates_across_classes():
    X, y = samples()
    model = make().fit(np.vstack([X, X[:5]]), np.append(y, np.roll(y[:5], 1)))
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.loo_decision_function()).all()


# -- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"distance": "euclid"}, "distance must be one of"),
        ({"distance": None}, "distance must be one of"),
        ({"transductive": "all"}, "transductive must be one of"),
        ({"transductive": True}, "transductive must be one of"),
        ({"inverse_of_small": "one"}, "inverse_of_small must be one of"),
        ({"tune": "cv"}, "tune must be"),
        ({"tau": 0.0}, "tau must be > 0"),
        ({"tau": True}, "tau must be > 0"),
        ({"epsilon": -1.0}, "epsilon must be > 0"),
        ({"epsilon": "loo"}, 'epsilon must be > 0 and finite, or "cv"'),
        ({"sigma": np.inf}, "sigma must be > 0"),
        ({"zeta": np.nan}, "zeta must be > 0"),
        ({"gamma": "loo"}, "gamma must be > 0 or one of"),
        ({"novelty_quantile": 1.0}, r"novelty_quantile must be in \(0, 1\)"),
        ({"max_sacrifice": 0}, "max_sacrifice must be >= 1"),
        ({"eta": 1.0}, r"eta in \(0, 1\)"),
        ({"kernel": "linear", "normalize": True}, "scale the samples"),
    ],
)
def test_settings_that_mean_nothing(settings, match):
    X, y = samples()
    with pytest.raises(ValueError, match=match):
        make().set_params(**settings).fit(X, y)


def test_tau_below_the_rounding_errors():
    X, y = samples()
    with pytest.warns(RuntimeWarning, match="within the rounding errors"):
        make(kernel="linear", tau=1e-10).fit(1e4 * X, y)


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.mahalanobis(queries()),
        lambda model: model.predict_membership(queries()),
        lambda model: model.predict_proba(queries()),
        lambda model: model.novelty(queries()),
        lambda model: model.novelty_threshold_,
        lambda model: model.transduce(queries()),
        lambda model: model.retune(),
        lambda model: model.reselect(),
        lambda model: model.rebuild(),
        lambda model: model.rebuilds_,
        lambda model: model.drift(),
        lambda model: model.loo_predict(),
    ],
)
def test_before_fit(call):
    with pytest.raises(NotFittedError):
        call(make())
