"""An attack on erasure in copies: who has all files of a server, and every key that is left.

``copies(seed, n)`` forgets ``n`` rows of a store on PostgreSQL, in batches. What it then holds
against the store: every file of the server's folder with its write-ahead log, the dumps that were
taken before each batch, copies as files, and the keyring as it is at the end. It opens pages of row
keys and rows by AES-GCM itself, as src/gramian/store/_seal.py describes them, without its code. The
control does the same with the keyrings that were put aside before each batch: all rows are read.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import gramian
from gramian.store import FileKeyring, Store
from tests.postgres import Server, missing

BATCHES, FEATURES = 10, 6


def copies(seed=0, n=1000):
    """Returns the number of rows, and what went wrong."""
    if reason := missing():
        return 0, [f"not tried: {reason}"]
    rng, server = np.random.default_rng(seed), Server(durable=True)
    try:
        with tempfile.TemporaryDirectory() as name:
            return n, list(_attack(rng, n, server, Path(name)))
    finally:
        server.remove()


def _attack(rng, n, server, folder):
    X = rng.standard_normal((n + 40, FEATURES))
    ids = [f"patient-{i:06d}" for i in range(n + 40)]
    y = np.where(X[:, 0] > 0, "ill", "well")
    model = gramian.KernelDiscriminant(gamma=0.2, ridge=0.1).fit(X, y, ids=ids)
    sealed, pages, dumps, kept = [], [], [], []
    with Store.create(server.url, model, keyring=folder / "keyring") as store:
        inner = store._backend._inner
        for batch in np.array_split(rng.permutation(n), BATCHES):
            dumps.append(server.dump())
            store.backup(folder / f"copy{len(dumps)}")
            pages += inner.keys().items()
            kept.append(FileKeyring(folder / "keyring").keys())
            names = [ids[i] for i in batch]
            sealed += [inner.row(store._index.places[name].number) for name in names]
            store.forget(names)
        ring = FileKeyring(folder / "keyring")
        left, pages = ring.keys(), [*pages, *inner.keys().items(), *ring.table().items()]
    server.stop()
    files = [path for path in (*server.folder.rglob("*"), *folder.iterdir()) if path.is_file()]
    texts = [*(path.read_bytes() for path in files), *dumps]
    patterns = [part for i in range(n) for part in (X[i].tobytes(), ids[i].encode())]
    yield from _plain(texts, patterns)
    there = sum(any(row in text for text in texts) for row in sealed[:50])
    if not there:
        yield "no ciphertext of an erased row was found: the search itself is wrong"
    found = _readable(sealed, pages, left, ring.store_id)
    if found:
        yield f"{found} of {n} erased rows can be read with what is left"
    aside = {epoch: key for keys in kept for epoch, key in keys.items()}
    control = _readable(sealed, pages, aside, ring.store_id)
    if control != n:
        yield f"with the old keys kept aside, {control} of {n} rows are read: the control fails"


def _plain(texts, patterns):
    """Bytes of erased rows, by the first eight of each pattern and then the whole of it."""
    starts = {pattern[:8] for pattern in patterns if not pattern.startswith(b"patient")}
    words = [pattern for pattern in patterns if pattern.startswith(b"patient")]
    for text in texts:
        if b"patient-" in text:
            yield from (f"{word!r} in a file" for word in words[:3] if word in text)
        whole = np.frombuffer(text, dtype=np.uint8)
        for shift in range(8):
            part = whole[shift : shift + (len(whole) - shift) // 8 * 8].view("<u8")
            wanted = np.frombuffer(b"".join(sorted(starts)), dtype="<u8")
            if np.isin(part, wanted).any():
                yield "features of an erased row in a file"


def _readable(sealed, pages, epoch_keys, store_id):
    """How many rows open with row keys from any page that opens with any epoch key."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    row_keys = {}
    for page, content in pages:
        head, nonce, body = content[:8], content[8:20], content[20:]
        context = b"gramian keys" + store_id + page.to_bytes(8, "big") + head
        for key in epoch_keys.values():
            try:
                plain = AESGCM(key).decrypt(nonce, body, context)
            except InvalidTag:
                continue
            for at in range(0, len(plain), 40):
                row_keys.setdefault(plain[at : at + 8], set()).add(plain[at + 8 : at + 40])
    count = 0
    for content in sealed:
        for key in row_keys.get(content[:8], ()):
            try:
                AESGCM(key).decrypt(bytes(12), content[8:], b"gramian row" + store_id + content[:8])
            except InvalidTag:
                continue
            count += 1
            break
    return count
