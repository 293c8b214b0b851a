"""Run the Java programs that pycocoevalcap ships, and keep their results by content.

vttdata contains none of these programs: the user installs Java, and pycocoevalcap with the extra `java-metrics`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from vttdata.errors import VttdataError

INSTALL = "Java, and pycocoevalcap: pip install 'vttdata[java-metrics]'"


def find_jar(name: str) -> Path | str:
    """Return the path of a program in pycocoevalcap, or what is missing, in one sentence.

    Args:
        name: path in the package, such as ``meteor/meteor-1.5.jar``.
    """
    if shutil.which("java") is None:
        return "Java is not installed (there is no program 'java')."
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        return "pycocoevalcap is not installed: pip install 'vttdata[java-metrics]'."
    path = Path(next(iter(spec.submodule_search_locations))) / name
    return path if path.is_file() else f"pycocoevalcap has no file {path}."


def run_java(arguments: Sequence[str], folder: Path, text: str = "") -> list[str]:
    """Run a Java program and return the lines it prints.

    Args:
        arguments: after ``java``.
        folder: to run in.
        text: what it reads from standard input.

    Raises:
        VttdataError: if it fails.
    """
    done = subprocess.run(
        ["java", "-Dfile.encoding=UTF-8", *arguments], cwd=folder, input=text.encode(), capture_output=True, check=False
    )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        raise VttdataError(f"java {' '.join(arguments[:3])} ended with code {done.returncode}: {lines[-1][:300]}")
    return done.stdout.decode().splitlines()


def cached_rows(
    cache: Path | None, name: str, content: object, compute: Callable[[], list[list[float]]]
) -> list[list[float]]:
    """Return rows of numbers from the cache if they were computed from the same content before.

    Args:
        cache: folder; None to compute.
        name: of the metric and everything that its results depend on besides the content.
        content: what JSON can hold.
        compute: returns the rows.
    """
    if cache is None:
        return compute()
    key = hashlib.sha256(json.dumps([name, content]).encode()).hexdigest()[:32]
    path = cache / f"{name}-{key}.json"
    try:
        rows: list[list[float]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        rows = compute()
        try:
            cache.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=cache, suffix=".part")
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(rows, stream)
            Path(temporary).replace(path)
        except OSError:
            return rows
    return rows
