"""Bodies and parameters of requests, as pydantic reads and the OpenAPI schema describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StrictFloat,
    StrictStr,
)

Whole = Annotated[int, Strict(), Field(ge=-(2**63), lt=2**63)]
Word = Annotated[str, Strict(), Field(max_length=1000)]
# The first fault of a list is enough: a list of all of them would be larger than the request.
Wholes = Annotated[list[Whole], Field(fail_fast=True)]
Words = Annotated[list[Word], Field(fail_fast=True)]
Numbers = Annotated[list[Whole | StrictFloat], Field(fail_fast=True)]
Floats = Annotated[list[StrictFloat], Field(fail_fast=True)]
Ids = Wholes | Words
Targets = Wholes | Numbers | Words | Annotated[list[Floats], Field(fail_fast=True)]
Cell = StrictStr | StrictFloat | Whole | None
Name = Annotated[str, Field(max_length=200)]
Datatype = Literal[
    "BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FP32",
    "FP64", "BYTES",
]  # fmt: skip


class Strictly(BaseModel):
    """A body that names nothing but its fields: what a service ignores, a client believes."""

    model_config = ConfigDict(extra="forbid")


class Tensor(Strictly):
    """An array: ``data`` in row-major order, flat or nested, or in bytes behind the JSON."""

    name: Name
    shape: Annotated[
        list[Annotated[int, Field(ge=0, lt=2**31)]],
        Field(fail_fast=True, min_length=1, max_length=2),
    ]
    datatype: Datatype
    data: list[Any] | None = None
    parameters: dict[str, Any] | None = None


class Output(Strictly):
    """An output that is asked for."""

    name: Name
    parameters: dict[str, Any] | None = None


class Rows(Strictly):
    """Rows as tensors, or as records by the names of columns."""

    inputs: Annotated[list[Tensor], Field(fail_fast=True)] | None = None
    records: Annotated[list[dict[Name, Cell]], Field(fail_fast=True)] | None = None


class Parameters(Strictly):
    """What to answer besides the prediction; the same as naming it in ``outputs``."""

    probabilities: bool = False
    decision: bool = False
    sets: bool = False
    intervals: bool = False
    confidence_level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    width: Literal["auto", "local", "constant", "density"] = "auto"
    score: Literal["margin", "adaptive"] = "margin"
    mondrian: bool = False
    binary_data_output: bool = False
    min_version: Annotated[int, Field(ge=0, le=2**53)] = 0


PLAIN = Parameters()
"""Those of a request that has none."""


class Infer(Rows):
    """A request of the Open Inference Protocol; ``records`` is an addition to it."""

    id: Name | None = None
    parameters: Parameters | None = None
    outputs: Annotated[list[Output], Field(fail_fast=True, max_length=100)] | None = None


class Dry(Strictly):
    """An edit that can be tried: ``dry_run`` answers as usual, and changes nothing."""

    dry_run: StrictBool = False


class LearnRows(Rows, Dry):
    """Rows to learn; records may hold target, id and subject in columns of their own.

    ``groups`` says to whom each row belongs, of a model whose rows have groups.
    """

    targets: Targets | None = None
    ids: Ids | None = None
    groups: Ids | None = None


class Named(Strictly):
    """Held rows, by id."""

    ids: Annotated[Ids, Field(min_length=1)]


class ForgetRows(Dry):
    """Rows to forget, by id or by group; ``verify`` compares with a refit, O(n³)."""

    ids: Annotated[Ids, Field(min_length=1)] | None = None
    groups: Annotated[Ids, Field(min_length=1)] | None = None
    verify: StrictBool = False


class RelabelRows(Named, Dry):
    """Rows to give other targets."""

    targets: Targets


class Nothing(Strictly):
    """A request without parameters."""


class Audit(Strictly):
    """What to check; ``refit`` compares with a model built from scratch, O(n³)."""

    refit: StrictBool = False


class VersionQuery(BaseModel):
    """What every route of a model takes behind the question mark."""

    min_version: Annotated[int, Field(ge=0, le=2**53)] = 0


class LooQuery(BaseModel):
    """Parameters of the leave-one-out error."""

    samples: bool = Field(False, description="Whether to list ids, targets and predictions.")


class DoubtQuery(BaseModel):
    """Parameters of the list of doubtful samples."""

    count: int = Field(20, ge=0, le=10_000, description="How many, the most doubtful first.")


class ReceiptsQuery(BaseModel):
    """Parameters of the list of receipts."""

    after: int = Field(-1, ge=-1, le=2**53, description="Number after which to begin.")
    limit: int = Field(100, ge=0, le=10_000, description="How many receipts at most.")
