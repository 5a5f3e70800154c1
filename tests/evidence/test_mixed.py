"""Tables from folders, and what the models of other packages are given of them."""

import gzip

import numpy as np
import pytest

from evidence import UnavailableError
from evidence.experiments import mixed_tables, more_rows, stack_candidates, stack_parts
from evidence.shared import mixed, rdatasets
from evidence.shared.mixed_peers import Peer
from evidence.shared.pairs import against, differences, shown
from gramian.cli._estimators import Choice

LIST = """
| table | kind | target | rows |
|---|---|---|---|
| pets | classes | animal | 9 |
"""
ROWS = ["weight,sound,animal", "4,meow,cat", "NA,meow,cat", "5,,cat", "30,woof,dog", "31,woof,dog"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "TABLES.md").write_text(LIST)
    with gzip.open(tmp_path / "pets.csv.gz", "wt") as stream:
        stream.write("\n".join([*ROWS, "32,woof,dog", "3,meow,cat", "29,woof,dog", "6,mew,cat"]))
    monkeypatch.delenv("GRAMIAN_DATA", raising=False)
    monkeypatch.setenv("GRAMIAN_MIXED", str(tmp_path))
    mixed._read.cache_clear()
    yield tmp_path
    mixed._read.cache_clear()


def test_folders_list_their_tables(folder):
    assert mixed.tables() == {"pets": mixed.Described("pets", True, "animal", 9, True)}
    train, test = mixed.split("pets", 0, 1000)
    assert (len(train.target), len(test.target), train.texts) == (6, 3, [False, True])
    values = np.concatenate([train.values["weight"], test.values["weight"]])
    assert np.isnan(values).sum() == 1
    assert sum(v is None for v in [*train.values["sound"], *test.values["sound"]]) == 1
    assert sorted([*train.target, *test.target]) == ["cat"] * 5 + ["dog"] * 4
    cases = mixed_tables.cases(False)
    assert {case["table"] for case in cases} == {"pets"}
    assert {case["partition"] for case in cases} == {0, 1, 2}


def test_without_folders_it_says_so(monkeypatch):
    for name in ("GRAMIAN_DATA", "GRAMIAN_MIXED"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UnavailableError, match="no folder of mixed tables"):
        mixed_tables.run("none", "stack", 0, 10)
    with pytest.raises(UnavailableError, match="no folder of mixed tables"):
        stack_candidates.run("none", 0, 10)
    with pytest.raises(UnavailableError, match="no folder of mixed tables"):
        stack_parts.run("none", "stack", 0, 10)


def test_numbered_classes_of_many_rows_get_a_classifier():
    """26 numbers as a target would be a regression, whose predictions are never a class."""
    labels = np.arange(6000) % 26
    name, _ = more_rows._model(more_rows.AUTO, True, labels)
    assert name == "orthogonal"
    name, _ = more_rows._model(more_rows.AUTO, False, labels + 0.5)
    assert name == "orthogonal-regressor"


def test_a_model_of_the_wrong_kind_is_refused(monkeypatch):
    monkeypatch.setattr(more_rows, "choose_estimator", lambda *_: Choice("ls-svr", ""))
    with pytest.raises(ValueError, match="ls-svr is not for this target, classes"):
        more_rows._model(more_rows.AUTO, True, np.arange(5))


@pytest.mark.slow
def test_one_part_more_is_measured_beside_the_stack():
    found = stack_parts.run("made classes", "with thresholds", 0, 60)
    assert found["rows"] == 60
    assert {"error", "log_loss", "seconds", "used"} <= found.keys()
    assert stack_parts.run("made numbers", "stack", 0, 60)["used"] is False


@pytest.mark.parametrize("table", mixed.MADE)
def test_parts_more_are_measured_beside_the_default_ones(table, monkeypatch):
    classes = table == mixed.MADE[0]
    some = ("linear", *stack_candidates.SEVERAL[classes], "missing cells alone, rbf")
    monkeypatch.setattr(
        stack_candidates, "MORE", {name: stack_candidates.MORE[name] for name in some}
    )
    found = stack_candidates.run(table, 0, 60)
    assert (found["rows"], found["classes"]) == (60, classes)
    stacks, base = found["stacks"], found["stacks"][stack_candidates.BASE]
    several = {stack_candidates.CHOSEN, stack_candidates.ALL}
    assert stacks.keys() == {stack_candidates.BASE, *some, *several}
    for name in some:  # a part of weight 0 changes nothing
        assert stacks[name]["seconds"] > base["seconds"] or not stacks[name]["used"]
        if not stacks[name]["used"]:
            assert stacks[name]["error"] == pytest.approx(base["error"])


