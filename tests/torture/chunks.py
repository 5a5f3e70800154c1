"""Dask arrays: the model of the same rows in memory, or a clear error and the model as before.

A case makes arrays in strange chunks; each is fitted, learned, learned by rows, left out and asked
for predictions, by one classifier and one regressor. Then the process that works on a chunk is
killed, of two, at the k-th visit to a chunk: the other one, or its successor, goes on.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import tempfile
import warnings
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from sklearn.base import clone, is_classifier

import gramian
from tests.torture.common import Clock, bad_error, distance, values

N, ROWS, EXACT = 60, 15, 1e-9
METHODS = ("fit", "partial_fit", "learn_rows", "loo", "predict")
MODELS = {
    "classifier": gramian.OrthogonalKernelClassifier(gamma=0.5, ridge=0.1, max_basis=8),
    "apart": gramian.OrthogonalKernelClassifier(
        gamma=0.5, ridge=0.1, max_basis=5, basis="one-vs-rest"
    ),
    "regressor": gramian.OrthogonalKernelRegressor(gamma=0.5, ridge=0.1, max_basis=8),
}


class Planned(Exception):
    """Raised in a chunk on purpose."""


class Rows:
    """Samples, targets and weights in memory, and how they are chunked."""

    def __init__(self, model, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((N, 3))
        score = self.X[:, 0] + 0.3 * rng.standard_normal(N)
        labels = (score > -0.5).astype(int) + (score > 0.5)
        self.y = labels if is_classifier(model) else np.sin(score)
        self.weight = None
        self.at = int(rng.integers(ROWS, N))  # a row that is not in the first chunk

    def chunked(self, X=(ROWS, 3), y=ROWS, weight=ROWS):
        """Dask arrays."""
        import dask.array as da

        y = (y, *self.y.shape[1:]) if isinstance(y, int) else y
        arrays = [da.from_array(self.X, chunks=X), da.from_array(self.y, chunks=y)]
        weighed = self.weight is not None
        return [*arrays, *([da.from_array(self.weight, chunks=weight)] if weighed else [])]


def _put(name, value):
    """Change one number of the samples, targets or weights."""

    def make(rows):
        if name == "weight":
            rows.weight = np.ones(N)
        array = getattr(rows, name).astype(float)
        array[(rows.at, 1) if array.ndim == 2 else rows.at] = value
        setattr(rows, name, array)
        return rows.chunked()

    return make


def _cast(name, dtype):
    def make(rows):
        setattr(rows, name, getattr(rows, name).astype(dtype))
        return rows.chunked()

    return make


def _split(X=(ROWS, 3), y=ROWS, weight=None):
    def make(rows):
        if weight is not None:
            rows.weight = rows.rng.uniform(0.5, 2.0, N)
        return rows.chunked(X, y, weight)

    return make


def _weighed(weight):
    def make(rows):
        rows.weight = weight(rows)
        return rows.chunked()

    return make


def _with(*changes):
    """Arrays of which some are replaced by a function of all of them."""

    def make(rows):
        rows.weight = np.ones(N)
        arrays = rows.chunked()
        for which, change in changes:
            arrays[which] = change(arrays[which])
        return arrays

    return make


def _unknown(array):
    return array[array.reshape(N, -1)[:, 0] == array.reshape(N, -1)[:, 0]]


def _measured(array):
    """Without the rows of two chunks, so that these are empty."""
    import dask.array as da

    kept = array[da.arange(N, chunks=ROWS) // ROWS % 2 == 0]
    return kept.compute_chunk_sizes()


def _lying(change):
    """A chunk that is not what its array says."""

    def lie(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 2:
            return change(block)
        return block

    return lambda array: array.map_blocks(
        lie, dtype=array.dtype, chunks=array.chunks, meta=np.empty((0,) * array.ndim, array.dtype)
    )


def _fails(block):
    raise Planned


def _labelled(function):
    def make(rows):
        rows.y = function(rows)
        return rows.chunked()

    return make


def _objects(*choices):
    """Labels, as objects."""
    return lambda rows: np.array(choices, dtype=object)[np.arange(N) % len(choices)]


def _last_chunk(rows):
    """A class, or a target, that is in the last chunk alone."""
    return np.where(np.arange(N) >= N - ROWS, 7, rows.y)


def _halves(rows):
    import dask.array as da

    first, second = (rows.X[:30].astype(np.float32), rows.X[30:])
    rows.X = np.concatenate([first, second])
    X = da.concatenate([da.from_array(part, chunks=(ROWS, 3)) for part in (first, second)])
    return [X, *rows.chunked()[1:]]


def _kinds(rows):
    """Numbers in one chunk of the labels, texts in another, which would merge as texts."""
    import dask.array as da

    parts = [np.arange(30) % 2, np.array(["0", "1"], dtype="<U1")[np.arange(30) % 2]]
    rows.y = np.concatenate([part.astype(object) for part in parts])
    blocks = [da.from_array(part, chunks=ROWS) for part in parts]
    y = blocks[0].astype(object).map_blocks(lambda block: block.astype(int), dtype=object)
    return [rows.chunked()[0], da.concatenate([y, blocks[1].astype(object)])]


EMPTY = (0, 7, 0, 0, 23, 30, 0)
CASES = {
    "plain": _split(),
    "one row in a chunk": _split((1, 3), 1),
    "one chunk": _split((N, 3), N),
    "split along columns": _split((ROWS, 1)),
    "y in other chunks": _split((ROWS, 3), 7),
    "weights in other chunks": _split((ROWS, 3), 7, 11),
    "empty chunks": _split((EMPTY, (3,)), (EMPTY,), (EMPTY,)),
    "empty chunks of y": _split((ROWS, 3), (EMPTY,)),
    "chunks emptied by a filter": _with((0, _measured), (1, _measured), (2, _measured)),
    "X filtered, y not": _with((0, _measured)),
    "unknown chunks of X": _with((0, _unknown)),
    "unknown chunks of y": _with((1, _unknown)),
    "unknown chunks of weights": _with((2, _unknown)),
    "unknown chunks": _with((0, _unknown), (1, _unknown), (2, _unknown)),
    "no rows": _with(*((which, lambda array: array[:0]) for which in range(3))),
    "no columns": _with((0, lambda array: array[:, :0])),
    "y too short": _with((1, lambda array: array[:50])),
    "weights too short": _with((2, lambda array: array[:50])),
    "X of one dimension": _with((0, lambda array: array[:, 0])),
    "X of three dimensions": _with((0, lambda array: array[:, :, None])),
    "y of no dimension": _with((1, lambda array: array[0])),
    "y of three dimensions": _with((1, lambda array: array.reshape(N, 1, 1))),
    "y None": _with((1, lambda array: None)),
    "y in memory": _with((1, lambda array: array.compute())),
    "weights in memory": _with((2, lambda array: array.compute())),
    "weights of two columns": _with((2, lambda array: array[:, None][:, [0, 0]])),
    "weights of no dimension": _with((2, lambda array: array[0])),
    "y of two columns": _labelled(lambda rows: np.column_stack([rows.y, rows.y])),
    "NaN": _put("X", np.nan),
    "infinite": _put("X", np.inf),
    "1e300": _put("X", 1e300),
    "1e155": _put("X", -1e155),
    "2**31 - 1": _put("X", 2.0**31 - 1),
    "NaN among targets": _put("y", np.nan),
    "infinite target": _put("y", np.inf),
    "target 0.5": _put("y", 0.5),
    "NaN among weights": _put("weight", np.nan),
    "infinite weight": _put("weight", np.inf),
    "negative weight": _put("weight", -1.0),
    "weight 1e300": _put("weight", 1e300),
    "weight 1e-300": _put("weight", 1e-300),
    "weights zero in a chunk": _weighed(lambda rows: (np.arange(N) // ROWS != 1) * 1.0),
    "a class without weight": _weighed(lambda rows: np.where(rows.y == rows.y.max(), 0.0, 1.0)),
    "weights zero": _weighed(lambda rows: np.zeros(N)),
    "weights text": _weighed(lambda rows: np.full(N, "a")),
    "float32": _cast("X", np.float32),
    "float16": _cast("X", np.float16),
    "integers": _cast("X", int),
    "bool": _cast("X", bool),
    "complex": _cast("X", complex),
    "objects": _cast("X", object),
    "text": _cast("X", "<U20"),
    "mixed dtypes": _halves,
    "targets as objects": _cast("y", object),
    "targets as text": _cast("y", "<U20"),
    "targets as dates": lambda rows: _cast("y", "M8[D]")(_whole(rows)),
    "targets complex": _cast("y", complex),
    "labels": _labelled(_objects("a", "b", "c")),
    "labels with NUL": _labelled(_objects("a", "a\0")),
    "labels of two kinds": _labelled(_objects("a", 1)),
    "labels None": _labelled(_objects("a", None)),
    "labels of two kinds by chunk": _kinds,
    "a class in the last chunk": _labelled(_last_chunk),
    "one class": _labelled(lambda rows: np.zeros(N, dtype=int)),
    "a chunk with fewer rows than told": _with((0, _lying(lambda block: block[1:]))),
    "a chunk with fewer columns than told": _with((0, _lying(lambda block: block[:, 1:]))),
    "a chunk of text": _with((0, _lying(lambda block: block.astype("<U9")))),
    "a chunk of NaN": _with((0, _lying(lambda block: block * np.nan))),
    "a chunk of one row of targets": _with((1, _lying(lambda block: block[:1]))),
    "a chunk that fails": _with((0, _lying(_fails))),
}


def _whole(rows):
    rows.y = rows.y.astype(int)
    return rows


def _in_memory(arrays):
    """The same rows; None where they are not of that many."""
    found = [None if array is None else np.asarray(array) for array in arrays]
    return [*found, None][:3]


def attempt(model, make, seed, methods=METHODS):
    """What goes wrong with one estimator in one case."""
    rows, start = Rows(model, seed), Rows(model, [seed, 1])
    arrays = make(rows)
    for how in methods:
        live = clone(model)
        if how != "fit":
            live.fit(start.X[:30], _kind_of(start, rows, model)[:30])
        before = None if how == "fit" else values(live, start.X)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield from _use(live, how, arrays, start, rows)
            continue
        except Planned:
            pass
        except Exception as error:
            problem = bad_error(error, (ValueError, TypeError))
            theirs = "from dask.array.core"  # as it puts chunks together
            if problem and not problem.endswith(theirs):
                yield f"{how}: {problem}"
        if how == "fit" and hasattr(live, "_now"):
            yield "fit: failed, and left a model"
        if how != "fit" and not np.array_equal(values(live, start.X), before):
            yield f"{how}: failed, and changed the model"


def _kind_of(start, rows, model):
    """Targets to begin with, of the kind of those that come."""
    text = is_classifier(model) and np.asarray(rows.y).dtype.kind in "UO"
    return np.array(["a", "b", "c"])[start.y] if text else start.y


def _use(live, how, arrays, start, rows):
    """Call one method with Dask arrays; what differs from the same rows in memory."""
    (X, y, weight), queries = [*arrays, None][:3], start.X
    if how == "predict":
        found = live.predict(X).compute()
        if not _same(found, live.predict(np.asarray(X))):
            yield "predict: other values than in memory"
        return
    twin = clone(live)
    if how != "fit":
        twin._now = live._now
    if how == "loo":
        live.learn_rows(X, y, weight)
        left_out = live.loo_decision_function(X, y, weight).compute()
        if left_out.shape[0] != X.shape[0] or np.isnan(left_out).any():
            yield f"loo: values of shape {left_out.shape}, or NaN"
        return
    words = {} if weight is None else {"sample_weight": weight}
    getattr(live, how)(X, y, **words)
    X, y, weight = _in_memory([X, y, weight])
    # rows that are not held cannot be centres of a class that is new
    learn = twin.learn_rows if getattr(twin, "basis", None) == "one-vs-rest" else twin.partial_fit
    try:
        (twin.fit if how == "fit" else learn)(X, y, sample_weight=weight)
    except (ValueError, TypeError) as error:
        yield f"{how}: takes what is refused in memory: {str(error)[:150]}"
        return
    queries = queries.astype(live._now.holdings.rows.dtype)
    off = distance(values(live, queries), values(twin, queries), least=1.0)
    exact = EXACT if queries.dtype == np.float64 else 1e-4
    if is_classifier(live) and live.classes_.tolist() != twin.classes_.tolist():
        yield f"{how}: other classes than in memory"
    elif not off <= exact:
        yield f"{how}: {off:.1e} off the model of the same rows in memory"


def _same(a, b):
    if a.shape != b.shape:
        return False
    return bool(np.allclose(a, b) if b.dtype.kind == "f" else np.array_equal(a, b))


# -- workers that are killed --------------------------------------------------------------------


@contextmanager
def workers(n=2):
    """A client of so many worker processes; a killed one has a successor."""
    import dask
    import distributed

    with ExitStack() as stack, dask.config.set({"distributed.scheduler.allowed-failures": 10}):
        options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        cluster = distributed.LocalCluster(
            n_workers=n, memory_limit=0, silence_logs=logging.CRITICAL, **options
        )
        stack.enter_context(cluster)
        yield stack.enter_context(distributed.Client(cluster))


def deadly(block, folder, chunk, visit, block_info=None):
    """The chunk, but the process of its ``visit``-th visitor is killed, once."""
    if block_info[0]["chunk-location"][0] == chunk:
        seen = len(os.listdir(folder))
        if seen <= visit:
            (Path(folder) / f"{seen}").touch()
        if seen == visit:
            os.kill(os.getpid(), signal.SIGKILL)
    return block


def killed(name, seed):
    """Number of kills, and what is wrong after one in the middle of a fit or of learning."""
    rng = random.Random(f"{seed} {name}")
    model, rows = clone(MODELS[name]), Rows(MODELS[name], seed)
    how = rng.choice(["fit", "partial_fit"])
    if how == "partial_fit":
        model.fit(rows.X[:20] + 0.1, rows.y[:20])
    twin = clone(model)
    if how == "partial_fit":
        twin._now = model._now
    X, y = rows.chunked((10, 3), 10)
    with tempfile.TemporaryDirectory() as folder:
        chunk, visit = rng.randrange(6), rng.randrange(2 if how == "fit" else 1)
        X = X.map_blocks(deadly, folder, chunk, visit, dtype=X.dtype, meta=rows.X[:0])
        getattr(model, how)(X, y)
        kills = int(len(os.listdir(folder)) > visit)
    getattr(twin, how)(rows.X, rows.y)
    off = distance(values(model, rows.X), values(twin, rows.X), least=1.0)
    return kills, [] if off <= EXACT else [f"{how}: {off:.1e} off the model in memory"]


def main(seed=0, seconds=None, n=None, kills=3, report=None):
    """Every case on every model, with other rows while there is time; attempts, failures."""
    import dask

    clock, tried, failures, at = Clock(seconds, n), 0, [], seed * 1000
    died = 0
    if kills:
        with workers(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number in range(kills):
                name = list(MODELS)[number % len(MODELS)]
                count, wrong = killed(name, at + number)
                died += count
                failures += [f"dask {name}, worker killed, seed {at + number}: {w}" for w in wrong]
    with dask.config.set(scheduler="synchronous"):
        while clock.goes_on():
            for case, make in CASES.items():
                for name, model in MODELS.items():
                    tried += 1
                    wrong = attempt(model, make, at)
                    failures += [f"dask {case}, {name}, seed {at}: {text}" for text in wrong]
            at += 1
    if report is not None:
        report["dask"] = f"{died} workers killed on the way, {tried} arrays in strange chunks"
    return tried + died, failures
