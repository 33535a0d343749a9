.PHONY: reproduce test lowest lint docs bench attack museum audit-table proofs
PYTHON ?= python3
BIN := .venv/bin
OUT ?= out
DEVELOPMENT := train cluster --dev

# The main job: claims, circuits, predictions, training, verdicts and figures, into $(OUT).
reproduce:
	$(PYTHON) tools/environment.py train
	$(BIN)/lengthgen reproduce --profile quick --out $(OUT)

# Each process gets neighbouring tests, which share fixtures; byte code is written, as many tests start Python.
test:
	$(PYTHON) tools/environment.py $(DEVELOPMENT)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses 2 --dist worksteal --durations 20

# All tests, in .lowest with the lowest versions that pyproject.toml allows; lowest.txt then records those versions.
lowest:
	$(PYTHON) tools/environment.py train cluster curves --test --lowest
	PYTHONDONTWRITEBYTECODE= .lowest/bin/python -m pytest --numprocesses 2 --dist worksteal -W ignore::DeprecationWarning \
		--deselect tests/test_package.py::test_each_lowest_version_is_one_with_which_all_tests_passed
	cp .lowest/lowest.txt lowest.txt

lint:
	$(PYTHON) tools/environment.py $(DEVELOPMENT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/words.py

# Coq proves the identities of all claims and the theorems by hand; where it is missing, the command says how to install it.
proofs:
	$(PYTHON) tools/environment.py train
	$(BIN)/lengthgen verify --formal --out $(OUT)

# The site of the documents, in build/site/index.html; a warning is an error. It draws the gallery where something changed.
# Every page is made anew, as Sphinx does not know what the gallery and the list of commands depend on.
docs:
	$(PYTHON) tools/environment.py train --docs
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env --write-all -d build/doctrees docs build/site

bench:
	$(PYTHON) tools/environment.py $(DEVELOPMENT)
	$(BIN)/python -m bench

# Known position bugs of published versions, each in an environment of its own with the old package: needs PyPI and 1 GB.
museum:
	$(PYTHON) tools/environment.py $(DEVELOPMENT)
	$(BIN)/python -m bench.museum

# The table of current versions of libraries, docs/audit-table.md, from fresh audits stored in docs/results/audit.
audit-table:
	$(PYTHON) tools/environment.py $(DEVELOPMENT)
	$(BIN)/python -m bench.audit_table
	$(BIN)/ruff format --quiet docs/audit-table.md

# Damaged files, kills, pairs of commands, hostile input, random tasks and altered certificates, in full size: hours. The
# tests make a few of each.
attack:
	$(PYTHON) tools/environment.py $(DEVELOPMENT)
	$(BIN)/python -m tests.attack readers --count 1000 --material $(OUT)-attacked
	$(BIN)/python -m tests.attack kills --count 60 --material $(OUT)-attacked
	$(BIN)/python -m tests.attack interrupts --count 300 --material $(OUT)-attacked
	$(BIN)/python -m tests.attack pairs --count 45 --material $(OUT)-attacked
	$(BIN)/python -m tests.attack arguments --count 4000 --material $(OUT)-attacked
	$(BIN)/python -m tests.attack protocols --count 3000 --material $(OUT)-attacked
	$(BIN)/python -m tests.attack stale --count 1000
	$(BIN)/python -m tests.attack user-files --count 3000 --material $(OUT)-attacked
	$(BIN)/python -m tests.attack audits --count 500 --material $(OUT)-attacked
	$(BIN)/python -m tests.circuits.random_kinds --tasks 3000 --alterations 5000
