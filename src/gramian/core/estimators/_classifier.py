"""Methods of all classifiers: changing classes, decisions, probabilities, leave-one-out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from gramian.core.arrays import Array, ArrayLike, MatrixLike, RandomSource, from_tensor
from gramian.core.engines import Holdings
from gramian.core.engines._crossfit import Calibrated
from gramian.core.equations import accepted, class_of, fit_calibration, probabilities
from gramian.core.estimators._conformal import check_confidence, label_p_values
from gramian.core.estimators._estimator import LiveEstimator, edits
from gramian.core.estimators._fitted import Fitted
from gramian.core.estimators._held_samples import answered
from gramian.core.estimators._nested import out_of_fold_outputs
from gramian.core.estimators._scikit_learn import ClassifierMixin


class LiveClassifier(ClassifierMixin, LiveEstimator):
    """Classifier with one output per class, or a single output for two classes."""

    @property
    def classes_(self) -> Array:
        """Sorted labels that the model distinguishes."""
        classes: Array = self._fitted().holdings.classes.copy()
        return classes

    @edits
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn more samples; the result equals one fit to all samples.

        The first call chooses the hyper-parameters; `reselect` chooses them again.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, kernel values of shape (n_new, n_held + n_new).
        y : array-like of shape (n_samples,)
            May contain new classes.
        classes : array-like, optional
            Classes that stay in `classes_` even without samples.
        sample_weight : array-like of shape (n_samples,), optional
        ids : array-like of shape (n_samples,), optional
            Unique integers or strings; the next free numbers by default.
        groups : array-like of shape (n_samples,), optional
            To whom or what each sample belongs, if the model's samples have groups; see `fit`.

        Returns
        -------
        self
        """
        declared = () if classes is None else _check_classes(classes)
        self._learn(X, y, sample_weight, ids, declared, groups)
        return self

    def decision_function(self, X: MatrixLike) -> Array:
        """Decision values, shape (n_samples,) for two classes, else (n_samples, n_classes)."""
        now, outputs = self._outputs(X)
        return answered(now, _returned(now, outputs))

    def predict(self, X: MatrixLike) -> Array:
        """The class of each sample."""
        now, outputs = self._outputs(X)
        return answered(now, now.holdings.classes[class_of(outputs)])

    def predict_proba(self, X: MatrixLike) -> Array:
        """Class probabilities, calibrated on the exact leave-one-out decision values.

        Returns ``softmax(a z)`` of shape (n_samples, n_classes), with the scale a fitted to the
        leave-one-out values. The most probable class is the one that `predict` returns. With Fisher
        targets both treat the classes as equally frequent.
        """
        with self._lock:
            largest, scale = self._calibration()
            now, predictor = self._reading()
        outputs = self._answers(now, predictor, X)
        P = probabilities(np.nan_to_num(outputs, posinf=largest, neginf=-largest), scale)
        return answered(now, P)

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of `predict`."""
        found = from_tensor(self.predict(X))
        return float(accuracy_score(from_tensor(y), found, sample_weight=sample_weight))

    def p_values(
        self,
        X: MatrixLike,
        mondrian: bool = False,
        smoothed: bool = False,
        random_state: RandomSource = None,
        *,
        method: str = "auto",
        score: str = "margin",
    ) -> Array:
        """Conformal p-value of each class for each sample, of shape (n_samples, n_classes).

        "full": the query is added with each label in turn, and every sample is left out once: the
        p-value is the fraction of samples, the query included, that then fit their label at most as
        well as the query. If held samples and query are exchangeable and no hyper-parameter was
        chosen on the samples (`chosen_on_data_` is empty), the p-value of the true label is at most
        ε with probability at most ε, whatever the distribution.

        "cv+": each sample is judged by the model tuned and trained without its fold, and the query
        by each of these models, so that choices made on the samples do no harm. The p-value is at
        most ε with probability at most 2 ε, mostly about ε. The first call chooses the
        hyper-parameters without each of 10 folds, unless `nested_score` has; stacks know them.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, kernel values to the held samples and k(x, x) in a last
            column.
        mondrian : bool
            Compare with samples of the same class alone: the guarantee then holds within each
            class. The p-value of a class without samples is 1.
        smoothed : bool
            Break ties by a random number, which makes the p-values uniform. By default all ties
            count, which makes them larger.
        random_state : int, RandomState or None
            Draws the random numbers of ``smoothed`` and of the adaptive score.
        method : {"auto", "full", "cv+"}
            "auto" is "cv+" for 20 to 2,048 samples if something was chosen on them, or if they have
            groups; else "full".
        score : {"margin", "adaptive"}
            How badly a label fits. "margin" is the best other output minus that of the label: the
            smallest sets, without random numbers. "adaptive" is the probability of all classes that
            are more probable than the label and a random share of its own (romano2020): larger sets
            that hold the truth about as often at hard queries as at easy ones. The promise is the
            same, and ``mondrian`` goes with both.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return label_p_values(self, X, mondrian, smoothed, random_state, method, score)

    def predict_set(
        self,
        X: MatrixLike,
        confidence_level: float = 0.9,
        mondrian: bool = False,
        smoothed: bool = False,
        random_state: RandomSource = None,
        *,
        method: str = "auto",
        score: str = "margin",
    ) -> Array:
        """Sets of classes that contain the true one with probability ≥ ``confidence_level``.

        The classes with `p_values` above 1 − confidence, on the conditions stated there. A set may
        be empty, which says that the sample is unlike those held, whatever its label.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        confidence_level : float
            Between 0 and 1.
        mondrian, smoothed, random_state, method, score
            See `p_values`.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
        """
        confidence_level = check_confidence(confidence_level)
        found = label_p_values(self, X, mondrian, smoothed, random_state, method, score)
        return accepted(found, confidence_level)

    @property
    def calibration_(self) -> float:
        """The scale a of the probabilities ``softmax(a z)``, fitted to leave-one-out values."""
        return self._calibration()[1]

    def loo_decision_function(self) -> Array:
        """Exact leave-one-out decision values of the held samples, in the order of `ids_`."""
        with self._lock:
            now = self._fitted()
            return answered(now, _returned(now, self._loo_outputs()))

    def loo_predict(self) -> Array:
        """Class of each held sample by the model without it, in the order of `ids_`."""
        with self._lock:
            now = self._fitted()
            return answered(now, now.holdings.classes[class_of(self._loo_outputs())])

    def loo_predict_proba(self) -> Array:
        """Class probabilities of each held sample by the model without it, in the order of `ids_`.

        The decision values are leave-one-out values; the scale a is that of `predict_proba`.
        """
        with self._lock:
            largest, scale = self._calibration()
            F = np.nan_to_num(self._loo_outputs(), posinf=largest, neginf=-largest)
            return answered(self._fitted(), probabilities(F, scale))

    def _judged_proba(self) -> Array:
        """Probabilities of the held samples: out of fold where that is known, else left out."""
        with self._lock:
            now = self._serving()
            if now.fold_specs is None:
                return np.asarray(self.loo_predict_proba())
            largest, scale = self._calibration()
            F = np.nan_to_num(out_of_fold_outputs(now), posinf=largest, neginf=-largest)
            return probabilities(F, scale)

    def loo_score(self) -> float:
        """Accuracy of `loo_predict`, weighted by the sample weights."""
        with self._lock:
            now = self._fitted()
            predicted, weight = class_of(self._loo_outputs()), now.holdings.weight
            right = now.holdings.classes[predicted] == now.holdings.y
            return float(weight.dot(right) / weight.sum())

    # -- inside ---------------------------------------------------------------------------------

    def _calibration(self) -> tuple[float, float]:
        """The largest finite leave-one-out value, and the scale of the probabilities."""
        return self._derived("calibration", calibrated)

    def _check_targets(self, y: Any, holdings: Holdings | None) -> Array:
        plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "ib"
        if plain and holdings is not None and holdings.y.dtype.kind == y.dtype.kind:
            return np.asarray(y)  # as they are held
        labels: Array = column_or_1d(y, warn=True)
        if labels.dtype.kind not in "biuf":
            _check_labels(labels, "y")
        check_classification_targets(labels)
        if holdings is not None and holdings.y.dtype.kind != labels.dtype.kind:
            _check_kind(holdings.y, labels)
        return labels

    def _classes_after_append(
        self, before: Holdings | None, after: Holdings, classes: tuple[Any, ...]
    ) -> Holdings:
        if classes:
            _check_kind(after.y, np.asarray(classes), "classes")
        declared = classes if before is None else (*before.declared, *classes)
        if before is None:
            known = np.unique(after.y)
        else:
            new = after.y[len(before.ids) :]
            if not classes and {*new.tolist()} <= {*before.classes.tolist()}:
                return after  # mostly no class is new
            known = np.union1d(before.classes, new)
        if declared:
            declared = tuple(sorted(set(declared)))
            known = np.union1d(known, np.asarray(declared))
        if len(known) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, got one class: "
                f"{known[0]!s}."
            )
        return replace(after, classes=known, declared=declared)

    def _classes_after_remove(self, before: Holdings, after: Holdings) -> Holdings:
        *others, _ = before.classes.tolist()
        counts = [np.count_nonzero(after.y == label) for label in others]
        if all(counts) and sum(counts) < len(after):  # mostly no class has vanished
            return after
        present = np.unique(after.y)
        check_two_classes(present, after)
        if after.declared:
            present = np.union1d(present, np.asarray(after.declared))
        return after if len(present) == len(after.classes) else replace(after, classes=present)

    def _get_state(self) -> dict[str, Any]:
        declared = self._fitted().holdings.declared
        return {**super()._get_state(), "declared": np.asarray(declared) if declared else ()}


