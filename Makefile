# Two commands for a fresh machine with Python and make: `make play` and `make test`. `make quick` while you work.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
# One more than cores, since half of a test's time is waiting. Tests marked `alone` wait until nothing runs beside them.
WORKERS = -n $(shell $(PYTHON) -c 'import os; print(min(1 + (os.cpu_count() or 1), 5))') --dist worksteal

# `make setup` puts everything that Python needs into .venv.
.PHONY: setup play test quick bench kits docs viewer toolchains clean

setup: $(READY)

# A C++ bot against a Java bot at ReAntics; Python bots take the place of those that cannot be built here.
play: $(READY)
	@$(PYTHON) tools/toolchains.py cpp java
	$(BIN)/python -m referee.tools.play

# Everything: layers, style, types, rules, protocol, harness, kits, whole matches.
test: $(READY) toolchains
	$(BIN)/pytest $(WORKERS) $(ARGS)

# All but whole kits, tournaments, installations, browsers and long matches, and fewer examples: under two minutes on
# two cores.
quick: $(READY)
	$(BIN)/pytest -m "not slow and not kits" --hypothesis-profile quick $(WORKERS) $(ARGS)

# The cost of a call, pinned to one core and free.
bench: $(READY) toolchains
	$(BIN)/python -m referee.benchmarks

# Schemas, bindings and reference pages, made again from the types in games/ and protocol/.
kits: $(READY)
	$(BIN)/python -m referee.tools.schemas
	$(BIN)/python -m referee.tools.kits
	$(BIN)/python -m referee.tools.helpers
	$(BIN)/python -m referee.tools.pages
	$(BIN)/python -m referee.tools.manual
	$(BIN)/python -m referee.tools.viewer

# The pages as a static site, in build/site; a link that leads nowhere is an error.
docs: $(READY)
	$(BIN)/python -m referee.tools.site

# The page of `referee replay html`; it needs node, which nothing else does.
viewer: harness/web/static/viewer.js

harness/web/static/viewer.js: $(shell find viewer/src -type f) viewer/package-lock.json viewer/vite.config.ts
	cd viewer && npm ci --silent --ignore-scripts && npm run --silent build

toolchains:
	@$(PYTHON) tools/toolchains.py

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@mkdir -p .venv/share/man/man1 && ln -sf ../../../../docs/referee.1 .venv/share/man/man1/referee.1
	@touch $@

clean:
	rm -rf .venv harness/web/static viewer/node_modules starter_kits/c/build starter_kits/cpp/build starter_kits/go/build starter_kits/java/target starter_kits/rust/target starter_kits/javascript/build starter_kits/javascript/dist \
	    starter_kits/javascript/node_modules
