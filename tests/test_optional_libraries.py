"""A library that is not installed is named together with the extra that brings it, once, wherever it is missed."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

from tests.helpers.hidden_libraries import run_without
from tests.helpers.needs import LIBRARY
from vttdata.missing_modules import LIBRARIES

ROOT = Path(__file__).resolve().parents[1]

# Import, and the extra that it needs; None for what the base install can do.
IMPORTS = {
    "from vttdata import load_dataset, list_datasets, find_dataset, evaluate": None,
    "from vttdata.split import assign_splits, audit": None,
    "from vttdata.generate import degrade": None,
    "from vttdata.people import make_hits, score_hits": None,
    "from vttdata import build": "build",
    "from vttdata.media import probe": "build",
    "from vttdata.media import detect_shots": "build",
    "from vttdata.collect import fetch": "build",
    "from vttdata.recipe.load import load_recipe": "build",
    "from vttdata.generate import mine_foils": "foil",
}
COMMANDS = {
    ("list",): None,
    ("build", "demo"): "build",
    ("video", "shots", "film.mp4"): "build",
    ("degrade", "captions.csv", "--out", "out"): "build",
    ("foil", "captions.csv", "--out", "out"): "foil",
    ("people", "plan"): "assess",
}


def test_every_import_names_the_one_extra_that_it_needs() -> None:
    code = (
        f"for line in {list(IMPORTS)!r}:\n"
        "    try:\n        exec(line)\n        print('ok')\n"
        "    except ModuleNotFoundError as error:\n        print(error)\n"
    )
    done = run_without(LIBRARIES, code)
    assert done.returncode == 0, done.stderr
    answers = dict(zip(IMPORTS, done.stdout.splitlines(), strict=True))
    assert {line: re.findall(r"pip install 'vttdata\[(\w+)\]'", answer) for line, answer in answers.items()} == {
        line: [] if extra is None else [extra] for line, extra in IMPORTS.items()
    }
    assert all((answers[line] == "ok") == (extra is None) for line, extra in IMPORTS.items())


def test_every_command_names_the_one_extra_that_it_needs() -> None:
    code = (
        "from vttdata.cli.main import main\n"
        f"for arguments in {list(COMMANDS)!r}:\n"
        "    code = main(arguments)\n"
        "    print('---', code, file=sys.stderr)\n"
    )
    done = run_without(LIBRARIES, code)
    for (command, extra), answer in zip(COMMANDS.items(), re.split(r"--- ", done.stderr), strict=False):
        hints = re.findall(r"pip install 'vttdata\[(\w+)\]'", answer)
        assert hints == ([] if extra is None else [extra]), (command, answer)
    codes = re.findall(r"^--- (\d)$", done.stderr, re.MULTILINE)
    assert codes == ["0" if extra is None else "2" for extra in COMMANDS.values()]


def test_questions_are_not_built_before_the_libraries_of_their_attackers_are_there(tmp_path: Path) -> None:
    rows = [f"q{number},v{number},What is it?,a cat,a dog,{number % 2}" for number in range(200)]
    table = tmp_path / "questions.csv"
    table.write_text("\n".join(["question_id,video_id,question,option_0,option_1,answer", *rows]))
    command = ["build", "questions", "--set", f"annotations={table}", "--out", str(tmp_path / "out")]
    done = run_without(["scipy", "spacy"], f"from vttdata.cli.main import main\nsys.exit(main({command!r}))")
    assert done.returncode == 2
    assert "Blind attackers of questions need SciPy: pip install 'vttdata[assess]'." in done.stderr
    assert done.stdout == ""


def test_other_packages_find_nothing_where_nothing_is() -> None:
    code = (
        "import importlib.util, vttdata\n"
        "print(importlib.util.find_spec('torch'))\n"
        "try:\n    import torch\nexcept ModuleNotFoundError as error:\n    print(error.name, 'pip' in str(error))\n"
    )
    assert run_without(["torch"], code).stdout == "None\ntorch False\n"


def test_a_missing_module_of_this_package_fails_as_usual() -> None:
    with pytest.raises(ModuleNotFoundError) as error:
        importlib.import_module("vttdata.no_such_module")
    assert (type(error.value), error.value.name) == (ModuleNotFoundError, "vttdata.no_such_module")


@pytest.mark.parametrize("module", sorted(LIBRARIES))
def test_extras_bring_the_libraries_that_they_are_named_for(module: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    names = {re.split(r"[\[<>=!;\s]", text)[0].lower() for text in extras[LIBRARIES[module][1]]}
    distributions = importlib.metadata.packages_distributions().get(module)
    if distributions is None:
        pytest.skip(LIBRARY.format(module))
    assert names & {distribution.lower() for distribution in distributions}
