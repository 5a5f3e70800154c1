"""Rows of Dask arrays: rows per second against workers, and memory against rows."""

from __future__ import annotations

from time import perf_counter

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks._harness import Table
from gramian import OrthogonalKernelRegressor

D, CHUNK, CENTRES = 10, 20_000, 200


def run(quick: bool) -> None:
    table = Table(
        "dask_rows",
        "Orthogonal least squares on Dask arrays",
        (
            "workers",
            "rows",
            "adding up (s)",
            "rows per second",
            "largest worker (MiB)",
            "largest chunk (MiB)",
        ),
        note=(
            f"Regression in {D} dimensions, chunks of {CHUNK:,} rows made where they are needed; "
            f"{CENTRES} centres were chosen before, and `partial_fit` adds up the normal "
            "equations. One thread per worker process. Largest worker: the highest resident size "
            "of a worker process so far. `python -m benchmarks dask_rows`"
        ),
    )
    model = OrthogonalKernelRegressor(gamma=0.1, max_basis=CENTRES, patience=CENTRES)
    model.fit(*(array.compute() for array in rows(5_000)))
    sizes = (20_000, 40_000) if quick else (200_000, 400_000, 800_000, 1_600_000)
    for workers in (1,) if quick else (1, 2):
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
        ):
            measure(model, sizes[0], client)  # imports, in the workers
            for n in sizes:
                table.add(workers, n, *measure(model, n, client))
    table.write()


def rows(n: int) -> tuple[da.Array, da.Array]:
    """Samples and targets that no process holds as a whole."""
    X = da.random.default_rng(0).standard_normal((n, D), chunks=(CHUNK, D))
    noise = da.random.default_rng(1).standard_normal(n, chunks=CHUNK)
    return X, da.sin(X[:, 0]) + da.cos(2 * X[:, 1] * X[:, 2]) + 0.1 * noise


def measure(model: OrthogonalKernelRegressor, n: int, client: Client) -> tuple[float, ...]:
    X, y = rows(n)
    start = perf_counter()
    model.partial_fit(X, y)
    seconds = perf_counter() - start
    largest = max(client.run(resident).values())
    return seconds, n / seconds, largest, CHUNK * (D + CENTRES) * np.dtype(float).itemsize / 2**20


def resident() -> float:
    """Largest resident size of this process so far, MiB."""
    import resource  # in the worker, where this function is sent

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
