# SPDX-License-Identifier: Apache-2.0
# Everything a fresh machine with Python 3.11+ and make needs. Paths are relative, so that the checkout may stand in a
# folder with a space in its name.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
STAMP := $(VENV)/installed

# Python reads and writes UTF-8 also where LANG is unset; pip says what goes wrong and is silent otherwise.
export PYTHONUTF8 := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

# What `make agent` asks; by the shell's variable, since a question may hold quotes and dollars.
export QUESTION

.DEFAULT_GOAL := help
.PHONY: help install demo agent test lint types bench gates clean

help: ## show this list
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

install: $(STAMP) ## make .venv and install Pincite in it, with the development tools

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than 3.11; name another one: make PYTHON=python3.12"; exit 1; }
	@test -x $(RUN) || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
	@echo "Installing Pincite and its tools in $(VENV); the first time takes a minute or two."
	@$(RUN) -m pip install --quiet --editable '.[dev]'
	@touch $(STAMP)

demo: $(STAMP) ## ingest the demo corpus and show the named questions before and after
	@PINCITE_HOME="$$PWD/.pincite" $(VENV)/bin/pincite demo

agent: $(STAMP) ## ask the demo corpus through an agent; QUESTION="..." asks another question
	@PINCITE_HOME="$$PWD/.pincite" $(RUN) examples/agent.py "$$QUESTION"

test: $(STAMP) ## run the tests
	@$(RUN) -m pytest

lint: $(STAMP) ## check style and formatting
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .

types: $(STAMP) ## check types
	@$(RUN) .ci/types.py

bench: $(STAMP) ## measure the legs and the whole pipeline with the demo corpus's labelled questions
	@PINCITE_HOME="$$PWD/.pincite" $(VENV)/bin/pincite init
	@PINCITE_HOME="$$PWD/.pincite" $(VENV)/bin/pincite ingest knowledge app/demo/texts --as demo
	@PINCITE_HOME="$$PWD/.pincite" $(VENV)/bin/pincite bench knowledge --queries app/demo/questions.yaml --as demo \
	  --backend lexical --backend dense --backend hybrid --backend full

gates: $(STAMP) ## measure the test families on fresh databases, against the floors of configs/gates.yaml
	@$(RUN) benchmarks/gates.py

clean: ## remove what the other targets have made, the demo's database included
	rm -rf $(VENV) .pincite build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
