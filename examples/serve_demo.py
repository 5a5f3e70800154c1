"""Serve a store of the handwritten digits on this computer, and print requests to try."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_digits

from gramian import KernelDiscriminant
from gramian.serve import run
from gramian.store import Store

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--port", type=int, default=8080)
port = parser.parse_args().port

X, y = load_digits(return_X_y=True)
X /= 16.0
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "digits.store"
    Store.create(path, KernelDiscriminant(gamma=0.1, ridge=0.01).fit(X[:-1], y[:-1])).close()
    rows = {"inputs": [{"name": "X", "shape": [1, 64], "datatype": "FP64", "data": X[-1].tolist()}]}
    infer, learn = Path(folder) / "infer.json", Path(folder) / "learn.json"
    infer.write_text(json.dumps({**rows, "parameters": {"probabilities": True}}))
    learn.write_text(json.dumps({**rows, "targets": y[-1:].tolist()}))
    model = f"http://127.0.0.1:{port}/v2/models/digits"
    print(
        f"""
{len(X) - 1} digits are held; the last of the dataset, an {y[-1]}, is not. In another terminal:

curl -s {model}/infer --json @{infer}
curl -s {model}/learn --json @{learn}
curl -s {model}/forget --json '{{"ids": [{len(X) - 1}]}}'
curl -s {model}/receipts?after=1
curl -s {model}/audit --json '{{"refit": true}}'
""",
        file=sys.stderr,
    )
    run(path, port=port)
