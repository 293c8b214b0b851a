"""Measure the structure and the language of the package's source, beside another checkout and three other projects.

Run `python benchmarks/house.py [ROOT] [--against OTHER_ROOT]`: it parses `vttdata`, `builders` and `tests` of each
root and prints a Markdown table. `--json` prints the bare numbers, and `--list METRIC` what one of them counts.
Nothing is imported or run, so any commit can be measured.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

PACKAGE = "vttdata"
CODE, TESTS = (PACKAGE, "builders"), ("tests",)

# The rooms from low to high. A room may import rooms of lower levels, and, without a circle, of its own.
ORDER: list[tuple[str, ...]] = [
    (
        *("records", "ids", "errors", "settings", "plugins", "version", "missing_modules", "memory"),
        *("subprocesses", "hub_timeout", "validation"),
    ),
    ("files", "recipe", "statistics"),
    ("text", "media", "split"),
    ("generate", "collect", "annotations"),
    ("dataset", "assess"),
    ("load", "export", "annotate"),
    ("pipeline", "evaluate"),
    ("compose", "publish", "report"),
    ("cli", "builders", "__main__"),
]
LEVELS = {room: level for level, rooms in enumerate(ORDER) for room in rooms}

ARTICLES = frozenset({"the", "a", "an", "what", "whether"})
NO_VERBS = ARTICLES | {"how", "which", "where", "who", "when", "that", "one", "each", "every", "all"}


class Definition(NamedTuple):
    """A function, method, class or whole module, with its length in lines; decorators are left out."""

    name: str
    location: str
    length: int
    docstring: str
    is_module: bool = False
    is_function: bool = False
    top_level: bool = False


class Module(NamedTuple):
    """A parsed source file. A package's name is that of its folder, `vttdata.text` for `vttdata/text/__init__.py`."""

    name: str
    folder: str
    text: str
    nodes: list[ast.AST]
    definitions: list[Definition]


class Figure(NamedTuple):
    """The value of a metric, its text in the table, and what it counts."""

    value: float
    text: str
    offenders: list[str]


Modules = Mapping[str, Module]
Imports = Mapping[str, Iterable[str]]


def load_modules(root: Path, folders: Iterable[str] = CODE) -> dict[str, Module]:
    """Parse the Python files in folders of a checkout, and return them by dotted name."""
    modules = {}
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*.py")):
        folder = ".".join(path.parent.relative_to(root).parts)
        name = folder if path.name == "__init__.py" else f"{folder}.{path.stem}"
        text = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(tree := ast.parse(text, str(path))))
        module = Definition(name, name, len(text.splitlines()), ast.get_docstring(tree) or "", is_module=True)
        modules[name] = Module(name, folder, text, nodes, [module, *_definitions(name, tree, nodes)])
    return modules


