"""The bodies of requests, as pydantic reads and the OpenAPI schema describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, Strict, StrictFloat, StrictStr

Whole = Annotated[int, Strict(), Field(ge=-(2**63), lt=2**63)]
Ids = list[Whole] | list[StrictStr]
Targets = list[Whole] | list[Whole | StrictFloat] | list[StrictStr] | list[list[StrictFloat]]
Cell = StrictStr | StrictFloat | int | None
Name = Annotated[str, Field(max_length=200)]
Datatype = Literal[
    "BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FP32",
    "FP64", "BYTES",
]  # fmt: skip


class Tensor(BaseModel):
    """An array: ``data`` in row-major order, flat or nested, or in bytes behind the JSON."""

    name: Name
    shape: Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], Field(min_length=1, max_length=2)]
    datatype: Datatype
    data: list[Any] | None = None
    parameters: dict[str, Any] | None = None


class Output(BaseModel):
    """An output that is asked for."""

    name: Name
    parameters: dict[str, Any] | None = None


class Rows(BaseModel):
    """Rows as tensors, or as records by the names of columns."""

    inputs: list[Tensor] | None = None
    records: list[dict[Name, Cell]] | None = None


class Parameters(BaseModel):
    """What to tell besides the prediction; the same as naming it in ``outputs``."""

    probabilities: bool = False
    decision: bool = False
    sets: bool = False
    intervals: bool = False
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    binary_data_output: bool = False


PLAIN = Parameters()
"""Those of a request that has none."""


class Infer(Rows):
    """A request of the Open Inference Protocol; ``records`` is an addition to it."""

    id: Name | None = None
    parameters: Parameters | None = None
    outputs: list[Output] | None = None


class LearnRows(Rows):
    """Rows to learn; records may hold the target and the id in columns of their own."""

    targets: Targets | None = None
    ids: Ids | None = None


class ForgetRows(BaseModel):
    """Rows to forget, by id."""

    ids: Annotated[Ids, Field(min_length=1)]


class RelabelRows(ForgetRows):
    """Rows to give other targets, by id."""

    targets: Targets
