"""Fixtures shared by the tests of this room."""

from __future__ import annotations

import pytest

from tests.helpers.barcode import Movie, write_movies


@pytest.fixture(scope="session")
def movies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Movie]:
    """A barcode video of 16 s for each kind of time and turn."""
    return write_movies(tmp_path_factory.mktemp("barcodes"), 16)
