"""The language that a card and its rows state: the recipe's, that of the table, or English where captions look so."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import vttdata
from tests.helpers.builds import LOOSE, film
from vttdata.dataset.front_matter import read_front_matter
from vttdata.errors import VttdataWarning

GERMAN = ("Ein Mann zeigt ein buntes Bild.", "Auf dem Bildschirm laufen Zahlen und Farben.")
ENGLISH = ("A man shows a colourful picture.", "Numbers and colours move on the screen.")


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("videos")
    film(folder / "a.mp4")
    return folder


def languages(videos: Path, out: Path, rows: list[Mapping[str, str]], **settings: Any) -> tuple[Any, Any, set[str]]:
    """Build with these captions; return the language of the card and of Croissant, and those of the rows."""
    table = out.with_suffix(".csv")
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    given = [*LOOSE, "clips.whole=true", f"collect.folder={videos}", f"captions.file={table}"]
    given += [f"{key}={value}" for key, value in settings.items()]
    dataset = vttdata.build(
        "own-folder", out=out, settings=given, execution=vttdata.Execution(1), messages=vttdata.Messages(quiet=True)
    ).dataset
    card = read_front_matter(dataset).get("language")
    croissant = json.loads((dataset / "croissant.json").read_text()).get("inLanguage")
    captions = vttdata.load_dataset(str(dataset), "captions")
    return card, croissant, {language for split in captions.values() for language in split["language"]}


def test_captions_that_do_not_look_english_are_not_called_english(videos: Path, tmp_path: Path) -> None:
    rows = [{"source": "a.mp4", "caption": text} for text in GERMAN]
    with pytest.warns(VttdataWarning, match="seem to be German; state their language, such as --set language=de"):
        assert languages(videos, tmp_path / "guessed", rows) == (None, None, {"und"})
    assert "- **Language:** not stated" in (tmp_path / "guessed" / "dataset" / "README.md").read_text()
    assert languages(videos, tmp_path / "stated", rows, language="de") == (["de"], "de", {"de"})


def test_languages_of_the_table_are_on_the_card(videos: Path, tmp_path: Path) -> None:
    stated = [{"source": "a.mp4", "caption": GERMAN[0], "language": "de-AT"}]
    both = [*stated, {"source": "a.mp4", "caption": ENGLISH[0], "language": ""}]
    assert languages(videos, tmp_path / "out", both) == (["de", "en"], ["de", "en"], {"de-AT", "en"})
