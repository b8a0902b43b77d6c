# Everything runs in a virtual environment that this file makes: plain python3 -m venv and pip.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip
INSTALL := $(PIP) install --quiet --constraint constraints.txt
SETUP := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test lint docs bench reproduce clean

# What 'make reproduce' runs, such as EXPERIMENTS=genkin2007/table1.
EXPERIMENTS ?= --all

help: ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 8

demo: $(VENV)/.package ## Install the package and run its main task on the embedded corpus
	$(VENV)/bin/bayesift demo

test: $(VENV)/.test ## Install what the tests need and run the whole suite
	$(VENV)/bin/python -m pytest --numprocesses 2 --dist worksteal

lint: $(VENV)/.lint ## Check formatting, lint, types and import layers
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/python tools/private_imports.py

docs: $(VENV)/.docs ## Build the documentation into docs/_build/html
	$(VENV)/bin/sphinx-build --fail-on-warning --keep-going -b html docs docs/_build/html

bench: $(VENV)/.bench ## Compare speed with other programs (needs the collections, see BAYESIFT_DATA)
	$(VENV)/bin/python -m benchmarks

reproduce: $(VENV)/.reproduce ## Repeat the published experiments (40 minutes); EXPERIMENTS=genkin2007/table1 runs one
	$(VENV)/bin/python -m reproduction $(EXPERIMENTS) --output build/reproduction

clean: ## Remove the virtual environment and everything built
	rm -rf $(VENV) build dist docs/_build docs/api docs/auto_gallery

# pip older than 25.1 does not know dependency groups.
$(VENV)/.pip:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.package: $(VENV)/.pip $(SETUP)
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.package
	$(INSTALL) --editable '.[plot,frames,review,postgresql,onnx]' --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(INSTALL) --group lint
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(INSTALL) --group bench
	@touch $@

$(VENV)/.reproduce: $(VENV)/.test
	$(INSTALL) --group peers
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(INSTALL) --group docs
	@touch $@
