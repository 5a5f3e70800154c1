"""Threads: readers see one version of the model, and two writers take turns."""

import threading

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from tests.estimators.conftest import ONE_OF_EACH, make_samples, values

ROUNDS = 40


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_answer_is_that_of_one_version(name):
    model = clone(ONE_OF_EACH[name])
    X, y = make_samples(model, 40)
    model.fit(X[:30], y[:30])
    Xq, seen, answers, failures = X[:6], [values(model, X[:6])], [], []
    edited = threading.Event()

    def write():
        for i in range(ROUNDS):
            row = 30 + i % 10
            model.partial_fit(X[row : row + 1], y[row : row + 1], ids=[1000 + i])
            seen.append(values(model, Xq))
            model.forget(i if i < 20 else 1000 + i - 10)
            seen.append(values(model, Xq))
        edited.set()

    def read():
        try:
            while not edited.is_set():
                answers.append(values(model, Xq))
                model.predict(Xq)
                if is_classifier(model):
                    p = model.predict_proba(Xq)
                    assert np.allclose(p.sum(axis=1), 1.0)
        except Exception as error:  # raised again below, in the thread that can tell
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    writer = threading.Thread(target=write)
    for thread in (*readers, writer):
        thread.start()
    for thread in (*readers, writer):
        thread.join()
    assert not failures, failures[0]
    versions = np.array(seen)
    for answer in answers:
        distance = np.abs(versions - answer).reshape(len(versions), -1).max(axis=1)
        assert distance.min() <= 1e-9 * max(1.0, np.abs(answer).max())


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_two_writers_take_turns(name):
    model = clone(ONE_OF_EACH[name])
    X, y = make_samples(model, 40)
    model.fit(X[:20], y[:20])
    failures = []

    def write(first):
        try:
            for i in range(first, 40, 2):
                model.partial_fit(X[i : i + 1], y[i : i + 1], ids=[100 + i])
                if i % 4 < 2:
                    model.forget(100 + i)
        except Exception as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=(first,)) for first in (20, 21)]
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    assert not failures, failures[0]
    assert sorted(model.ids_) == [*range(20), *(100 + i for i in range(20, 40) if i % 4 >= 2)]
    fresh = model.refitted()
    scale = max(1.0, float(np.abs(values(fresh)).max()))
    np.testing.assert_allclose(values(model), values(fresh), rtol=0, atol=1e-9 * scale)
