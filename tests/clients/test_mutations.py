"""An export that is wrong is caught by the test of a client, in a run of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.client import client
from tests.clients.mutations import MUTATIONS

for name, environment in (("inspect-ai", "inspect"), ("xpool", "retrieval"), ("pycocoevalcap", "tables")):
    client(name, environment)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_client_catches_the_mutation(name: str) -> None:
    mutation = MUTATIONS[name]
    test = Path(__file__).parent / mutation.test
    variables = {"VTTDATA_CLIENTS": mutation.environment, "VTTDATA_MUTATION": name}
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-n", "0", str(test)]
    done = subprocess.run(command, env=inherited | variables, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout[-3000:]
    assert "1 failed" in done.stdout
    assert "1 passed" not in done.stdout
