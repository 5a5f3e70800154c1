"""Saving and loading: the same model, from whole files only."""

import os
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import gramian
from gramian import KernelDiscriminant, LeastSquaresSVC
from gramian.files import ModelFileError, file_facts, fingerprint
from gramian.files._archive import canonical_json, describe, write_archive
from gramian.files._arrays import array_bytes
from gramian.files._models import _body
from tests.estimators.conftest import assert_same_model, make_samples, queries, values


def edited(estimator, make=np.asarray, **samples):
    """A fitted model that has learnt and forgotten since."""
    X, y = make_samples(estimator, **samples)
    estimator.fit(make(X[:20]), y[:20])
    return estimator.partial_fit(make(X[20:]), y[20:]).forget([3, 25])


def round_trip(model, tmp_path):
    gramian.save(model, tmp_path / "model.gram")
    return gramian.load(tmp_path / "model.gram")


# -- the same model -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [np.asarray, np.asfortranarray, np.float32, sparse.csr_array, sparse.csr_matrix],
    ids=["C", "F", "float32", "csr_array", "csr_matrix"],
)
def test_loaded_model_predicts_bitwise_the_same(unfitted, make, tmp_path):
    model = edited(unfitted, make)
    twin = round_trip(model, tmp_path)
    assert type(twin) is type(model)
    assert fingerprint(twin) == fingerprint(model)
    Q = make(queries())
    np.testing.assert_array_equal(values(twin, Q), values(model, Q))
    np.testing.assert_array_equal(twin.predict(Q), model.predict(Q))
    assert type(twin.X_fit_) is type(model.X_fit_)
    assert twin.X_fit_.dtype == model.X_fit_.dtype


def test_loaded_model_goes_on_learning_and_forgetting(unfitted, tmp_path):
    X, y = make_samples(unfitted, 40)
    model = unfitted.fit(X[:30], y[:30]).forget([1, 2])
    twin = round_trip(model, tmp_path)
    for each in (model, twin):
        each.partial_fit(X[30:], y[30:]).forget([5, 31])
    np.testing.assert_array_equal(twin.ids_, model.ids_)
    assert_same_model(twin, model, updates=24)


def test_reads_change_neither_evidence_nor_file(unfitted, tmp_path):
    """What is computed anew for a read is not what predicts, is saved and has a fingerprint."""
    twin = round_trip(edited(unfitted), tmp_path)
    before, saved = fingerprint(twin), (tmp_path / "model.gram").read_bytes()
    for read in ("loo_score", "drift", "loo_predict_proba"):
        getattr(twin, read, lambda: None)()
    expected = values(twin, queries())
    assert fingerprint(twin) == before
    gramian.save(twin, tmp_path / "model.gram")
    assert (tmp_path / "model.gram").read_bytes() == saved
    np.testing.assert_array_equal(
        values(gramian.load(tmp_path / "model.gram"), queries()), expected
    )


def test_parameters_come_back_in_value_and_type(unfitted, tmp_path):
    twin = round_trip(edited(unfitted), tmp_path)
    before, after = unfitted.get_params(), twin.get_params()
    assert repr(after) == repr(before)
    assert {k: type(v) for k, v in after.items()} == {k: type(v) for k, v in before.items()}


def test_search_path_comes_back(tmp_path):
    model = edited(KernelDiscriminant(random_state=0))
    twin = round_trip(model, tmp_path)
    assert twin.selection_.criterion == model.selection_.criterion
    for name in ("stages", "sizes", "gammas", "ridges", "values"):
        ours, theirs = getattr(twin.selection_, name), getattr(model.selection_, name)
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [(["no", "yes"], str), (["no", "yes"], object), ([False, True], bool), ([-1, 1], "i1")],
)
def test_labels_of_every_type_come_back(labels, dtype, tmp_path):
    X, y = make_samples(LeastSquaresSVC())
    model = LeastSquaresSVC(gamma=0.5, C=4.0).fit(X, np.array(labels, dtype=dtype)[y])
    twin = round_trip(model, tmp_path)
    assert twin.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


def test_ids_weights_and_declared_classes_come_back(tmp_path):
    X, y = make_samples(LeastSquaresSVC())
    ids, weight = [f"é{i}" for i in range(30)], np.arange(1.0, 31.0)
    model = LeastSquaresSVC(gamma=0.5, C=4.0)
    model.partial_fit(X, y, classes=[0, 1, 2], ids=ids, sample_weight=weight)
    twin = round_trip(model, tmp_path)
    assert twin.ids_.tolist() == ids
    assert twin.loo_score() == pytest.approx(model.loo_score(), rel=1e-12)  # weighted; rounding
    for each in (model, twin):
        each.forget("é3").partial_fit(X[:1] + 1, [2], ids=["ü"]).forget("ü")
    np.testing.assert_array_equal(twin.classes_, [0, 1, 2])
    assert_same_model(twin, model, updates=3)


