"""`vttdata show` on small datasets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.hub.built import build
from tests.helpers.needs import library
from vttdata.cli.main import main
from vttdata.dataset.comparison import count_parts_of_speech


def test_figures_count_clips_and_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(build(tmp_path / "x", ("a dog runs", "a cat")))
    assert main(["show", folder, "--json"]) == 0
    assert "agreement" not in json.loads(capsys.readouterr().out)
    assert main(["show", folder]) == 0
    rows = {line[:12].strip(): line.split()[-1] for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert (rows["clips"], rows["words"], rows["vocabulary"]) == ("2", "5", "4")


@pytest.mark.parametrize("option", [["--json"], ["--similarity"], ["--svo", "en_core_web_sm"]])
def test_page_is_written_instead_of_figures(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, page = str(build(tmp_path / "x", ("a dog runs", "a cat"))), tmp_path / "x.html"
    assert main(["show", folder, "--page", str(page), *option]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not page.exists()


def test_datasets_are_compared_in_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (
        str(build(tmp_path / name, texts)) for name, texts in (("x", ("a dog runs", "a cat")), ("y", ("it rains",)))
    )
    assert main(["show", first, second]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["dataset", "sources", "clips", "hours", "sentences", "words", "vocabulary"]
    assert [row[0] for row in rows[1:]] == [first, second]
    assert [row[-3:] for row in rows[1:]] == [["2", "5", "4"], ["1", "2", "2"]]
    assert main(["show", first, second, "--json"]) == 0
    assert [each["clips"] for each in json.loads(capsys.readouterr().out)["datasets"]] == [2, 1]
    assert main(["show", first, second, "--similarity"]) == 2
    assert "are for one dataset" in capsys.readouterr().err


def test_words_are_counted_by_part_of_speech(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spacy = library("spacy")
    pipeline = spacy.blank("en")
    rules = pipeline.add_pipe("attribute_ruler")
    for word, tag in {
        "dog": "NOUN",
        "Dog": "NOUN",
        "cat": "NOUN",
        "runs": "VERB",
        "is": "AUX",
        "quickly": "ADV",
    }.items():
        rules.add([[{"ORTH": word}]], {"POS": tag, "DEP": "dep", "LEMMA": word})
    rules.add([[{"ORTH": "a"}]], {"POS": "DET", "DEP": "dep", "LEMMA": "a"})
    folder = str(build(tmp_path / "x", ("a dog runs quickly", "Dog is a cat")))
    assert count_parts_of_speech(["a dog runs quickly", "Dog is a cat"], pipeline) == {
        "nouns": (3, 2),
        "verbs": (1, 1),
        "adjectives": (0, 0),
        "adverbs": (1, 1),
    }
    assert main(["show", folder, "--parts", str(tmp_path / "none")]) == 2
    assert "cannot be loaded" in capsys.readouterr().err
