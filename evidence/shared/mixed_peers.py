"""Models of other packages for tables with text and missing cells, each as its makers advise.

Trees take categories as they are and missing numbers as missing. RealMLP takes categories, and
missing numbers as their mean. xRFM and TorchKM take numbers alone: scaled, with marks of missing
cells and one column for each category, as `TableModel` has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import RandomizedSearchCV

from evidence._experiment import UnavailableError
from evidence.shared.data import SEED
from evidence.shared.kernel_peers import RecursiveFeatures
from evidence.shared.mixed import Columns
from evidence.shared.trees import SPACE

TRIALS, FOLDS = 20, 3
MOST_LEVELS = 254  # HistGradientBoosting takes no more, besides one for missing cells
PACKAGES = {
    "HistGradientBoosting": "scikit-learn",
    "LightGBM": "lightgbm",
    "LightGBM, tuned": "lightgbm",
    "CatBoost": "catboost",
    "RealMLP": "pytabkit",
    "xRFM": "xrfm",
    "TorchKM": "torchkm",
}


class Peer:
    """A model of another package, on one thread or a GPU; y are numbers, or classes from 0."""

    device = ""
    """The GPU's name, where a model was fitted on one."""

    def __init__(self, name: str, classes: bool) -> None:
        self.name, self.classes = name, classes

    def fit(self, part: Columns, y: Any) -> Peer:
        if self.name == "TorchKM" and (not self.classes or len(np.unique(y)) > 2):
            raise UnavailableError("TorchKM has classifiers of two classes, and no regression")
        # xRFM has no intercept, so that its targets are given with mean 0 and deviation 1.
        centred = self.name == "xRFM" and not self.classes
        self.mean, self.unit = (y.mean(), y.std() or 1.0) if centred else (0.0, 1.0)
        y = (y - self.mean) / self.unit if centred else y
        self.levels = _levels(part)
        self.scales = _scales(part)
        self.model = getattr(self, f"_{PACKAGES[self.name].replace('-', '_')}")(part, y)
        return self

    def predict(self, part: Columns) -> Any:
        found = np.asarray(self.model.predict(self._read(part))).ravel()
        return found if self.classes else self.mean + self.unit * found

    def predict_proba(self, part: Columns) -> Any:
        return np.asarray(self.model.predict_proba(self._read(part)))

    def _read(self, part: Columns) -> Any:
        if self.name == "CatBoost":
            return _cells(part)
        if self.name == "RealMLP":
            return self._frame(part)
        return self._scaled(part) if self.name in ("xRFM", "TorchKM") else self._codes(part)

    # -- what models take -----------------------------------------------------------------------

    def _codes(self, part: Columns) -> Any:
        """Numbers, and of texts their numbers; NaN for missing ones and for new texts."""
        columns = []
        for name, values in part.values.items():
            levels = self.levels.get(name)
            coded = values if levels is None else [levels.get(v, np.nan) for v in values]
            columns.append(np.asarray(coded, dtype=float))
        return np.column_stack(columns)

    def _scaled(self, part: Columns) -> Any:
        blocks = []
        for name, values in part.values.items():
            if name in self.levels:
                codes = np.array([self.levels[name].get(v, -1) for v in values])
                blocks.append(codes[:, None] == np.arange(len(self.levels[name])))
            else:
                mean, deviation, marked = self.scales[name]
                blank = np.isnan(values)
                blocks.append(np.where(blank, 0.0, (values - mean) / deviation)[:, None])
                blocks += [blank[:, None]] * marked
        return np.hstack(blocks).astype(float)

    def _frame(self, part: Columns) -> Any:
        import pandas

        frame = {}
        for name, values in part.values.items():
            if name in self.levels:
                texts = ["missing" if v is None else v for v in values]
                frame[name] = pandas.Categorical(texts)
            else:
                frame[name] = np.where(np.isnan(values), self.scales[name][0], values)
        return pandas.DataFrame(frame)

    def _where(self) -> str:
        """A GPU, if there is one."""
        import torch

        if torch.cuda.is_available():
            self.device = torch.cuda.get_device_name()
        return "cuda" if self.device else "cpu"

    # -- packages -------------------------------------------------------------------------------

    def _scikit_learn(self, part: Columns, y: Any) -> Any:
        kind = HistGradientBoostingClassifier if self.classes else HistGradientBoostingRegressor
        texts = np.flatnonzero(part.texts)
        return kind(random_state=SEED, categorical_features=texts).fit(self._codes(part), y)

    def _lightgbm(self, part: Columns, y: Any) -> Any:
        import lightgbm

        kind = lightgbm.LGBMClassifier if self.classes else lightgbm.LGBMRegressor
        model = kind(random_state=SEED, n_jobs=1, verbose=-1)
        if self.name == "LightGBM, tuned":
            scoring = "neg_log_loss" if self.classes else "neg_mean_squared_error"
            model = RandomizedSearchCV(
                model, SPACE, n_iter=TRIALS, cv=FOLDS, scoring=scoring, random_state=SEED
            )
        texts = np.flatnonzero(part.texts).tolist()
        return model.fit(self._codes(part), y, categorical_feature=texts)

    def _catboost(self, part: Columns, y: Any) -> Any:
        import catboost

        kind = catboost.CatBoostClassifier if self.classes else catboost.CatBoostRegressor
        model = kind(
            random_seed=SEED,
            thread_count=1,
            verbose=False,
            allow_writing_files=False,
            cat_features=np.flatnonzero(part.texts).tolist(),
        )
        return model.fit(_cells(part), y)

    def _pytabkit(self, part: Columns, y: Any) -> Any:
        from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor

        kind = RealMLP_TD_Classifier if self.classes else RealMLP_TD_Regressor
        model = kind(device=self._where(), random_state=SEED, n_threads=1)
        return model.fit(self._frame(part), y, cat_col_names=list(self.levels))

    def _xrfm(self, part: Columns, y: Any) -> Any:
        return RecursiveFeatures(self.classes).fit(self._scaled(part), y)

    def _torchkm(self, part: Columns, y: Any) -> Any:
        from torchkm.estimators import TorchKMSVC

        model = TorchKMSVC(device=self._where(), probability=True, random_state=SEED)
        return model.fit(self._scaled(part), y)


def _levels(part: Columns) -> dict[str, dict[Any, int]]:
    """The texts of each column with their numbers, the most frequent first."""
    levels = {}
    for name, values in part.values.items():
        if values.dtype == object:
            texts, counts = np.unique([v for v in values if v is not None], return_counts=True)
            ranked = texts[np.argsort(-counts, kind="stable")][:MOST_LEVELS]
            levels[name] = {str(text): k for k, text in enumerate(ranked)}
    return levels


def _scales(part: Columns) -> dict[str, tuple[float, float, bool]]:
    """Mean and deviation of each column of numbers, and whether cells are missing."""
    scales = {}
    for name, values in part.values.items():
        if values.dtype != object:
            known = values[~np.isnan(values)]
            mean, deviation = (known.mean(), known.std()) if len(known) else (0.0, 1.0)
            scales[name] = float(mean), float(deviation) or 1.0, len(known) < len(values)
    return scales


def _cells(part: Columns) -> Any:
    """Numbers and texts side by side, as CatBoost takes them."""
    columns = [
        ["missing" if v is None else v for v in values] if values.dtype == object else values
        for values in part.values.values()
    ]
    table = np.empty((len(part.target), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        table[:, j] = column
    return table
