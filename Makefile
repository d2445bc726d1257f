# Two commands matter: `make demo` and `make test`. Both set up .venv on a fresh machine that has Python >= 3.11 with venv.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PYTHON := .venv/bin/python
SOURCES := src tests scripts examples
WORKERS ?= 2
KERNEL := $(wildcard src/gnomon/kernels/native/*.cpp src/gnomon/kernels/native/*.h)

# One thread in each worker: two workers already fill two cores.
export OMP_NUM_THREADS ?= 1
export HF_HUB_OFFLINE ?= 1

.PHONY: help demo test lint types tests setup browser pictures pages clean

help: ## show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

demo: .venv/.ready ## examine two real models and write reports/*.html
	@$(PYTHON) scripts/demo.py

test: lint types tests ## everything: lint, types, then all tests

lint: .venv/.ready ## ruff: rules and format
	$(PYTHON) -m ruff check $(SOURCES)
	$(PYTHON) -m ruff format --check $(SOURCES)

types: .venv/.ready ## mypy --strict
	$(PYTHON) -m mypy

tests: .venv/.ready browser ## pytest; choose with `make tests ARGS="tests/cli -k help"`
	$(PYTHON) -m pytest -v -n $(WORKERS) $(ARGS)

setup: .venv/.ready ## create .venv with everything pinned in constraints.txt

browser: ## install Chromium with apt-get when there is none
	@scripts/browser.sh

pictures: .venv/.ready browser ## draw docs/pictures again
	@$(PYTHON) scripts/pictures.py
	@$(PYTHON) -m scripts.engine_picture

pages: .venv/.ready ## write docs/checks and docs/engines.md again, from the code
	@$(PYTHON) -m scripts.check_pages
	@$(PYTHON) -m scripts.engine_pages

clean: ## remove .venv, reports and caches
	rm -f src/gnomon/kernels/native/_rotary.*
	rm -rf .venv reports build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.ready: pyproject.toml constraints.txt hatch_build.py scripts/setup.sh $(KERNEL)
	@scripts/setup.sh .venv
	@touch $@
