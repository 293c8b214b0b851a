# Every target sets itself up: it creates a virtual environment in .venv and installs what it needs from PyPI.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# Benchmarks that need no files; benchmarks/RESULTS.md has the commands of the others.
BENCHES := crowd cutting degrade differences engine exports hits splits stages

.PHONY: demo pictures test test-lowest test-systems lint bench clean

demo: .venv/build-ready
	$(BIN)/vttdata build demo
	@echo
	$(BIN)/vttdata stats vttdata/demo
	@echo
	@$(BIN)/python -c "import datasets; datasets.disable_progress_bars(); \
	from vttdata import load_dataset; clip = load_dataset('vttdata/demo')['train'][0]; \
	print('load_dataset(\"vttdata/demo\")[\"train\"][0]:', clip['video']['path'], *clip['captions'][:3], sep='\n  ')"
	@echo
	@echo 'To continue from here: . .venv/bin/activate; export VTTDATA_HOME=$(VTTDATA_HOME)'

demo: export VTTDATA_HOME = $(CURDIR)/build

pictures: .venv/build-ready
	$(BIN)/python docs/pictures.py

test: .venv/dev-ready
	$(BIN)/python -m pytest

# With the lowest versions that pyproject.toml allows; LOWEST names the tests.
LOWEST := tests/recipe tests/builders tests/files tests/split tests/load tests/dataset tests/pipeline tests/cli/test_verify.py \
  tests/export tests/evaluate/test_resampling.py tests/evaluate/test_captioning_metrics.py tests/media/test_container_structure.py \
  tests/media/shots/test_damaged.py tests/media/shots/fast/test_reference_frames.py tests/collect/test_download.py

test-lowest: .venv/bin/python
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-lowest
	@$(BIN)/uv pip install --quiet --python .venv-lowest --resolution lowest-direct '.[build,foil,assess,metrics,java-metrics]'
	@$(BIN)/uv pip freeze --python .venv-lowest --exclude vttdata > .venv-lowest/constraints.txt
	@$(BIN)/uv pip install --quiet --python .venv-lowest --constraint .venv-lowest/constraints.txt \
	  pytest pytest-xdist hypothesis filelock snowballstemmer 'mlcroissant[parquet]'
	PYTHONPATH=$(CURDIR) .venv-lowest/bin/python -m pytest $(LOWEST)

# Where the package sees another system than Linux; see tests/helpers/simulated. Windows builds nothing.
SYSTEM_TESTS := tests/load tests/evaluate tests/export tests/publish tests/files tests/dataset tests/split/audit \
  tests/cli/test_audit.py tests/cli/test_audit_foils.py tests/cli/test_audit_questions.py tests/cli/test_evaluate.py
WIN32_TESTS := tests/assess tests/annotate/test_quality.py tests/annotate/test_results_used.py tests/cli/test_protocol.py \
  tests/cli/test_evaluate_metric.py tests/cli/test_hits_compare.py tests/cli/test_hits_make.py tests/cli/test_hits_power.py \
  tests/cli/test_hits_score.py tests/cli/test_main.py tests/cli/test_stats_diff_datasets.py
DARWIN_TESTS := tests/test_subprocesses.py tests/pipeline tests/collect tests/split/near_duplicates tests/media/test_cut.py \
  tests/integration/test_build.py tests/integration/test_continued_build.py tests/integration/test_interruption.py \
  tests/cli/test_shots.py tests/cli/test_verify.py tests/annotate/test_killed.py

test-systems: export PYTHONPATH = $(CURDIR)/tests/helpers/simulated
test-systems: .venv/dev-ready
	VTTDATA_SIMULATE=win32 $(BIN)/python -m pytest $(SYSTEM_TESTS) $(WIN32_TESTS)
	VTTDATA_SIMULATE=darwin $(BIN)/python -m pytest $(SYSTEM_TESTS) $(DARWIN_TESTS)

lint: .venv/dev-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	for system in linux darwin win32; do $(BIN)/mypy --platform $$system --cache-dir .mypy_cache/$$system || exit 1; done

bench: .venv/dev-ready
	@$(BIN)/python -m pip install --quiet --editable '.[bench]'
	for name in $(BENCHES); do echo "== $$name"; $(BIN)/python benchmarks/$$name.py || exit 1; done
	$(BIN)/python benchmarks/shots/run.py --quick

clean:
	rm -rf .venv .venv-lowest build .pytest_cache .mypy_cache .ruff_cache

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("vttdata needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "python3 has no venv module: install the python3-venv package"; exit 1; }

.venv/build-ready: .venv/bin/python pyproject.toml
	@echo 'Installing into .venv; this takes about half a minute.'
	@$(BIN)/python -m pip install --quiet --editable '.[build]'
	@touch $@

.venv/dev-ready: .venv/bin/python pyproject.toml
	@echo 'Installing into .venv; this takes about half a minute.'
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ .venv/build-ready
