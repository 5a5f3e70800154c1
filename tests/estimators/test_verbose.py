"""`verbose`: what is printed, and that it changes nothing else."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import is_classifier

import gramian
from gramian.core.estimators._progress import Stage
from gramian.estimators import ESTIMATORS

SEARCHING = [name for name, cls in ESTIMATORS.items() if "callback" in cls().get_params()]


def samples(n=60, d=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n)


def fitted(name, n=60, **parameters):
    model = ESTIMATORS[name](**parameters)
    X, y = samples(n)
    return model.fit(X, y > 0 if is_classifier(model) else y), X


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - set(SEARCHING)))
def test_others_print_the_choice(name, capsys):
    fitted(name, verbose=1)
    assert re.fullmatch(
        rf"\[{name}\] chose .*, \d+\.\d s so far. Next: the fit to 60 samples.\n",
        capsys.readouterr().out,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHING)
def test_a_line_for_each_stage_and_the_choice(name, capsys):
    quiet, X = fitted(name)
    assert capsys.readouterr().out == ""
    loud, _ = fitted(name, verbose=1)
    *stages, last = capsys.readouterr().out.splitlines()
    assert stages
    for line in stages:
        assert re.match(rf"\[{name}\] [\w-]+: \d+ settings tried on 60 samples, the best ", line)
        assert line.endswith(" s so far.")
    assert last.startswith(f"[{name}] chose gamma")
    assert last.endswith("Next: the fit to 60 samples.")
    np.testing.assert_array_equal(loud.predict(X), quiet.predict(X))
    loud.reselect(fresh=True)
    assert "chose gamma" in capsys.readouterr().out


def test_stages_of_a_ladder_have_their_own_sizes(capsys):
    model, _ = fitted("LeastSquaresSVR", n=700, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    told = [int(size) for line in lines[:-1] for size in re.findall(r"on (\d+) samples", line)]
    assert len(set(told)) > 1
    assert set(told) == set(model.selection_.sizes.tolist())
    tried = sum(int(re.search(r": (\d+) settings", line)[1]) for line in lines[:-1])
    assert tried <= len(model.selection_.values)
    assert f"gamma={model.gamma_:.4g}, C={model.C_:.4g}" in lines[-1]


def test_the_callback_still_hears_all(capsys):
    recording, loud = [], []
    fitted("LeastSquaresSVC", callback=recording.append)
    fitted("LeastSquaresSVC", callback=loud.append, verbose=1)
    assert len(loud) == len(recording) > 0


def test_many_widths_own_kernels_and_nothing_to_choose(capsys):
    fitted("LeastSquaresSVR", metric="ard", verbose=1)
    out = capsys.readouterr().out
    assert "(3 widths, ridge=" in out
    assert "chose gamma, C=" in out
    fitted("LeastSquaresSVR", kernel=lambda A, B: A @ B.T, verbose=1)
    assert "callable: " in capsys.readouterr().out
    fitted("LeastSquaresSVR", gamma=1.0, C=1.0, verbose=1)
    assert "chose nothing" in capsys.readouterr().out


def test_tuning_apart_is_told(capsys):
    X, y = samples()
    ESTIMATORS["LeastSquaresSVR"](verbose=1, tuning_fraction=0.5).fit(X, y)
    assert "chose gamma=" in capsys.readouterr().out


def test_time_that_is_left_follows_from_a_stage(monkeypatch, capsys):
    stage = Stage(
        "rbf", "subsample", 500, start=10.0, tried=4
    )  # 3 s: 8 times that on 1,000, 64 on 2,000
    assert stage.seconds_left(2000, 13.0) == pytest.approx(3.0 * (8 + 64 + 64 / 4))
    assert stage.seconds_left(500, 13.0) == pytest.approx(3.0 / 4)
    monkeypatch.setattr(Stage, "seconds_left", lambda self, n, now: n / 100)
    fitted("LeastSquaresSVR", n=700, verbose=1)
    *early, last_stage, _ = capsys.readouterr().out.splitlines()
    assert early
    assert all(line.endswith(" s so far, about 7 s to go.") for line in early)
    assert last_stage.endswith(" s so far.")


@pytest.mark.parametrize("verbose", [-1, "loud", 0.5])
def test_what_it_takes(verbose):
    with pytest.raises(ValueError, match=r"verbose must be a whole number >= 0, got "):
        fitted("KernelDiscriminant", verbose=verbose)


def test_files_and_fingerprints_keep_it(tmp_path, capsys):
    quiet, _ = fitted("KernelDiscriminant")
    loud, _ = fitted("KernelDiscriminant", verbose=1)
    path = tmp_path / "model.gram"
    gramian.save(loud, path)
    assert gramian.load(path).verbose == 1
    gramian.save(quiet, path, overwrite=True)
    assert gramian.load(path).verbose == 0
    assert gramian.files.fingerprint(quiet) != gramian.files.fingerprint(loud)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_what_is_printed_keeps_no_model_from_being_pickled(name, capsys):
    model, X = fitted(name, verbose=1)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    capsys.readouterr()
    again.reselect()
    assert f"[{name}] chose" in capsys.readouterr().out
