"""An interrupt at any line of an edit leaves the model as it was or as it should be."""

import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

import gramian
from gramian import KernelDiscriminant, TableModel
from gramian.files import fingerprint
from tests.tables.test_table_model import rows

FOLDER = str(Path(gramian.tables.__file__).parent)


class InterruptAt:
    """Raises KeyboardInterrupt at the k-th line within `gramian.tables`; `fired` says whether."""

    def __init__(self, k):
        self.left, self.fired = k, False

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *error):
        sys.settrace(self.before)
        return bool(error) and error[0] is KeyboardInterrupt

    def _call(self, frame, event, argument):
        return self._line if frame.f_code.co_filename.startswith(FOLDER) else None

    def _line(self, frame, event, argument):
        if event == "line" and not self.fired:
            self.left -= 1
            if self.left < 0:
                self.fired = True
                raise KeyboardInterrupt
        return self._line


def more(table):
    new = rows(table, [4, 5])
    return {**new, "name": ["new 1", "new 2"], "weight": [5.5, 28.0]}


EDITS = {
    "fit": lambda model, table: model.fit(rows(table, slice(4, None))),
    "partial_fit": lambda model, table: model.partial_fit(more(table)),
    "forget": lambda model, table: model.forget(["pet 23", "pet 4"]),
    "reselect": lambda model, table: model.reselect(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("named", [True, False], ids=["names", "numbers"])
def test_interrupt_at_every_line(name, named, table):
    start = _fitted(table, named)
    edit = EDITS[name] if named or name != "forget" else lambda m, t: m.forget([23, 4])
    done = edit(deepcopy(start), table)
    allowed = {fingerprint(start), fingerprint(done)}
    for k in _lines_to_try(edit, start, table):
        model = deepcopy(start)
        with InterruptAt(k) as interrupt:
            edit(model, table)
        assert interrupt.fired
        assert fingerprint(model) in allowed
        _check_agreement(model, table)


def _lines_to_try(edit, start, table):
    """Every line of the end, where things are assigned, and every few lines before."""
    model = deepcopy(start)
    with InterruptAt(never := 10**9) as interrupt:
        edit(model, table)
    lines = never - interrupt.left
    return sorted({*range(0, lines, max(11, lines // 40)), *range(max(0, lines - 60), lines)})


def _fitted(table, named):
    names = {"id_column": "name"} if named else {"ignore": ["name"]}
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="animal", **names)
    return model.fit(table).forget("pet 7" if named else 7)


def _check_agreement(model, table):
    ids, held = model.ids_.tolist(), model.table_
    assert all(len(values) == len(ids) for values in held.values())
    np.testing.assert_array_equal(model.transform(held), model.estimator_.X_fit_)
    assert fingerprint(deepcopy(model)) == fingerprint(model)
    # Rows whose ids were refused a moment ago, with other cells, are the ones that count.
    extra = {**more(table), "name": ["extra", "new 3"], "weight": [6.25, 27.0]}
    model.partial_fit(extra).forget(model.ids_[-1])
    assert model.table_["weight"][-1] == 6.25


def test_row_that_was_refused_leaves_nothing(table, table_model, monkeypatch):
    before = fingerprint(table_model)

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(KernelDiscriminant, "partial_fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            table_model.partial_fit(more(table))
    assert fingerprint(table_model) == before
    table_model.partial_fit({**more(table), "weight": [1.0, 2.0]})
    assert table_model.table_["weight"][-2:].tolist() == [1.0, 2.0]
