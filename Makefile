# Two commands for a fresh machine with Python and make: `make play` and `make test`.
# While you work: `make quick` and `make lint`.
# Both list the compilers and libraries that are missing. `YES=1 make …` installs them.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
NEW_ENOUGH := import sys; sys.version_info >= (3, 11) or sys.exit("Referee needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 …")
CORE := .venv/core
READY := .venv/ready
# One worker more than cores, since half of a test's time is waiting. A test marked `alone` waits until no other runs.
WORKERS = -n $(shell $(PYTHON) -c 'import os; print(min(1 + (os.cpu_count() or 1), 5))') --dist worksteal

.PHONY: setup play view test test-all quick mutants lint bench kits pictures docs viewer toolchains clean

# Installs the referee and everything its tests need into .venv.
setup: $(READY)

# Installs the referee alone into .venv, and plays a C++ bot against a Java bot at ReAntics. A Python bot replaces one
# whose compiler is missing.
play: $(CORE)
	@$(PYTHON) tools/toolchains.py cpp java
	$(BIN)/python -m referee.tools.play

# Shows the matches in a browser. Needs node, for the viewer.
view: $(CORE)
	@command -v npm > /dev/null || { echo "make view needs node and npm: install them, then try again"; exit 2; }
	$(MAKE) --no-print-directory viewer
	$(PIP) --editable '.[web]'
	$(BIN)/referee view

# Runs every test that can fail because of a change. `make test ADDON=ladder` runs an add-on's tests, or of several in
# quotes, and `make test WHAT=protocol` those of a folder of tests/.
test: $(READY) toolchains
	$(BIN)/pytest -m "not nightly" $(WORKERS) $(ARGS) $(addprefix tests/addons/,$(ADDON)) $(addprefix tests/,$(WHAT))

# Runs every test, each night and before a release.
test-all: $(READY) toolchains
	$(BIN)/pytest $(WORKERS) $(ARGS)

# Runs the short tests, in less than a minute on two cores, with fewer generated examples.
quick: $(READY)
	$(BIN)/pytest -m "not slow and not kits and not nightly" --ignore tests/kits --hypothesis-profile quick $(WORKERS) $(ARGS)

# Changes lines that differ from a commit, one at a time, and names the changes that no test notices. Takes hours.
NUMBER ?= 60
SINCE ?= HEAD~1
mutants: $(READY) toolchains
	rm -rf build/marked build/marked-* && mkdir -p build
	$(BIN)/python -m referee.tools.mutants draw build/mutants.json --number $(NUMBER) --since $(SINCE)
	$(BIN)/python -m referee.tools.mutants mark build/mutants.json build/marked
	$(BIN)/python -m referee.tools.mutants try build/mutants.json build/marked

# Checks style, spelling, types and imports; of the viewer and the JavaScript kit too, where node is installed.
lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v npm > /dev/null; then cd viewer && { [ -d node_modules ] || npm ci --silent --ignore-scripts; } && npm run --silent lint; fi

# Measures the cost of a turn and of a match, and much else.
bench: $(READY) toolchains
	$(BIN)/python -m referee.benchmarks

# Generates schemas, bindings and pages from the types.
kits: $(READY)
	$(BIN)/python -m referee.tools.schemas
	$(BIN)/python -m referee.tools.kits
	$(BIN)/python -m referee.tools.kit_pages
	$(BIN)/python -m referee.tools.helpers
	$(BIN)/python -m referee.tools.pages
	$(BIN)/python -m referee.tools.command_pages
	$(BIN)/python -m referee.tools.model_costs
	$(BIN)/python -m referee.tools.channels
	$(BIN)/python -m referee.tools.viewer

# Takes the pictures in docs/images from today's viewer. Needs Chromium.
pictures: $(READY) viewer
	$(BIN)/python -m referee.tools.pictures

# Builds the pages as a static site in build/site. A broken link is an error.
docs: $(READY)
	$(BIN)/python -m referee.tools.site

# Builds the page of `referee replay html`. Nothing else needs node.
viewer: addons/web/static/viewer.js

addons/web/static/viewer.js: $(shell find viewer/src -type f) viewer/package-lock.json viewer/vite.config.ts
	cd viewer && npm ci --silent --ignore-scripts && npm run --silent build

toolchains:
	@$(PYTHON) tools/toolchains.py

$(CORE): pyproject.toml
	@$(PYTHON) -c '$(NEW_ENOUGH)'
	$(PYTHON) -m venv .venv
	$(PIP) --editable .
	@touch $@

$(READY): pyproject.toml
	@$(PYTHON) -c '$(NEW_ENOUGH)'
	$(PYTHON) -m venv .venv
	$(PIP) --editable '.[dev]'
	@$(BIN)/python -m referee.tools.manual
	@mkdir -p .venv/share/man/man1 && ln -sf ../../../../docs/referee.1 .venv/share/man/man1/referee.1
	@touch $(CORE) $@

clean:
	rm -rf .venv addons/web/static viewer/node_modules starter_kits/c/build starter_kits/cpp/build starter_kits/go/build starter_kits/java/target starter_kits/rust/target starter_kits/javascript/build starter_kits/javascript/dist \
	    starter_kits/javascript/node_modules
