# Everything runs in a virtual environment that this file makes: plain python3 -m venv and pip.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip
INSTALL := $(PIP) install --quiet --constraint constraints.txt
SETUP := pyproject.toml constraints.txt
EXTRAS := plot,frames,excel,review,postgresql,onnx

# Tests that together run every kernel that takes indices from outside.
KERNELS := tests/test_bounds.py tests/text/test_kernels.py tests/text/test_lexicon.py tests/text/test_scorer.py \
	tests/test_svmlight.py tests/datasets/test_csv_scan.py tests/linear/test_kernels.py tests/linear/test_multinomial_kernels.py \
	tests/linear/test_probit_kernels.py tests/online/test_kernels.py tests/generative/test_kernels.py \
	tests/generative/test_sampling.py tests/filtering/test_pieces.py tests/decide/test_expected_batch.py \
	tests/review/engine/test_kernels.py tests/formats/test_model_consistency.py tests/formats/test_model_fuzz.py \
	tests/shards/test_layout.py tests/shards/test_tasks.py tests/posterior/test_gradients.py

# Tests start many processes, and each would compile the sources to bytecode anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint audit check-bounds check-lowest check-newest check-advisories check-tag check-wheel dist sbom locked \
	release-page docs bench reproduce clean

# The interpreters that 'make check-wheel' tries, and the tests that 'make check-lowest' runs.
PYTHONS ?= $(PYTHON)
LOWEST ?= tests/test_checks.py tests/linear tests/text tests/formats tests/cli tests/workflow/test_convert.py

# Files with addresses that a maintainer fills in before the first release.
ADDRESSES := pyproject.toml CITATION.cff SECURITY.md CODE_OF_CONDUCT.md .github/ISSUE_TEMPLATE/config.yml

# What 'make reproduce' runs, such as EXPERIMENTS=genkin2007/table1.
EXPERIMENTS ?= --all

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.package ## Install the package and run its main task on the embedded corpus
	$(VENV)/bin/bayesift demo
	@echo 'So that the shell finds bayesift: . $(VENV)/bin/activate'

test: $(VENV)/.test ## Install what the tests need and run the suite, but for the tests marked slow
	$(VENV)/bin/python -m pytest --numprocesses 2 --dist worksteal -m 'not slow'

test-slow: $(VENV)/.test ## Run the tests marked slow: long runs, kills, pages walked through, everything compiled anew
	$(VENV)/bin/python -m pytest --numprocesses 2 --dist worksteal -m slow

lint: $(VENV)/.lint ## Check formatting, lint, types, import layers and workflows
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/python tools/private_imports.py
	$(VENV)/bin/zizmor --offline --quiet --min-severity medium .github/workflows

audit: $(VENV)/.lint ## Check the dependencies, as far as that needs no network
	$(VENV)/bin/python -m pip check
	$(VENV)/bin/python tools/audit.py

check-bounds: $(VENV)/.test ## Run the tests of the compiled kernels with every index checked
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/bounds-checked \
		$(VENV)/bin/python -m pytest --numprocesses 2 --dist worksteal $(KERNELS)

sbom: ## Write build/sbom.json: what is installed with the package and its extras, as CycloneDX
	$(PYTHON) -m venv build/sbom && $(PYTHON) -m venv build/shipped
	build/sbom/bin/python -m pip install --quiet --constraint constraints.txt 'cyclonedx-bom>=7'
	build/shipped/bin/python -m pip install --quiet --constraint constraints.txt '.[$(EXTRAS)]'
	build/sbom/bin/cyclonedx-py environment build/shipped/bin/python --output-format JSON --output-reproducible \
		--output-file build/sbom.json

locked: $(VENV)/.pip ## Write build/requirements.lock: the tested versions of what the package and its extras need, with hashes
	mkdir -p build
	$(PIP) install --quiet --dry-run --ignore-installed --constraint constraints.txt --report build/tested.json \
		'.[$(EXTRAS)]'
	$(VENV)/bin/python tools/lock.py build/tested.json build/requirements.lock
	rm build/tested.json

