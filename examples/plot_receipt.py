"""
A deletion request, with a receipt
==================================

A person asks to be forgotten. The row is removed from the model and from the disk, the decision
values are those of a model that never saw it, and a receipt says so. Years later, an audit can
check that nothing was changed since.
"""

# %%
# A store of patients in a temporary folder. The width is given, so that nothing was chosen on them.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from gramian import KernelDiscriminant
from gramian.store import Store

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
ids = [f"patient-{i:03}" for i in range(400)]
model = KernelDiscriminant(gamma=0.02, ridge=0.1).fit(X[:400], y[:400], ids=ids)
folder = tempfile.TemporaryDirectory()
store = Store.create(Path(folder.name) / "patients.store", model)
before = store.decision_function(X[400:])

# %%
# The request: forget, and compare with a refit on those who remain.
receipt = store.forget(["patient-017"], verify=True)
print(f"{receipt.n_before} patients before, {receipt.n_after} after")
print(f"verified: {receipt.verified}, difference to a refit {receipt.difference:.0e}")
print(f"has still seen them: {', '.join(receipt.chosen_on_data) or 'nothing'}")

# %%
# The audit reads the file again and follows the chain of receipts.
for check in store.audit(refit=True).checks:
    print(f"{check.name:12} {'ok' if check.passed else 'FAILED'}")

# %%
# The effect of the patient's row on the decision values: a refit without it gives the same values.
without = np.arange(400) != 17
never = KernelDiscriminant(gamma=0.02, ridge=0.1).fit(X[:400][without], y[:400][without])
after, refit = store.decision_function(X[400:]), never.decision_function(X[400:])
_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.semilogy(np.abs(before - refit), ".", color="#D55E00", label="before")
ax.semilogy(np.abs(after - refit) + 1e-17, ".", color="#0072B2", label="after forgetting")
ax.set(xlabel="query", ylabel="|difference| to a model\nthat never saw the patient")
ax.legend()
plt.show()
store.close()
folder.cleanup()
