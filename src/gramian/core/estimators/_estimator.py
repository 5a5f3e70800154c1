"""The base of all estimators: learning and forgetting, each by one assignment of a new version."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import wraps
from threading import RLock
from typing import Any, Self, TypeVar, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags

from gramian.core.arrays import Array, ArrayLike, MatrixLike, is_tensor, one_blas_thread, using_jobs
from gramian.core.engines import Holdings, Spec, make_rows
from gramian.core.estimators._doubts import doubts_of_fit, warn
from gramian.core.estimators._fitted import Fitted
from gramian.core.estimators._group_names import check_groups, more_groups, positions_of_groups
from gramian.core.estimators._held_samples import HeldSamples
from gramian.core.estimators._ids import check_ids, check_new, next_ids, positions_of
from gramian.core.estimators._nested import NestedScore, known_doubts, known_score, nested_score
from gramian.core.estimators._progress import SearchProgress
from gramian.core.estimators._relabel import relabelled
from gramian.core.estimators._samples import is_like, sample_kind, with_weight
from gramian.core.estimators._stored import StoredModel
from gramian.core.estimators._tuning import tuning_mask
from gramian.core.gram import NotPositiveDefiniteError

Method = TypeVar("Method", bound=Callable[..., Any])


def edits(method: Method) -> Method:
    """Decorate a method that changes the model: lock it, and name it in errors about samples.

    BLAS has one thread meanwhile, and `n_jobs` threads work side by side.
    """

    @wraps(method)
    def locked(self: LiveEstimator, *args: Any, **kwargs: Any) -> Any:
        lock = self.__dict__.setdefault("_mutex", RLock())
        with lock, one_blas_thread(), using_jobs(self.n_jobs):
            try:
                return method(self, *args, **kwargs)
            except NotPositiveDefiniteError as error:
                error.asked = error.asked or method.__name__
                raise

    return cast("Method", locked)


class LiveEstimator(HeldSamples, StoredModel):
    """Base class of estimators that learn and forget single samples by id.

    Subclasses implement `_spec`, which reads and checks the parameters.
    """

    verbose: int = 0  # a parameter of those that search by leave-one-out
    tuning_fraction: float | None = None
    random_state: Any = None

    # -- learning and forgetting ----------------------------------------------------------------

    @edits
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn the samples from scratch, replacing all that was learned before.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, the square kernel matrix of the samples.
        y : array-like of shape (n_samples,) or, for regressors, (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of k equals k copies of the sample. Samples of weight 0 are not stored.
        ids : array-like of shape (n_samples,), optional
            Unique integers or strings by which `forget` finds the samples; 0, 1, 2, … by default.
        groups : array-like of shape (n_samples,), optional
            Integers or strings: to whom or what each sample belongs, such as a patient with several
            rows. Samples of a group are then left out together, by every ``loo_`` method and by
            the search, and ``forget(groups=…)`` forgets them together.

        Returns
        -------
        self

        Warns
        -----
        ChoiceWarning
            If the errors that the model will know of itself are in doubt: samples repeat others, or
            there are fewer samples than features that get a width each.
        """
        self._begin(X, y, sample_weight, ids, (), groups)
        return self

    @edits
    def forget(self, ids: ArrayLike | None = None, *, groups: ArrayLike | None = None) -> Self:
        """Forget samples exactly: the model becomes the one that never saw them.

        Hyper-parameters that were chosen on the samples stay until `reselect` or `fit`;
        `chosen_on_data_` names them.

        Parameters
        ----------
        ids : id or array-like of ids
        groups : group or array-like of groups, in place of ids
            All samples of these groups.

        Returns
        -------
        self
        """
        now = self._fitted()
        if (ids is None) == (groups is None):
            raise ValueError("forget needs ids, or groups=…, one of the two.")
        if groups is None:
            positions = positions_of(now.holdings.ids, ids)
        else:
            positions = positions_of_groups(now.holdings.groups, groups)
        if len(positions) == 0:
            return self
        after = self._classes_after_remove(now.holdings, now.holdings.without(positions))
        try:
            now = self._serving()
        except np.linalg.LinAlgError as error:
            self._now = now.left(after, error)
        else:
            self._now = now.removed(after, positions)
        after.rows.scrub()
        return self

    @edits
    def exchange(
        self,
        ids: ArrayLike,
        X: MatrixLike,
        y: ArrayLike,
        new_ids: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn samples and forget others, as one edit.

        The result is that of `partial_fit` and then `forget`, at less cost: the model is never in
        between, and if it fails, it is as it was. A sliding window moves on by it.

        Parameters
        ----------
        ids : id or array-like of ids
            Samples to forget.
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples to learn.
        y : array-like of shape (n_samples,) or, for regressors, (n_samples, n_targets)
        new_ids : array-like of shape (n_samples,), optional
            Ids of the samples to learn, other than those held; the next free numbers by default.
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            Groups of the samples to learn, if the model's samples have groups.

        Returns
        -------
        self
        """
        now = self._editable()
        positions = positions_of(now.holdings.ids, ids, "exchange")
        if len(positions) == 0:
            self._learn(X, y, sample_weight, new_ids, groups=groups)
            return self
        both = self._enlarged(now, X, y, sample_weight, new_ids, (), groups)
        self._put(now, both, positions)
        return self

    def _takes(self, X: Any, y: Array, oldest: Any) -> bool:
        """Whether `_step` is right for samples of this type and width, if this id is to leave."""
        holdings = self._fitted().holdings
        alike = holdings.classes is None or holdings.y.dtype.kind == y.dtype.kind
        return alike and is_like(self, holdings, X) and bool(holdings.ids[0] == oldest)

    @edits
    def _step(self, X: Any, y: Array, ids: Array) -> None:
        """Learn samples that are known to be good, and forget as many of the oldest.

        An `exchange` for windows, which have checked arrays like those held: no conversion and no
        check of the values.
        """
        now = self._editable()
        before = now.holdings
        y = y.astype(float, copy=False) if before.classes is None else y
        both = before.appended(X, y, np.ones(len(ids)), ids, before.next_id)
        self._put(now, self._classes_after_append(before, both, ()), np.arange(len(ids)))

    def _put(self, now: Fitted, both: Holdings, positions: Array) -> None:
        """Learn the samples that ``both`` has in addition, without those at these positions."""
        after = self._classes_after_remove(both, both.without(positions))
        self._now = now.appended(both).removed(after, positions)
        after.rows.scrub()

    @edits
    def relabel(self, ids: ArrayLike, y: ArrayLike) -> Self:
        """Give held samples other targets: forget them and learn them again, as one edit.

        Their ids and weights stay; they become the last in `ids_`. Hyper-parameters stay until
        `reselect`. If it fails, the model is as it was.

        Parameters
        ----------
        ids : id or array-like of ids
        y : label or target, or array-like of them
            One for each id.

        Returns
        -------
        self
        """
        self._now = relabelled(self, self._editable(), ids, y)
        return self

    @edits
    def settle(self) -> Self:
        """Carry out updates that edits have deferred, O(n²). Returns self.

        `forget` defers its update of P and collects some of them, which is faster. Until they are
        carried out, whoever reads the live object could rebuild a forgotten sample from them. After
        `settle`, P depends on the samples held alone, up to rounding. `gramian.forget` and stores
        settle by themselves, and model files never contain deferred updates.
        """
        self._serving().engine.settle()
        return self

    @edits
    def rebuild(self) -> Self:
        """Rebuild the updated state from the samples, at the cost of a fit. Returns self."""
        now = self._serving()
        self._now = now.moved(now.holdings, now.engine.rebuild(now.holdings, "asked for"))
        return self

    @edits
    def reselect(self, *, fresh: bool = False) -> Self:
        """Choose the hyper-parameters again on the samples that the model holds.

        Parameters
        ----------
        fresh : bool
            False may start the search at the present values, which needs fewer evaluations but
            lets samples forgotten since then influence the result. True searches as `fit` does;
            afterwards no forgotten sample has any influence on the model.

        Returns
        -------
        self
        """
        now, spec = self._fitted(), self._spec()
        if spec.precomputed != now.spec.precomputed:
            raise ValueError(
                "the model holds samples for another kind of kernel: a precomputed kernel cannot "
                "be exchanged for one of samples. Call fit."
            )
        found = self._resolved(spec, now.holdings, None if fresh else now.spec)
        engine = found.build(now.holdings, now.engine.history)
        engine = engine.recorded("the hyper-parameters were chosen anew", len(now.holdings))
        anew = Fitted(found, now.holdings, engine, sample_kind(spec), now.names)
        self._now = anew.knowing_folds()
        return self

    # -- checks and copies ----------------------------------------------------------------------

    def drift(self) -> float:
        """Measured relative residual of the present solution in the true system."""
        with self._lock, one_blas_thread():
            now = self._serving()
            return now.engine.drift(now.holdings)

    def refitted(self) -> Self:
        """Return a model with the same hyper-parameters, rebuilt from the samples held now.

        Its decision values are the reference for this model's: `gramian.forget` compares them.
        """
        with self._lock, one_blas_thread():
            now = self._serving()
            holdings = replace(now.holdings, rows=now.holdings.rows.copied())
            twin: Self = clone(self)
            twin._now = now.moved(holdings, now.engine.fresh(holdings))
        return twin

    def snapshot(self, *, loo: bool = False) -> Self:
        """Return a copy that goes on predicting as this model does now, for readers during edits.

        It shares the samples with this model until one of the two is edited, and has a lock of its
        own: its readers never wait for an edit of this model, and see nothing of it.

        Parameters
        ----------
        loo : bool
            Whether the copy has leave-one-out values and probabilities, too. Without it, the first
            call that needs them builds an engine, at the cost of a fit.
        """
        with self._lock:
            if loo:
                getattr(self, "loo_predict_proba", self._loo_outputs)()
            now, _ = self._reading()
            twin = copy(self)
            twin._now.cache.update(now.cache)
        return twin

    def nested_score(self, folds: int | None = None, *, n_jobs: int | None = None) -> NestedScore:
        """Score on samples that were not there, tuning included: what new samples can expect.

        Everything that `fit` chooses is chosen again without each fold, and judged on the fold.
        `loo_score` is exact for the choices that were made; but these were made on the same
        samples, and on few of them, or with many features, it promises too much.

        Parameters
        ----------
        folds : int, optional
            By default what is known already: stacks choose their weights by 5 folds in `fit`, so
            that their score comes for nothing. Other models are tuned without each of 10 folds.
            ``"auto"`` takes leave-one-out values where these are as honest: if nothing was chosen
            on the samples; if they are more than 2,048, and ten for each number that was chosen;
            and if they are fewer than 20, of which none can be set aside.
        n_jobs : int, optional
            Folds to compute side by side, in threads; one by default, −1 for all cores.

        Returns
        -------
        NestedScore
            With ``score``, ``standard_error``, ``folds`` and the out-of-fold ``values``.

        Warns
        -----
        ChoiceWarning
            If the leave-one-out score with these choices is contradicted, or if a class is never
            predicted. Stacks say so in `fit`, which has the values.
        """
        return nested_score(self, folds, n_jobs)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The parameters; after them, the error on new rows if it is known."""
        known = known_score(self)
        text: str = super().__repr__(N_CHAR_MAX)  # type: ignore[call-arg]
        return text if known is None else f"{text}  # {known}"

    def __sklearn_is_fitted__(self) -> bool:
        return "_now" in vars(self)

    # -- for classifiers and regressors ---------------------------------------------------------

    @abstractmethod
    def _check_targets(self, y: Any, holdings: Holdings | None) -> Array:
        """Return targets as an array like the held ones; raise ValueError if they do not match."""

    @abstractmethod
    def _classes_after_append(
        self, before: Holdings | None, after: Holdings, classes: tuple[Any, ...]
    ) -> Holdings:
        """Return holdings with updated classes after samples were added; ValueError if invalid."""

    @abstractmethod
    def _classes_after_remove(self, before: Holdings, after: Holdings) -> Holdings:
        """Return holdings with updated classes after a removal; ValueError if too few are left."""

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, ids: Any, classes: Any, groups: Any = None
    ) -> None:
        """Fit from scratch; hyper-parameters are chosen on a part that is set aside, if asked."""
        spec, tensors = self._spec(), is_tensor(X)
        kind = sample_kind(spec)
        X, y, names = kind.first(self, X, y)
        y, n = self._check_targets(y, None), X.shape[0]
        own = np.arange(n) if ids is None else check_ids(ids, n)
        next_id = n if ids is None else 0
        weight = np.ones(n)
        groups = None if groups is None else check_groups(groups, n)
        if sample_weight is not None:
            X, y, weight, kept = with_weight(kind, X, y, sample_weight, np.arange(n))
            own, groups = own[kept], None if groups is None else groups[kept]

        def hold(samples: Any, some: Any) -> Holdings:
            rows = make_rows(samples, precomputed=spec.precomputed, tensors=tensors)
            held = np.array(y[some]), np.array(weight[some]), np.array(own[some])
            theirs = None if groups is None else np.array(groups[some])
            new = Holdings(rows, *held, next_id, groups=theirs)
            return self._classes_after_append(None, new, classes)

        if self.tuning_fraction is None:
            holdings = hold(X, slice(None))
            found = self._resolved(spec, holdings, None)
            engine = found.build(holdings)
        else:
            aside = tuning_mask(self.tuning_fraction, len(y), self.random_state, groups)
            tuning, holdings = (hold(kind.keep(X, some), some) for some in (aside, ~aside))
            found = self._resolved(spec, tuning, None)
            engine = found.build_tuned_on(tuning, holdings)
            found = found.unseen()
        now = Fitted(found, holdings, engine, kind, names).knowing_folds()
        warn([*doubts_of_fit(now), *known_doubts(self, now)], stacklevel=5)
        self._now = now

    def _resolved(self, spec: Spec[Any], holdings: Holdings, start: Spec[Any] | None) -> Spec[Any]:
        """Choose what is to be chosen, and print how that goes if `verbose` asks for it."""
        if not self.verbose:
            return spec.resolve(holdings, start)
        return SearchProgress(type(self).__name__, self.verbose).resolve(spec, holdings, start)

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, ids: Any, classes: Any = (), groups: Any = None
    ) -> None:
        """Learn more samples; an unfitted model learns them from scratch."""
        if "_now" not in vars(self):
            self._begin(X, y, sample_weight, ids, classes, groups)
            return
        now = self._editable()
        self._now = now.appended(self._enlarged(now, X, y, sample_weight, ids, classes, groups))

    def _enlarged(
        self,
        now: Fitted,
        X: Any,
        y: Any,
        sample_weight: Any,
        ids: Any,
        classes: Any,
        groups: Any = None,
    ) -> Holdings:
        """Return the holdings with more samples, which are checked."""
        kind, before = now.samples, now.holdings
        X, y = kind.more(self, before, X, y)
        y, weight = self._check_targets(y, before), np.ones(X.shape[0])
        if ids is None:
            own, next_id = next_ids(before.ids, before.next_id, len(y))
        else:
            own, next_id = check_ids(ids, len(y)), before.next_id
            check_new(before.ids, own)
        groups = more_groups(before.groups, groups, len(y))
        if sample_weight is not None:
            X, y, weight, kept = with_weight(kind, X, y, sample_weight, np.arange(len(y)))
            own, groups = own[kept], None if groups is None else groups[kept]
        after = before.appended(X, y, weight, own, next_id, groups)
        return self._classes_after_append(before, after, classes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.__sklearn_is_fitted__():
            tags.input_tags.pairwise = self._now.spec.precomputed
        else:
            kernel = getattr(self, "kernel", None)
            tags.input_tags.pairwise = isinstance(kernel, str) and kernel == "precomputed"
        return tags
