"""The strength of regularisation as support vector machines give it."""

from __future__ import annotations

import numpy as np

from gramian.estimators.dense._gram import GramEstimator
from gramian.estimators.live._parameters import is_number


class PenaltyC(GramEstimator):
    """A machine whose ridge is given by its inverse, λ = 1/C."""

    def _check_parameters(self):
        super()._check_parameters()
        if self.C != "loo" and not (is_number(self.C) and 0 < self.C < np.inf):
            raise ValueError(f'C must be > 0 and finite, or "loo", got {self.C!r}.')

    def _given_strength(self):
        return self.C if isinstance(self.C, str) else 1.0 / self.C

    def _set_strength(self, strength):
        self.C_ = 1.0 / strength if isinstance(self.C, str) else self.C

    def _strength(self):
        return 1.0 / self.C_
