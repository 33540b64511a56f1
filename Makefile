# Every target sets itself up in .venv; nothing but Python 3.11 or newer and make is assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Where the demo's server keeps its data and listens; git ignores the folder and `make clean` removes it.
DEMO := tokumei-demo
PORT ?= 8000
# Four at a time, of one thread each, on the two cores this is made for: two of them wait for a server or a browser at
# most moments, but the quick ones wait for nobody.
# Bytecode is kept, or each of the hundreds of processes that tests start would compile all that it imports.
PYTEST := env -u PYTHONDONTWRITEBYTECODE OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/python -m pip --disable-pip-version-check
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header

.DEFAULT_GOAL := help
.PHONY: help run test test-all quick coverage check types rooms audit sbom pins bench docs site packages format locks clean

help: ## Show what can be made.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(VENV)/ready-to-run ## Start the server with made-up contests; prints its address and log-ins.
	$(BIN)/tokumei serve --demo --data $(DEMO) --port $(PORT)

test: check ## Run every check, and the tests that guard what the product does.
	$(PYTEST) -m "not thorough"

test-all: $(VENV)/ready-to-develop ## Run the other tests: Spark, several machines, browsers, real data, exhaustive sweeps.
	$(PYTEST) -m thorough

quick: $(VENV)/ready-to-develop ## Run the tests of every room that need no browser, server or process of their own.
	$(PYTEST) -m "not slow and not thorough" --ignore=tests/platform/security --ignore=tests/journey --ignore-glob='*engine*'

coverage: $(VENV)/ready-to-develop ## Run every test and print which lines none of them reaches.
	$(PYTEST) --cov=tokumei --cov-report=term-missing:skip-covered

check: $(VENV)/ready-to-develop ## Run the linters, the type checker, the order of the rooms and bandit.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory --jobs=2 --output-sync types rooms

types: $(VENV)/ready-to-develop # Takes as long as all the rest.
	$(BIN)/mypy

# That every test can be read is seen here too: once, and not by each of several processes that would all compile them.
rooms: $(VENV)/ready-to-develop
	$(BIN)/lint-imports --no-cache
	$(BIN)/bandit --quiet --recursive src --severity-level medium --configfile pyproject.toml
	$(PYTEST) -n 0 --collect-only --quiet > $(VENV)/collected || { cat $(VENV)/collected; exit 1; }

# Not in `check`, which must run without a network: known holes are looked up where they are published.
audit: $(VENV)/ready-to-develop ## Look up known vulnerabilities of what is depended on; needs the network.
	$(BIN)/uv tool run pip-audit --requirement locks/run.txt --require-hashes --disable-pip

sbom: $(VENV)/ready-to-run ## Write what a release is made of (CycloneDX) to dist/.
	$(BIN)/python deploy/sbom.py locks/run.txt dist/tokumei.cdx.json

# What a tag means changes; the digests of today go into deploy/.env, which compose reads.
pins: ## Pin the images of deploy/compose.yaml by their digests, in deploy/.env; needs Docker and the network.
	@for pin in PYTHON_DIGEST=python:3.12-slim-trixie POSTGRES_DIGEST=postgres:17-trixie; do \
	digest=$$(docker buildx imagetools inspect $${pin#*=} --format '{{.Manifest.Digest}}') || exit 1; \
	touch deploy/.env && sed -i "/^$${pin%%=*}=/d" deploy/.env && echo "$${pin%%=*}=$$digest" | tee -a deploy/.env; done

# What follows `bench` are names of benchmarks: `make bench scale ROWS=20000000`.
ifeq (bench,$(firstword $(MAKECMDGOALS)))
BENCHMARKS := $(filter-out bench,$(MAKECMDGOALS))
ifneq (,$(BENCHMARKS))
.PHONY: $(BENCHMARKS)
$(BENCHMARKS): bench
	@:
endif
endif

bench: $(VENV)/ready-to-develop ## Measure speed and memory against peers: all, or `make bench scale ROWS=20000000`.
	$(BIN)/python -m benchmarks $(BENCHMARKS) $(if $(ROWS),--rows $(ROWS))

docs: $(VENV)/ready-to-develop ## Write the pages that are made from code.
	$(BIN)/python -m tokumei.cli.catalogue docs/catalogue.md
	$(BIN)/python -m tokumei.platform.translations

site: $(VENV)/ready-for-site ## Build the site into dist/site; a dead link stops it.
	$(BIN)/python site/pages.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file site/mkdocs.yml
	@echo "dist/site/index.html"

packages: $(VENV)/ready-to-develop ## Build the wheels and the source package into dist/.
	$(BIN)/hatchling build -d dist
	cd studies && ../$(BIN)/hatchling build -d ../dist -t wheel

format: $(VENV)/ready-to-develop ## Put the code in shape.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

locks: $(VENV)/ready-to-develop ## Choose newer versions of what is depended on.
	$(COMPILE) --upgrade pyproject.toml --group build --extra platform -o locks/run.txt
	$(COMPILE) --upgrade pyproject.toml --group build --all-extras --no-emit-package tokumei --no-emit-package tokumei-studies -c locks/run.txt -o locks/dev.txt
	$(COMPILE) --upgrade --group site -c locks/dev.txt -o locks/site.txt

$(VENV)/ready-for-site: locks/site.txt | $(VENV)/ready-to-develop
	$(PIP) install --quiet --require-hashes --no-deps -r locks/site.txt
	touch $@

clean: ## Remove what was set up.
	rm -rf $(VENV) $(DEMO) .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=…")'
	$(PYTHON) -m venv $(VENV)

# The locks name everything, so nothing is left to resolve: older versions of pip take `name[extra]` for a requirement that
# no line pins as soon as a newer version of it is out, and refuse the whole file.
$(VENV)/ready-to-run: locks/run.txt pyproject.toml | $(BIN)/python
	$(PIP) install --quiet --require-hashes --no-deps -r locks/run.txt
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	touch $@

# Has all of ready-to-run as well, so that one environment serves both.
$(VENV)/ready-to-develop: locks/dev.txt pyproject.toml studies/pyproject.toml | $(BIN)/python
	$(PIP) install --quiet --require-hashes --no-deps -r locks/dev.txt
	$(PIP) install --quiet --no-deps --no-build-isolation --editable . --editable studies
	touch $@ $(VENV)/ready-to-run