def _definitions(module: str, tree: ast.Module, nodes: Iterable[ast.AST]) -> Iterator[Definition]:
    """Yield the functions and classes among a module's nodes, methods and nested ones included."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield Definition(
                name=node.name,
                location=f"{module}:{node.lineno} {node.name}",
                length=(node.end_lineno or node.lineno) - node.lineno + 1,
                docstring=ast.get_docstring(node) or "",
                is_function=not isinstance(node, ast.ClassDef),
                top_level=node in tree.body,
            )


def imports_of(modules: Modules) -> dict[str, set[str]]:
    """Return which of the modules each module imports.

    Imports in functions and under `TYPE_CHECKING` count. `from a.b import c` imports the module `a.b.c` if it exists,
    else `a.b`; the name of a package means its `__init__.py`, and importing `a.b` does not count as importing `a`.
    """
    imports = {}
    for name, module in modules.items():
        candidates = ((dotted, dotted.rpartition(".")[0]) for dotted in _imported_names(module))
        imports[name] = {next((known for known in pair if known in modules), name) for pair in candidates} - {name}
    return imports


def _imported_names(module: Module) -> Iterator[str]:
    """Yield the dotted names in import statements, `a.b.c` for `from a.b import c`."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            folders = module.folder.split(".")
            base = folders[: len(folders) + 1 - node.level] if node.level else []
            yield from (".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names)


def room_of(name: str) -> str:
    """Return a module's room: the first folder or root module in the package, or the folder beside the package."""
    first, *rest = name.split(".")
    return rest[0] if first == PACKAGE and rest else first


def room_imports(imports: Imports) -> dict[str, set[str]]:
    """Return which other rooms each room imports, without the package's own `__init__.py`."""
    rooms: dict[str, set[str]] = {}
    for name in imports.keys() - {PACKAGE}:
        imported = {room_of(module) for module in imports[name]} - {room_of(name), PACKAGE}
        rooms[room_of(name)] = rooms.get(room_of(name), set()) | imported
    return rooms


def circles(imports: Imports) -> list[list[str]]:
    """Return the strongly connected components of more than one member, each sorted."""
    reached = {name: _reachable(name, imports) for name in imports}
    components = {frozenset(member for member in reached[name] if name in reached[member]) for name in imports}
    return sorted(sorted(component) for component in components if len(component) > 1)


def _reachable(start: str, imports: Imports) -> set[str]:
    """Return what a module imports, directly or through other modules."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        new = set(imports[waiting.pop()]) - seen
        seen |= new
        waiting += new
    return seen


def upward_imports(imports: Imports) -> list[tuple[str, str]]:
    """Return the pairs (importing module, imported module) in which the second is on a higher level of `ORDER`.

    The package's own `__init__.py`, which may import anything, and rooms that are not in `ORDER` are left out.
    """
    levels = {name: LEVELS[room_of(name)] for name in imports if room_of(name) in LEVELS}
    pairs = ((name, imported) for name in levels for imported in imports[name] if imported in levels)
    return sorted((name, imported) for name, imported in pairs if levels[name] < levels[imported])


def unplanned_rooms(names: Iterable[str]) -> list[str]:
    """Return the rooms of modules that are not in `ORDER`."""
    return sorted({room_of(name) for name in names} - LEVELS.keys() - {PACKAGE})


def _count(offenders: Iterable[str]) -> Figure:
    offenders = list(offenders)
    return Figure(len(offenders), str(len(offenders)), offenders)


def _share(offenders: list[str], whole: int) -> Figure:
    percent = 100 * len(offenders) / max(whole, 1)
    return Figure(round(percent, 2), f"{percent:.1f} % ({len(offenders):,} of {whole:,})", offenders)


def _all_definitions(modules: Modules) -> list[Definition]:
    return [definition for module in modules.values() for definition in module.definitions]


def root_modules(modules: Modules) -> Figure:
    """Count the modules in the package's own folder, without its `__init__.py`."""
    return _count(name for name, module in modules.items() if module.folder == PACKAGE != name)


def largest_folders(modules: Modules) -> Figure:
    """Return the number of files of the largest folder, without subfolders and without the package's own folder."""
    sizes = Counter(module.folder for module in modules.values() if module.folder != PACKAGE)
    folders = [f"{folder.removeprefix(f'{PACKAGE}.')} {size}" for folder, size in sizes.most_common()]
    return Figure(max(sizes.values(), default=0), ", ".join(folders[:3]), folders)


def lengths(modules: Modules, summary: Callable[[list[int]], float], *, functions: bool = False) -> Figure:
    """Return a summary, such as the median, of the lengths of all files, or of all functions, methods and nested ones.

    Blank lines, comments and docstrings count. The offenders are all of them, the longest first.
    """
    measured = [d for d in _all_definitions(modules) if (d.is_function if functions else d.is_module)]
    measured.sort(key=lambda definition: -definition.length)
    value = summary([definition.length for definition in measured]) if measured else 0
    return Figure(value, f"{value:,}", [f"{definition.length} {definition.location}" for definition in measured])


def private_names(modules: Modules) -> Figure:
    """Return the share of top-level functions and classes, not of constants, that start with an underscore."""
    top_level = [definition for definition in _all_definitions(modules) if definition.top_level]
    return _share([definition.location for definition in top_level if definition.name[0] == "_"], len(top_level))


def used_once(modules: Modules) -> Figure:
    """Return the share of private functions to which their own module refers exactly once.

    Private are top-level and nested functions and methods with a leading underscore, except `__magic__` ones. A
    reference is the name where it is read, or an attribute so named of any object. Imports and references in other
    modules do not count.
    """
    uses: dict[str, int] = {}
    for module in modules.values():
        reads = (n for n in module.nodes if isinstance(n, ast.Name | ast.Attribute) and isinstance(n.ctx, ast.Load))
        references = Counter(node.id if isinstance(node, ast.Name) else node.attr for node in reads)
        private = (d for d in module.definitions if d.is_function and re.match("_(?!_.*__$)", d.name))
        uses |= {function.location: references[function.name] for function in private}
    return _share([location for location, count in uses.items() if count == 1], len(uses))


# Names that every file of a kind defines: builders and commands.
SHARED_NAMES = frozenset({"Recipe", "build", "command", "main", "read"})


def ambiguous_names(modules: Modules) -> Figure:
    """Count the public functions and classes of one name that several modules define."""
    homes: dict[str, list[str]] = {}
    for name, module in modules.items():
        for definition in module.definitions:
            if definition.top_level and definition.name[0] != "_" and definition.name not in SHARED_NAMES:
                homes.setdefault(definition.name, []).append(name)
    return _count(f"{name}: {', '.join(places)}" for name, places in homes.items() if len(places) > 1)


def own_line_comments(modules: Modules) -> Figure:
    """Return the share of lines that hold nothing but a comment."""
    comments = [
        f"{name}:{token.start[0]} {token.string}"
        for name, module in modules.items()
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline)
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#")
    ]
    return _share(comments, int(lengths(modules, sum).value))


