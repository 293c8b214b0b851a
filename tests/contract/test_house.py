"""The source keeps to the plan that `docs/architecture.md` draws: rooms, arrows between them, and plain language."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.house import (
    ARTICLES,
    ORDER,
    Figure,
    Imports,
    Modules,
    ambiguous_names,
    circles,
    first_words,
    imports_of,
    load_modules,
    own_line_comments,
    private_names,
    room_imports,
    unplanned_rooms,
    upward_imports,
    used_once,
)

ROOT = Path(__file__).resolve().parents[2]
GROUND_FLOOR = frozenset(ORDER[0])


@pytest.fixture(scope="module")
def modules() -> Modules:
    return load_modules(ROOT)


@pytest.fixture(scope="module")
def imports(modules: Modules) -> Imports:
    return imports_of(modules)


def page() -> str:
    return (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def drawn_arrows() -> set[tuple[str, str]]:
    picture = re.search(r"```mermaid\n(.*?)```", page(), re.DOTALL)
    assert picture is not None
    return set(re.findall(r"^ *(\w+) --> (\w+)$", picture[1], re.MULTILINE))


@pytest.fixture(scope="module")
def real_arrows(imports: Imports) -> set[tuple[str, str]]:
    """Imports between rooms; the modules at the package's root that import no room are the ground floor."""
    pairs = ((room, imported) for room, rooms in room_imports(imports).items() for imported in rooms)
    named = (tuple("ground" if room in GROUND_FLOOR else room for room in pair) for pair in pairs)
    return {(room, imported) for room, imported in named if room != imported and room != "__main__"}


def reachable(start: str, arrows: set[tuple[str, str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        room = waiting.pop()
        after = {imported for importer, imported in arrows if importer == room} - seen
        seen |= after
        waiting += after
    return seen


def test_no_modules_import_each_other_in_a_circle(imports: Imports) -> None:
    assert circles(imports) == []


def test_no_rooms_import_each_other_in_a_circle(imports: Imports) -> None:
    assert circles(room_imports(imports)) == []


def test_no_room_imports_a_higher_one(imports: Imports) -> None:
    assert upward_imports(imports) == []


def test_every_room_is_in_the_plan(modules: Modules) -> None:
    assert unplanned_rooms(modules) == []


def test_ground_floor_imports_no_room(real_arrows: set[tuple[str, str]]) -> None:
    assert {imported for importer, imported in real_arrows if importer == "ground"} == set()


def test_every_drawn_arrow_is_an_import(real_arrows: set[tuple[str, str]]) -> None:
    assert drawn_arrows() - real_arrows == set()


def test_every_import_follows_drawn_arrows(real_arrows: set[tuple[str, str]]) -> None:
    drawn = drawn_arrows()
    assert [pair for pair in sorted(real_arrows) if pair[1] not in reachable(pair[0], drawn)] == []


def test_no_drawn_arrow_can_be_left_out() -> None:
    drawn = drawn_arrows()
    assert [pair for pair in sorted(drawn) if pair[1] in reachable(pair[0], drawn - {pair})] == []


def test_page_says_what_every_folder_is_for(modules: Modules) -> None:
    tree = re.search(r"```\n(vttdata/ .*?)```", page(), re.DOTALL)
    assert tree is not None
    described: list[str] = []
    parents: list[str] = []
    for line in tree[1].splitlines():
        entry = re.match(r"( *)([a-z_]+)/ ", line)
        if entry:
            depth = len(entry[1]) // 2
            parents[depth:] = [entry[2]]
            described.append("/".join(parents))
    folders = {module.folder.replace(".", "/") for module in modules.values()} - {"vttdata", "builders"}
    assert {folder.removeprefix("vttdata/") for folder in folders} <= {
        name.removeprefix("vttdata/") for name in described
    }
    assert [name for name in described if name.startswith("vttdata/") and not (ROOT / name).is_dir()] == []


def test_every_module_says_what_it_is_for(modules: Modules) -> None:
    assert [name for name, module in modules.items() if not module.definitions[0].docstring] == []


@pytest.mark.parametrize(
    ("measure", "most"),
    [
        (lambda modules: first_words(modules, ARTICLES), 2.0),
        (private_names, 30.0),
        (used_once, 60.0),
    ],
    ids=["docstrings that open with an article", "private top-level names", "private functions used once"],
)
def test_language_and_structure_stay_readable(
    modules: Modules, measure: Callable[[Modules], Figure], most: float
) -> None:
    figure = measure(modules)
    assert figure.value <= most, figure.offenders[:20]


def test_a_public_name_has_one_meaning(modules: Modules) -> None:
    assert not ambiguous_names(modules).offenders


def test_reasons_are_written_down(modules: Modules) -> None:
    assert own_line_comments(modules).value >= 1.0
