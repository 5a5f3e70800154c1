"""The engine of orthogonal least squares: bases of centres that samples enter and leave."""

from gramian.engines.orthogonal._basis import NOT_HELD, Centres, FixedBasis
from gramian.engines.orthogonal._chunks import RowChunks, is_chunked, map_queries
from gramian.engines.orthogonal._engine import BasisEngine, BasisReader
from gramian.engines.orthogonal._plan import BasisPlan, Trial, Trials

__all__ = [
    "NOT_HELD",
    "BasisEngine",
    "BasisPlan",
    "BasisReader",
    "Centres",
    "FixedBasis",
    "RowChunks",
    "Trial",
    "Trials",
    "is_chunked",
    "map_queries",
]