def first_words(modules: Modules, words: frozenset[str], *, public_functions: bool = False) -> Figure:
    """Return the share of docstrings whose first word, in any case, is one of `words`.

    Considered are all docstrings, or those of functions and methods without a leading underscore.
    """
    documented = [definition for definition in _all_definitions(modules) if definition.docstring]
    if public_functions:
        documented = [d for d in documented if d.is_function and d.name[0] != "_"]
    opening = [d for d in documented if re.split(r"\W", d.docstring)[0].lower() in words]
    return _share([f"{d.location}: {d.docstring.splitlines()[0]}" for d in opening], len(documented))


class Metric(NamedTuple):
    """A row of the table: its label, its function, and the peers' figures, empty where they were not taken."""

    label: str
    measure: Callable[[Modules], Figure]
    peers: tuple[str, str, str] = ("", "", "")
    folders: tuple[str, ...] = CODE


# The peers' figures were measured on those projects' sources in 2026; for docstrings, their list of words may differ.
PEERS = ("datatrove", "ir_datasets", "mirdata")
METRICS = {
    "root": Metric("modules at the package's root", root_modules, ("5", "6", "9")),
    "folders": Metric("files in the three largest folders", largest_folders),
    "lines": Metric("lines of Python", partial(lengths, summary=sum)),
    "test-lines": Metric("lines of Python in tests", partial(lengths, summary=sum), folders=TESTS),
    "file": Metric("median file, lines", partial(lengths, summary=median), ("94", "143", "314")),
    "top-file": Metric("longest file", partial(lengths, summary=max), ("4,113", "775", "1,799")),
    "function": Metric("median function", partial(lengths, summary=median, functions=True), ("11", "4", "8")),
    "top-function": Metric("longest function", partial(lengths, summary=max, functions=True), ("131", "266", "160")),
    "private": Metric("top-level functions and classes that are private", private_names, ("10 %", "15 %", "4 %")),
    "used-once": Metric("private functions used once", used_once, ("67 of 106", "", "")),
    "ambiguous": Metric("public names with several meanings", ambiguous_names),
    "comments": Metric("lines that are a comment", own_line_comments, ("3.4 %", "2.1 %", "1.0 %")),
    "articles": Metric(
        "docstrings that open with *the*, *a*, *an*, *what*, *whether*", partial(first_words, words=ARTICLES)
    ),
    "no-verbs": Metric(
        "public functions' docstrings that open so, or with *how*, *which*, *one*, *each* and the like",
        partial(first_words, words=NO_VERBS, public_functions=True),
        ("2 %", "0", "21 %"),
    ),
    "circles": Metric("import circles", lambda modules: _count(map(", ".join, circles(imports_of(modules))))),
    "room-circles": Metric(
        "import circles of rooms",
        lambda modules: _count(map(", ".join, circles(room_imports(imports_of(modules))))),
    ),
    "upward": Metric(
        "imports of a higher room",
        lambda modules: _count(map(" imports ".join, upward_imports(imports_of(modules)))),
    ),
    "unplanned": Metric("rooms that are not in the plan", lambda modules: _count(unplanned_rooms(modules))),
}


def measure(root: Path) -> dict[str, Figure]:
    """Take all metrics of a checkout."""
    modules = {folders: load_modules(root, folders) for folders in {metric.folders for metric in METRICS.values()}}
    return {name: metric.measure(modules[metric.folders]) for name, metric in METRICS.items()}


def table(trees: Mapping[str, Mapping[str, Figure]]) -> str:
    """Return a Markdown table with a row for each metric and a column for each checkout and each peer."""
    rows = [["", *trees, *PEERS], ["---", *["--:"] * (len(trees) + len(PEERS))]]
    for name, metric in METRICS.items():
        rows.append([metric.label, *(figures[name].text for figures in trees.values()), *metric.peers])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Print the table, the numbers as JSON, or what one metric counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = Path(__file__).resolve().parents[1]
    parser.add_argument("root", nargs="?", type=Path, default=here, help="the checkout to measure (default: this one)")
    parser.add_argument("--against", type=Path, metavar="OTHER_ROOT", help="measure another checkout beside it")
    parser.add_argument("--json", action="store_true", help="print the numbers of each checkout")
    parser.add_argument("--list", choices=METRICS, metavar="METRIC", help=f"print what it counts: {', '.join(METRICS)}")
    options = parser.parse_args()
    roots = {"this tree": options.root} | ({"other tree": options.against} if options.against else {})
    for root in roots.values():
        if not (root / PACKAGE).is_dir():
            parser.error(f"{root} contains no folder {PACKAGE}")
    trees = {label: measure(root) for label, root in roots.items()}
    if options.list:
        print("\n".join(trees["this tree"][options.list].offenders))
    elif options.json:
        print(json.dumps({t: {name: f.value for name, f in figures.items()} for t, figures in trees.items()}, indent=2))
    else:
        print(table(trees))


if __name__ == "__main__":
    main()
