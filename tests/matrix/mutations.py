"""Does the matrix notice a changed line? ``python -m tests.matrix.mutations`` tries some.

Each mutation is made in a copy of the package, and the pairs that its words name are checked there.
A mutation that every pair survives is printed; the last line says how many were noticed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from joblib import cpu_count

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gramian"
NOTICED = "noticed"
LONGEST = 300
"""Seconds after which the pairs of a mutation are given up: unchanged, they take a few."""


class Mutation(NamedTuple):
    """A line of the package, what it becomes, and words that name the pairs to check."""

    file: str
    line: str
    becomes: str
    words: tuple[str, ...]


MUTATIONS = (
    Mutation(
        "export/_expansion.py",
        '("gamma", "degree", "coef0"))',
        '("coef0", "degree", "coef0"))',
        ("npz", "LeastSquaresSVC, metric"),
    ),
    Mutation(
        "export/_expansion.py",
        "+ term.coef0) ** term.degree",
        ") ** term.degree",
        ("npz", 'LeastSquaresSVC, kernel="poly"'),
    ),
    Mutation(
        "export/_onnx.py",
        "graph.constant(term.coef0)",
        "graph.constant(0.0 * term.coef0)",
        ("ONNX", 'LeastSquaresSVC, kernel="poly"'),
    ),
    Mutation(
        "export/_expansion.py",
        "t.values(X) @ t.coefficients for t in self.terms",
        "t.values(X) @ t.coefficients for t in self.terms[:1]",
        ("npz", "StackedKernelClassifier, rbf"),
    ),
    Mutation(
        "stack/_engine.py",
        "coefficients=a * term.coefficients",
        "coefficients=term.coefficients",
        ("npz", "StackedKernelRegressor, rbf"),
    ),
    Mutation(
        "stack/_spec.py",
        "tuple(predictors[s] for s in used), weights[used]",
        "tuple(predictors[s] for s in used), weights[used][::-1]",
        ("edits: fit", "StackedKernelRegressor, rbf"),
    ),
    Mutation(
        "core/equations/_least_squares.py",
        "(p - s**2 / total)",
        "(p + 0 * s)",
        ("loo_decision_function", "LeastSquaresSVC, rbf"),
    ),
    Mutation(
        "core/equations/_conformal.py",
        "1.0 + (held >=",
        "0.0 + (held >=",
        ("p_values", "LeastSquaresSVC, rbf"),
    ),
    Mutation(
        "core/equations/_calibration.py",
        "softmax(scale *",
        "softmax(-scale *",
        ("predict_proba", "LeastSquaresSVC, rbf"),
    ),
    Mutation(
        "core/engines/_holdings.py",
        "            without_rows(self.weight, positions),",
        "            self.weight[: len(self.weight) - len(positions)],",
        ("edits", "LeastSquaresSVC, sample weights"),
    ),
    Mutation(
        "core/engines/_dense_spec.py",
        "holdings.weight * factors[holdings.labels]",
        "holdings.weight",
        ("edits: fit", "LeastSquaresSVC, class weights"),
    ),
    Mutation(
        "core/engines/_kernel_spec.py",
        'found if values["metric"] is None else found.with_factors(values["metric"])',
        "found",
        ("save and load", "LeastSquaresSVC, metric"),
    ),
    Mutation(
        "cli/_relabel.py",
        "editing(model, key=key, output=output)",
        "editing(model, output=output)",
        ("store, signed", "LeastSquaresSVC, rbf"),
    ),
    Mutation(
        "cli/_forget.py",
        "editing(model, key=key,",
        "editing(model, key=None,",
        ("store, signed", "LeastSquaresSVC, rbf"),
    ),
    Mutation(
        "cli/_learn.py",
        "editing(model, key=key,",
        "editing(model, key=None,",
        ("store, signed", "LeastSquaresSVC, rbf"),
    ),
    Mutation(
        "serve/_projection.py",
        "centred = F - F.mean(axis=0)",
        "centred = F.nothing",
        ("/projection", "LeastSquaresSVC, many classes"),
    ),
    Mutation(
        "core/estimators/_estimator.py",
        "self._now = now.appended(both).removed(after, positions)",
        "self._now = now.appended(both)",
        ("exchange", "KernelDiscriminant, rbf"),
    ),
    Mutation(
        "core/estimators/_estimator.py",
        "found = self._resolved(spec, tuning, None)",
        "found = self._resolved(spec, holdings, None)",
        ("tuning_fraction", "LeastSquaresSVC, tuned"),
    ),
    Mutation(
        "tables/_table_model.py", "holdings.estimator.reselect()", "pass", ("TableModel", "tuned")
    ),
    Mutation(
        "core/estimators/_relabel.py",
        "weight=before.weight[order]",
        "weight=before.weight",
        ("edits: relabel", "LeastSquaresSVC, sample weights"),
    ),
)


def main() -> int:
    """Make all mutations, as many at a time as there are cores; 0 if all were noticed."""
    with ThreadPoolExecutor(cpu_count()) as pool:
        found = [pool.submit(_tried, mutation) for mutation in MUTATIONS]
        for number, (mutation, future) in enumerate(zip(MUTATIONS, found, strict=True), 1):
            what = future.result()
            print(f"{number:2}. {what}: {mutation.file}: {mutation.line.strip()}", flush=True)
    noticed = sum(future.result() == NOTICED for future in found)
    print(f"{noticed} of {len(MUTATIONS)} mutations are noticed.")
    return int(noticed < len(MUTATIONS))


def _tried(mutation: Mutation) -> str:
    """What came of a mutation, in a copy of the package."""
    before = (SOURCE / mutation.file).read_text(encoding="utf-8")
    assert mutation.line in before, f"{mutation.file} has no {mutation.line!r}"
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "gramian"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        after = before.replace(mutation.line, mutation.becomes, 1)
        (copy / mutation.file).write_text(after, encoding="utf-8")
        return _outcome(folder, mutation.words)


def _outcome(folder: str, words: tuple[str, ...]) -> str:
    path = os.pathsep.join([folder, str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.matrix", *words]
    try:
        run = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return f"NOT DONE after {LONGEST} s"
    assert not run.stdout.startswith(b"0 pairs"), f"no pair has {words}"
    return NOTICED if run.returncode else "SURVIVED"


if __name__ == "__main__":
    sys.exit(main())
