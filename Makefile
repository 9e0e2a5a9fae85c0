# Two commands for a fresh machine with Python and make: `make play` and `make test`.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

# `make setup` puts everything that Python needs into .venv.
.PHONY: setup play test bench kits toolchains clean

setup: $(READY)

# A C++ bot against a Java bot at ReAntics; Python bots take the place of those that cannot be built here.
play: $(READY)
	@$(PYTHON) tools/toolchains.py cpp java
	$(BIN)/python -m tools.play

# Everything: layers, style, types, rules, protocol, harness, kits, whole matches.
test: $(READY) toolchains
	$(BIN)/python -m pytest $(ARGS)

# The cost of a call, pinned to one core and free.
bench: $(READY) toolchains
	$(BIN)/python -m benchmarks

# Schemas, bindings and reference pages, made again from the types in games/ and protocol/.
kits: $(READY)
	$(BIN)/python -m tools.schemas
	$(BIN)/python -m tools.kits
	$(BIN)/python -m tools.pages

toolchains:
	@$(PYTHON) tools/toolchains.py

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv starter_kits/c/build starter_kits/cpp/build starter_kits/go/build starter_kits/java/target starter_kits/rust/target starter_kits/javascript/build starter_kits/javascript/dist \
	    starter_kits/javascript/node_modules
