"""The command line, against the same calls in Python."""

from __future__ import annotations

import csv
import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import gramian
from gramian import TableModel
from gramian.data import label_issues
from tests.matrix.capabilities import Refused, capability
from tests.matrix.cases import Case
from tests.matrix.tables import table_model, table_of, table_values

command = partial(capability, group="command line", package="click", tables=True)


def typed(*words: object, code: int = 0) -> Any:
    """What a command with ``--json`` answers; a problem that it explains is raised as such."""
    from click.testing import CliRunner

    from gramian.cli._app import app

    result = CliRunner().invoke(app, [*(str(word) for word in words), "--json"])
    if result.exit_code != code:
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        raise Refused(result.stderr.strip().removeprefix("Error: "))
    return json.loads(result.stdout)


def write_csv(path: Path, table: dict[str, Any]) -> Path:
    """A table as a file."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return path


@cache
def _fitted(case: Case) -> TableModel:
    return table_model(case).fit(table_of(case, case.held))


def model_of(case: Case) -> TableModel:
    """A copy of the model of the table."""
    from copy import deepcopy

    return deepcopy(_fitted(case))


def saved(case: Case, folder: Path) -> Path:
    """Its file."""
    gramian.save(_fitted(case), folder / "m.gram")
    return folder / "m.gram"


def same(case: Case, path: Path, model: TableModel) -> None:
    """The file holds this model."""
    found = gramian.load(path)
    assert found.ids_.tolist() == model.ids_.tolist()
    assert found.estimator_.X_fit_.dtype == case.how.dtype
    case.close(table_values(case, found), table_values(case, model))


@command("gramian fit")
def fits(case: Case, folder: Path) -> None:
    table = write_csv(folder / "train.csv", table_of(case, case.held))
    path = folder / "m.gram"
    where = ("--target", "target", "--id", "name", "-o", path)
    typed("fit", table, *where, "--estimator", _name(case), *(case.how.options or ()))
    given = dict(zip((case.how.options or ())[::2], (case.how.options or ())[1::2], strict=False))
    found = gramian.load(path)
    estimator = found.estimator_
    if "--kernel" in given:
        assert given["--kernel"] in (estimator.kernel, *_list(estimator.kernel))
    if "--gamma" in given:
        np.testing.assert_allclose(estimator.gamma, float(given["--gamma"]))
    twin = table_model(case, estimator.__class__(**estimator.get_params()))
    same(case, path, twin.fit(table_of(case, case.held)))


def _name(case: Case) -> str:
    from gramian.cli._estimators import ESTIMATOR_NAMES

    return next(name for name, cls in ESTIMATOR_NAMES.items() if cls is case.cls)


def _list(kernel: Any) -> tuple[Any, ...]:
    return kernel if isinstance(kernel, tuple) else (kernel,)


@command("gramian predict")
def predicts(case: Case, folder: Path) -> None:
    asked = table_of(case, case.asked, target=False)
    path = write_csv(folder / "asked.csv", asked)
    extra = ["--proba"] if case.classifies else []
    found = typed("predict", saved(case, folder), path, *extra)["predictions"]
    model = model_of(case)
    if not case.classifies:
        case.close(found["prediction"], model.predict(asked))
        return
    assert found["prediction"] == model.predict(asked).tolist()
    P = np.column_stack([found[f"probability {c}"] for c in model.estimator_.classes_])
    case.close(P, model.predict_proba(asked))


@command("gramian predict --confidence")
def predicts_sets(case: Case, folder: Path) -> None:
    asked = table_of(case, case.asked, target=False)
    path = write_csv(folder / "asked.csv", asked)
    found = typed("predict", saved(case, folder), path, "--confidence", 0.8)["predictions"]
    model = model_of(case)
    if case.classifies:
        sets, names = model.predict_set(asked, 0.8), model.estimator_.classes_
        assert found["set"] == ["; ".join(names[row].tolist()) for row in np.asarray(sets)]
    else:
        ends = np.column_stack([found["low"], found["high"]]).astype(float)
        case.close(ends, model.predict_interval(asked, 0.8))


@command("gramian learn")
def learns(case: Case, folder: Path) -> None:
    table = table_of(case, case.more)
    path = saved(case, folder)
    assert typed("learn", path, write_csv(folder / "more.csv", table))["learned"] == len(case.more)
    same(case, path, model_of(case).partial_fit(table))


@command("gramian forget")
def forgets(case: Case, folder: Path) -> None:
    path = saved(case, folder)
    found = typed("forget", path, "--id", "row 3", "--verify")
    assert found["receipt"]["verified"]
    same(case, path, model_of(case).forget(["row 3"]))


@command("gramian relabel")
def relabels(case: Case, folder: Path) -> None:
    path, label = saved(case, folder), case.changed_label(5).tolist()
    typed("relabel", path, "--id", "row 5", "--to", label)
    same(case, path, model_of(case).relabel(["row 5"], [label]))


@command("gramian doubt")
def doubts(case: Case, folder: Path) -> None:
    found = typed("doubt", saved(case, folder))
    if case.classifies:
        assert found["doubts"]["id"] == label_issues(model_of(case)).ids.tolist()
    else:
        model = model_of(case).estimator_
        worst = np.argsort(-np.abs(model.y_fit_ - model.loo_predict()))
        assert found["doubts"]["id"][0] == model.ids_[worst[0]]


@command("gramian report", slow=True)
def reports(case: Case, folder: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    typed("report", saved(case, folder), "-o", folder / "r.html")
    text = (folder / "r.html").read_text()
    assert case.estimator in text
    assert str(len(case.held)) in text


@command("gramian export")
def exports(case: Case, folder: Path) -> None:
    typed("export", saved(case, folder), "--predict-only", "-o", folder / "m.onnx")
    import onnxruntime

    session = onnxruntime.InferenceSession(
        str(folder / "m.onnx"), providers=["CPUExecutionProvider"]
    )
    asked = table_of(case, case.asked, target=False)
    inputs = {i.name: np.array(asked[i.name])[:, None] for i in session.get_inputs()}
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, inputs), strict=True))
    expected = table_values(case, model_of(case))
    name = "decision" if case.classifies else "variable"
    case.close(found[name].reshape(expected.shape), expected)


@command("gramian store, signed")
def stores(case: Case, folder: Path) -> None:
    """Every command that edits a store signs with the key."""
    key, path = _key(folder), folder / "m.store"
    typed("store", "create", saved(case, folder), path, "--key", key)
    more = write_csv(folder / "more.csv", table_of(case, case.more))
    typed("learn", path, more, "--key", key)
    typed("forget", path, "--id", "row 3", "--key", key)
    label = case.changed_label(5).tolist()
    typed("relabel", path, "--id", "row 5", "--to", label, "--key", key)
    assert not typed("audit", path, "--refit").get("failed")
    typed("store", "export", path, "-o", folder / "out.gram")
    model = model_of(case).partial_fit(table_of(case, case.more)).forget(["row 3"])
    same(case, folder / "out.gram", model.relabel(["row 5"], [label]))


def _key(folder: Path) -> Path:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    options = (form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    path = folder / "key.pem"
    path.write_bytes(private.private_bytes(*options))
    path.chmod(0o600)
    return path
