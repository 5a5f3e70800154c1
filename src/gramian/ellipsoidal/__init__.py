"""The kernel fuzzy classifier with ellipsoidal regions (kaieda2004)."""

from gramian.ellipsoidal._estimator import EllipsoidalFuzzyClassifier

__all__ = [
    "EllipsoidalFuzzyClassifier",
]
