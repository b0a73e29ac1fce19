# PIP_ARGS reaches every pip call, for example
#   make demo PIP_ARGS="--extra-index-url <an index that has torch's CPU builds>"
PY ?= python3
V := .venv
PIP := $(V)/bin/pip install --quiet --disable-pip-version-check $(PIP_ARGS) -c constraints.txt

.PHONY: demo test lint docs lab clean

demo: $(V)/.core          ## set up, then learn to pronounce English (about 3 minutes of training)
	$(V)/bin/sublayer demo

test: $(V)/.dev           ## set up, then lint, check types and run the tests
	$(V)/bin/ruff check src tests benchmarks
	$(V)/bin/ruff format --check src tests benchmarks
	$(V)/bin/mypy
	$(V)/bin/python -m pytest -n auto --dist loadfile -m "not slow"

docs: $(V)/.dev           ## build both languages into docs/_build
	$(V)/bin/sphinx-build -q -W -b html docs/en docs/_build/en
	$(V)/bin/sphinx-build -q -W -b html docs/zh docs/_build/zh

lab: $(V)/.dev            ## run the tutorials' claims (ten minutes on two cores) and write docs/en/lab.md, docs/zh/lab.md
	$(V)/bin/sublayer lab run --jobs 2 --out docs/lab/results
	$(V)/bin/sublayer lab report --out docs/lab/results

# torch first and alone, so that no later resolution can replace it.
$(V)/.core: pyproject.toml constraints.txt
	$(PY) -m venv $(V)
	$(PIP) torch
	$(PIP) -e '.[plot]'
	touch $@

$(V)/.dev: $(V)/.core
	$(PIP) -e '.[dev]'
	touch $@

clean:
	rm -rf $(V) docs/_build
