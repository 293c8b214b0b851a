# Every target sets itself up: it creates a virtual environment in .venv and installs what it needs from PyPI, in the
# exact versions of pins-*.txt.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# Benchmarks that need no files; benchmarks/RESULTS.md has the commands of the others.
BENCHES := annotation crowd null spans stages

.PHONY: clients-table demo docs notebook pictures test test-long test-clients test-extras test-newest test-systems test-lowest pins lint bench clean

demo: .venv/build-ready
	$(BIN)/vttdata build demo
	@echo
	$(BIN)/vttdata show vttdata/demo
	@echo
	@$(BIN)/python -c "import datasets; datasets.disable_progress_bars(); \
	from vttdata import load_dataset; clip = load_dataset('vttdata/demo')['train'][0]; \
	print('load_dataset(\"vttdata/demo\")[\"train\"][0]:', clip['video']['path'], *clip['captions'][:3], sep='\n  ')"
	@echo
	@echo 'The report, a page to look through: $(VTTDATA_HOME)/vttdata/demo/report.html'
	@echo 'To continue from here: . .venv/bin/activate; export VTTDATA_HOME=$(VTTDATA_HOME)'

demo: export VTTDATA_HOME = $(CURDIR)/build

# The manuals and the reference of public names as pages in site/; a link that leads nowhere fails.
docs: .venv-docs/ready
	.venv-docs/bin/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env --conf-dir docs . site
	@cp site/README.html site/index.html
	@echo 'Open $(CURDIR)/site/index.html'

# The notebook of the examples with the outputs of a new run.
notebook: .venv/dev-ready
	$(BIN)/python -m tests.helpers.notebooks docs/examples/first-look.ipynb

pictures: .venv/build-ready
	$(BIN)/python docs/pictures.py

test: .venv/dev-ready
	$(BIN)/python -m pytest --outcomes=.venv/outcomes.json

# Experiments that are too long for every change: kills at every point, matrices of containers and systems, simulations
# of thousands. `make test` runs a sample of each.
test-long: .venv/dev-ready
	$(BIN)/python -m pytest -m long --outcomes=.venv/long-outcomes.json

# The tests that `make test` skipped for want of a library, in an environment that has them all.
test-extras: .venv-extras/ready .venv-extras/old-datasets
	@test -f .venv/outcomes.json || { echo 'make test says which tests lack a library: run it first.'; exit 1; }
	VTTDATA_OLD_DATASETS=$(CURDIR)/.venv-extras/old-datasets/bin/python \
	  .venv-extras/bin/python -m pytest --only-skipped=.venv/outcomes.json --outcomes=.venv-extras/outcomes.json

# Other people's programs, each in an environment of its own, on what this package writes: tests/clients. CLIENTS names
# environments of clients.toml, or `quick`; one that is named and not run fails the target.
CLIENTS := all
test-clients: export VTTDATA_CLIENTS = $(CLIENTS)
test-clients: .venv/dev-ready
	@$(BIN)/python -m pip install --quiet uv
	@status=0; $(BIN)/python -m tests.clients.environments $(CLIENTS) || status=1; \
	  $(BIN)/python -m pytest --numprocesses 2 --outcomes=.venv-clients/outcomes.json tests/clients || status=1; \
	  $(BIN)/python -m tests.clients.showed $(CLIENTS) || status=1; exit $$status

# The tables of clients in the manual, from what the last run of each environment showed.
clients-table: .venv/dev-ready
	$(BIN)/python -m tests.clients.showed
	-@$(BIN)/python docs/tables.py

