.PHONY: reproduce test lint bench
PYTHON ?= python3
BIN := .venv/bin
OUT ?= out

# The main job: claims, circuits, predictions, training, verdicts and figures, into $(OUT).
reproduce:
	$(PYTHON) tools/environment.py train
	$(BIN)/lengthgen reproduce --profile quick --out $(OUT)

test:
	$(PYTHON) tools/environment.py train --dev
	$(BIN)/python -m pytest --numprocesses 2 --durations 20

lint:
	$(PYTHON) tools/environment.py train --dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench:
	$(PYTHON) tools/environment.py train --dev
	$(BIN)/python -m bench