def test_numbers_of_forgotten_samples_are_not_given_again(tmp_path):
    X, y = make_samples(LeastSquaresSVC())
    model = LeastSquaresSVC(gamma=0.5, C=4.0).fit(X, y).forget(29)
    twin = round_trip(model, tmp_path).partial_fit(X[:1] + 1, y[:1])
    assert twin.ids_[-1] == 30


def test_precomputed_kernel(tmp_path):
    X, y = make_samples(LeastSquaresSVC())
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    model = LeastSquaresSVC(kernel="precomputed", C=4.0).fit(K, y)
    twin = round_trip(model, tmp_path)
    np.testing.assert_array_equal(twin.decision_function(K), model.decision_function(K))
    np.testing.assert_array_equal(twin.X_fit_, K)
    stay = np.delete(np.arange(30), [4, 9])
    fresh = clone(model).fit(K[np.ix_(stay, stay)], y[stay], ids=stay)
    twin.forget([4, 9])
    np.testing.assert_allclose(
        twin.decision_function(K[:, stay]),
        fresh.decision_function(K[:, stay]),
        atol=1e-12,  # cond(A) < 30 · 4
    )


def test_feature_names_of_a_frame_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = make_samples(LeastSquaresSVC())
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    twin = round_trip(LeastSquaresSVC(gamma=0.5, C=4.0).fit(frame, y), tmp_path)
    assert twin.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        twin.predict(frame[["c", "b", "a"]])


def test_same_model_same_bytes(unfitted, tmp_path):
    model = edited(unfitted)
    gramian.save(model, tmp_path / "one")
    gramian.save(gramian.load(tmp_path / "one"), str(tmp_path / "two.any.suffix"))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two.any.suffix").read_bytes()


def test_fingerprint_tells_models_apart():
    model = edited(LeastSquaresSVC(gamma=0.5, C=4.0))
    seen = {fingerprint(model)}
    seen.add(fingerprint(clone(model).fit(model.X_fit_, model.y_fit_)))
    seen.add(fingerprint(model.set_params(random_state=1)))
    seen.add(fingerprint(model.forget(0)))
    assert len(seen) == 4


def test_numpy_reads_the_arrays(tmp_path):
    model = edited(LeastSquaresSVC(gamma=0.5, C=4.0))
    gramian.save(model, tmp_path / "model.gram")
    with np.load(tmp_path / "model.gram", allow_pickle=False) as arrays:
        held = [arrays[name] for name in arrays.files if name.startswith("arrays/")]
    assert any(np.array_equal(array, model.X_fit_) for array in held)


def test_facts_of_a_file(tmp_path):
    model = edited(LeastSquaresSVC(gamma=0.5, C=4.0))
    gramian.save(model, tmp_path / "model.gram")
    assert file_facts(tmp_path / "model.gram") == {
        "format_version": 1,
        "gramian": gramian.__version__,
        "class": "LeastSquaresSVC",
        "fingerprint": fingerprint(model),
        "bytes": os.path.getsize(tmp_path / "model.gram"),
    }


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_no_byte_of_a_forgotten_sample_is_written(make, tmp_path):
    X, y = make_samples(LeastSquaresSVC())
    secret = np.array([[0.7071234567891, -1.414987654321, 1.732246813579]])
    X, y = np.vstack([X, secret]), np.append(np.array(["no", "yes"])[y], "confidential")
    ids = [*(f"s{i}" for i in range(30)), "patient 8128"]
    model = LeastSquaresSVC(gamma=0.5, C=4.0).fit(make(X), y, ids=ids)
    path = tmp_path / "model.gram"
    texts = [form for word in ("patient", "confidential") for form in _forms(word)]
    traces = [*(x.tobytes() for x in secret[0]), *texts]
    gramian.save(model, path)
    assert sum(trace in path.read_bytes() for trace in traces) == 5
    gramian.save(model.forget("patient 8128"), path)
    assert not any(trace in path.read_bytes() for trace in traces)
    gramian.save(gramian.load(path), path)
    assert not any(trace in path.read_bytes() for trace in traces)


