# Everything a user or a newcomer types. The virtual environment is .venv; nothing is installed
# outside the checkout.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.dependencies
CORE   := $(VENV)/.core

# The engines are linked with link-time optimisation (a quarter more transactions a second of CPU),
# the tests are not: each of their programs would compile every library again. So libraries are kept
# as objects and as bitcode.
export CARGO_PROFILE_RELEASE_LTO := false
LTO ?= thin
BITCODE := $(if $(filter off,$(LTO)),,-C embed-bitcode=yes)
# Once, also in a make that a make started: other flags would compile everything again.
export RUSTFLAGS := $(strip $(if $(findstring embed-bitcode,$(RUSTFLAGS)),,$(BITCODE)) $(RUSTFLAGS))

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: help build libraries quickstart test proofs test-rust test-python lint lint-rust lint-python format bench clean preflight

help:
	@echo "make build       build Dyno into $(VENV)"
	@echo "make quickstart  build, then measure this machine (about 3 minutes)"
	@echo "make test        build, then run the tests (15 minutes on 2 CPUs, 9 after a build)"
	@echo "make proofs      run the long tests: kills on every engine, real studies"
	@echo "make lint        check formatting, lints and types"
	@echo "make bench       run every benchmark in benches/ (long; keep the machine idle)"

preflight:
	@PYTHON=$(PYTHON) sh tools/preflight.sh

$(STAMP): pyproject.toml constraints.txt | preflight
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the Python packages (once; a minute or two) …"
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt \
	  $$($(PYTHON) tools/requirements.py)
	@touch $@

$(CORE): $(RUST_SOURCES) $(STAMP)
	@echo "Building the Rust engines (once; some minutes) …"
	@PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV=$(abspath $(VENV)) \
	  $(BIN)/maturin develop --release --quiet -- -C lto=$(LTO)
	@touch $@

build: preflight $(CORE)

# What needs no Python package, or little: the gate compiles it while packages are installed.
libraries:
	@MAKEFLAGS= cargo build --release --workspace --quiet

# Succeeds when everything was measured, whatever the verdict; `dyno` itself ends with 1 then.
quickstart: build
	@$(BIN)/python tools/quickstart.py

# Both halves at once, as most tests wait.
test: build
	@$(MAKE) --no-print-directory --jobs=2 test-rust test-python

# With the whole workspace, whose features then are those of the build: what it compiled is used.
# Many tests wait, as those of pytest do. Cargo starts as many jobs as there are CPUs: it gets no
# share of make's.
test-rust:
	MAKEFLAGS= cargo test --release --workspace --tests --quiet -- --test-threads=$(RUST_THREADS)

# Most tests wait for servers, disks and intervals, so four at once take half the time on two CPUs.
# Six save a tenth of it, and fail where a test needs a CPU in time.
# WORKERS=0 runs them one after another; TESTS= runs the long ones as well.
WORKERS ?= 4
RUST_THREADS ?= 4
TESTS ?= not long

test-python: build
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "$(TESTS)"

proofs:
	$(MAKE) test-python TESTS=long
	MAKEFLAGS= cargo test --release --workspace --tests --quiet -- --ignored

lint: lint-rust lint-python

lint-rust: build
	cargo fmt --all --check
	MAKEFLAGS= cargo clippy --release --workspace --all-targets --quiet -- -D warnings

lint-python: build
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright

format:
	cargo fmt --all
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: build
	$(BIN)/python benches/run.py

clean:
	rm -rf $(VENV) target
