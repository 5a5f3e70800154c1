"""The kernel fuzzy classifier with ellipsoidal regions (kaieda2004).

`_ellipsoids` has the distances (§2 to §6), with `_left_out_members` and `_floored_forms` for those
of members that are left out; `_slopes` has the tuning (§7). The live state is `_engine`, with a
region (`_regions`) for each class; `_spec` chooses parameters by cross-validation (§8).
"""

from gramian.ellipsoidal._estimator import EllipsoidalFuzzyClassifier

__all__ = [
    "EllipsoidalFuzzyClassifier",
]