def test_width_of_texts_tells_nothing_of_a_longer_one_that_is_gone(tmp_path):
    X, y = make_samples(LeastSquaresSVC())
    labels = np.array(["no", "yes"])[y].astype("<U40")
    ids = [*(f"s{i}" for i in range(29)), "x" * 1000]
    model = LeastSquaresSVC(gamma=0.5, C=4.0).fit(X, labels, ids=ids).forget("x" * 1000)
    twin = round_trip(model, tmp_path)
    assert fingerprint(twin) == fingerprint(model)
    assert twin.ids_.dtype == "<U3"
    assert twin.classes_.dtype == "<U3"
    assert os.path.getsize(tmp_path / "model.gram") < 10_000


# -- what cannot be saved -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "value", "match"),
    [
        ("kernel", lambda X, Y: X @ Y.T, "parameter `kernel` of LeastSquaresSVC: it is a function"),
        ("callback", print, "parameter `callback` of LeastSquaresSVC: it is a function"),
        ("random_state", np.random.RandomState(0), "parameter `random_state` .* a RandomState"),
        ("kernel_params", {"f": print}, "parameter `kernel_params` of LeastSquaresSVC at 'f'"),
        ("gamma", np.longdouble(0.5), "parameter `gamma` .* of type"),
    ],
)
def test_parameter_that_is_no_value_is_named(parameter, value, match, tmp_path):
    path = tmp_path / "model.gram"
    path.write_bytes(b"old")
    model = LeastSquaresSVC(gamma=0.5, C=4.0)
    X, y = make_samples(model)
    model.fit(X, y).set_params(**{parameter: value})
    with pytest.raises(ModelFileError, match=match):
        gramian.save(model, path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.gram"]


def test_foreign_class_is_refused(tmp_path):
    class LeastSquaresSVC(gramian.LeastSquaresSVC):
        """Of the same name, but not the one that a file would bring back."""

    X, y = make_samples(gramian.LeastSquaresSVC())
    for model in (LogisticRegression(), LeastSquaresSVC(gamma=0.5, C=4.0)):
        with pytest.raises(ModelFileError, match=f"cannot save a {type(model).__name__}"):
            gramian.save(model.fit(X, y), tmp_path / "model.gram")


def test_unfitted_model_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        gramian.save(LeastSquaresSVC(), tmp_path / "model.gram")


# -- files that are not as they were written ----------------------------------------------------


def _small():
    """The bytes of a model file, and the model's fingerprint."""
    X, y = make_samples(LeastSquaresSVC(), 6)
    model = LeastSquaresSVC(gamma=0.5, C=4.0).fit(X, y, ids=list("abcdef"))
    return model, fingerprint(model)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    model, mark = _small()
    path = tmp_path_factory.mktemp("small") / "model.gram"
    gramian.save(model, path)
    return path.read_bytes(), mark, path.with_name("damaged.gram")


@settings(max_examples=400)
@given(data=st.data())
def test_flipped_bits_are_found_or_change_nothing(small, data):
    content, mark, path = small
    damaged = bytearray(content)
    where = st.tuples(st.integers(0, len(content) - 1), st.integers(1, 255))
    for position, bits in data.draw(st.lists(where, min_size=1, max_size=3)):
        damaged[position] ^= bits
    path.write_bytes(damaged)
    try:
        twin = gramian.load(path)
    except ModelFileError as error:
        assert str(path) in str(error)  # noqa: PT017 (either outcome may be right)
    else:  # a time stamp, or an attribute that zip has and we do not
        assert fingerprint(twin) == mark


@settings(max_examples=100)
@given(data=st.data())
def test_truncated_file_is_found(small, data):
    content, _, path = small
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(ModelFileError, match=r"damaged|empty|no model file"):
        gramian.load(path)


@settings(max_examples=100)
@given(data=st.data())
def test_swapped_and_overwritten_stretches_are_found(small, data):
    content, mark, path = small
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), min_size=3, max_size=3)))
    a, b, c = cuts
    filling = data.draw(st.binary(max_size=40))
    path.write_bytes(content[:a] + content[b:c] + filling + content[a:b] + content[c:])
    try:
        assert fingerprint(gramian.load(path)) == mark
    except ModelFileError:
        return


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n", "is no model file of gramian"),
        (pickle.dumps({"a": 1}), "is no model file of gramian"),
        (b"PK\x03\x04" + bytes(100), "is damaged or cut short"),
    ],
)
def test_foreign_file_is_refused(content, match, tmp_path):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ModelFileError, match=match):
        gramian.load(tmp_path / "x")


def test_archive_of_numpy_is_refused(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.arange(3))
    with pytest.raises(ModelFileError, match=r"x.npz is a zip archive, but no model file"):
        gramian.load(tmp_path / "x.npz")


def test_missing_file_is_an_oserror(tmp_path):
    with pytest.raises(FileNotFoundError):
        gramian.load(tmp_path / "nowhere.gram")


# -- files that someone made by hand, with right checksums --------------------------------------


