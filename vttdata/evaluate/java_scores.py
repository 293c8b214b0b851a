"""Run the Java programs that pycocoevalcap ships, and keep their results by content.

vttdata contains none of these programs: the user installs Java, and pycocoevalcap with the extra `java-metrics`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from vttdata.errors import ProgramKilledError, VttdataError
from vttdata.evaluate.score_cache import keep_arrays, read_arrays
from vttdata.statistics.arrays import Floats
from vttdata.subprocesses import run

LONGEST_SECONDS = 6 * 3600
INSTALL = "Java, and pycocoevalcap: pip install 'vttdata[java-metrics]'"


def java_version() -> int | str:
    """Return the major version of the user's Java, such as 8 or 17, or why there is none, in one sentence."""
    program = shutil.which("java")
    return _read_version(program) if program else "Java is not installed (there is no program 'java')."


@functools.cache
def _read_version(program: str) -> int | str:
    try:
        done = run([program, "-version"], seconds=60)
    except (ProgramKilledError, OSError) as error:
        return f"{program} cannot be run ({error})."
    # Java 8 calls itself 1.8; macOS has a program that only says that Java can be installed.
    version = re.search(r'version "(?:1\.)?([0-9]+)', done.stderr)
    return int(version[1]) if version else f"'{program} -version' states no version: {done.stderr.strip()[:200]!a}."


def find_jar(name: str) -> Path | str:
    """Return the path of a program in pycocoevalcap, or what is missing to run it, in one sentence.

    `name` is a path in the package, such as ``meteor/meteor-1.5.jar``.
    """
    version = java_version()
    if isinstance(version, str):
        return version
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        return "pycocoevalcap is not installed: pip install 'vttdata[java-metrics]'."
    path = Path(next(iter(spec.submodule_search_locations))) / name
    return path if path.is_file() else f"pycocoevalcap has no file {path}."


class JavaError(VttdataError):
    """End of a Java program that should have computed scores."""


def run_java(arguments: Sequence[str], folder: Path, text: str = "") -> list[str]:
    """Run ``java`` with arguments in a folder, with a text on standard input, and return the lines it prints.

    Raises:
        JavaError: if it fails, is killed, or runs for more than `LONGEST_SECONDS`.
    """
    name = f"java {' '.join(arguments[:3])}"

    def feed(descriptor: int) -> None:
        with open(descriptor, "wb", closefd=False) as stream:
            stream.write(text.encode())

    # Java reads the names of files in the locale's encoding, and lowers letters by the locale's language.
    command = ["java", "-Dfile.encoding=UTF-8", *arguments]
    try:
        done = run(command, seconds=LONGEST_SECONDS, folder=folder, feed=feed, environment={"LC_ALL": "C.UTF-8"})
    except (ProgramKilledError, OSError) as error:
        raise JavaError(f"{name} could not be run to its end: {error}") from error
    if done.stopped:
        raise JavaError(f"{name} was stopped after {LONGEST_SECONDS // 3600} hours.")
    if done.code:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise JavaError(f"{name} ended with code {done.code}: {lines[-1][:300]}")
    return done.stdout.splitlines()


def cached_rows(
    cache: Path | None, name: str, content: object, shape: tuple[int, int], compute: Callable[[], list[list[float]]]
) -> Floats:
    """Return rows of numbers, from the folder `cache` if they were computed from the same content before.

    `name` states the metric and everything that its results depend on besides `content`, which JSON can hold; `shape`
    is the number of rows and of columns.
    """
    name = f"{name}-{hashlib.sha256(json.dumps([name, content]).encode()).hexdigest()[:32]}"
    rows = read_arrays(cache, name, lambda arrays: arrays["rows"].reshape(shape))
    if rows is None:
        rows = np.array(compute(), dtype=np.float64).reshape(shape)
        keep_arrays(cache, name, {"rows": rows})
    return rows
