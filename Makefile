# Every target makes what it needs in .venv first, and does nothing twice.
#
#   make reproduce   whether each chapter still gives its expected output: seconds
#   make test        unit tests, properties and notebooks: minutes
#   make test-all    also the slow ones and those with a real browser
#   make lab         JupyterLab in notebooks/
#   make check       ruff and mypy
#   make notebooks   build the notebooks from notebooks/source/
#   make bench       costs, as ratios; fails where one is over its bound
#
# PYTHON=python3.12 chooses the Python for a new .venv.

# Paths stay relative: make cannot handle a space in a target, and the folder's name may hold one.
BIN := .venv/bin
ALL := sandbox,notebook,triggers,ledger,llm,dask,test,style
NOTEBOOKS = $(wildcard notebooks/*.ipynb)
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout=60 --nbval-sanitize-with notebooks/sanitize.cfg

# A moved checkout, whose installation points to the old folder, and one whose Python was removed are
# installed again.
ifneq ($(shell .venv/bin/python -c "" 2>/dev/null && cat .venv/folder 2>/dev/null),$(shell pwd))
.PHONY: .venv/core .venv/all
endif

export PYTHON

.PHONY: reproduce test test-all lab check notebooks bench help
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#   //p' Makefile

.venv/core: pyproject.toml constraints.txt .ci/venv
	@sh .ci/venv "" $@

.venv/all: pyproject.toml constraints.txt .ci/venv
	@sh .ci/venv "$(ALL)" $@
	@touch .venv/core

reproduce: .venv/core
	@$(BIN)/harness-kit reproduce

test: .venv/all
	@$(BIN)/python -m pytest -q -n logical --maxprocesses 4 --dist loadfile -m "not slow and not browser and not kernel" \
		tests $(if $(NOTEBOOKS),$(NBVAL) $(NOTEBOOKS))

test-all: .venv/all
	@$(BIN)/python -m pytest -q -m "slow or browser or kernel" tests

lab: .venv/all
	@$(BIN)/jupyter lab --notebook-dir notebooks

check: .venv/all
	@$(BIN)/ruff check .
	@$(BIN)/mypy --strict harness_kit

notebooks: .venv/all
	@$(BIN)/python notebooks/build.py

bench: .venv/all
	@status=0; for file in bench/*.py; do \
		echo "$$file"; $(BIN)/python "$$file" || status=1; \
	done; exit $$status
