from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from tests.export.conftest import BARE, SPLITS, Write, clips, texts_of
from tests.helpers.needs import library
from vttdata.dataset import MediaFiles, OfficialLayout
from vttdata.export import export
from vttdata.export.formats import webdataset as shards
from vttdata.records import Caption, Clip, ClipMedia


@pytest.fixture
def with_videos(write: Write, tmp_path: Path) -> Path:
    """Write a dataset whose clips have files, but for one, with ids that differ only at a dot and a dash."""
    media = tmp_path / "media"
    media.mkdir()
    made: list[Clip] = []
    for number, clip in enumerate(clips()[:-1]):
        content = bytes([number]) * (1000 + number)
        (media / f"{clip.video_id}.mp4").write_bytes(content)
        facts = ClipMedia(f"videos/{clip.video_id}.mp4", hashlib.sha256(content).hexdigest(), len(content), 5, 16, 16)
        object.__setattr__(clip, "media", facts)
        made.append(clip)
    layout = OfficialLayout(categories=("sports/actions", "unused", "music"))
    return write(clips=[*made, clips()[-1]], media=MediaFiles(media), official=layout)


def samples(folder: Path, pattern: str) -> list[dict[str, bytes]]:
    webdataset = library("webdataset")
    paths = [str(path) for path in sorted(folder.glob(pattern))]
    return list(webdataset.WebDataset(paths, shardshuffle=False, empty_check=False))


def test_webdataset_reads_videos_and_captions(with_videos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(with_videos, "webdataset", out)
    read = [sample for split in ("train", "validation", "test") for sample in samples(out, f"{split}-*.tar")]
    facts = {json.loads(sample["json"])["video_id"]: sample for sample in read}
    assert list(facts) == [*SPLITS, BARE]
    for number, (video_id, split) in enumerate(SPLITS.items()):
        described = json.loads(facts[video_id]["json"])
        assert facts[video_id]["mp4"] == bytes([number]) * (1000 + number)
        assert (described["split"], described["video"]) == (split, "mp4")
        assert described["captions"] == texts_of(video_id)
        assert described["category"] in ("music", "sports/actions")
    assert "mp4" not in facts[BARE]
    assert "Clips without a video file: 1 of 6." in (out / "README.md").read_text()


def test_same_dataset_gives_the_same_bytes(with_videos: Path, tmp_path: Path) -> None:
    first, second = (export(with_videos, "webdataset", tmp_path / name) for name in ("a", "b"))
    assert first.files == second.files
    assert all((first.folder / name).read_bytes() == (second.folder / name).read_bytes() for name in first.files)


def test_shards_end_at_their_limits(with_videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "MAX_CLIPS", 1)
    written = export(with_videos, "webdataset", tmp_path / "one")
    assert [name for name in written.files if name.startswith("test-")] == [f"test-00000{n}.tar" for n in range(3)]
    assert '"train-{000000..000001}.tar"' in (tmp_path / "one" / "README.md").read_text()
    monkeypatch.setattr(shards, "MAX_CLIPS", 10)
    monkeypatch.setattr(shards, "MAX_BYTES", 10)
    written = export(with_videos, "webdataset", tmp_path / "bytes")
    assert len([name for name in written.files if name.startswith("test-")]) == 3


def test_keys_have_no_dots_and_stay_distinct(write: Write, tmp_path: Path) -> None:
    ids = ["a.b", "a_b", "a"]
    made = [Clip(name, f"s{name}", 0.0, 1.0, None, None, None, split="train") for name in ids]
    folder = write(clips=made, captions=[Caption("a", 0, "a man")], official=None)
    export(folder, "webdataset", tmp_path / "out")
    with tarfile.open(tmp_path / "out" / "train-000000.tar") as tar:
        names = tar.getnames()
    assert len(set(names)) == 3
    assert all(name.count(".") == 1 for name in names)
