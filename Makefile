# Everything runs in .venv, made from uv.lock. Needs Python >= 3.10, make and PyPI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.synced
RUN_ARGS ?=

.PHONY: run test test-slow test-numa test-adapters lint types contracts docs-test bench bench-judge clean

run: $(STAMP)  ## measure the built-in robot on the whole machine
	@$(BIN)/envdyno run $(RUN_ARGS)

test: $(STAMP)  ## unit and integration tests
	@$(BIN)/pytest -m "not slow"

test-slow: $(STAMP)  ## the tests that take long
	@$(BIN)/pytest -m slow

test-numa: $(STAMP)  ## placement on Linux guests with several NUMA nodes, under QEMU
	@$(BIN)/python tests/numa_vm/run_all.py

docs-test: $(STAMP)  ## run the commands of the documentation
	@$(BIN)/python tests/docs/run_commands.py

bench: $(STAMP)  ## what envdyno itself costs
	@$(BIN)/python benchmarks/overhead.py

bench-judge: $(STAMP)  ## how often the judge errs, by simulation
	@$(BIN)/python benchmarks/judge.py
	@$(BIN)/python benchmarks/sweep.py

test-adapters: $(STAMP)  ## every adapter in an environment of its framework
	@$(BIN)/python tests/adapters/run_families.py $(FAMILY_ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports

# uv makes the environment from the lock file; it is fetched from PyPI into a small one of its own.
$(STAMP): pyproject.toml uv.lock
	@command -v uv >/dev/null 2>&1 || test -x .venv-uv/bin/uv || { \
	  $(PYTHON) -m venv .venv-uv && .venv-uv/bin/pip install --quiet --disable-pip-version-check uv; }
	@UV=$$(command -v uv || echo .venv-uv/bin/uv); \
	  $$UV sync --quiet --frozen --extra motrix --extra report --python $(PYTHON)
	@touch $@

clean:
	rm -rf $(VENV) .venv-uv .mypy_cache .ruff_cache .pytest_cache .hypothesis
