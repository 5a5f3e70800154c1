"""Fit a tuned classifier, learn samples, forget samples, and check each step against a refit.

Run by ``make run``; needs nothing but Gramian and the digits that scikit-learn ships.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from gramian import KernelDiscriminant


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16.0, y, test_size=0.2, random_state=0)
    first, later = slice(0, 1200), slice(1200, None)

    print(f"Digits: {len(y)} samples of {X.shape[1]} features, {len(np.unique(y))} classes.\n")

    model = KernelDiscriminant(random_state=0)
    seconds = timed(lambda: model.fit(X[first], y[first]))
    print(f"fit of {len(model.ids_)} samples, tuned by leave-one-out      {seconds:8.3f} s")
    print(f"    chosen: gamma = {model.gamma_:.3g}, ridge = {model.ridge_:.3g}")
    report(model, X_test, y_test)

    n = len(y) - 1200
    seconds = timed(lambda: model.partial_fit(X[later], y[later]))
    print(f"\nlearn {n} samples at once                            {seconds:8.3f} s")
    report(model, X_test, y_test)
    compare(model, X_test)

    doubtful = most_doubtful(model, 20)
    seconds = timed(lambda: [model.forget(i) for i in doubtful])
    print(f"\nforget the {len(doubtful)} most doubtful samples, one by one     {seconds:8.3f} s")
    report(model, X_test, y_test)
    compare(model, X_test)

    seconds = timed(lambda: model.forget(model.ids_[:100]))
    print(f"\nforget the 100 oldest at once                        {seconds:8.3f} s")
    compare(model, X_test)


def timed(call) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def report(model, X_test, y_test) -> None:
    seconds = timed(model.loo_score)
    print(
        f"    exact leave-one-out error {1 - model.loo_score():.2%} ({seconds:.3f} s), "
        f"test error {1 - model.score(X_test, y_test):.2%}"
    )


def most_doubtful(model, k: int) -> np.ndarray:
    """Ids of the samples whose own class scores lowest when they are left out."""
    values = model.loo_decision_function()
    own = values[np.arange(len(values)), np.searchsorted(model.classes_, model.y_fit_)]
    return model.ids_[np.argsort(own)[:k]]


def compare(model, X_test) -> None:
    """The model against a refit on the samples that it holds."""
    refit = KernelDiscriminant(gamma=model.gamma_, ridge=model.ridge_)
    seconds = timed(lambda: refit.fit(model.X_fit_, model.y_fit_))
    live, fresh = model.decision_function(X_test), refit.decision_function(X_test)
    difference = np.abs(live - fresh).max() / np.abs(fresh).max()
    print(
        f"    holds {len(model.ids_)} samples; differs from a refit ({seconds:.3f} s) "
        f"by {difference:.0e}"
    )


if __name__ == "__main__":
    main()