def check_two_classes(present: Array, after: Holdings) -> None:
    """Raise ValueError unless a removal leaves two classes."""
    if len(present) < 2:
        raise ValueError(
            f"forget would leave {len(after)} samples of fewer than two classes; a classifier "
            f"needs two. Fit it anew on other samples instead."
        )


def _check_classes(classes: Any) -> tuple[Any, ...]:
    """Declared classes as a tuple of labels; ValueError if they are not a list of labels."""
    array = np.asarray(classes)
    if array.ndim != 1:
        raise ValueError(f"classes must be a list of labels, got {array.ndim} dimensions.")
    if array.dtype.kind not in "biuf":
        _check_labels(array, "classes")
    elif not np.isfinite(array).all():
        raise ValueError("classes must be finite, got NaN or infinity.")
    return tuple(array.tolist())


def _check_labels(labels: Array, name: str) -> None:
    """Raise ValueError unless labels are all strings, or all numbers.

    Arrays of strings drop NUL characters at the end, so that "a" and ``"a\\0"`` would become one.
    """
    if labels.dtype.kind in "mMcV":
        raise ValueError(
            f"{name} must hold strings or real numbers, got labels of dtype {labels.dtype}. Turn "
            f"them into strings."
        )
    if labels.dtype.kind == "O":
        strings = [isinstance(label, str) for label in labels.tolist()]
        if any(strings) and not all(strings):
            other = type(labels[strings.index(False)]).__name__
            raise ValueError(
                f"{name} must hold strings alone or numbers alone, got strings and {other}."
            )
    texts = labels.tolist() if labels.dtype.kind in "UO" else []
    if any("\0" in text for text in texts if isinstance(text, str)):
        raise ValueError(f"{name} has a label with a NUL character, which no file can hold.")


