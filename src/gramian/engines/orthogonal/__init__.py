"""The engine of orthogonal least squares: fixed bases of centres, updated sample by sample."""

from gramian.engines.orthogonal._basis import FixedBasis
from gramian.engines.orthogonal._chunks import RowChunks, is_chunked, map_queries
from gramian.engines.orthogonal._engine import BasisEngine
from gramian.engines.orthogonal._plan import BasisPlan, Trials

__all__ = [
    "BasisEngine",
    "BasisPlan",
    "FixedBasis",
    "RowChunks",
    "Trials",
    "is_chunked",
    "map_queries",
]
