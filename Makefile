# Holdfast's tasks. They need Python >= 3.11, make and a package registry; everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PYTEST := $(BIN)/python -m pytest
# One more than two cores have to do: a quarter of a test is waiting for a database, a service or an agent.
PROCESSES ?= 3
EXTRAS := postgres,multilingual,anthropic,openai,telegram,encryption
CHECKED := src tests tools bench examples
SHIPPED := pyproject.toml README.md LICENSE $(shell find src weights -type f -not -name "*.pyc")
WEIGHTS := build/weights

# Else every command that a test starts compiles the package anew: half of its time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help start install test fast citus agents faults check lint types structure docs format bench bench-full lock release clean

help: ## Show the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

start: $(STAMPS)/base ## Install without extras, then the service on example data; Ctrl-C ends it
	@$(BIN)/holdfast serve --example

install: $(STAMPS)/test $(STAMPS)/check ## All that the tasks need, into .venv

test: $(STAMPS)/test ## The tests, on SQLite and PostgreSQL; fails under 85% branch coverage
	$(PYTEST) -n $(PROCESSES) --dist loadfile --no-loadscope-reorder --durations=25 --cov --cov-fail-under=85

fast: $(STAMPS)/test ## The tests without PostgreSQL and slow ones
	$(PYTEST) -n $(PROCESSES) -m "not postgres and not slow and not faults and not agents and not browser and not citus"

citus: $(STAMPS)/test ## The store, the scenarios and the benchmark on the Citus cluster that HOLDFAST_TEST_CITUS names
	@test -n "$$HOLDFAST_TEST_CITUS" || { echo "HOLDFAST_TEST_CITUS is not set: postgresql://SUPERUSER@HOST:PORT/DATABASE"; exit 1; }
	$(PYTEST) -n 2 --dist loadfile -m "citus and not faults and not slow" tests/store tests/scenarios tests/bench
	$(PYTEST) -m "citus and not faults" tests/faults  # alone: these end nodes

agents: $(STAMPS)/test ## The tests with real agents and a real browser, which are installed once and kept
	$(PYTEST) -n $(PROCESSES) --dist loadfile -m "(agents or browser) and not faults"

faults: $(STAMPS)/test ## The fault loops and generated inputs in their full size
	$(PYTEST) -m faults --timeout=3600

check: lint types structure docs build/wheel/ok ## Format, lint, types, import directions, budgets, the site, and the wheel alone

lint: $(STAMPS)/check
	$(BIN)/ruff format --check $(CHECKED) training
	$(BIN)/ruff check $(CHECKED) training

# The types of the tests need what the tests import.
types: $(STAMPS)/check $(STAMPS)/test
	$(BIN)/mypy $(CHECKED)

structure: $(STAMPS)/venv
	$(BIN)/python -m tools.check_imports
	$(BIN)/python -m tools.check_budgets

docs: $(STAMPS)/check ## The documentation as a site, in build/site; fails on a broken link
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(BIN)/mkdocs build --strict --quiet

# A user's first minute: the built wheel, its base dependencies and nothing else.
build/wheel/ok: $(SHIPPED) tools/play_promises.py | $(STAMPS)/venv $(WEIGHTS)/ok
	rm -rf build/wheel && mkdir -p build/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet --find-links $(WEIGHTS) build/wheel/holdfast_memory-*.whl
	cd build/wheel && venv/bin/holdfast --help > help.txt && test -s help.txt
	$(BIN)/python tools/play_promises.py build/wheel/venv
	touch $@

format: $(STAMPS)/check ## Format, and repair what the linter can
	$(BIN)/ruff format $(CHECKED) training
	$(BIN)/ruff check --fix $(CHECKED) training

bench: $(STAMPS)/peers ## Speed and quality beside goals and peers, as one table, in about ten minutes
	$(BIN)/python -m bench overview --json build/bench.json

bench-full: $(STAMPS)/peers ## Speed at 10,000, 100,000 and 1,000,000 memories, ours and the floor alone
	$(BIN)/python -m bench overview --full --json build/bench-full.json

# For every platform and Python that we support. The packages of the built-in models come with the release.
LOCK := uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate --no-emit-index-url $(addprefix --no-emit-package holdfast-,embedder finder reader)

lock: $(STAMPS)/release ## What we depend on, with hashes: requirements/base.txt, and all.txt with the extras
	$(BIN)/$(LOCK) pyproject.toml --output-file requirements/base.txt > /dev/null
	$(BIN)/$(LOCK) pyproject.toml --all-extras --output-file requirements/all.txt > /dev/null

release: $(STAMPS)/release ## The wheels, their SBOM and their checksums, in dist: docs/release.md
	$(BIN)/python -m tools.make_release dist

clean: ## Remove what the tasks made, the virtual environment too
	rm -rf $(VENV) build dist htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# What is installed, as stamps: newer than pyproject.toml means up to date.
$(STAMPS)/venv:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer, please: make PYTHON=…')"
	@test -x $(BIN)/python || { echo "Creating $(VENV)…" && $(PYTHON) -m venv $(VENV); }
	@$(BIN)/python -m pip install --quiet "pip>=25.1"
	@mkdir -p $(STAMPS) && touch $@

# The weights of our own models, as wheels.
$(WEIGHTS)/ok: $(shell find weights -type f) | $(STAMPS)/venv
	@echo "Building the packages of the built-in models (70 MB, from weights/)…"
	@rm -rf $(WEIGHTS) && mkdir -p $(WEIGHTS)
	@$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(WEIGHTS) weights/embedder weights/finder weights/reader
	@touch $@

# What a user needs; `make start EXTRAS=anthropic` adds an extra.
$(STAMPS)/base: pyproject.toml $(STAMPS)/venv $(WEIGHTS)/ok
	@echo "Installing Holdfast and what it needs into $(VENV) (about 360 MB, a minute or two)…"
	@$(BIN)/python -m pip install --quiet --find-links $(WEIGHTS) --editable ".$(if $(filter command%,$(origin EXTRAS)),[$(EXTRAS)])"
	@touch $@

$(STAMPS)/package: pyproject.toml $(STAMPS)/venv $(WEIGHTS)/ok
	$(BIN)/python -m pip install --quiet --find-links $(WEIGHTS) --editable ".[$(EXTRAS)]"
	touch $@

$(STAMPS)/test: $(STAMPS)/package
	$(BIN)/python -m pip install --quiet --group test
	touch $@

$(STAMPS)/release: pyproject.toml $(STAMPS)/venv
	$(BIN)/python -m pip install --quiet --group release
	touch $@

# A peer that can't be installed is left out, and the table says so.
$(STAMPS)/peers: $(STAMPS)/package
	-$(BIN)/python -m pip install --quiet --group peers
	touch $@

$(STAMPS)/check: pyproject.toml $(STAMPS)/venv
	$(BIN)/python -m pip install --quiet --group check --group docs
	touch $@