def _check_kind(held: Array, new: Array, name: str = "y") -> None:
    """Raise ValueError if labels are strings on one side and numbers on the other."""
    strings = [labels.dtype.kind in "UO" for labels in (held, new)]
    if strings[0] != strings[1]:
        kinds = ("numbers", "strings")
        raise ValueError(
            f"{name} must be {kinds[strings[0]]}, as the labels that the model holds; got "
            f"{kinds[strings[1]]}."
        )


def _returned(now: Fitted, outputs: Array) -> Array:
    """Copy the outputs in the dtype of the samples, one-dimensional for a single output."""
    flat = outputs[:, 0] if outputs.shape[1] == 1 else outputs
    return flat.astype(now.holdings.rows.dtype)


def calibrated(now: Fitted) -> tuple[float, float]:
    """Return the largest finite leave-one-out value and the scale of the probabilities.

    The largest value replaces infinite ones, which occur for classes without samples.
    """
    F, holdings = now.loo(), now.holdings
    largest = float(np.abs(F[np.isfinite(F)]).max(initial=1.0))
    if isinstance(now.spec, Calibrated) and now.spec.scale is not None:
        return largest, now.spec.scale
    if now.fold_specs is not None:
        F = out_of_fold_outputs(now)
    bounded = np.nan_to_num(F, posinf=largest, neginf=-largest)
    return largest, fit_calibration(
        bounded, holdings.labels, len(holdings.classes), holdings.weight
    )
