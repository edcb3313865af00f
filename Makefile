# Two commands on a fresh machine with python3 (3.11 or newer), git and make:
#   make demo   sweeps real logs and shows what comes of it
#   make test   checks everything

PYTHON ?= python3
VENV ?= .venv
DEMO ?= demo-warehouse

BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint docs bench clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

demo: $(READY)
	@echo "Sweeping the logs that come with PyDarshan ..."
	@$(BIN)/iomine sweep "$$($(BIN)/python docs/demo_logs.py)" --warehouse $(DEMO)
	@echo && echo "The worst offenders:"
	@$(BIN)/iomine worst --limit 5 --warehouse $(DEMO)
	@echo && echo "Where to look next:"
	@echo "  $(BIN)/iomine sql 'SELECT app, code, finding FROM findings' --warehouse $(DEMO)"
	@echo "  $(BIN)/iomine explain POSIX-101"
	@echo "  $(BIN)/iomine status --warehouse $(DEMO)"

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest

docs: $(READY)
	$(BIN)/python docs/make.py

bench: $(READY)
	$(BIN)/python tests/bench/performance.py $(BENCH)

clean:
	rm -rf $(VENV) $(DEMO) build dist
