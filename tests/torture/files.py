"""Altered model files: refused, or good for use.

In one way (`attempt`) the structure is altered and the checksums fit; such a file may be a model.
In the other (`mutation`) bytes are changed blindly; then what loads must be the original model.
``main(seed, n)`` makes ``n`` files and says how many were refused, how many answered, and what
failed. A crash of the interpreter is a failure too, so that the work is done in another process.
"""

from __future__ import annotations

import copy
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier

import gramian
from gramian.files import ModelFileError
from gramian.files._archive import describe, write_archive
from gramian.files._arrays import array_bytes, array_from_bytes
from gramian.files._models import _body
from gramian.tables import TableModel
from tests.estimators.conftest import ONE_OF_EACH, make_samples
from tests.torture.common import Clock

ROOT = Path(__file__).parents[2]
MEMORY = 6 * 2**30
TYPES = ["<f4", "<f8", ">f8", "<f2", "<i8", "|i1", "|b1", "<U4"]
VALUES = [
    *(None, True, False, 0, 1, -1, 2, 3, 2**40, -(2**70), 0.5, -0.5, 1e308, 1e-320, "", "x", "rbf"),
    *([], [0], [[]], {"tuple": []}, {"dict": []}, {"float": "nan"}, {"float": "inf"}),
    *({"scalar": ["<f4", 0.5]}, {"scalar": ["<U2", "ab"]}, {"scalar": ["S2000000000", "a"]}),
    *({"array": {"shape": [2], "items": ["a", None]}}, {"array": "arrays/0.npy"}),
    *({"record": ["NumberColumn", {"name": "a", "mean": 0, "deviation": 1, "marks_missing": 0}]},),
    *("precomputed", "linear", "poly", "laplacian", "\x1b[31m" * 30, {"tuple": [1, 2]}),
]


def altered(document, members, rng):
    """A copy of the document and the members, with one to three changes."""
    document, members = copy.deepcopy(document), dict(members)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if members and rng.random() < 0.5:
            _alter_array(members, rng)
        else:
            _alter_node(document["model"], rng)
    document["members"] = describe(members)
    return document, members


def _alter_node(model, rng):
    """Replace, remove, repeat or exchange a part of the document."""
    places = list(_places(model))
    holder, key = rng.choice(places)
    action = rng.randrange(5)
    if action == 0:
        del holder[key]
    elif action == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif action == 2:
        other, name = rng.choice(places)
        holder[key] = copy.deepcopy(other[name])
    else:
        holder[key] = copy.deepcopy(rng.choice(VALUES))


