# Harness: every gate is a target. `make run` opens the shell, `make test` runs what CI runs.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
PREFIX ?= $(HOME)/.local
DIR ?= .
JOBS ?= auto

.PHONY: all setup run demo test lint fmt install uninstall bench screenshots dist \
	gen-protocol-artifacts check-protocol-artifacts check-drift check-drift-wheel clean

all: lint test check-protocol-artifacts check-drift-wheel demo
	@git diff --quiet && test -z "$$(git status --porcelain)" || { git status --short; echo "make all: the tree is not clean"; exit 1; }

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@command -v git >/dev/null 2>&1 || { echo "Harness needs git: install the package git"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Harness needs Python 3.11 or newer as $(PYTHON): install it, or run make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Harness needs the venv module: install the package python3-venv"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip --upgrade >/dev/null
	@echo "Setting up (once; about a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt hatchling editables
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt --no-build-isolation -e '.[demo]' --group dev
	@touch $(STAMP)

run: $(STAMP)
	@$(BIN)/harness "$(DIR)"

demo: $(STAMP)
	@$(BIN)/harness demo --headless

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/deptry harness_tui
	$(BIN)/basedpyright
	$(BIN)/harness commands check commands
	$(BIN)/harness skills check skills

fmt: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# A venv of its own, so that the checkout can go away or change.
install: dist/.built
	@test -x $(PREFIX)/share/harness-tui/bin/python || $(PYTHON) -m venv $(PREFIX)/share/harness-tui
	@$(PREFIX)/share/harness-tui/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --force-reinstall -c constraints.txt "$$(ls dist/harness_tui-*.whl)[demo]"
	@mkdir -p $(PREFIX)/bin
	@ln -sf $(PREFIX)/share/harness-tui/bin/harness $(PREFIX)/bin/harness
	@$(PREFIX)/bin/harness --version
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "Add $(PREFIX)/bin to PATH: a new login shell does it where ~/.profile has the usual lines" ;; esac

uninstall:
	@rm -f $(PREFIX)/bin/harness
	@rm -rf $(PREFIX)/share/harness-tui
	@echo "Removed $(PREFIX)/bin/harness and its environment; sessions and configuration are kept"

dist: dist/.built

dist/.built: $(STAMP) $(shell git ls-files harness_tui commands skills protocol demo pyproject.toml README.md 2>/dev/null)
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --wheel --outdir dist . >/dev/null
	@touch dist/.built
	@ls dist/*.whl

check-drift-wheel: dist/.built
	$(BIN)/python tests/gates/wheel_check.py dist

gen-protocol-artifacts: $(STAMP)
	$(BIN)/harness protocol generate

check-protocol-artifacts: $(STAMP)
	$(BIN)/harness protocol check

check-drift: check-protocol-artifacts

bench: $(STAMP)
	$(BIN)/python benchmarks/bench.py

screenshots: $(STAMP)
	$(BIN)/python benchmarks/screenshots.py

clean:
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis
