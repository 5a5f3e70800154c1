"""Whether the parts of a stack hold together."""

from __future__ import annotations

from typing import Any

from gramian.files._checks import check_array, check_keys, check_number, check_sequence, refuse
from gramian.files._sound_choices import check_gamma, check_metric, check_pair, check_selection

_LEARNED = ("kernel", "gamma", "C", "metric", "selection")


def check_stack(model: Any, state: Any, n: int, d: int, outputs: int) -> None:
    """Hyper-parameters and coefficients of each part, and its weight."""
    check_stack_choices(model, state["public"], state["X"], d, outputs)
    for kept in check_sequence(state["parts"], "the parts", len(model._spec().parts)):
        check_keys(kept, "a part", ("coefficients",))
        check_pair(kept["coefficients"], "coefficients", n, outputs)


def check_stack_choices(model: Any, public: Any, X: Any, d: int, outputs: int) -> None:
    """Hyper-parameters of each part, and its weight."""
    asked = model._spec().parts
    weights = check_array(public["weights_"], "weights_", (len(asked),), "f")
    if not (weights >= 0).all():
        refuse("weights_", "has a number below 0")
    check_array(public["offset_"], "offset_", (1 if "classes_" in public else outputs,), "f")
    told = check_sequence(public["parts_"], "parts_", len(asked))
    for spec, part in zip(asked, told, strict=True):
        check_keys(part, "a part", _LEARNED)
        known = spec.kernel.candidates or (spec.kernel.kernel.name,)
        if part["kernel"] not in known:
            refuse("the kernel of a part", "is not the one that the parameters name")
        check_gamma(part["gamma"], "gamma of a part", X, d)
        check_number(part["C"], "C of a part", 0.0, above=True)
        check_metric(part["metric"], "the metric of a part", d, spec.metric)
        if part["selection"] is not None:
            check_selection(part["selection"])