def _places(node):
    """Every (container, key) below a node."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from _places(node[key])


def _alter_array(members, rng):
    name = rng.choice(list(members))
    array = array_from_bytes(members[name])
    if rng.random() < 0.1:
        array = array_from_bytes(members[rng.choice(list(members))])
    else:
        array = rng.choice([_reshaped, _retyped, _revalued, _revalued])(array, rng)
    members[name] = array_bytes(np.asarray(array))


def _reshaped(array, rng):
    ways = [
        lambda a: a[:-1],
        lambda a: a[:0],
        lambda a: np.concatenate([a, a]),
        lambda a: a.T,
        lambda a: a.ravel(),
        lambda a: a[None],
        lambda a: a[..., None],
        lambda a: a[..., :-1],
        lambda a: a[::-1],
    ]
    return rng.choice(ways)(np.atleast_1d(array))


def _retyped(array, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return array.astype(
                rng.choice(["<f4", "<f8", ">f8", "<f2", "<i8", "|i1", "|b1", "<U4"])
            )
        except ValueError:
            return np.zeros(array.shape)


def _revalued(array, rng):
    array = np.atleast_1d(array).copy()
    if array.size == 0:
        return array
    values = {
        "f": [np.nan, np.inf, -1.0, 0.0, 1e308, -1e300, 1e-310],
        "i": [-1, 0, 1, 10**6, -(10**6), 2**62],
        "U": ["", "x", "zz"],
        "b": [True, False],
    }.get(array.dtype.kind, [0])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value = np.array(rng.choice(values)).astype(array.dtype)
    if rng.random() < 0.2:
        array[...] = value
    else:
        array.reshape(-1)[rng.choice([0, -1, rng.randrange(array.size)])] = value
    return array


def use(model):
    """Everything that a model does, once; a ValueError is an answer."""
    steps = [_predict, lambda m: m.loo_score(), _learn, lambda m: m.forget(m.ids_[:1]), _predict]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for step in steps:
            try:
                step(model)
            except ValueError:
                continue


def _queries(model):
    X = model.X_fit_[:2]
    return (X + X) * 0.5 if hasattr(X, "toarray") else X.copy()


def _table(model):
    return {name: values[:2] for name, values in model.table_.items()}


def _predict(model):
    model.predict(_table(model) if isinstance(model, TableModel) else _queries(model))


def _learn(model):
    if isinstance(model, TableModel):
        new = {**_table(model), model.target: model.y_fit_[:2]}
        if model.id_column is not None:
            new[model.id_column] = ["new 1", "new 2"]
        model.partial_fit(new)
        return
    y, text = model.y_fit_[:2], model.ids_.dtype.kind == "U"
    X = _queries(model)
    if getattr(model, "kernel", None) == "precomputed":
        X = np.hstack([X, 1.5 * model.X_fit_[:2, :2]])
    ids = ["new 1", "new 2"] if text else None
    options = {"classes": model.classes_} if is_classifier(model) else {}
    model.partial_fit(X[: len(y)], y, ids=ids and ids[: len(y)], **options)


def attempt(seed, originals, path):
    """What became of one altered file: "refused", "used", or what went wrong."""
    rng = random.Random(seed)
    name = rng.choice(sorted(originals))
    document, members = altered(*originals[name], rng)
    body = {key: document[key] for key in ("model", "members")}
    with open(path, "wb") as stream:
        write_archive(stream, body, members)
    try:
        model = gramian.load(path)
    except ModelFileError as error:
        return _of_message(name, str(error), path)
    except Exception as error:
        return f"{name}: load raised {error!r}"
    try:
        use(model)
    except Exception as error:
        return f"{name}: use raised {error!r}"
    return "used"


def mutated(content, other, rng):
    """The bytes with one to three blind changes."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        start, length = rng.randrange(len(data) + 1), rng.choice([1, 1, 4, 100, 4000])
        part = bytes(data[start : start + length])
        data[start : start + length] = rng.choice(
            [
                bytes(byte ^ (1 << rng.randrange(8)) for byte in part),
                rng.randbytes(len(part)),
                bytes(len(part)),
                b"",
                part + rng.randbytes(length),
                part + part,
                other[start : start + length],
            ]
        )
    if rng.random() < 0.1:
        data = data[: rng.randrange(len(data) + 1)]
    if rng.random() < 0.1:
        data += rng.choice([b"\0", b"\n", rng.randbytes(8), bytes(content)])
    return bytes(data)


def mutation(seed, originals, path):
    """What became of one blindly altered file; "used" if it is the original model still.

    So much may have come from another file that it is that one.
    """
    rng = random.Random(seed)
    name, other = rng.choice(sorted(originals)), rng.choice(sorted(originals))
    changed = mutated(originals[name][0], originals[other][0], rng)
    path.write_bytes(changed)
    try:
        model = gramian.load(path)
    except ModelFileError as error:
        return _of_message(name, str(error), path)
    except Exception as error:
        return f"{name}: load raised {error!r:.300}"
    found = gramian.files.fingerprint(model)  # times and attributes of zip may differ
    for content, mark in (originals[name], originals[other]):
        if found == mark:
            same = len(changed) == len(content)
            return "used" if same else f"{name}: bytes more or less went unnoticed"
    return f"{name}: another model went unnoticed"


def _of_message(name, text, path):
    bad = [c for c in text if not c.isprintable()] or len(text) > 700 + len(str(path))
    return f"{name}: message {text[:300]!r}" if bad else "refused"


