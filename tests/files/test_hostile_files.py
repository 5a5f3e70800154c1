"""Files that someone made to do harm: refused with a clear word, at no cost."""

import hashlib
import json
import struct
import subprocess
import sys
import tracemalloc
import zlib

import numpy as np
import pytest
from scipy import sparse

import gramian
from gramian import (
    EllipsoidalFuzzyClassifier,
    KernelDiscriminant,
    LeastSquaresSVC,
    OrthogonalKernelClassifier,
    StackedKernelClassifier,
)
from gramian.files import ModelFileError
from gramian.files._archive import describe, write_archive
from gramian.files._arrays import array_bytes
from gramian.files._models import _body
from gramian.files._validate import check_state
from tests.estimators.conftest import make_samples
from tests.torture import files


def write(path, body, members):
    with open(path, "wb") as stream:
        write_archive(stream, {**body, "members": describe(members)}, members)
    return path


@pytest.fixture
def parts():
    """The document and the arrays of a small model."""
    X, y = make_samples(LeastSquaresSVC(), 6)
    return _body(LeastSquaresSVC(gamma=0.5, C=4.0).fit(X, y))


def public(body):
    (pairs,) = [v["dict"] for k, v in body["model"]["state"]["dict"] if k == "public"]
    return pairs


# -- structure ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("indptr", lambda a: a * (np.arange(len(a)) < len(a) - 1)),
        ("indptr", lambda a: a[::-1]),
        ("indptr", lambda a: a + 1),
        ("indptr", lambda a: a[:-1]),
        ("indptr", lambda a: a.astype(float)),
        ("indptr", lambda a: a.astype(np.int16)),
        ("indices", lambda a: a + 10**6),
        ("indices", lambda a: a - 1),
        ("indices", lambda a: a[:-1]),
        ("data", lambda a: a[:-1]),
        ("data", lambda a: a * np.nan),
        ("data", lambda a: a.astype("<i8")),
    ],
)
def test_sparse_samples_that_do_not_hold_together(part, change, tmp_path):
    X, y = make_samples(LeastSquaresSVC(), 6)
    model = LeastSquaresSVC(gamma=0.5, C=4.0).fit(sparse.csr_array(X), y)
    body, members = _body(model)
    (csr,) = [v["csr"] for k, v in body["model"]["state"]["dict"] if k == "X"]
    members[csr[part]] = array_bytes(change(getattr(model.X_fit_, part)))
    with pytest.raises(ModelFileError, match="holds no valid model"):
        gramian.load(write(tmp_path / "x", body, members))


def test_unsorted_indices_are_sorted(tmp_path):
    X, y = make_samples(LeastSquaresSVC(), 6)
    messy = sparse.csr_array(X)
    indices = messy.indices.reshape(6, 3)[:, ::-1].ravel()
    messy = sparse.csr_array((messy.data.reshape(6, 3)[:, ::-1].ravel(), indices, messy.indptr))
    model = LeastSquaresSVC(gamma=0.5, C=4.0).fit(messy, y)
    gramian.save(model, tmp_path / "x")
    twin = gramian.load(tmp_path / "x")
    assert twin.X_fit_.has_sorted_indices
    np.testing.assert_allclose(twin.X_fit_.toarray(), X)


@pytest.mark.parametrize("name", ["predict", "_rows", "__class__", "coef_", "n_iter_"])
def test_attribute_that_the_class_does_not_learn(name, parts, tmp_path):
    body, members = parts
    public(body).append([name, 1])
    with pytest.raises(ModelFileError, match=f"public has {name}, which this version"):
        gramian.load(write(tmp_path / "x", body, members))


@pytest.mark.slow
def test_altered_files_are_refused_or_good_for_use():
    counts, failures = files.main(seed=1, n=300)
    assert not failures
    assert sum(counts.values()) == 300
    assert counts["used"] > 10


# -- size ---------------------------------------------------------------------------------------


