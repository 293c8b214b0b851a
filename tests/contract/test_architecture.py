"""`docs/architecture.md` draws the rooms as they are; import-linter holds their directions (`make lint`)."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "vttdata"
MODULES = [*sorted(PACKAGE.rglob("*.py")), *sorted((ROOT / "builders").glob("*.py"))]
# Names that every file of a kind defines: builders and commands.
SHARED_NAMES = {"Recipe", "build", "command", "main", "read"}


def page() -> str:
    return (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def contracts() -> list[dict[str, Any]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["tool"]["importlinter"]["contracts"]


def test_no_modules_import_each_other_in_a_circle() -> None:
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph("vttdata", cache_dir=None)
    imports = [(name, found) for name in graph.modules for found in graph.find_modules_directly_imported_by(name)]
    assert len(imports) > 1000
    assert [pair for pair in imports if pair[0] in graph.find_upstream_modules(pair[1])] == []


def test_page_lists_the_layers_of_the_contract() -> None:
    layers = next(contract["layers"] for contract in contracts() if contract["type"] == "layers")
    listed = re.search(r"```\ncli\n(.*?)```", page(), re.DOTALL)
    assert listed is not None
    # The last layer is the modules that lie in no room.
    assert ["cli", *listed[1].splitlines()] == [*layers[:-1], "ground"]


def test_page_says_what_every_folder_is_for() -> None:
    tree = re.search(r"```\n(vttdata/ .*?)```", page(), re.DOTALL)
    assert tree is not None
    described: set[str] = set()
    parents: list[str] = []
    for line in tree[1].splitlines():
        if entry := re.match(r"( *)([a-z_]+)/ ", line):
            depth = len(entry[1]) // 2
            parents[depth:] = [entry[2]]
            described.add("/".join(parents))
    folders = {path.parent.relative_to(ROOT).as_posix() for path in MODULES}
    assert folders - described == set()
    assert [name for name in described if name.startswith("vttdata/") and not (ROOT / name).is_dir()] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_a_public_name_has_one_meaning() -> None:
    modules = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name[0] != "_":
                modules[node.name].append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in modules.items() if len(paths) > 1 and name not in SHARED_NAMES} == {}
