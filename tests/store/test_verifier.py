"""The verifier of examples/, which shares no code with the package, agrees with it."""

import importlib.util
import json
from pathlib import Path

import pytest

from gramian.store import Store
from tests.store.conftest import fitted, make_rows

SOURCE = Path(__file__).parents[2] / "examples" / "verify_receipt.py"


@pytest.fixture(scope="module")
def verifier():
    spec = importlib.util.spec_from_file_location("verify_receipt", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Key, proofs of every receipt to heads of every size, and the chain."""
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    key = ed25519.Ed25519PrivateKey.generate()
    X, y = make_rows()
    proofs = []
    with Store.create(tmp_path_factory.mktemp("s") / "a", fitted(X[:30], y[:30]), key=key) as store:
        for i in range(9):
            store.forget(i)
            proofs += [store.proof(number).as_dict() for number in range(store.version + 1)]
        chain = [receipt.as_dict() for receipt in store.receipts()]
    return key.public_key().public_bytes_raw().hex(), proofs, chain


def test_it_is_short():
    lines = SOURCE.read_text().splitlines()
    assert len(lines) <= 200
    assert not [line for line in lines if "import" in line and "gramian" in line]


def test_what_is_right(verifier, signed, tmp_path, capsys):
    key, proofs, chain = signed
    for proof in proofs:
        assert verifier.check_proof(proof, key) == proof["head"]["hash"]
    assert verifier.check_chain(chain, key) == chain[-1]["hash"]
    file = tmp_path / "one.json"
    file.write_text(json.dumps(proofs[-3]))
    words = [str(file), "--public-key", key, "--head", chain[-1]["hash"]]
    assert verifier.main(words) == 0
    assert verifier.main([*words[:-1], "0" * 64]) == 1
    file.write_text(json.dumps({"receipts": chain}))
    assert verifier.main(words) == 0
    assert "right" in capsys.readouterr().out


def test_what_is_wrong(verifier, signed):
    key, proofs, chain = signed
    proof = proofs[-4]
    others = [
        {**proof, "path": proof["path"][:-1]},
        {**proof, "path": [*proof["path"], "0" * 64]},
        {**proof, "path": proof["path"][::-1]},
        {**proof, "receipt": {**proof["receipt"], "count": 2}},
        {**proof, "receipt": proofs[-1]["head"], "path": proof["path"]},
        {**proof, "head": {**proof["head"], "signature": "0" * 128}},
        {**proof, "receipt": chain[2]},
    ]
    for wrong in others:
        with pytest.raises(verifier.Wrong):
            verifier.check_proof(wrong, key)
    with pytest.raises(verifier.Wrong):
        verifier.check_proof(proof, "1" * 64)
    for wrong in (chain[1:], [*chain[:3], *chain[4:]], [*chain[:-2], chain[-1]]):
        with pytest.raises(verifier.Wrong):
            verifier.check_chain(wrong, key)
