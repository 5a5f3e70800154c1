"""What a model file may hold besides what each class says of itself.

An estimator lists the learned attributes of its files in `_state_names` and the other keys of its
state in `_state_keys`. Saving asks the same questions as loading, so that a name that is missing
there is noticed when the model is saved.
"""

from __future__ import annotations

OPTIONAL = ("feature_names_in_", "kernel_", "metric_")
"""Learned attributes that a file may have or lack."""

REQUIRED = ("n_features_in_",)

HELD = ("_ids", "_y", "_weight", "_next_id")
TABLE = ("estimator_", "target_", "columns_", "ignored_", "table_")