def columns(weight, sound):
    values = {"weight": np.array(weight, dtype=float), "sound": np.array(sound, dtype=object)}
    return mixed.Columns(values, np.arange(len(weight)) % 2)


def test_peers_read_what_they_take():
    part = columns([1.0, np.nan, 3.0, 2.0], ["a", "b", None, "b"])
    peer = Peer("HistGradientBoosting", True).fit(part, part.target)
    np.testing.assert_array_equal(
        peer._codes(part), [[1, 1], [np.nan, 0], [3, np.nan], [2, 0]]
    )  # the most frequent text first
    scale = np.sqrt(2 / 3)
    np.testing.assert_allclose(
        peer._scaled(columns([3.0, np.nan], ["new", "a"])), [[1 / scale, 0, 0, 0], [0, 1, 0, 1]]
    )
    assert np.isnan(peer._codes(columns([1.0], ["new"]))[0, 1])


def test_torchkm_is_for_two_classes():
    part = columns([1.0, 2.0, 3.0], ["a", "b", "c"])
    with pytest.raises(UnavailableError, match="two classes"):
        Peer("TorchKM", True).fit(part, np.array([0, 1, 2]))


def test_texts_that_look_like_numbers_are_named():
    part = columns([1.0, 2.0], ["4", "6"])
    assert mixed_tables.texts_like_numbers(part) == ["sound"]
    assert mixed_tables.texts_like_numbers(columns([1.0, 2.0], ["4", "rotary"])) == []


def test_pairs_use_partitions_that_both_have():
    records = [
        {"table": t, "machine": m, "partition": k, "error": e}
        for t, m, k, e in [
            *(("s", "ours", 0, 1.0), ("s", "ours", 1, 9.0), ("s", "peer", 0, 2.0)),
            *(("t", "ours", 0, 4.0), ("t", "peer", 0, 3.0)),
        ]
    ]
    np.testing.assert_array_equal(differences(records, "peer", "ours", "error", False), [1, -1])
    np.testing.assert_allclose(
        differences(records, "peer", "ours", "error", True), np.log([2.0, 0.75])
    )
    (row,) = against(records, ["ours", "peer"], "ours", True).rows
    assert row == ["peer", 2, 1, 1, "+0.00 ± 1.00", ""]
    assert shown(np.log([2.0, 2.0]), 1, True) == "+100.0 % ± 0.0"


def test_tables_are_made_of_a_copy_of_rdatasets(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    source = rdatasets.Source("pack", "pets", "animal", True, ("tells",))
    (tmp_path / "csv" / "pack").mkdir(parents=True)
    rows = [f"{k},{k},True,x,{'cat' if k % 2 else 'dog'}" for k in range(24)]
    lines = ["rownames,weight,tame,tells,animal", *rows, "24,1,True,x,newt", "25,1,True,x,"]
    (tmp_path / "csv" / "pack" / "pets.csv").write_text("\n".join(lines))
    assert rdatasets.write(tmp_path, tmp_path / "out", (source,), 20) == ["pets"]
    assert rdatasets.write(tmp_path, tmp_path / "out" / "many", (source,), None) == ["pets"]
    monkeypatch.delenv("GRAMIAN_DATA", raising=False)
    monkeypatch.setenv("GRAMIAN_MIXED", str(tmp_path / "out"))
    mixed._read.cache_clear()
    assert (mixed.tables()["pets"].rows, mixed.many()["pets"].rows) == (20, 24)
    assert len(mixed.split("pets", 0, 1000)[0].target) == 13
    train, test = mixed.split_many("pets")
    assert (list(train.values), len(train.target), len(test.target)) == (["weight", "tame"], 16, 8)
    assert set(train.target) == {"cat", "dog"}
    found = more_rows.run("HistGradientBoosting", 8, table="pets")
    assert (found["rows"], found["classes"]) == (8, True)
    mixed._read.cache_clear()
