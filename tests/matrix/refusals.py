"""What is refused: where, by which sentence, and why. Everything else works.

A capability or a whole group is named, and a configuration by its estimator, its variant, or both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.matrix.capabilities import Capability
from tests.matrix.cases import Case


@dataclass(frozen=True)
class Refusal:
    """A part of the matrix that is refused.

    ``says`` is a regular expression that the error must match; ``reason`` is for the page. An empty
    list of names stands for all of them.
    """

    reason: str
    says: str
    capabilities: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    estimators: tuple[str, ...] = ()

    def covers(self, case: Case, capability: Capability) -> bool:
        """Whether this pair is refused."""
        return (
            _named(self.capabilities, (capability.name, capability.group))
            and _named(self.variants, (case.variant,))
            and _named(self.estimators, (case.estimator,))
        )


def _named(names: tuple[str, ...], own: Iterable[str]) -> bool:
    return not names or any(name in names for name in own)


ORTHOGONAL = ("OrthogonalKernelClassifier", "OrthogonalKernelRegressor")
STACKS = ("StackedKernelClassifier", "StackedKernelRegressor")
FUZZY = ("EllipsoidalFuzzyClassifier",)
PER_FEATURE = ("a width per feature", "laplacian, a width per feature")
FUNCTION = "a function as kernel"
COMMANDS = tuple(
    f"gramian {command}"
    for command in (
        "predict", "predict --confidence", "learn", "forget", "relabel", "doubt", "report",
        "export", "store, signed",
    )
)  # fmt: skip

REFUSALS = (
    Refusal(
        "computes the kernel to its centres only; give the kernel as a function",
        r'kernel="precomputed" is not for .* Give a callable',
        ("fit",),
        ("precomputed",),
        ORTHOGONAL,
    ),
    Refusal(
        "its kernels are computed from one set of samples; give the kernel as a function",
        r'the parts of a stack are kernels of samples, as "rbf"',
        ("fit",),
        ("precomputed",),
        STACKS,
    ),
    Refusal(
        "chooses its width by cross-validation or takes a number; name the kernel",
        r'kernel must be "linear", "poly", "rbf".* or callable, got .loo.',
        ("fit",),
        ('kernel="loo"',),
        FUZZY,
    ),
    Refusal(
        "no closed form; `sample_values` says what a sample is worth",
        r"known in closed form .* Use gramian.data.sample_values",
        ("sample_influence",),
        (),
        ("LagrangianSVC", *ORTHOGONAL, *STACKS, *FUZZY),
    ),
    Refusal(
        "not known without a pair in closed form; forget both samples",
        r"values without two samples are known in closed form .* or forget both",
        ("leave_two_out",),
        (),
        ("KernelDiscriminant", "KernelFisherDiscriminant", "LagrangianSVC", *FUZZY),
    ),
    Refusal(
        "balanced class weights change with every sample; give them as numbers",
        r"values without two samples are known in closed form .* with fixed class weights",
        ("leave_two_out",),
        ("balanced class weights",),
    ),
    Refusal(
        'no variance of its outputs; take `strategy="expected-error"`',
        r"the variance of outputs is known .* Take another strategy",
        ("suggest",),
        (),
        ("StackedKernelRegressor",),
    ),
    Refusal(
        "kernel values among the candidates are not known; take k=1 or a function",
        r"whose kernel values to each other are not known: take k=1",
        ("suggest",),
        ("precomputed",),
    ),
    Refusal(
        "a model file holds no code; name the kernel",
        r"is a function .* a model file holds no code",
        ("save and load", "store", "service", *COMMANDS),
        (FUNCTION,),
    ),
    Refusal(
        "a store holds rows, and a kernel matrix has none; `gramian.save` it",
        r"a store holds rows, and a model of a precomputed kernel has none",
        ("store", "service"),
        ("precomputed",),
    ),
    Refusal(
        "a table has columns; fit the estimator itself to the matrix",
        r'a table has columns, and kernel="precomputed" takes a kernel matrix',
        ("TableModel", *COMMANDS),
        ("precomputed",),
    ),
    Refusal(
        "a stream has samples; give the kernel as a function",
        r"Give the kernel as a function",
        ("SlidingWindow", "River", "prequential"),
        ("precomputed",),
    ),
    Refusal(
        "River's features come and go by name; take one width",
        r"features of a stream come and go by name: gamma must be one number",
        ("River",),
        PER_FEATURE,
    ),
    Refusal(
        'River numbers labels as they come; take `class_weight="balanced"`',
        r'class_weight must be None or "balanced"',
        ("River",),
        ("class weights",),
    ),
    Refusal(
        "River's targets are single numbers; take `SlidingWindow`",
        r"the target must be one number, got .*SlidingWindow",
        ("River",),
        ("several targets",),
    ),
    Refusal(
        "not a sum of kernels; save it as a model file",
        r"it is no sum of kernels\. Keep it as a model file",
        ("export", "gramian export"),
        (),
        FUZZY,
    ),
    Refusal(
        "a file for other programs holds no code; name the kernel",
        r"cannot export the .* kernel; known are linear",
        ("export", "gramian export"),
        (FUNCTION, "precomputed"),
    ),
    Refusal(
        "has no ridge; leave out `--ridge`",
        r"Invalid value for --ridge: fuzzy has no such parameter",
        ("gramian fit",),
        ("rbf", 'kernel="laplacian"', 'kernel="exponential"', 'kernel="linear"', "float32",
         "two classes", "many classes"),
        FUZZY,
    ),
    Refusal(
        'a stack names the metric with the kernel, in Python, as "rbf+ard"',
        r"Invalid value for --metric: stack-\w+ has no such parameter",
        ("gramian fit",),
        ("a tuned width per feature", "metric"),
        STACKS,
    ),
)  # fmt: skip

# Temporary: pairs that fail because of defects that are being mended. It must become empty.
PENDING: tuple[Refusal, ...] = ()


def refusal(case: Case, capability: Capability) -> Refusal | None:
    """The refusal of a pair; None if it works."""
    found = (one for one in REFUSALS if one.covers(case, capability))
    return next(found, None)


def is_pending(case: Case, capability: Capability) -> bool:
    """Whether a pair is waiting for the mending of a defect."""
    return any(one.covers(case, capability) for one in PENDING)
