"""VALSE: small files in the format of the official release, which is not at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.valse import read
from vttdata.cli.main import main
from vttdata.errors import VttdataError


def pair(votes: int = 3, **changes: Any) -> dict[str, Any]:
    return {
        "dataset": "SWiG",
        "image_file": "exercising 255.jpg",
        "linguistic_phenomena": "actions",
        "caption": "A man exercises his torso.",
        "foil": "A torso exercises for a man.",
        "mturk": {"foil": 0, "caption": votes, "other": 0},
    } | changes


def write(folder: Path, content: Any, name: str = "actant-swap") -> Path:
    (folder / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def test_pairs_without_two_votes_are_unvalidated(tmp_path: Path) -> None:
    write(tmp_path, {"actions_test_0": pair(), "actions_test_1": pair(1)})
    valse = read(write(tmp_path, {"actions_test_0": pair(2)}, "plurals"))
    assert [(p.pair_id, p.video_id, p.aspect, p.split) for p in valse.pairs] == [
        ("actant-swap/actions_test_0", "exercising-255", "actant-swap", "test"),
        ("actant-swap/actions_test_1", "exercising-255", "actant-swap", "unvalidated"),
        ("plurals/actions_test_0", "exercising-255", "plurals", "test"),
    ]
    assert list(valse.files) == ["actant-swap.json", "plurals.json"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"a": pair() | {"mturk": {}}}, r'actant-swap\.json: a\["mturk"\]\["caption"\] is missing'),
        ({"a": pair(foil="")}, r'actant-swap\.json: a\["foil"\]: found ""'),
        ('{"a": 1, "a": 2}', "actant-swap.json: cut off, damaged or not JSON"),
        ({"a": pair(image_file="")}, "is not a usable id"),
    ],
)
def test_damaged_file_is_one_sentence(tmp_path: Path, content: Any, words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        read(write(tmp_path, content))


def test_pairs_with_one_text_twice_are_counted_and_not_attacked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = {f"same_{n}": pair(image_file=f"same {n}.jpg", foil=pair()["caption"]) for n in range(3)}
    others = {
        f"other_{n}": pair(image_file=f"other {n}.jpg", caption=f"Man {n} runs.", foil=f"Cat {n} runs.")
        for n in range(20)
    }
    (tmp_path / "data").mkdir()
    write(tmp_path / "data", same | others)
    out = tmp_path / "out"
    assert main(["build", "valse", "--quiet", "--set", f"annotations={tmp_path / 'data'}", "--out", str(out)]) == 0
    capsys.readouterr()
    pages = [tmp_path / "page.md", tmp_path / "page.html"]
    assert main(["audit", str(out), "--json", *(part for page in pages for part in ("--page", str(page)))]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["same_texts"] == {"foils": 3}
    assert (found["attacks"][0]["pairs"], found["attacks"][0]["accuracy"]) == (20, 1.0)
    assert main(["audit", str(out)]) == 0
    for text in (capsys.readouterr().out, *(page.read_text() for page in pages)):
        assert "Left out were pairs whose true text and foil are the same: 3." in " ".join(text.split())
