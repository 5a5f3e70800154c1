"""
Check a receipt without Gramian
===============================

A verifier of its own for receipts of a store: the standard library, and ``cryptography`` for
signatures. It follows docs/receipts.md and shares no code with the package. ::

    gramian store proof customers.store 2 -o one.json
    python verify_receipt.py one.json --public-key key.pub --head 603e5b0d…

It checks one receipt against the head of its chain by a few hashes, or a whole chain, as
``gramian store receipts STORE --json`` prints it.
"""

import argparse
import hashlib
import json
import sys

FIRST = "0" * 64
CHANGE = {"create": 1, "learn": 1, "forget": -1, "relabel": 0, "reselect": 0,
          "withhold": -1, "return": 1, "erase": 0, "restore": -1}  # fmt: skip
NOT_HASHED = ("hash", "signature", "state")


class Wrong(Exception):
    """Something that is not as the format says."""


def sha256(content):
    return hashlib.sha256(content).digest()


def receipt_hash(receipt):
    """SHA-256 of the facts as JSON: keys sorted, no spaces, ASCII."""
    facts = {name: value for name, value in receipt.items() if name not in NOT_HASHED}
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    found = hashlib.sha256(text.encode()).hexdigest()
    if receipt.get("hash", found) != found:
        raise Wrong(f"receipt {receipt['number']} has another hash than it says")
    return found


# -- the Merkle tree of RFC 9162 ----------------------------------------------------------------


def leaf(digest):
    return sha256(b"\0" + bytes.fromhex(digest))


def node(left, right):
    return sha256(b"\1" + left + right)


def tree_root(leaves):
    """Root of a list of leaves; the left half is the largest power of two below their number."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while 2 * half < len(leaves):
        half *= 2
    return node(tree_root(leaves[:half]), tree_root(leaves[half:]))


def root_of_path(digest, number, size, path):
    """The root to which a path leads from leaf ``number`` of ``size``, by recursion on the tree."""
    if size == 1:
        if path:
            raise Wrong("the path is too long")
        return leaf(digest)
    if not path:
        raise Wrong("the path is too short")
    half = 1
    while 2 * half < size:
        half *= 2
    *inner, last = path
    if number < half:
        return node(root_of_path(digest, number, half, inner), bytes.fromhex(last))
    return node(bytes.fromhex(last), root_of_path(digest, number - half, size - half, inner))


# -- checks -------------------------------------------------------------------------------------


def check_signature(receipt, digest, public_key):
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if receipt["public_key"] != public_key:
        raise Wrong(f"receipt {receipt['number']} names the key {receipt['public_key']}")
    try:
        signature = bytes.fromhex(receipt["signature"] or "")
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(
            signature, bytes.fromhex(digest)
        )
    except (InvalidSignature, ValueError):
        raise Wrong(f"receipt {receipt['number']} is not signed by {public_key}") from None


def check_proof(proof, public_key):
    """One receipt, the head of its chain, and the path between them; returns the head's hash."""
    receipt, head, path = proof["receipt"], proof["head"], proof["path"]
    ours, last = receipt_hash(receipt), receipt_hash(head)
    number, size = receipt["number"], head["number"]
    if number == size:
        if ours != last or path:
            raise Wrong("the receipt is not the head")
    elif not 0 <= number < size:
        raise Wrong("the receipt comes after the head")
    elif root_of_path(ours, number, size, path).hex() != head["tree"]:
        raise Wrong("the receipt is not in the chain of the head")
    if public_key:
        check_signature(receipt, ours, public_key)
        check_signature(head, last, public_key)
    return last


def check_chain(receipts, public_key):
    """Every receipt of a store, from its creation on; returns the hash of the last."""
    previous, leaves, rows, time = FIRST, [], 0, ""
    for number, receipt in enumerate(receipts):
        digest = receipt_hash(receipt)
        after = rows + CHANGE[receipt["action"]] * receipt["count"]
        expected = {
            "number": number,
            "previous": previous,
            "tree": tree_root(leaves).hex(),
            "n_before": rows,
            "n_after": after,
        }
        for name, value in expected.items():
            if receipt[name] != value:
                raise Wrong(f"receipt {number}: {name} is {receipt[name]}, not {value}")
        if receipt["time"] < time:
            raise Wrong(f"receipt {number} is older than the one before")
        if public_key:
            check_signature(receipt, digest, public_key)
        previous, rows, time = digest, after, receipt["time"]
        leaves.append(leaf(digest))
    return previous


def read_key(text):
    """64 hexadecimal digits, or the path of a PEM file."""
    if text is None or len(text) == 64:
        return text
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    with open(text, "rb") as stream:
        return load_pem_public_key(stream.read()).public_bytes_raw().hex()


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Check a receipt of a store.")
    parser.add_argument("file", help="JSON of `gramian store proof` or `store receipts --json`")
    parser.add_argument("--public-key", help="PEM file or 64 hexadecimal digits")
    parser.add_argument("--head", help="hash of the last receipt, as you know it from elsewhere")
    given = parser.parse_args(arguments)
    with open(given.file, encoding="utf-8") as stream:
        facts = json.load(stream)
    key = read_key(given.public_key)
    try:
        if "receipts" in facts:
            head = check_chain(facts["receipts"], key)
        else:
            head = check_proof(facts, key)
        if given.head and given.head != head:
            raise Wrong(f"the head is {head}")
    except (Wrong, KeyError, TypeError, ValueError) as error:
        print(f"WRONG: {error}")
        return 1
    print(f"right; the head of the chain is {head}" + (", signed" if key else ", not signed"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
