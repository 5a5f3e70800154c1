"""What a model leaves behind: nothing in its copies, nothing in memory once it is gone."""

import gc
import weakref

from sklearn.base import is_classifier

from tests.estimators.conftest import every_form, make_samples, queries, values


@every_form
def test_a_model_that_is_gone_is_freed_without_the_garbage_collector(estimator):
    X, y = make_samples(estimator, 20)
    model = estimator.fit(X[:18], y[:18])
    model.loo_score()
    model.partial_fit(X[18:], y[18:]).forget(3)
    values(model)
    if is_classifier(model):
        model.predict_set(queries(2))
        model.predict_proba(queries(2))
    else:
        model.predict_interval(queries(2))
    model.snapshot()
    engine = weakref.ref(model._now.engine)
    gc.disable()
    try:
        # The fixture holds the estimator, so what it learned is dropped.
        vars(model).pop("_now")
        assert engine() is None
    finally:
        gc.enable()
