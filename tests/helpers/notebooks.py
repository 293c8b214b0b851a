"""Run the code cells of a notebook without Jupyter, and keep what they print and show.

``python -m tests.helpers.notebooks FILE...`` runs notebooks, each in an empty folder, and writes the outputs into them.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_COMMAND = re.compile(r"^!(.+)$", re.MULTILINE)
_PICTURES = {"_repr_jpeg_": "image/jpeg", "_repr_png_": "image/png"}


def run_command(command: str) -> None:
    """Run what stands behind ``!``, with the programs beside this interpreter, and print what it prints."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(command, shell=True, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="")


def describe(value: Any) -> dict[str, Any]:
    """Return what a notebook shows of the value of a cell's last line, by MIME type."""
    shown: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        shown["text/html"] = value._repr_html_().splitlines(keepends=True)
    for method, kind in _PICTURES.items():
        if data := getattr(value, method, lambda: None)():
            return {kind: base64.b64encode(data).decode(), "text/plain": [f"<{type(value).__name__}>"]}
    return shown


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell in the namespace of those before, and return its outputs."""
    tree = ast.parse(_COMMAND.sub(lambda line: f"run_command({line[1]!r})", source))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if value is not None:
        outputs.append(
            {"output_type": "execute_result", "metadata": {}, "execution_count": None, "data": describe(value)}
        )
    return outputs


def run_notebook(file: Path) -> dict[str, Any]:
    """Run all code cells from start to end in the working folder, and return the notebook with their outputs."""
    notebook: dict[str, Any] = json.loads(file.read_bytes())
    names: dict[str, Any] = {"run_command": run_command}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        outputs = run_cell("".join(cell["source"]), names)
        for output in outputs:
            if "execution_count" in output:
                output["execution_count"] = number
        cell |= {"execution_count": number, "outputs": outputs}
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:]:
        target = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            finished = run_notebook(target)
        target.write_text(json.dumps(finished, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
