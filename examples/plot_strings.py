"""
A kernel of your own: strings
=============================

Samples need not be vectors. Any positive definite measure of similarity works, given as a matrix:
here, how many triples of letters two strings share. The model learns and forgets as it does with
vectors.
"""

# %%
# Sequences of DNA, half of them with a motif somewhere, copied with errors.
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from gramian import KernelDiscriminant

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 300)


def sequence(has_motif):
    letters = rng.choice(list("ACGT"), 40)
    if has_motif:
        start = rng.integers(0, 30)
        motif = np.array(list("GATTACAGAT"))
        letters[start : start + 10] = np.where(rng.random(10) < 0.9, motif, letters[:10])
    return "".join(letters)


strings = [sequence(label) for label in y]

# %%
# The spectrum kernel: the cosine between the counts of triples.
counts = [Counter(s[i : i + 3] for i in range(len(s) - 2)) for s in strings]
triples = sorted(set().union(*counts))
rows = np.array([[count[triple] for triple in triples] for count in counts], dtype=float)
rows /= np.linalg.norm(rows, axis=1, keepdims=True)
K = rows @ rows.T

# %%
# ``kernel="precomputed"`` takes the matrix between samples; for queries, it takes their
# kernel values with the samples of the model.
train, test = np.arange(200), np.arange(200, 300)
model = KernelDiscriminant(kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
accuracy = model.score(K[np.ix_(test, train)], y[test])
print(f"accuracy by leave-one-out {model.loo_score():.2f}, on new sequences {accuracy:.2f}")

# %%
# After forgetting, queries need kernel values with the remaining samples, which ``ids_`` lists.
model.forget([0, 1, 2])
held = model.ids_
values = model.decision_function(K[np.ix_(test, held)])

# %%
# Decision values of 100 sequences that the model has not seen.
_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for label, name, color in ((0, "no motif", "#0072B2"), (1, "motif", "#E69F00")):
    ax.hist(
        values[y[test] == label], np.linspace(-1.2, 1.2, 25), color=color, alpha=0.7, label=name
    )
ax.set(xlabel="decision value", ylabel="sequences")
ax.legend()
plt.show()
