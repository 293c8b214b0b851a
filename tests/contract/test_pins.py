"""Pinned versions are exact and within the ranges of pyproject.toml; where they cannot be had, the ranges are taken."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PINS = ("pins-3.11.txt", "pins-3.12.txt")
BACKEND = """
import os, zipfile

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    facts = "Metadata-Version: 2.1\\nName: project\\nVersion: 1\\n"
    facts += "Provides-Extra: x\\nRequires-Dist: dep>=1; extra == 'x'\\n"
    with zipfile.ZipFile(os.path.join(wheel_directory, "project-1-py3-none-any.whl"), "w") as wheel:
        wheel.writestr("project-1.dist-info/METADATA", facts)
        wheel.writestr("project-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("project-1.dist-info/RECORD", "")
    return "project-1-py3-none-any.whl"
"""


def read_pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text().splitlines()
    assert all(re.fullmatch(r"[a-z0-9-]+(\[[a-z0-9,-]+\])?==[0-9][0-9a-z.+!]*", line) for line in lines)
    return {canonicalize_name(line.partition("==")[0]): line.partition("==")[2] for line in lines}


@pytest.mark.parametrize("name", PINS)
def test_every_dependency_has_one_exact_version_that_the_ranges_allow(name: str) -> None:
    pins = read_pins(name)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    for requirement in map(Requirement, texts):
        if requirement.name not in ("vttdata", "scenedetect"):  # benchmarks are compared with the newest peer
            assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), requirement


def write_wheel(folder: Path, name: str, version: str) -> None:
    facts = f"{name}-{version}.dist-info"
    files = {
        f"{facts}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{facts}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = []
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            lines.append(f"{path},sha256={digest},{len(text)}")
        wheel.writestr(f"{facts}/RECORD", "\n".join([*lines, f"{facts}/RECORD,,", ""]))


def install(tmp_path: Path, pin: str, *flags: str, index: str | None = None) -> tuple[int, str, list[str]]:
    """Install a project with its extra from a folder of wheels; return exit code, output and what is installed."""
    project, wheels, target = (tmp_path / name for name in ("project", "wheels", "target"))
    for folder in (project / ".ci", wheels):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "install.py", project / ".ci")
    for name in PINS:
        (project / name).write_text(f"dep=={pin}\n")
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (project / "backend.py").write_text(BACKEND)
    for wheel in (("dep", "1.1"), ("dep", "1.2"), ("pip", "99")):
        write_wheel(wheels, *wheel)
    source = (
        {"PIP_INDEX_URL": index, "PIP_RETRIES": "0"} if index else {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment |= source | {"PIP_TARGET": str(target), "PIP_CONFIG_FILE": os.devnull}
    command = [sys.executable, project / ".ci" / "install.py", "x", *flags]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = sorted(path.name for path in target.glob("dep-*")) if target.is_dir() else []
    # Where the machine is busy, a line every ten seconds says that pip is at work.
    output = re.sub(r"^pip is at work: \d+ s\n", "", done.stdout + done.stderr, flags=re.MULTILINE)
    return done.returncode, output, found


def test_pinned_version_is_taken_before_a_newer_one(tmp_path: Path) -> None:
    assert install(tmp_path, "1.1") == (0, "", ["dep-1.1.dist-info"])


def test_newest_version_is_taken_where_asked_for(tmp_path: Path) -> None:
    assert install(tmp_path, "1.1", "--newest") == (0, "", ["dep-1.2.dist-info"])


def test_index_that_cannot_be_reached_is_one_sentence(tmp_path: Path) -> None:
    code, output, found = install(tmp_path, "1.1", index="http://127.0.0.1:9/simple")
    assert (code, found) == (1, [])
    assert output == "pip cannot reach the package index: check the network, and a proxy or mirror if you use one.\n"


def test_pin_that_cannot_be_had_falls_back_to_the_ranges_and_says_so(tmp_path: Path) -> None:
    code, output, found = install(tmp_path, "1.0")
    assert (code, found) == (0, ["dep-1.2.dist-info"])
    assert re.match(r"The versions of pins-3\.1[12]\.txt cannot be installed with Python 3\.", output)
    assert output.count("\n") == 1


def test_a_long_installation_gives_signs_of_life(capfd: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("install", ROOT / ".ci" / "install.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.SECONDS_BETWEEN_SIGNS = 0.01
    assert module.pip("--version").stdout.startswith("pip ")
    assert "pip is at work: 0 s" in capfd.readouterr().out


def test_make_demo_ends_with_the_report() -> None:
    planned = subprocess.run(["make", "--dry-run", "demo"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"{ROOT}/build/vttdata/demo/report.html" in planned


def test_make_names_tests_that_exist() -> None:
    # Given files of which one is missing, workers that share the tests run none of them.
    names = set(re.findall(r"\btests/[\w/]+\b(?:\.py)?(?!\*)", (ROOT / "Makefile").read_text()))
    assert len(names) > 30
    assert {name for name in names if not (ROOT / name).exists()} == set()
