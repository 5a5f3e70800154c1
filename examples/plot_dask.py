"""
More rows than fit into memory
==============================

The orthogonal estimators take Dask arrays: centres are chosen on some of the rows, and all rows are
summed chunk by chunk. Memory does not grow with the number of rows. Without Dask this example fits
the first rows in memory and says so.
"""

# %%
# Each worker generates its rows.
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np

from gramian import OrthogonalKernelRegressor

model = OrthogonalKernelRegressor(gamma=1.0, ridge=1e-3, max_basis=40)

if find_spec("dask") is None:
    print('No Dask here (pip install "gramian[dask]"): 2,000 rows in memory instead.')
    X = np.random.default_rng(0).standard_normal((2_000, 2))
    model.fit(X, np.sin(2 * X[:, 0]) + X[:, 1])
else:
    import dask.array as da

    X = da.random.default_rng(0).standard_normal((60_000, 2), chunks=(10_000, 2))
    model.fit(X, da.sin(2 * X[:, 0]) + X[:, 1])
    print(f"{model.n_rows_} rows learned, {len(model.ids_)} held, {model.n_basis_} centres")

# %%
# Queries from a grid, in memory.
line = np.linspace(-2.5, 2.5, 80)
grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
error = np.abs(model.predict(grid) - np.sin(2 * grid[:, 0]) - grid[:, 1])
print(f"largest error within one deviation {error[(np.abs(grid) < 1).all(axis=1)].max():.4f}")

# %%
# Where there were rows, the fit agrees with the true function.
_, ax = plt.subplots(figsize=(5, 3.8), layout="constrained")
image = ax.pcolormesh(line, line, np.log10(error.reshape(80, 80)), cmap="cividis")
plt.colorbar(image, label="log₁₀ of the error")
ax.set(xlabel="feature 0", ylabel="feature 1")
plt.show()