def read_contents(folder):
    """Bytes and fingerprints of whole files of the same models."""
    found = {}
    for name, (document, members) in read_originals().items():
        path = Path(folder) / "original.gram"
        with open(path, "wb") as stream:
            write_archive(stream, {key: document[key] for key in ("model", "members")}, members)
        found[name] = (path.read_bytes(), gramian.files.fingerprint(gramian.load(path)))
    return found


def read_originals():
    """The documents and members of a model of each estimator, and of other kinds of models."""
    models = [(name, _fitted(model)) for name, model in ONE_OF_EACH.items()]
    return {name: _body(model) for name, model in [*models, *_more_models()]}


def _fitted(model):
    model = clone(model)
    return model.fit(*make_samples(model, 12))


def _more_models():
    """Sparse samples, several widths, names and objects as labels, targets in columns, tables."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((14, 3)), np.arange(14) % 3
    labels = np.array(["a", "b", "c"], dtype=object)[y]
    several = gramian.OrthogonalKernelClassifier(gamma=[0.5, 1.0], ridge=0.1, max_basis=4)
    yield "several widths", several.fit(X, y)
    yield "sparse basis", clone(several).set_params(gamma=0.5).fit(sparse.csr_array(X), labels)
    ard = gramian.KernelDiscriminant(gamma=np.array([0.5, 1.0, 0.1]), ridge=0.1)
    yield "width by feature", ard.fit(X, labels, sample_weight=rng.uniform(0.5, 2, 14))
    balanced = gramian.LeastSquaresSVC(gamma=0.5, C=1.0, class_weight="balanced")
    yield "balanced", balanced.partial_fit(X, y, classes=[0, 1, 2, 3])
    yield "linear", gramian.LagrangianSVC(kernel="linear", gamma=0.5).fit(sparse.csr_matrix(X), y)
    yield "targets", gramian.LeastSquaresSVR(gamma=0.5, C=1.0).fit(X, X[:, :2])
    yield "svd", gramian.EllipsoidalFuzzyClassifier(gamma=0.5, distance="svd").fit(X, labels)
    table = {"n": [f"r{i}" for i in range(14)], "x": X[:, 0], "t": labels, "y": X[:, 1]}
    estimator = gramian.LeastSquaresSVR(gamma=0.5, C=1.0)
    yield "table", TableModel(estimator, target="y", id_column="n").fit(table)


def work(first, count, way, seconds):
    """The attempts of some seeds, one line of JSON for each; the seed goes out before the work."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    clock = Clock(seconds)
    with tempfile.TemporaryDirectory() as folder:
        blind = way == "mutation"
        originals = read_contents(folder) if blind else read_originals()
        for seed in range(first, first + count):
            if not clock.goes_on():
                print(json.dumps({"late": True}), flush=True)
                return
            print(json.dumps({"seed": seed}), flush=True)
            result = (mutation if blind else attempt)(seed, originals, Path(folder) / "a.gram")
            print(json.dumps({"seed": seed, "result": result}), flush=True)


def main(seed=0, n=10_000, way="attempt", seconds=1e6):
    """Try ``n`` files from ``seed`` on, in another process; returns counts and failures."""
    counts, failures, at, end, clock = Counter(), [], seed, seed + n, Clock(seconds)
    while at < end and clock.goes_on():
        words = [str(at), str(end - at), way, str(clock.end - time.monotonic())]
        command = [sys.executable, "-m", "tests.torture.files", "--work", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        results = {line["seed"]: line["result"] for line in lines if "result" in line}
        for number, result in results.items():
            counts[result if result in ("refused", "used") else "failed"] += 1
            if result not in ("refused", "used"):
                failures.append(f"seed {number}: {result}")
        if len(results) == end - at or (lines and "late" in lines[-1]):
            break
        last = lines[-1]["seed"] if lines else at
        failures.append(f"seed {last}: exit {done.returncode} {done.stderr[-300:]}")
        counts["failed"] += 1
        at = last + 1
    return counts, failures


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*map(int, sys.argv[2:4]), sys.argv[4], float(sys.argv[5]))
    else:
        found, wrong = main(*map(int, sys.argv[1:3]))
        print(dict(found), *wrong, sep="\n")
        sys.exit(bool(wrong))