dist: $(VENV)/.release ## Build the wheel and the source archive into dist/, twice, and compare their bytes
	rm -rf dist build/again && mkdir -p build
	$(VENV)/bin/python -m build --no-isolation --outdir dist
	$(VENV)/bin/python -m build --no-isolation --outdir build/again > build/again.log
	diff --recursive dist build/again
	$(VENV)/bin/twine check --strict dist/*

check-wheel: dist ## Install the wheel alone, in an empty folder, with each of PYTHONS, and run the demo
	for python in $(PYTHONS); do \
		rm -rf build/wheel && mkdir -p build/wheel/empty && "$$python" -m venv build/wheel/venv \
		&& build/wheel/venv/bin/python -m pip install --quiet dist/*.whl \
		&& (cd build/wheel/empty && ../venv/bin/python --version && ../venv/bin/bayesift demo > demo.txt \
			&& head -n 4 demo.txt && rm demo.txt) || exit 1; \
	done

check-lowest: ## Run the tests of the models with the oldest versions that pyproject.toml allows
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/python -m pip install --quiet uv
	build/lowest/bin/uv pip install --quiet --python build/lowest/bin/python --resolution lowest-direct \
		--editable '.[$(EXTRAS)]' --group test
	NUMBA_CACHE_DIR=$(CURDIR)/build/lowest/kernels build/lowest/bin/python -m pytest --numprocesses 2 $(LOWEST)

check-newest: $(VENV)/.pip ## Run the tests with the newest version of everything, pre-releases of scikit-learn included
	$(PIP) install --quiet --upgrade --editable '.[$(EXTRAS)]' --group test
	$(PIP) install --quiet --upgrade --pre scikit-learn
	$(VENV)/bin/python -m pytest --numprocesses 2 --dist worksteal

check-advisories: $(VENV)/.pip ## Ask the databases of advisories about the tested versions; needs a network
	$(PYTHON) -m venv build/advisories
	build/advisories/bin/python -m pip install --quiet pip-audit
	build/advisories/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip

check-tag: $(VENV)/.package ## Compare TAG, such as v0.1.0, with the version, and look for addresses that are not filled in
	test "$(TAG)" = "v$$($(VENV)/bin/python -c 'import bayesift; print(bayesift.__version__)')"
	! grep --line-number 'bayesift\.example' $(ADDRESSES)

release-page: ## Make the page of the release TAG from the files in build/release; needs gh, in the workflow
	gh release create "$(TAG)" build/release/* --verify-tag --title "Bayesift $(TAG)" --notes "What is new: CHANGELOG.md"

docs: $(VENV)/.docs ## Build the documentation into docs/_build/html
	$(VENV)/bin/sphinx-build --fail-on-warning --keep-going -b html docs docs/_build/html

bench: $(VENV)/.bench ## Run all benchmarks, beside other programs (hours; needs the collections, see BAYESIFT_DATA)
	$(VENV)/bin/python -m benchmarks

reproduce: $(VENV)/.reproduce ## Repeat the published experiments (an hour); EXPERIMENTS=genkin2007/table1 runs one
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

# In one go with the package itself: pip looks at everything again each time it is called.
$(VENV)/.test: $(VENV)/.pip $(SETUP)
	$(INSTALL) --editable '.[$(EXTRAS)]' --group test
	@touch $(VENV)/.package $@

$(VENV)/.lint: $(VENV)/.test
	$(INSTALL) --group lint
	@touch $@

$(VENV)/.release: $(VENV)/.package
	$(INSTALL) --group release
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(INSTALL) --group bench --group peers
	@touch $@

$(VENV)/.reproduce: $(VENV)/.test
	$(INSTALL) --group peers
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(INSTALL) --group docs
	@touch $@
