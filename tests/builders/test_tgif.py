"""TGIF: small files in the format of the official release, which is not at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders.tgif import read
from vttdata.errors import VttdataError

HOST = "https://38.media.example.com/9f6c25cc350f12aa74a7dc386a5c4985"
TABLE = f"{HOST}/a_o1_500.gif\ta man is glaring.\n{HOST}/b_o1_400.gif\ta cat\n{HOST}/b_o1_400.gif\ta cat runs\n"


def write(folder: Path, table: str | bytes = TABLE, **lists: str) -> Path:
    (folder / "splits").mkdir(exist_ok=True)
    (folder / "tgif-v1.0.tsv").write_bytes(table if isinstance(table, bytes) else table.encode())
    for name in ("train", "val", "test"):
        default = {"train": f"{HOST}/a_o1_500.gif\n", "test": f"{HOST}/b_o1_400.gif\n"}.get(name, f"{HOST}/c.gif\n")
        (folder / "splits" / f"{name}.txt").write_text(lists.get(name, default))
    return folder


def test_gifs_are_named_by_their_files_and_lists_are_splits(tmp_path: Path) -> None:
    tgif = read(write(tmp_path))
    assert [(clip.video_id, clip.start, clip.end, clip.split) for clip in tgif.clips] == [
        ("a_o1_500", 0, 0, "train"),
        ("c", 0, 0, "validation"),
        ("b_o1_400", 0, 0, "test"),
    ]
    assert tgif.clips[0].url == f"{HOST}/a_o1_500.gif"
    assert [(caption.video_id, caption.sen_id) for caption in tgif.captions] == [
        ("a_o1_500", 0),
        ("b_o1_400", 0),
        ("b_o1_400", 1),
    ]
    assert [(finding.kind, finding.ids) for finding in tgif.findings] == [
        ("no_caption", ("c",)),
        ("unknown_length", ("b_o1_400",)),
        ("unknown_length", ("a_o1_500",)),
        ("unknown_length", ("c",)),
    ]


def test_windows_lines_and_tabs_in_sentences_are_kept_and_reported(tmp_path: Path) -> None:
    table = "\ufeff" + TABLE.replace("\n", "\r\n") + f"{HOST}/d.gif\tone\ttwo\r\n"
    tgif = read(write(tmp_path, table))
    assert [caption.caption for caption in tgif.captions][-1] == "one\ttwo"
    assert tgif.captions[0].caption == "a man is glaring."
    found = {finding.kind: finding.ids for finding in tgif.findings}
    assert (found["tab_in_sentence"], found["no_split"]) == (("d",), ("d",))
    assert tgif.clips[-1].split == "unlisted"


def test_gif_of_two_splits_and_file_behind_two_addresses_are_findings(tmp_path: Path) -> None:
    table = TABLE + "https://elsewhere.example.com/x/a_o1_500.gif\tanother man\n"
    tgif = read(write(tmp_path, table, val=f"{HOST}/a_o1_500.gif\n"))
    found = {finding.kind: set(finding.ids) for finding in tgif.findings}
    assert found["several_splits"] == found["differing_url"] == {"a_o1_500"}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (f"{HOST}/a.gif a man\n", r"tgif-v1\.0\.tsv:1: an address, a tab and a sentence are expected"),
        (TABLE + "a.gif\ta man\n", r"tgif-v1\.0\.tsv:4: 'a\.gif' is not the address of a GIF"),
        (TABLE + f"{HOST}/\ta man\n", r"tsv:4: \S+ is not the address of a GIF"),
        (TABLE.encode() + b"\xff\xfe", r"tgif-v1\.0\.tsv:4: not UTF-8 text"),
    ],
)
def test_damaged_table_is_one_sentence_with_its_line(tmp_path: Path, table: str | bytes, words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        read(write(tmp_path, table))


def test_missing_list_is_named(tmp_path: Path) -> None:
    (write(tmp_path) / "splits" / "val.txt").unlink()
    with pytest.raises(VttdataError, match=r"the file of validation, val\.txt, is missing; there is test\.txt"):
        read(tmp_path)
