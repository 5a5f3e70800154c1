"""Kernel estimators of other packages, with their defaults."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, train_test_split

from evidence.shared.data import SEED

GRID = {"alpha": 10.0 ** np.arange(-4, 2), "gamma": 10.0 ** np.arange(-4, 2)}
PACKAGES = {"xRFM": "xrfm", "NeoLSSVM": "neo-ls-svm"}
FOR_NUMBERS = ("KernelRidge, 36 settings by five folds", "GP, a width per feature")


class RecursiveFeatures(BaseEstimator):
    """xRFM with a fifth of the samples to validate on."""

    def __init__(self, classes: bool):
        self.classes = classes

    def fit(self, X: Any, y: Any) -> RecursiveFeatures:
        import torch
        from xrfm import xRFM

        torch.manual_seed(SEED)
        y = np.asarray(y, dtype=np.int64 if self.classes else np.float32)
        stratify = y if self.classes else None
        parts = train_test_split(X, y, test_size=0.2, random_state=SEED, stratify=stratify)
        X, X_val, y, y_val = (torch.as_tensor(np.asarray(part)) for part in parts)
        metric = "accuracy" if self.classes else "mse"
        self.model_ = xRFM(device=torch.device("cpu"), tuning_metric=metric, verbose=False)
        self.model_.fit(X.float(), y, X_val.float(), y_val)
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(np.asarray(X, dtype=np.float32)).ravel()

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(np.asarray(X, dtype=np.float32))


def kernel_peer(name: str, *, classes: bool, d: int) -> Any:
    """An unfitted model."""
    if name == "KernelRidge, 36 settings by five folds":
        return GridSearchCV(KernelRidge(kernel="rbf"), GRID, cv=5, scoring="neg_mean_squared_error")
    if name == "GP, a width per feature":
        kernel = ConstantKernel() * RBF(np.ones(d)) + WhiteKernel(0.1)
        return GaussianProcessRegressor(kernel, normalize_y=True, random_state=SEED)
    if name == "xRFM":
        return RecursiveFeatures(classes)
    from neo_ls_svm import NeoLSSVM

    return NeoLSSVM()
