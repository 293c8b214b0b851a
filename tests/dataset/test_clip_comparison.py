"""Where no fingerprints are published, an audit looks at the clips' own files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.helpers.films import edit, write_film
from vttdata.dataset import MediaFiles, Metadata, write_dataset
from vttdata.dataset.leak_audit import audit_dataset
from vttdata.records import Clip, ClipMedia, Source


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two films, an edited copy of the first, and a file that is no video."""
    folder = tmp_path_factory.mktemp("cut")
    film = write_film(folder / "one.mp4", 1)
    write_film(folder / "two.mp4", 2)
    edit(film, folder / "copy.mp4", "scale=128:72,hue=s=0,trim=start=1.3,setpts=PTS-STARTPTS")
    (folder / "broken.mp4").write_bytes(b"no video")
    return folder


def dataset(cut: Path, folder: Path, **split_of: str) -> Path:
    clips = []
    for name, split in split_of.items():
        content = (cut / f"{name}.mp4").read_bytes()
        checksum = hashlib.sha256(content).hexdigest()
        media = ClipMedia(f"videos/{name}.mp4", checksum, len(content), 80, 8.0, 160, 90, None)
        clips.append(Clip(name, f"source-of-{name}", 0, 8, 0, 79, 1, media=media, split=split))
    sources = [Source(clip.source_id, f"{clip.source_id}.mp4", "listed", "0" * 64, 9) for clip in clips]
    write_dataset(
        folder, clips=clips, captions=[], sources=sources, metadata=Metadata("vttdata/prints"), media=MediaFiles(cut)
    )
    return folder


def test_copy_in_another_split_is_found_from_video_files_alone(cut: Path, tmp_path: Path) -> None:
    found = audit_dataset(dataset(cut, tmp_path / "d", one="train", two="train", copy="test"))
    assert not found.ok
    assert found.leaks["near_duplicate"] == {"pairs": 1, "clips": {"train": 1, "test": 1}}
    example = found.examples["near_duplicate"][0]
    assert example["sources"] == ["source-of-copy", "source-of-one"]
    assert example["offset_seconds"] == pytest.approx(1.3, abs=0.6)
    assert found.unknown["fingerprints"] == 0


def test_copy_in_the_same_split_is_no_leak_and_closest_pair_is_reported(cut: Path, tmp_path: Path) -> None:
    found = audit_dataset(dataset(cut, tmp_path / "d", one="train", two="test", copy="train"))
    assert found.ok
    assert found.leaks["near_duplicate"]["pairs"] == 0
    assert found.closest is None or found.closest["similarity"] < 1


def test_undecodable_file_is_counted(cut: Path, tmp_path: Path) -> None:
    found = audit_dataset(dataset(cut, tmp_path / "d", one="train", two="test", broken="test"))
    assert found.ok
    assert found.unknown["fingerprints"] == 1


def test_no_near_duplicates_are_reported_without_files(cut: Path, tmp_path: Path) -> None:
    folder = dataset(cut, tmp_path / "d", one="train", copy="test")
    for path in (folder / "videos").glob("*/*"):
        path.unlink()
    assert "near_duplicate" not in audit_dataset(folder).leaks
