"""Gradient boosting as it is by default, and one tuned by random trials."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import RandomizedSearchCV

from evidence.shared.data import SEED

TRIALS, FOLDS = 30, 3
SPACE = {
    "learning_rate": list(np.geomspace(0.02, 0.3, 8)),
    "n_estimators": [50, 100, 200, 400],
    "num_leaves": [4, 8, 16, 31],
    "min_child_samples": [1, 3, 5, 10, 20],
    "reg_lambda": [0.0, 0.1, 1.0, 10.0],
    "colsample_bytree": [0.4, 0.7, 1.0],
    "subsample": [0.6, 0.8, 1.0],
    "subsample_freq": [1],
}
PACKAGES = {
    "CatBoost": "catboost",
    "LightGBM": "lightgbm",
    "XGBoost": "xgboost",
    "LightGBM, tuned": "lightgbm",
    "HistGradientBoosting": "scikit-learn",
}


def trees(name: str, *, classes: bool) -> Any:
    """An unfitted model on one thread."""
    if name == "HistGradientBoosting":
        kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        return kind(random_state=SEED)
    if name == "CatBoost":
        import catboost

        model = catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor
        return model(random_seed=SEED, thread_count=1, verbose=False, allow_writing_files=False)
    if name == "XGBoost":
        import xgboost

        model = xgboost.XGBClassifier if classes else xgboost.XGBRegressor
        return model(random_state=SEED, n_jobs=1)
    import lightgbm

    kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    model = kind(random_state=SEED, n_jobs=1, verbose=-1)
    if name == "LightGBM":
        return model
    scoring = "neg_log_loss" if classes else "neg_mean_squared_error"
    return RandomizedSearchCV(
        model, SPACE, n_iter=TRIALS, cv=FOLDS, scoring=scoring, random_state=SEED
    )
