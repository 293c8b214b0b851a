"""Text files have the same bytes on every system: each place that opens one names encoding and ends of lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = [*sorted((ROOT / "vttdata").rglob("*.py")), *sorted((ROOT / "builders").glob("*.py"))]


def unclear_calls(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line of each call that opens a text file, and what it should name."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        keywords = {keyword.arg for keyword in node.keywords}
        texts = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        modes = [text for text in texts if isinstance(text, str) and text and set(text) <= set("rwaxbt+")]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        is_method = isinstance(node.func, ast.Attribute)
        receiver = node.func.value.id if is_method and isinstance(node.func.value, ast.Name) else ""
        if name == "write_text" and receiver != "formatter":
            needed = {"encoding", "newline"}
        elif name == "read_text" and is_method:
            needed = {"encoding"}
        elif name in ("open", "NamedTemporaryFile", "TemporaryFile") and any(
            set(mode) & set("wax") and "b" not in mode for mode in modes
        ):
            # Members of archives are bytes, whatever their mode.
            needed = set() if receiver in ("archive", "tarfile") else {"encoding", "newline"}
        elif name == "open" and not is_method and not any("b" in mode for mode in modes):
            needed = {"encoding"}
        else:
            continue
        for missing in sorted(needed - keywords):
            yield node.lineno, missing


@pytest.mark.parametrize(
    ("call", "missing"),
    [
        ("path.write_text('x', encoding='utf-8')", ["newline"]),
        ("path.read_text()", ["encoding"]),
        ("path.open('w')", ["encoding", "newline"]),
        ("open(path)", ["encoding"]),
        ("open(path, 'ab')", []),
        ("path.open('rb')", []),
        ("path.open('x', encoding='utf-8', newline='')", []),
    ],
)
def test_call_that_depends_on_the_system_is_noticed(call: str, missing: list[str]) -> None:
    assert [name for _, name in unclear_calls(call)] == missing


def test_no_text_file_depends_on_the_system() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {missing}"
        for path in MODULES
        for line, missing in unclear_calls(path.read_text(encoding="utf-8"))
    ]
    assert found == []
