"""Run a program of other people in its environment, and note what a test showed with it.

A client's program is a file in ``programs``: it is run by the Python of the client's environment, and its last line of
output is JSON. What an export's README tells to install is installed by its own lines.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.requirements import Requirement

from tests.clients.environments import RESULTS, Environment, choose, environments
from tests.helpers.needs import CLIENT

PROGRAMS = Path(__file__).parent / "programs"
CHOSEN = "VTTDATA_CLIENTS"
"""Environment variable in which `make test-clients` names environments; the tests of all others are skipped."""


class Client(NamedTuple):
    """Installed client: its name on PyPI or as a checkout, its environment and its version there."""

    name: str
    environment: Environment
    version: str

    def run(self, program: str, *arguments: object, **variables: str) -> Any:
        """Run a file of ``programs`` without the Hub, and return the value that it prints as its last line.

        Raises:
            AssertionError: if it fails; the message is what it wrote.
        """
        return json.loads(self.call(str(PROGRAMS / program), *map(str, arguments), **variables).splitlines()[-1])

    def call(self, *arguments: str, cwd: Path | None = None, **variables: str) -> str:
        """Run the interpreter of the client's environment without the Hub, and return what it prints."""
        offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [str(self.environment.python), *arguments]
        done = subprocess.run(
            command, env=inherited | offline | variables, cwd=cwd, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def install(self, export: Path, scratch: Path) -> None:
        """Run the lines of an export's README that install something; all of it must be here, in any version they name.

        Raises:
            AssertionError: if there is no such line, or it fails.
        """
        lines = [line for line in shell_lines(export) if line.startswith(("pip install", "git clone"))]
        assert lines
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        variables["PATH"] = f"{self.environment.python.parent}{os.pathsep}{variables['PATH']}"
        # Without an index, so that what is not there fails.
        variables |= {"PIP_NO_INDEX": "1", "PIP_DRY_RUN": "1", "PIP_NO_BUILD_ISOLATION": "0"}
        for line in lines:
            if line.startswith("git clone"):
                name = Path(line.split()[-1]).name
                shutil.copytree(self.environment.checkout(name), scratch / name)
                assert self.environment.repositories[name].url == line.split()[-1]
                continue
            done = subprocess.run(
                line, shell=True, cwd=scratch, env=variables, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"

    def checkout(self, scratch: Path) -> Path:
        """Return a copy of the client's checkout, which a test may change."""
        return Path(shutil.copytree(self.environment.checkout(self.name), scratch / self.name))

    def showed(self, command: str, what: str, oracle: str) -> None:
        """Note what a passing test showed, for the table of clients in the manual.

        Args:
            command: what a user runs to get the files that the client reads.
            what: what the client did with them, with its figures.
            oracle: what decided that it was right.
        """
        RESULTS.mkdir(parents=True, exist_ok=True)
        result = {
            "client": self.name,
            "version": self.version,
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        }
        result |= {"command": command, "showed": what, "oracle": oracle}
        test = os.environ["PYTEST_CURRENT_TEST"].partition("::")[2].partition(" ")[0]
        (RESULTS / f"{self.environment.name}.{self.name}.{test}.json").write_text(json.dumps(result), encoding="utf-8")


def shell_lines(export: Path) -> list[str]:
    """Return the lines of the shell blocks of an export's README, with its path for FOLDER."""
    readme = (export / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    text = "".join(blocks).replace("\\\n", " ").replace("FOLDER", str(export))
    return [line for line in text.splitlines() if line.strip()]


def options_of(export: Path, program: str, **values: str) -> list[str]:
    """Return the words after a program in the README of an export, with values for its placeholders in capitals."""
    line = next(line for line in shell_lines(export) if program in line).partition(program)[2]
    for name, value in values.items():
        line = line.replace(name, value)
    return shlex.split(line, comments=True)


def client(name: str, environment: str) -> Client:
    """Return a client; skip what asks for it if its environment was not chosen.

    Raises:
        AssertionError: if it was chosen and is not installed, or in another version.
    """
    chosen = environments()[environment]
    requirement = Requirement(chosen.wanted(name))
    if chosen not in choose(os.environ.get(CHOSEN, "").split()):
        pytest.skip(CLIENT.format(requirement, "is left out of this run"), allow_module_level=True)
    version = chosen.installed(name)
    assert version is not None, f"{requirement} is not installed"
    assert requirement.url or requirement.specifier.contains(version), f"{name} {version} is not {requirement}"
    return Client(name, chosen, version)