# Without pins, on the newest Python of this machine: tells what the next releases break. MINUTES limits it.
NEWEST_FIRST := tests/media tests/pipeline tests/integration
test-newest: .venv-newest/ready
	.venv-newest/bin/python -m pytest --dist load --outcomes=.venv-newest/outcomes.json $(MINUTES:%=--minutes=%) \
	  $(NEWEST_FIRST) $(filter-out $(NEWEST_FIRST) tests/helpers tests/__pycache__,$(patsubst %/,%,$(wildcard tests/*/))) \
	  $(wildcard tests/test_*.py)

# Renews the pinned versions: the newest ones that pyproject.toml allows, for Python 3.11 and for all newer ones.
pins: .venv/bin/python
	@$(BIN)/python -m pip install --quiet uv
	for version in 3.11 3.12; do \
	  printf '%s\n' editables setuptools wheel | $(BIN)/uv pip compile --quiet --upgrade --no-header --no-annotate \
	    --no-emit-index-url --python-version $$version --extra test-extras --extra docs pyproject.toml - \
	    --output-file pins-$$version.txt || exit 1; \
	done

# With the lowest versions that pyproject.toml allows; LOWEST names the tests.
LOWEST := tests/recipe tests/builders tests/files tests/split tests/load tests/dataset tests/pipeline tests/cli/test_verify.py \
  tests/export tests/statistics tests/evaluate/test_captioning_metrics.py tests/media/test_container_structure.py \
  tests/media/shots/test_damaged.py tests/collect/test_download.py

test-lowest: .venv/bin/python
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-lowest
	@$(BIN)/uv pip install --quiet --python .venv-lowest --resolution lowest-direct '.[build,foil,assess,java-metrics,xlsx]'
	@$(BIN)/uv pip freeze --python .venv-lowest --exclude vttdata > .venv-lowest/constraints.txt
	@$(BIN)/uv pip install --quiet --python .venv-lowest --constraint .venv-lowest/constraints.txt \
	  pytest pytest-xdist hypothesis filelock snowballstemmer 'mlcroissant[parquet]'
	PYTHONPATH=$(CURDIR) .venv-lowest/bin/python -m pytest $(LOWEST)

# Where the package sees another system than Linux; see tests/helpers/simulated. Windows builds nothing.
SYSTEM_TESTS := tests/load tests/evaluate tests/export tests/publish tests/files tests/dataset tests/split/audit \
  tests/cli/test_audit.py tests/cli/test_audit_foils.py tests/cli/test_audit_questions.py tests/cli/test_evaluate.py
WIN32_TESTS := tests/people/answers tests/people/hits tests/people/scoring tests/people/test_results_used.py tests/cli/test_protocol.py \
  tests/cli/metric tests/cli/people tests/cli/test_main.py tests/cli/test_show.py tests/cli/test_list.py
DARWIN_TESTS := tests/test_subprocesses.py tests/pipeline tests/collect tests/split/near_duplicates tests/media/test_cut.py \
  tests/integration/test_build.py tests/integration/test_continued_build.py tests/integration/test_interruption.py \
  tests/cli/video tests/cli/test_verify.py tests/people/test_killed.py

test-systems: export PYTHONPATH = $(CURDIR)/tests/helpers/simulated
test-systems: .venv/dev-ready
	VTTDATA_SIMULATE=win32 $(BIN)/python -m pytest $(SYSTEM_TESTS) $(WIN32_TESTS)
	VTTDATA_SIMULATE=darwin $(BIN)/python -m pytest $(SYSTEM_TESTS) $(DARWIN_TESTS)

lint: .venv/dev-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	@mkdir -p .mypy_cache; checks=; for system in linux darwin win32; do \
	  $(BIN)/mypy --platform $$system --cache-dir .mypy_cache/$$system >.mypy_cache/$$system.txt 2>&1 & checks="$$checks $$!"; \
	done; status=0; for check in $$checks; do wait $$check || status=1; done; cat .mypy_cache/*.txt; exit $$status

bench: .venv/dev-ready
	@$(BIN)/python -m pip install --quiet --editable '.[bench]'
	for name in $(BENCHES); do echo "== $$name"; $(BIN)/python benchmarks/$$name.py || exit 1; done
	$(BIN)/python benchmarks/shots/run.py --quick

clean:
	rm -rf .venv .venv-clients .venv-docs .venv-extras .venv-newest .venv-lowest build site .pytest_cache .mypy_cache .ruff_cache

# Checks the version and creates an environment: $(call create,PYTHON,FOLDER).
define create
	@$(1) -c 'import sys; sys.exit("vttdata needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@$(1) -m venv $(2) || { rm -rf $(2); echo "$(1) has no venv module: install the python3-venv package"; exit 1; }
endef

INSTALL := echo 'Installing from PyPI; this takes about half a minute.'

.venv/bin/python:
	$(call create,$(PYTHON),.venv)

.venv/build-ready: .venv/bin/python pyproject.toml $(wildcard pins-*.txt)
	@$(INSTALL)
	@$(BIN)/python .ci/install.py build
	@touch $@

.venv/dev-ready: .venv/bin/python pyproject.toml $(wildcard pins-*.txt)
	@$(INSTALL)
	@$(BIN)/python .ci/install.py dev
	@touch $@ .venv/build-ready

.venv-docs/ready: pyproject.toml $(wildcard pins-*.txt)
	$(call create,$(PYTHON),.venv-docs)
	@$(INSTALL)
	@.venv-docs/bin/python .ci/install.py docs
	@touch $@

.venv-extras/ready: pyproject.toml $(wildcard pins-*.txt)
	$(call create,$(PYTHON),.venv-extras)
	@$(INSTALL)
	@.venv-extras/bin/python .ci/install.py test-extras
	@touch $@

.venv-extras/old-datasets: .venv-extras/ready
	@.venv-extras/bin/python -m pip install --quiet uv
	@.venv-extras/bin/uv venv --quiet --clear --python .venv-extras/bin/python $@
	@.venv-extras/bin/uv pip install --quiet --python $@ --resolution lowest-direct .

.venv-newest/ready: pyproject.toml
	@newest=$$(sh .ci/newest_python.sh) || { echo 'This machine has no Python newer than 3.11.'; exit 1; }; \
	  rm -rf .venv-newest; $$newest -m venv .venv-newest
	@$(INSTALL)
	@.venv-newest/bin/python .ci/install.py dev --newest
	@touch $@
