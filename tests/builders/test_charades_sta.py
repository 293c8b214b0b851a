"""Charades-STA: small files in the format of the official release, which is not at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders.charades_sta import read
from vttdata.errors import VttdataError

TRAIN = "AO8RW 0.0 6.9##a person is putting a book on a shelf.\r\nAO8RW 9.3 20##a person stands up.\r\n"
TEST = "3MSZA 24.3 30.4##person turn a light on.\n3MSZA 24.3 24.1##person turns, then sits; ## is kept.\n"


def write(folder: Path, train: str = TRAIN, **tables: str) -> Path:
    (folder / "charades_sta_train.txt").write_bytes(b"\xef\xbb\xbf" + train.encode())
    (folder / "charades_sta_test.txt").write_text(TEST)
    for name, text in tables.items():
        (folder / f"Charades_v1_{name}.csv").write_text(text)
    return folder


def test_each_sentence_is_a_clip(tmp_path: Path) -> None:
    charades = read(write(tmp_path))
    assert [(clip.video_id, clip.source_id, clip.start, clip.end, clip.split) for clip in charades.clips] == [
        ("AO8RW_0", "AO8RW", 0.0, 6.9, "train"),
        ("AO8RW_1", "AO8RW", 9.3, 20.0, "train"),
        ("3MSZA_0", "3MSZA", 24.3, 30.4, "test"),
        ("3MSZA_1", "3MSZA", 24.3, 24.1, "test"),
    ]
    assert charades.captions[0].caption == "a person is putting a book on a shelf."
    assert charades.captions[3].caption == "person turns, then sits; ## is kept."
    assert [(finding.kind, finding.ids) for finding in charades.findings] == [("end_before_start", ("3MSZA_1",))]


def test_tables_of_charades_give_lengths(tmp_path: Path) -> None:
    head = "id,subject,length\n"
    charades = read(write(tmp_path, train=TRAIN, test=f"{head}3MSZA,x,30.96\n"))
    assert {source.source_id: source.stated_seconds for source in charades.sources} == {"AO8RW": None, "3MSZA": 30.96}
    (tmp_path / "Charades_v1_train.csv").write_text(f"{head}AO8RW,x,19\n")
    found = {finding.kind: finding.ids for finding in read(tmp_path).findings}
    assert found["end_after_duration"] == ("AO8RW_1",)


@pytest.mark.parametrize(
    ("train", "words"),
    [
        ("AO8RW 0.0 6.9 a person\n", r"charades_sta_train\.txt:1: 'AO8RW 0\.0 6\.9 a person' is not <video>"),
        (TRAIN + "\nAO8RW x 6.9##a person\n", r"charades_sta_train\.txt:4: 'AO8RW x"),
        (TRAIN + "AO8RW 1 1e9##a person\n", r"charades_sta_train\.txt:3: 'AO8RW 1 1e9"),
    ],
)
def test_damaged_line_is_named(tmp_path: Path, train: str, words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        read(write(tmp_path, train))


def test_length_must_be_a_number(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match=r"Charades_v1_test\.csv:2: 'long' is not a length in seconds"):
        read(write(tmp_path, test="id,length\n3MSZA,long\n"))
