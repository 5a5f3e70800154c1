"""Rows of Dask arrays: rows per second against workers, and memory against rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._experiment import Parameters, Part, Record, Table, Text, UnavailableError, benchmark
from evidence.shared.learning import best_time, resident
from gramian import OrthogonalKernelRegressor

D, CHUNK, CENTRES = 10, 20_000, 200


def cases(quick: bool) -> list[Parameters]:
    sizes = [20_000, 40_000] if quick else [200_000, 400_000, 800_000, 1_600_000]
    return [{"workers": workers, "sizes": sizes} for workers in ((1,) if quick else (1, 2))]


def run(workers: int, sizes: list[int]) -> dict[str, Any]:
    """Seconds to add up so many rows, and the largest worker so far in MiB."""
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as error:
        raise UnavailableError('Dask is not installed: pip install "gramian[dask]"') from error
    model = OrthogonalKernelRegressor(gamma=0.1, max_basis=CENTRES, patience=CENTRES)
    model.fit(*(array.compute() for array in rows(5_000)))
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
        model.partial_fit(*rows(sizes[0]))  # imports, in the workers
        found = []
        for n in sizes:
            seconds, _ = best_time(lambda n=n: model.partial_fit(*rows(n)), repeat=1)
            found.append([n, seconds, max(client.run(resident).values())])
    return {"found": found}


def rows(n: int) -> tuple[Any, Any]:
    """Samples and targets that no process holds as a whole."""
    import dask.array as da

    X = da.random.default_rng(0).standard_normal((n, D), chunks=(CHUNK, D))
    noise = da.random.default_rng(1).standard_normal(n, chunks=CHUNK)
    return X, da.sin(X[:, 0]) + da.cos(2 * X[:, 1] * X[:, 2]) + 0.1 * noise


def report(records: list[Record]) -> list[Part]:
    chunk = CHUNK * (D + CENTRES) * np.dtype(float).itemsize / 2**20
    found = [
        [record["workers"], n, seconds, n / seconds, largest, chunk]
        for record in records
        for n, seconds, largest in record["found"]
    ]
    return [
        Text(
            f"Regression in {D} dimensions, chunks of {CHUNK:,} rows that each worker "
            f"generates; {CENTRES} centres were chosen beforehand, and `partial_fit` adds up "
            "the normal equations. One thread per worker process. Largest worker: the highest "
            "resident size of a worker process so far."
        ),
        Table(
            [
                "workers",
                "rows",
                "adding up (s)",
                "rows per second",
                "largest worker (MiB)",
                "largest chunk (MiB)",
            ],
            found,
        ),
    ]


EXPERIMENTS = (
    benchmark("dask_rows", "Orthogonal least squares on Dask arrays", cases, run, report),
)
