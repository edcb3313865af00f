# Two commands on a fresh machine with python3 (3.11 or 3.12), git and make:
#   make demo   simulates a facility, sweeps its logs and real ones, and shows what comes of it
#   make test   checks it, in at most 8 minutes on two cores
# More for who works on it:
#   make quick  made pages, lint, types, schema, triggers and views, in at most 90 seconds
#   make fuzz   damages 20,000 inputs by chance
#   make faults kills sweeps, fills disks, cuts networks
#   make proof  what takes longer: whole sweeps, deaths, browsers, in at most 20 minutes
#   make site   what takes longest: whole facilities, kills, clusters, other hosts, older warehouses
#   make rehearsal  installs a site from nothing and has each scheduler sweep; as root, on a machine to throw away

PYTHON ?= python3
VENV ?= .venv
DEMO ?= demo

BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test

# Hundreds of processes start here, and each would compile all that it imports, where bytecode may not be kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-sweeps test proof site rehearsal quick quick-tests lint docs docs-slow bench fuzz faults clean

# The pip that comes with Python may be years old, and takes twice as long.
$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	touch $@

$(READY_TO_TEST): $(READY)
	$(BIN)/python -m pip install --quiet --no-compile --editable . --group dev
	touch $@

$(DEMO)/.simulated: | $(READY)
	@echo "Simulating a week of a small facility ..."
	@rm -rf $(DEMO)/facility
	@$(BIN)/iomine simulate $(DEMO)/facility --logs 2000 --days 7
	@touch $@

demo-sweeps:
	@echo && echo "Sweeping its logs, as a Prefect flow ..."
	@$(BIN)/iomine sweep $(DEMO)/facility/darshan --stats $(DEMO)/facility/lustre --stats $(DEMO)/facility/slurm --stats $(DEMO)/facility/fabric --cluster simulated --warehouse $(DEMO)/warehouse
	@echo && echo "Sweeping the logs of real programs that come with PyDarshan, as those of another machine ..."
	@$(BIN)/iomine sweep "$$($(BIN)/python docs/demo_logs.py)" --cluster pydarshan --warehouse $(DEMO)/warehouse

# A server of Prefect's own for as long as both sweeps take, which run as flows then.
demo: $(DEMO)/.simulated
	@$(BIN)/python -m iomine.flows.server $(MAKE) --no-print-directory demo-sweeps
	@echo && echo "The worst offenders of both:"
	@$(BIN)/iomine worst --limit 5 --warehouse $(DEMO)/warehouse
	@echo && echo "The costliest finding of the simulated machine:"
	@$(BIN)/iomine sql - --warehouse $(DEMO)/warehouse < docs/demo_finding.sql
	@$(BIN)/iomine sql "SELECT code, \"user\", log_id FROM findings WHERE cluster = 'simulated' ORDER BY cost_core_seconds DESC LIMIT 1" \
		--format csv --warehouse $(DEMO)/warehouse | tail -n 1 | { set -e; IFS=, read -r code user log; \
		echo && echo "What its code stands for (iomine explain says more):"; \
		$(BIN)/iomine explain "$$code" | sed '/^How it is done/,$$d'; \
		echo "Writing the mail that its user would get ..."; \
		rm -rf $(DEMO)/mails; \
		$(BIN)/iomine digest --user "$$user" --dry-run --outbox $(DEMO)/mails --warehouse $(DEMO)/warehouse; \
		ls $(DEMO)/mails/*.eml; \
		echo && echo "The report of its costliest run, to open in a browser:"; \
		$(BIN)/iomine report "$$log" --warehouse $(DEMO)/warehouse; }
	@echo && echo "Where to look next:"
	@echo "  $(BIN)/iomine sql 'SELECT app, code, finding FROM findings' --warehouse $(DEMO)/warehouse"
	@echo "  $(BIN)/iomine status --warehouse $(DEMO)/warehouse"
	@echo "  less $(DEMO)/facility/truth/incidents.json    # what was simulated; docs/simulate.md explains"

lint: $(READY_TO_TEST)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# A file's tests share what they set up, so a file is one process's; the longest come first (tests/conftest.py).
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

test: lint
	$(PYTEST) -m "sample or not (proof or site or faults)" --junitxml build/test.xml

proof: $(READY_TO_TEST)
	$(PYTEST) -m "proof and not (sample or site or faults)" --junitxml build/proof.xml

site: $(READY_TO_TEST)
	$(PYTEST) -m "site and not (sample or faults)" --junitxml build/site.xml

rehearsal: $(READY_TO_TEST)
	deploy/rehearsal/all.sh

quick: $(READY_TO_TEST)
	$(BIN)/python -m pytest --quiet tests/unit/cli/test_cli_docs.py
	$(MAKE) --no-print-directory --jobs 2 --output-sync lint quick-tests

quick-tests: $(READY_TO_TEST)
	$(PYTEST) -m "not proof" tests/unit/schema tests/unit/triggers tests/unit/views

# Pages that follow from the program, in seconds. It names those that take minutes, which docs-slow makes.
docs: $(READY_TO_TEST)
	$(BIN)/python docs/make.py

docs-slow: $(READY_TO_TEST)
	$(BIN)/python docs/make.py --slow

# Damages inputs by chance, FUZZ of them, and ends with an error where one is read wrong or ends its reader, and takes as many of
# all kinds through whole sweeps to views, reports and mails.
FUZZ ?= 20000
fuzz: $(READY_TO_TEST)
	$(BIN)/python tests/ior_mutations.py $(FUZZ)
	$(BIN)/python tests/fabric_mutations.py $(FUZZ)
	$(BIN)/python tests/archive_mutations.py $(FUZZ)
	$(BIN)/python tests/dftracer_mutations.py $(FUZZ)
	$(BIN)/python tests/legacy_mutations.py $(FUZZ)
	$(BIN)/python tests/sweep_mutations.py $(FUZZ)

# Kills sweeps, workers and readers, fills disks, cuts networks.
FAULTS := tests/faults $(addprefix tests/cluster/test_,kill.py dask.py hosts.py load.py post_kill.py) tests/unit/lake \
	tests/unit/pipeline/test_reader.py tests/unit/cli/test_cli_sweep.py
faults: $(READY_TO_TEST)
	$(PYTEST) $(FAULTS) --junitxml build/faults.xml

bench: $(READY_TO_TEST)
	$(BIN)/python tests/bench/performance.py $(BENCH)

clean:
	rm -rf $(VENV) $(DEMO) build dist
