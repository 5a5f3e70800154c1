# Everything runs in .venv, made on first use; python3 and make are all that must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEVICE_TESTS := $(wildcard tests/*/test_device.py tests/*/*/test_device.py)
# A worker takes tests from another that is behind. With several threads of BLAS each, they would wait in turn.
SIDE_BY_SIDE := -q -p no:cacheprovider -n auto --dist worksteal
SELECT ?= -m 'not slow'
COVERED := */gramian/core/*,*/gramian/discriminant/*,*/gramian/ellipsoidal/*,*/gramian/fisher/*,*/gramian/orthogonal/*,*/gramian/stack/*,*/gramian/svm/*
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help run serve-demo test browser coverage torture lint doctest bench test-gpu bench-gpu reproduce docs dist ci clean

test coverage: export OMP_NUM_THREADS := 1
test coverage: export OPENBLAS_NUM_THREADS := 1
test coverage: export MKL_NUM_THREADS := 1

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/core.stamp ## learn, forget and compare with a refit, on data that ships with scikit-learn
	$(BIN)/python examples/quickstart.py

serve-demo: $(VENV)/serve.stamp ## serve a store of the handwritten digits on this machine
	$(BIN)/python examples/serve_demo.py

test: $(VENV)/test.stamp ## run the tests but the slow ones, in as many processes as there are cores; SELECT= for all
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) $(SELECT) $(MEASURE) --ignore=tests/browser tests

browser: $(VENV)/browser.stamp ## test the pages in a real browser: Chromium must be installed
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/browser

coverage: MEASURE := --cov --cov-report=
coverage: SELECT :=
coverage: test ## run all tests and list the lines they miss; the core and the families must have next to none
	$(BIN)/coverage report
	$(BIN)/coverage report --precision=2 --fail-under=99.9 --include='$(COVERED)'

torture: $(VENV)/test.stamp ## attack what the documentation promises: about 20 minutes; SEED=1 for others; writes docs/reliability.md
	$(BIN)/python -m tests.matrix
	$(BIN)/python -m tests.torture --seed $(or $(SEED),0) --page

lint: $(VENV)/test.stamp ## check style, types and import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	.ci/types $(BIN)
	$(BIN)/lint-imports

doctest: $(VENV)/test.stamp ## run the examples in docstrings and documentation
	$(BIN)/python -m pytest --doctest-modules --doctest-glob='*.md' \
	    --ignore=src/gramian/core/arrays/_device.py --ignore=src/gramian/core/arrays/_torch.py \
	    src/gramian $(wildcard README.md PACKAGE.md docs/*.md docs/*/*.md)

bench: $(VENV)/cli,dask,plot.stamp ## measure speed and accuracy against refits and peers
	$(BIN)/python -m evidence bench

test-gpu: ## run the tests of models on a device, with the python that has torch: PYTHON=python3
	SCIPY_ARRAY_API=1 PYTHONPATH=src $(PYTHON) -m pytest -q -p no:cacheprovider -rs $(DEVICE_TESTS)

bench-gpu: ## measure fits, edits and leave-one-out on a GPU, with the python that has torch
	PYTHONPATH=src $(PYTHON) -m evidence gpu

reproduce: $(VENV)/cli,plot.stamp ## the papers' tables and figures, on one page: an hour or two on two cores
	$(BIN)/python -m evidence papers -o reports/reproduce.html

docs: $(VENV)/docs.stamp ## build the documentation, warnings as errors
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

dist: $(VENV)/core.stamp ## build a wheel and an sdist, and try each in a fresh environment
	$(PIP) build
	.ci/dist

ci: ## all that a change must pass
	.ci/run

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist docs/_build docs/auto_examples docs/api/generated src/*.egg-info
	rm -rf .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# A stamp says that .venv holds the package (editable) with one extra, as pyproject.toml has it.
$(VENV)/core.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/%.stamp: $(VENV)/core.stamp
	$(PIP) --editable ".[$*]"
	@touch $@
