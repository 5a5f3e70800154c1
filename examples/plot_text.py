"""
Sparse text
===========

Word counts are sparse, and the estimators take them as CSR matrices. The model finds letters that
were filed wrongly, and forgets them exactly, like any other samples.
"""

# %%
# A small corpus of letters to a shop, made of a few words. One in ten is filed wrongly.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from gramian import LeastSquaresSVC
from gramian.data import label_issues

rng = np.random.default_rng(0)
topics = {
    "delivery": "parcel late courier address lost waiting week arrived door tracking",
    "payment": "invoice card refund charged twice bank amount receipt transfer price",
    "quality": "broken scratched colour torn loose returned faulty size screw sewn",
}
common = "please the my order hello still since thanks would again number about"


def letter(topic):
    own = rng.choice(topics[topic].split(), rng.integers(1, 5))
    other = rng.choice(" ".join(topics.values()).split(), 2)
    return " ".join(rng.permutation([*own, *other, *rng.choice(common.split(), 6)]))


truth = rng.choice(list(topics), 300)
letters = [letter(topic) for topic in truth]
filed = truth.copy()
wrong = rng.choice(200, 20, replace=False)
filed[wrong] = [rng.choice([t for t in topics if t != truth[i]]) for i in wrong]

# %%
# One row of words for each letter, most of them zeros.
X = TfidfVectorizer().fit_transform(letters)
model = LeastSquaresSVC(kernel="rbf").fit(X[:200], filed[:200])
print(f"{X.nnz / np.prod(X.shape):.0%} of {X.shape[1]} words occur in a letter")
print(f"accuracy {model.score(X[200:], truth[200:]):.3f} on 100 new letters")

# %%
# The most doubtful letters; those filed wrongly are orange.
issues = label_issues(model, top=15)
planted = np.isin(issues.ids, wrong)
_, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.barh(range(15), issues.probability, color=np.where(planted, "#D55E00", "#BBBBBB"))
names = [f"{a} → {b}" for a, b in zip(issues.given, issues.suggested, strict=True)]
ax.set(yticks=range(15), yticklabels=names, xlabel="probability that it is filed wrongly")
ax.invert_yaxis()
plt.show()

# %%
# Forget those, and only those.
model.forget(issues.ids[planted])
print(f"accuracy {model.score(X[200:], truth[200:]):.3f} without {planted.sum()} letters")