def forged(path, change, **members):
    """A file of a small model whose document went through ``change``."""
    body, content = _body(_small()[0])
    content = {**content, **members}
    body = {**body, "members": describe(content)}
    change(body)
    with open(path, "wb") as stream:
        write_archive(stream, body, content)
    return path


def without(body, name):
    """Take an entry out of the state."""
    pairs = body["model"]["state"]["dict"]
    pairs.remove(next(pair for pair in pairs if pair[0] == name))


def parameter(name, value):
    return lambda body: body["model"]["parameters"].update({name: value})


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda body: body.update(format_version=2), "has format 2, .* Install a newer gramian"),
        (lambda body: body.update(format="other"), "no model file of gramian, but of 'other'"),
        (lambda body: body["model"].update({"class": "Popen"}), "'Popen', which this version"),
        (parameter("C", {"lambda": "1"}), "'lambda', which this version"),
        (parameter("C", {"record": ["Path", {}]}), "'Path', which this version"),
        (parameter("C", {"record": ["Selection", {"a": 1}]}), "does not fit gramian"),
        (parameter("C", {"array": "arrays/99.npy"}), "has no array arrays/99.npy"),
        (parameter("C", {"a": 1, "b": 2}), "does not fit gramian"),
        (parameter("unheard", 1), "does not fit gramian .*unheard"),
        (lambda body: body["model"].update(state={"dict": []}), "the state lacks X, declared"),
        (lambda body: body["model"].update(state=None), "holds a model that is not fitted"),
        (lambda body: without(body, "weights"), "the state lacks weights"),
        (lambda body: body["model"].pop("class"), "does not fit gramian"),
        (lambda body: body.pop("members"), "is damaged"),
        (lambda body: body["members"].popitem(), "its members are not those"),
    ],
)
def test_forged_document_is_refused(change, match, tmp_path):
    with pytest.raises(ModelFileError, match=match):
        gramian.load(forged(tmp_path / "x", change))


def _npy(descr, shape, data=b""):
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize(
    "array",
    [
        _npy("<f8", (10**12,)),
        _npy("<f8", (-1, -8), bytes(64)),
        _npy("<U0", (10**12,)),
        _npy("|O", (1,), pickle.dumps([print])),
        _npy([("a", "<f8")], (1,), bytes(8)),
        b"\x93NUMPY\x02\x00",
        b"no array",
        b"",
    ],
)
def test_forged_array_is_refused(array, tmp_path):
    change = parameter("C", {"array": "arrays/forged.npy"})
    path = forged(tmp_path / "x", change, **{"arrays/forged.npy": array})
    with pytest.raises(ModelFileError):
        gramian.load(path)


def test_sparse_samples_with_a_width_for_each_feature(tmp_path):
    model = LeastSquaresSVC(gamma=[0.5, 1.0, 2.0], C=4.0)
    X, y = make_samples(model)
    rows = sparse.csr_array(X)
    gramian.save(model.fit(rows, y), tmp_path / "m.gram")
    found = gramian.load(tmp_path / "m.gram").decision_function(rows)
    np.testing.assert_array_equal(found, model.decision_function(rows))


def test_forged_sparse_indices_are_refused(tmp_path):
    arrays = {"data": np.ones(2), "indices": np.array([0, 10**6]), "indptr": np.array([0, 2])}
    members = {f"arrays/{name}.npy": array_bytes(array) for name, array in arrays.items()}
    csr = {"shape": [1, 3], "matrix": False, **{name: f"arrays/{name}.npy" for name in arrays}}
    path = forged(tmp_path / "x", parameter("C", {"csr": csr}), **members)
    with pytest.raises(ModelFileError, match="indices"):
        gramian.load(path)


def test_compressed_member_is_refused(small):
    content, _, path = small
    path.write_bytes(content)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
        comment = archive.comment
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
        archive.comment = comment
    with pytest.raises(ModelFileError, match=r"model.json is compressed"):
        gramian.load(path)


def test_array_that_differs_from_its_checksum_is_refused(tmp_path):
    body, members = _body(_small()[0])
    members["arrays/0.npy"] = members["arrays/0.npy"][:-1] + b"\x00"
    with open(tmp_path / "x", "wb") as stream:
        write_archive(stream, body, members)
    with pytest.raises(ModelFileError, match=r"arrays/0.npy is not as it was written"):
        gramian.load(tmp_path / "x")


def test_canonical_json_has_one_form():
    assert canonical_json({"b": [1, 0.1], "a": "ü"}) == b'{"a":"\\u00fc","b":[1,0.1]}'


def _forms(word):
    return [word.encode(), word.encode("utf-32-le")]
