"""Facts of containers, read as users read them."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.builds import film
from vttdata.media import detect_shots, probe


def test_path_may_be_text_as_loaded_rows_have_it(tmp_path: Path) -> None:
    video = film(tmp_path / "a film.mp4", 2)
    assert probe(str(video)) == probe(video)
    assert detect_shots(str(video)) == detect_shots(video)
