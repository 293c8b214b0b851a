from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.client import client
from tests.clients.conftest import plain_rows_are_those_of_evaluate

CLIENT = client("datasets", "datasets-lowest")


@pytest.mark.parametrize("mode", ["whole", "streaming"])
def test_rows_are_those_of_evaluate(demo: Path, official: Path, tmp_path: Path, mode: str) -> None:
    plain_rows_are_those_of_evaluate(CLIENT, demo, official, tmp_path, mode)
