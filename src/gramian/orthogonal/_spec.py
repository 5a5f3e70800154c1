"""Settings, attributes and edits that the orthogonal least squares estimators share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from gramian.core.arrays import to_host
from gramian.core.engines import Holdings
from gramian.core.equations import LS_SVM, ClassTargets, Responses, Targets
from gramian.core.estimators import (
    KernelSpec,
    LiveEstimator,
    check_choice,
    check_positive,
    edits,
)
from gramian.core.estimators._parameters import is_number
from gramian.core.estimators._samples import VectorSamples
from gramian.core.kernels import KERNELS, Kernel
from gramian.core.search import Problem, select, subsample
from gramian.orthogonal._engine import BasisEngine
from gramian.orthogonal._fixed_basis import FixedBasis
from gramian.orthogonal._forward import ForwardRules
from gramian.orthogonal._plan import BasisPlan, Trials
from gramian.orthogonal._ridges import RIDGES

# gamma="cv" tries these multiples of the width that leave-one-out chooses for least squares on some
# samples; of "scale", for kernels without a width, these.
_NEIGHBOURS = 2.0 ** np.arange(-1, 2)
_SEARCHED = 512
_FAR = 4.0 ** np.arange(-3, 4)


@dataclass(frozen=True, eq=False)
class BasisChoice:
    """The width and λ that were chosen, and the plan by which bases are selected."""

    gamma: Any
    ridge: str | float
    plan: BasisPlan
    chosen_on_data: tuple[str, ...]

    def engine(self, holdings: Holdings, history: tuple = ()) -> BasisEngine:
        """Select bases on these holdings and return their engine."""
        return BasisEngine(self.plan, self.plan.bases(holdings, self.ridge), holdings, history)

    def engine_apart(self, tuning: Holdings, holdings: Holdings) -> BasisEngine:
        """Select bases on other holdings; these are learned on them."""
        return self.engine(tuning).apart(holdings)


@dataclass(frozen=True, eq=False)
class BasisSpec:
    """The parameters of orthogonal least squares, as `fit` read them.

    Parameters
    ----------
    widths : tuple of KernelSettings
        One, or one for each entry of a list of gammas.
    listed : bool
        Whether gamma is a list.
    plan : BasisPlan
        Its kernels are filled in once the widths are chosen.
    """

    widths: tuple[KernelSpec, ...]
    listed: bool
    plan: BasisPlan

    @property
    def samples(self) -> VectorSamples:
        """The form in which the model holds samples."""
        return self.widths[0].samples

    @classmethod
    def of(cls, model: Any, **own: Any) -> BasisSpec:
        """Return the checked parameters of an estimator."""
        for name in ("tol", "epsilon", "patience"):
            if not is_number(getattr(model, name)):
                raise ValueError(f"{name} must be a number >= 0, got {getattr(model, name)!r}.")
        check_positive("ridge", model.ridge, "cv", *RIDGES, zero=True)
        check_choice("penalty", model.penalty, ("kernel", "orthogonal"))
        names = ("max_basis", "selection", "stopping", "patience", "tol", "epsilon")
        given = {name: getattr(model, name) for name in (*names, "penalize_bias")}
        rules = ForwardRules(**given, ridge=_ridge_on_the_way(model))
        plan = BasisPlan((), rules, model.ridge, model.penalty, model.random_state)
        listed = isinstance(model.gamma, list | tuple)
        return cls(_widths(model, listed), listed, replace(plan, **own))

    def choose(self, holdings: Holdings, past: BasisChoice | None) -> BasisChoice:
        """Choose width and λ for these holdings; trials choose those that are "cv"."""
        first = self.widths[0]
        searched = isinstance(first.gamma, str) and first.gamma == "cv"
        widths = (replace(first, gamma="scale"),) if searched else self.widths
        found = [width.resolve(holdings) for width in widths]
        gamma = found if self.listed else found[0]
        plan = self.chosen(gamma).plan
        if gamma is None or not searched:
            return self.chosen(gamma, plan.tuned_ridge(holdings))
        trials, found = Trials(plan, holdings), []
        for width in self._candidates(holdings, gamma):
            error, ridge = trials.run(self.kernels(width))
            found.append((error, ridge, float(width)))
        _, ridge, gamma = min(found, key=lambda trial: trial[0])
        rule = plan.ridge_rule(holdings)
        return self.chosen(gamma, ridge if rule == "cv" else rule)

    def _candidates(self, holdings: Holdings, scale: Any) -> Any:
        """Return the widths that trials compare."""
        kernel, X, weight = self.widths[0].base, to_host(holdings.rows.samples()), holdings.weight
        if not kernel.has_width:
            return scale * _FAR
        targets: Targets = Responses(holdings.y.reshape(len(holdings), -1), weight)
        if holdings.classes is not None:
            targets = ClassTargets(holdings.labels, len(holdings.classes), weight=weight)
        problem = subsample(Problem(LS_SVM, targets, X, kernel), _SEARCHED)
        return select(problem).gamma * _NEIGHBOURS

    def restore(
        self, holdings: Holdings, public: Any, state: Any
    ) -> tuple[BasisChoice, BasisEngine]:
        """Return the choice and the engine stored in a model file."""
        choice = self.chosen(public["gamma_"])
        pairs = zip(state["bases"], state["weights"], strict=True)
        bases = tuple(FixedBasis.from_state(choice.plan.kernels, holdings, *pair) for pair in pairs)
        calibration = state.get("calibration")
        scale = calibration and float(calibration[0])
        return choice, BasisEngine(choice.plan, bases, holdings, calibration=scale)

    def chosen(self, gamma: Any, ridge: str | float = "cv") -> BasisChoice:
        """The choice with this gamma and λ."""
        searched = ("ridge",) if isinstance(self.plan.ridge, str) else ()
        plan = replace(self.plan, kernels=self.kernels(gamma))
        return BasisChoice(gamma, ridge, plan, (*self.widths[0].chosen_on_data, *searched))

    def kernels(self, gamma: Any) -> tuple[Kernel, ...]:
        """One kernel for each width."""
        return tuple(self.widths[0].base.with_gamma(g) for g in (gamma if self.listed else [gamma]))


def _ridge_on_the_way(model: Any) -> str | float:
    """λ during the selection, which always uses the orthogonal penalty."""
    if model.penalty == "orthogonal" and model.ridge != "cv":
        return model.ridge
    return "loo" if "loo" in (model.ridge, model.stopping) else "gcv"


def _widths(model: Any, listed: bool) -> tuple[KernelSpec, ...]:
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        raise ValueError(
            f'kernel="precomputed" is not for {type(model).__name__}, which computes the columns '
            f"of its centres only. Give a callable, or use another machine."
        )
    named = tuple(name for name, kernel in KERNELS.items() if kernel.takes_gamma)
    if listed and (len(model.gamma) == 0 or model.kernel not in named):
        raise ValueError(
            f"a list of gammas needs one width or more and a kernel with gamma {named}, got "
            f"gamma={model.gamma!r} and kernel={model.kernel!r}."
        )
    if listed and any(isinstance(gamma, str) for gamma in model.gamma):
        raise ValueError(f"gamma must be > 0 in every entry of a list, got {model.gamma!r}.")
    other = (model.degree, model.coef0, model.kernel_params, ("cv",), model.device)
    gammas = model.gamma if listed else [model.gamma]
    return tuple(KernelSpec(model.kernel, gamma, *other) for gamma in gammas)


# -- reads --------------------------------------------------------------------------------------


def _each(read, doc, several=list):
    """A property of each basis: a single value for one basis, ``several`` values for more."""

    def shown(model):
        found = [read(basis) for basis in model._fitted().engine.bases]
        return found[0] if len(found) == 1 else several(found)

    return property(shown, doc=doc)


def _over_all(read, doc):
    """A property computed from all bases together."""
    return property(lambda model: read([*model._fitted().engine.bases]), doc=doc)


ridge_ = _each(
    lambda basis: basis.live.ridge,
    "λ; an array of one for each basis where there are several.",
    np.array,
)
gcv_path_ = _each(
    lambda basis: basis.path["gcv"].copy(),
    "Generalised cross-validation for each number of centres on the way; see `path_`.",
)
path_ = _each(
    lambda basis: dict(basis.path),
    """Size, ridge, gcv, loo, bic and condition for each number of centres on the way.

    A dictionary of arrays; a list of such for several bases.
    """,
)
stop_reason_ = _each(
    lambda basis: basis.stop_reason,
    """Why no more centres were chosen; a list for several bases.

    The criterion (``"loo"``, ``"gcv"``, ``"bic"``, ``"lambda"``), ``"max_basis"``,
    ``"ill-conditioned"``, ``"exact"`` (nothing left to fit) or ``"exhausted"`` (every sample is a
    centre).
    """,
)
n_basis_ = _over_all(lambda bases: sum(map(len, bases)), "Number of centres, over all bases.")
n_rows_ = property(
    lambda model: model._fitted().engine.n_rows,
    doc="Number of samples learned: those held, and those of Dask arrays and `learn_rows`.",
)
basis_kernels_ = _over_all(
    lambda bases: np.concatenate([basis.centres.which for basis in bases]),
    "The number of each centre's kernel in a list of `gamma`; else zeros.",
)


def basis_(model):
    """The centres, of shape (n_basis, n_features), in the order of their selection."""
    now = model._fitted()
    centres = [to_host(basis.centres.points) for basis in now.engine.bases]
    found = (sparse.vstack if sparse.issparse(centres[0]) else np.vstack)(centres)
    return now.holdings.rows.answer(found) if now.holdings.rows.answer else found


def basis_ids_(model):
    """Ids of the centres that the model still holds as samples."""
    now = model._fitted()
    samples = np.concatenate([basis.centres.samples for basis in now.engine.bases])
    return now.holdings.ids[samples[samples >= 0]]


def dual_coef_(model):
    """Weights of the centres, of shape (n_basis,) or (n_basis, n_outputs)."""
    return _shown(model, block_diag(*(basis.weights[1:] for basis in model._fitted().engine.bases)))


def intercept_(model):
    """Bias, a number or an array of shape (n_outputs,)."""
    first = [basis.weights[:1] for basis in model._fitted().engine.bases]
    return _shown(model, np.concatenate(first, axis=1))[0]


def _shown(model: Any, values: Any) -> Any:
    """Select and order the columns of the outputs as the public attributes show them."""
    now = model._fitted()
    shown = values[:, now.engine.order()].astype(now.holdings.rows.dtype)
    return shown[:, 0] if shown.shape[1] == 1 else shown


# -- edits --------------------------------------------------------------------------------------


@edits
def grow(self, k=None):
    """Select more centres on the samples that the model holds now.

    The present centres stay, and more are chosen as in `fit`. The columns are made orthogonal on
    the samples held, and λ is estimated again. Forgotten samples then have no influence left except
    on the choice of the old centres. The cost is that of a fit with as many centres.

    Parameters
    ----------
    k : int, optional
        Largest number of new centres for each basis; ``max_basis`` by default.

    Returns
    -------
    self
    """
    now, plan = _holding_all(self, "grow"), self._spec().plan
    if any((basis.centres.samples < 0).any() for basis in now.engine.bases):
        raise ValueError(
            "grow starts from centres that the model holds, and these were chosen on samples that "
            "`tune_on` set aside. Call reselect, or fit with more samples to tune on."
        )
    k = plan.rules.max_basis if k is None else k
    self._now = now.moved(now.holdings, now.engine.grown(now.holdings, plan, k))
    return self


@edits
def reselect(self, *, fresh=False):
    """Choose width, centres and λ again on the samples held now, as `fit` does.

    Afterwards no forgotten sample has any influence on the model.

    Parameters
    ----------
    fresh : bool
        Has no effect: the search always starts from scratch.

    Returns
    -------
    self
    """
    _holding_all(self, "reselect")
    return LiveEstimator.reselect(self, fresh=fresh)


def holds_all(model: Any) -> bool:
    """Whether the model holds all samples that it has learned."""
    now = model._fitted()
    return bool(now.engine.holds_all(now.holdings))


def _holding_all(model: Any, method: str) -> Any:
    """Return the fitted state; raise ValueError if some learned samples are not held."""
    now = model._fitted()
    if not holds_all(model):
        raise ValueError(
            f"{method} needs the samples, and the model holds {len(now.holdings)} of the "
            f"{now.engine.n_rows} that it has learned: those of Dask arrays and of "
            f"learn_rows are not held. Fit anew."
        )
    return now