def peak_of_loading(path):
    """Bytes that a refused file took at most."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError) as caught:
            gramian.load(path)
        return tracemalloc.get_traced_memory()[1], str(caught.value)
    finally:
        tracemalloc.stop()


def test_members_that_overlap_are_not_read(tmp_path):
    """Each stored member holds all that follow: 3 GiB in a file of 2 MiB."""
    mark, count, data = b"gramian model, sha256 of model.json: ", 1500, bytes(2**21)
    sizes = []
    for i in reversed(range(count)):
        name = b"arrays/%d.npy" % i
        sizes.append((name, len(data)))
        head = (0x04034B50, 20, 0, 0, 0, 33, 0, len(data), len(data), len(name), 0)
        data = struct.pack("<IHHHHHIIIHH", *head) + name + data
    listed = {name.decode(): {"size": size, "sha256": ""} for name, size in sizes}
    facts = {"format": "gramian model", "format_version": 1, "gramian": "1", "members": listed}
    text, parts, offset = json.dumps(facts).encode(), [], 0
    for name, size in reversed(sizes):
        parts.append((name, size, 0, offset))
        offset += 30 + len(name)
    parts.append((b"model.json", len(text), zlib.crc32(text), len(data)))
    head = (0x04034B50, 20, 0, 0, 0, 33, parts[-1][2], len(text), len(text), 10, 0)
    data += struct.pack("<IHHHHHIIIHH", *head) + b"model.json" + text
    central = b"".join(
        struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 0, 0, 33, crc, size, size,
                    len(name), 0, 0, 0, 0, 0, at) + name
        for name, size, crc, at in parts
    )  # fmt: skip
    comment = mark + hashlib.sha256(text).hexdigest().encode()
    end = (0x06054B50, 0, 0, count + 1, count + 1, len(central), len(data), len(comment))
    path = tmp_path / "x"
    path.write_bytes(data + central + struct.pack("<IHHHHIIH", *end) + comment)
    peak, said = peak_of_loading(path)
    assert "its members take" in said
    assert peak < 2**25


@pytest.mark.parametrize(
    "scalar",
    [["S2000000000", "a"], ["<U400000000", "a"], ["V2000000000", 0], ["<f8", [0] * 9], ["O", "a"]],
)
def test_type_of_a_scalar_is_bounded(scalar, parts, tmp_path):
    body, members = parts
    body["model"]["parameters"]["C"] = {"scalar": scalar}
    peak, _ = peak_of_loading(write(tmp_path / "x", body, members))
    assert peak < 10**6


def test_array_is_named_once(parts, tmp_path):
    body, members = parts
    members["arrays/large.npy"] = array_bytes(np.zeros(10**5))
    many = [{"array": "arrays/large.npy"}] * 300
    body["model"]["parameters"]["kernel_params"] = {"dict": [["a", many]]}
    peak, message = peak_of_loading(write(tmp_path / "x", body, members))
    assert "names it twice" in message
    assert peak < 10 * 800_000


def test_array_that_nobody_uses(parts, tmp_path):
    body, members = parts
    members["arrays/more.npy"] = array_bytes(np.zeros(3))
    with pytest.raises(ModelFileError, match=r"arrays that are of no use: \['arrays/more.npy'\]"):
        gramian.load(write(tmp_path / "x", body, members))


@pytest.mark.parametrize("where", ["after", "before", "within the comment"])
def test_bytes_that_belong_to_nothing(where, parts, tmp_path):
    content = write(tmp_path / "x", *parts).read_bytes()
    more = {
        "after": content + b"more",
        "before": b"PK\x03\x04more" + content,
        "within the comment": content[:-70] + b"x" + content[-70:],
    }
    (tmp_path / "x").write_bytes(more[where])
    with pytest.raises(ModelFileError, match="is damaged"):
        gramian.load(tmp_path / "x")


# -- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize("deep", [60, 900, 100_000])
def test_nested_too_deeply(deep, parts, tmp_path):
    body, members = parts
    text = json.dumps({**body, "format": "gramian model", "format_version": 1, "gramian": "9"})
    marked = text.replace('"C": 4.0', '"C": ' + "[" * deep + "]" * deep)
    assert marked != text
    _write_text(tmp_path / "x", marked, members)
    with pytest.raises(ModelFileError, match="nested too deeply"):
        gramian.load(tmp_path / "x")


def _write_text(path, text, members):
    """A file whose document is this text, with its checksum."""
    import zipfile
    from hashlib import sha256

    with zipfile.ZipFile(path, "w") as archive:
        for name, content in [("model.json", text.encode()), *members.items()]:
            archive.writestr(zipfile.ZipInfo(name), content)
        digest = sha256(text.encode()).hexdigest()
        archive.comment = f"gramian model, sha256 of model.json: {digest}".encode()


HARMFUL = "\x1b]0;owned\x07\x9b31m\u202e" + "A" * 10**6


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.update(format_version=2, gramian=HARMFUL),
        lambda body: body.update(format=HARMFUL),
        lambda body: body.update(gramian=HARMFUL, model={}),
        lambda body: body["model"].update({"class": HARMFUL}),
        lambda body: body["model"]["parameters"].update({HARMFUL: 1}),
        lambda body: body["model"]["parameters"].update(kernel=HARMFUL),
        lambda body: body["model"]["parameters"].update(C={"array": HARMFUL}),
        lambda body: body["model"]["parameters"].update(C={HARMFUL: 1}),
        lambda body: public(body).append([HARMFUL, 1]),
    ],
)
def test_words_of_a_file_are_cleaned_and_cut(change, parts, tmp_path):
    body, members = parts
    change(body)
    with pytest.raises(ModelFileError) as caught:
        gramian.load(write(tmp_path / "x", body, members))
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 700 + len(str(tmp_path))


@pytest.mark.slow
def test_loaded_in_another_process_without_a_crash(tmp_path):
    """An `indptr` that ends at 0 crashed the interpreter."""
    X, y = make_samples(KernelDiscriminant(), 6)
    body, members = _body(KernelDiscriminant(gamma=0.5, ridge=0.1).fit(sparse.csr_array(X), y))
    (csr,) = [v["csr"] for k, v in body["model"]["state"]["dict"] if k == "X"]
    members[csr["indptr"]] = array_bytes(np.array([0, 3, 6, 9, 12, 15, 0], dtype=np.int32))
    write(tmp_path / "x", body, members)
    code = "import gramian, sys; gramian.load(sys.argv[1]).predict([[0.0, 0.0, 0.0]])"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "x"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "indptr of a sparse matrix does not ascend" in done.stderr


# -- what was chosen ----------------------------------------------------------------------------

PART = ("public", "parts_", 0)


def altered(state, path, value):
    """The state with another value at a path; the containers on the way are copied."""
    if not path:
        return value
    copy = state.copy() if isinstance(state, dict) else list(state)
    copy[path[0]] = altered(state[path[0]], path[1:], value)
    return copy


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        (("public", "weights_"), np.array([1.0, -1.0]), "weights_ has a number below 0"),
        (("public", "weights_"), np.ones(3), "weights_ has shape"),
        (("public", "offset_"), np.zeros(2), "offset_ has shape"),
        (("public", "parts_"), [], "parts_ has 0 entries, not 2"),
        (("parts",), [], "the parts has 0 entries, not 2"),
        (PART, {}, "a part lacks"),
        ((*PART, "kernel"), "laplacian", "kernel_ is 'laplacian', which the parameters"),
        ((*PART, "gamma"), -1.0, "gamma_ is -1"),
        ((*PART, "C"), 0.0, "C_ is 0"),
        ((*PART, "metric"), np.ones(3), "metric_ is there without the parameter"),
        ((*PART, "selection"), 3, "selection_ is a int"),
        (("public", "parts_", 1, "metric"), None, "metric_ is there without"),
        (("public", "parts_", 1, "metric"), np.ones(2), "metric_ has shape"),
        (("public", "parts_", 1, "metric"), np.zeros(3), "factors below 0, or none above"),
        (("parts", 0), {}, "a part lacks coefficients"),
        (("parts", 0, "coefficients"), (np.zeros(1), np.zeros((5, 1))), "coefficients has shape"),
    ],
    ids=str,
)
def test_parts_of_a_stack_that_do_not_hold_together(path, value, match):
    model = StackedKernelClassifier(("rbf", "laplacian+diagonal"), gamma=0.5, C=4.0, weights=1.0)
    state = model.fit(*make_samples(model, 6))._get_state()
    check_state(model, state)
    with pytest.raises(ModelFileError, match=match):
        check_state(model, altered(state, path, value))


@pytest.mark.filterwarnings("ignore::gramian.ChoiceWarning")
@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("kernel_", "linear", "kernel_ is 'linear', which the parameters do not allow"),
        ("kernel_", None, "kernel_ is 'None', which the parameters do not allow"),
        ("metric_", None, "metric_ is there without the parameter metric, or missing with it"),
        ("metric_", -np.ones(3), "metric_ has factors below 0"),
    ],
)
def test_a_choice_that_could_not_be(name, value, match):
    model = LeastSquaresSVC("loo", metric="diagonal", random_state=0)
    state = model.fit(*make_samples(model, 12))._get_state()
    with pytest.raises(ModelFileError, match=match):
        check_state(model, altered(state, ("public", name), value))


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        (("slopes",), np.array([1.0, 0.0]), "slopes are not all positive"),
        (("slopes",), np.array([1.0, -2.0]), "slopes are not all positive"),
        (("slopes",), np.ones(3), "slopes has shape"),
        (("kept",), {0: ()}, "is not for the classes that the samples have"),
        (("kept",), {0: (), 1: (1,)}, "classes has .0, 1. entries"),
        (("kept",), {0: (1,), 1: (1,)}, "classes has .1. entries"),
        (("kept", 0, 0), np.array([1, 0]), "a basis of a class is not in ascending order"),
        (("kept", 0, 0), np.array([1, 1]), "a basis of a class is not in ascending order"),
        (("public", "cv_scores_"), [1.0], "cv_scores_ is no dict"),
    ],
    ids=str,
)
def test_regions_that_do_not_hold_together(path, value, match):
    model = EllipsoidalFuzzyClassifier(gamma=0.5, distance="svd")
    state = model.fit(*make_samples(model, 8))._get_state()
    coordinates = np.ones((4, 2))
    state["kept"] = {label: (np.array([0, 1]), coordinates) for label in (0, 1)}
    check_state(model, state)
    with pytest.raises(ModelFileError, match=match):
        check_state(model, altered(state, path, value))


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        (("bases", 0, "live", "U"), lambda U: np.triu(U, 1), "U of a basis is singular"),
        (("bases", 0, "outputs"), lambda names: names + 1, "are not one for each class or target"),
        (("bases", 0, "outputs"), lambda names: names[[0, 0, 1]], "are not one for each class"),
        (("bases", 0, "outputs"), lambda names: names.astype(str), "are not one for each class"),
    ],
)
def test_bases_that_do_not_hold_together(path, value, match):
    model = OrthogonalKernelClassifier(gamma=0.5, ridge=0.1, max_basis=4)
    state = model.fit(*make_samples(model, 12, classes=3))._get_state()
    check_state(model, state)
    there = state
    for key in path:
        there = there[key]
    with pytest.raises(ModelFileError, match=match):
        check_state(model, altered(state, path, value(there)))


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_a_width_below_0_is_refused_and_others_are_not(store):
    model = LeastSquaresSVC(gamma=0.5, C=4.0)
    X, y = make_samples(model, 6)
    state = model.fit(store(X), y)._get_state()
    check_state(model, altered(state, ("public", "gamma_"), np.array([0.5, 0.0, 2.0])))
    with pytest.raises(ModelFileError, match="gamma_ has a width below 0"):
        check_state(model, altered(state, ("public", "gamma_"), np.array([0.5, -1.0, 0.5])))
