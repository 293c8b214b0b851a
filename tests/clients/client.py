"""Run a program of other people in its environment, and note what a test showed with it.

A client's program is a file in ``programs``: it is run by the Python of the client's environment, which has none of
our packages, and its last line of output is JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.requirements import Requirement

from tests.clients.environments import ROOT, Environment, environments
from tests.helpers.needs import CLIENT

PROGRAMS = Path(__file__).parent / "programs"
RESULTS = ROOT / ".venv-clients" / "results"
ENABLED = "VTTDATA_CLIENTS"
"""Environment variable that `make test-clients` sets; without it the tests of clients are skipped."""


class Client(NamedTuple):
    """Installed client: its name on PyPI, its environment and its version there."""

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

    def showed(self, command: str, what: str) -> None:
        """Note what a passing test showed, for the table of clients in the manual.

        Args:
            command: what a user runs to get the files that the client reads.
            what: what the client did with them, with its figures.
        """
        RESULTS.mkdir(parents=True, exist_ok=True)
        result = {"client": self.name, "version": self.version, "command": command, "showed": what}
        test = os.environ["PYTEST_CURRENT_TEST"].partition("::")[2].partition(" ")[0]
        (RESULTS / f"{self.environment.name}.{self.name}.{test}.json").write_text(json.dumps(result), encoding="utf-8")


def client(name: str, environment: str) -> Client:
    """Return a client, or skip the file of tests that asks for it if it is not installed or of another version."""
    chosen = environments()[environment]
    requirement = Requirement(chosen.wanted(name))
    version = chosen.installed(name) if os.environ.get(ENABLED) else None
    if version is None:
        pytest.skip(CLIENT.format(requirement, "is not installed"), allow_module_level=True)
    if not requirement.specifier.contains(version):
        pytest.skip(CLIENT.format(requirement, f"is wanted and {version} installed"), allow_module_level=True)
    return Client(name, chosen, version)
