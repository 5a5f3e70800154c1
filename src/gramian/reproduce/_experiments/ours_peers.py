"""Error and time of machines as they are by default, and of peers tuned by folds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from gramian import KernelDiscriminant, KernelFisherDiscriminant, LeastSquaresSVC
from gramian.reproduce._compare import column, grouped, spread
from gramian.reproduce._data import SEED, split
from gramian.reproduce._experiment import Experiment, Parameters, Record
from gramian.reproduce._experiments._learning import best_time
from gramian.reproduce._parts import Part, Table, Text

N_TRAIN = {"breast_cancer": 300, "wine": 90, "digits": 900}
MACHINES = {
    "kda": "KernelDiscriminant",
    "ls-svc": "LeastSquaresSVC",
    "kfd": "KernelFisherDiscriminant",
    "svc-grid": "SVC, 25 settings by five folds",
    "svc": "SVC as it is by default",
    "gp": "GaussianProcessClassifier",
}
TOO_SLOW = {("digits", "gp")}


def cases(quick: bool) -> list[Parameters]:
    sets = ("breast_cancer", "wine") if quick else tuple(N_TRAIN)
    return [
        {"data": name, "machine": machine, "partition": k}
        for name in sets
        for machine in MACHINES
        if (name, machine) not in TOO_SLOW
        for k in range(1 if quick else 5)
    ]


def run(data: str, machine: str, partition: int) -> dict[str, Any]:
    """Test error in %, and seconds of the fit with all that was tuned."""
    part = split(data, partition, n_train=N_TRAIN[data])
    model = make_pipeline(StandardScaler(), _machine(machine))
    seconds, _ = best_time(lambda: model.fit(part.X, part.y), repeat=1)
    return {"error": part.error(model), "seconds": seconds, **part.facts}


def _machine(name: str) -> Any:
    if name == "svc-grid":
        grid = {"C": np.logspace(-1, 3, 5), "gamma": np.logspace(-4, 0, 5)}
        return GridSearchCV(SVC(), grid, cv=5)
    if name == "gp":
        return GaussianProcessClassifier(ConstantKernel() * RBF(length_scale=5.0))
    makers = {"kda": KernelDiscriminant, "ls-svc": LeastSquaresSVC, "kfd": KernelFisherDiscriminant}
    return makers[name](random_state=SEED) if name in makers else SVC()


def report(records: list[Record]) -> list[Part]:
    rows = [
        [
            data,
            MACHINES[machine],
            spread(column(cases, "error")).text(),
            float(np.mean(column(cases, "seconds"))),
        ]
        for (data, machine), cases in grouped(records, "data", "machine").items()
    ]
    return [
        Text(
            "Sets that scikit-learn ships, standardised, random partitions. Machines of Gramian "
            "choose width and ridge by exact leave-one-out within fit; peers are tuned by folds, "
            "by their evidence, or not at all."
        ),
        Table(["set", "machine", "test error (%)", "fit, all tuning included (s)"], rows),
    ]


EXPERIMENT = Experiment("ours-peers", "Ours: peers", cases, run, report, timed=True)
