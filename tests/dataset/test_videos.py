"""Real videos in every way that a dataset can hold them: none, as files beside the tables, as bytes in a table."""

from __future__ import annotations

import dataclasses
import hashlib
import subprocess
import sys
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
import yaml

from tests.dataset.conftest import Material, contents, load
from vttdata.dataset import compute_statistics, find_damage, shards
from vttdata.dataset.videos import add_video_files
from vttdata.errors import VttdataError
from vttdata.records import ClipMedia


@pytest.fixture
def filmed(material: Material, videos: Path, tmp_path: Path) -> Material:
    """Every clip but the last with a real video."""
    material.media = tmp_path / "cut"
    material.media.mkdir()
    films = sorted(videos.glob("*.mp4"))
    for index, clip in enumerate(material.clips[:-1]):
        content = films[index % len(films)].read_bytes()
        (material.media / f"{clip.video_id}.mp4").write_bytes(content)
        media = ClipMedia(f"videos/{clip.video_id}.mp4", hashlib.sha256(content).hexdigest(), len(content))
        material.clips[index] = dataclasses.replace(clip, media=media)
    return material


def checksums(filmed: Material, split: str) -> dict[str, str]:
    return {clip.video_id: clip.media.sha256 for clip in filmed.clips if clip.split == split and clip.media is not None}


class TestEmbedded:
    @pytest.mark.parametrize("streaming", [False, True])
    def test_embedded_videos_have_the_bytes_of_their_files(
        self, filmed: Material, tmp_path: Path, streaming: bool
    ) -> None:
        filmed.write(tmp_path / "d", mode="embedded")
        for split in ("train", "validation", "test"):
            rows = load(tmp_path / "d", tmp_path / "cache", "videos", split=split, streaming=streaming)
            found = {row["video_id"]: hashlib.sha256(row["video"]["bytes"]).hexdigest() for row in rows}
            assert found == checksums(filmed, split)
            assert all(row["video"]["path"] == f"{row['video_id']}.mp4" for row in rows)

    def test_embedded_videos_can_be_cast_to_videos(self, filmed: Material, tmp_path: Path) -> None:
        filmed.write(tmp_path / "d", mode="embedded")
        for streaming in (False, True):
            rows = load(tmp_path / "d", tmp_path / "cache", "videos", split="test", streaming=streaming)
            cast = rows.cast_column("video", datasets.Video(decode=False))
            assert cast.features["video"] == datasets.Video(decode=False)
            assert next(iter(cast)) == next(iter(rows))

    def test_embedded_videos_declare_no_type_unknown_to_older_readers(self, filmed: Material, tmp_path: Path) -> None:
        filmed.write(tmp_path / "d", mode="embedded")
        head = yaml.safe_load((tmp_path / "d/README.md").read_text().split("\n---\n")[0].removeprefix("---\n"))
        assert "video" not in {str(column.get("dtype")) for info in head["dataset_info"] for column in info["features"]}

    def test_annotations_hold_no_video_and_need_no_decoder(self, filmed: Material, tmp_path: Path) -> None:
        filmed.write(tmp_path / "d", mode="embedded")
        code = (
            "import sys; sys.modules['torchcodec'] = sys.modules['av'] = None\n"
            "import datasets\n"
            "clips, videos = (datasets.load_dataset(sys.argv[1], name, cache_dir=sys.argv[2], split='test')"
            " for name in ('clips', 'videos'))\n"
            "print(clips[0]['video'], clips[0]['captions'][0], len(videos[0]['video']['bytes']))"
        )
        command = [sys.executable, "-c", code, str(tmp_path / "d"), str(tmp_path / "cache")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        media = filmed.clips[4].media
        assert media is not None
        assert done.stdout == f"None a person does thing 11 for time 0 {media.bytes}\n"

    def test_each_large_video_is_a_row_group(
        self, filmed: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shards, "_BYTES_PER_BATCH", 1)
        filmed.write(tmp_path / "d", mode="embedded")
        table = pq.ParquetFile(next((tmp_path / "d").glob("videos/train-*")))
        assert [table.metadata.row_group(index).num_rows for index in range(table.num_row_groups)] == [1, 1, 1]

    def test_tables_of_videos_are_hardly_larger_than_the_files(self, filmed: Material, tmp_path: Path) -> None:
        filmed.write(tmp_path / "d", mode="embedded")
        files = sum(clip.media.bytes for clip in filmed.clips if clip.media is not None)
        tables = sum(path.stat().st_size for path in (tmp_path / "d/videos").iterdir())
        assert tables < 1.02 * files + 3 * 2_000

    def test_order_of_clips_does_not_change_embedded_videos(self, filmed: Material, tmp_path: Path) -> None:
        filmed.write(tmp_path / "a", mode="embedded")
        filmed.clips.reverse()
        filmed.write(tmp_path / "b", mode="embedded")
        assert contents(tmp_path / "a") == contents(tmp_path / "b")
        assert find_damage(tmp_path / "a") == []
        assert compute_statistics(tmp_path / "a").total.clips == 6
        card = (tmp_path / "a/README.md").read_text()
        assert "Video files of 5 of 6 clips are in the configuration `videos`." in card

    def test_changed_video_file_is_refused(self, filmed: Material, tmp_path: Path) -> None:
        assert filmed.media is not None
        (filmed.media / "video8.mp4").write_bytes(b"another film")
        with pytest.raises(VttdataError, match=r"video8\.mp4: the clip's content has changed"):
            filmed.write(tmp_path / "d", mode="embedded")
        assert not (tmp_path / "d").exists()


class TestFiles:
    @pytest.mark.parametrize("streaming", [False, True])
    def test_folder_of_videos_loads_as_videofolder(self, filmed: Material, tmp_path: Path, streaming: bool) -> None:
        filmed.write(tmp_path / "d")
        folder = {"data_dir": str(tmp_path / "d/videos"), "cache_dir": str(tmp_path / "cache")}
        splits = datasets.load_dataset("videofolder", streaming=streaming, **folder)
        assert set(splits) == {"train", "validation", "test"}
        for split, rows in splits.items():
            paths = rows.cast_column("video", datasets.Video(decode=False))
            found = {row["video_id"]: Path(row["video"]["path"]).read_bytes() for row in paths}
            texts = load(tmp_path / "d", tmp_path / "cache", split=split)
            captions = {row["video_id"]: row["captions"] for row in texts if row["video"]}
            assert {row["video_id"]: row["captions"] for row in paths} == captions
            assert {name: hashlib.sha256(content).hexdigest() for name, content in found.items()} == checksums(
                filmed, split
            )

    @pytest.mark.parametrize("streaming", [False, True])
    def test_tables_beside_a_folder_of_videos_load(self, filmed: Material, tmp_path: Path, streaming: bool) -> None:
        filmed.write(tmp_path / "d")
        rows = list(load(tmp_path / "d", tmp_path / "cache", split="test", streaming=streaming))
        assert [row["video"] for row in rows] == ["videos/test/video11.mp4", None]
        assert (tmp_path / "d" / rows[0]["video"]).is_file()
        assert find_damage(tmp_path / "d") == []


def test_clips_whose_files_differ_only_by_case_are_refused(filmed: Material, tmp_path: Path) -> None:
    clip = next(clip for clip in filmed.clips if clip.media is not None)
    assert clip.media is not None
    name = clip.video_id.swapcase()
    media = dataclasses.replace(clip.media, video=f"videos/{name}.mp4")
    (filmed.media / f"{name}.mp4").write_bytes((filmed.media / f"{clip.video_id}.mp4").read_bytes())
    clips = [clip, dataclasses.replace(clip, video_id=name, media=media)]
    (tmp_path / "d").mkdir()
    with pytest.raises(VttdataError, match="differ only by case"):
        add_video_files(tmp_path / "d", filmed.media, clips)


class TestNone:
    def test_mode_none_keeps_checksums_and_ships_no_file(self, filmed: Material, tmp_path: Path) -> None:
        filmed.write(tmp_path / "d", mode="none")
        assert not (tmp_path / "d/videos").exists()
        rows = load(tmp_path / "d", tmp_path / "cache", split="train")
        assert dict(zip(rows["video_id"], rows["sha256"], strict=True)) == checksums(filmed, "train")
        assert set(rows["video"]) == {None}
        assert "No video files are part of this dataset" in (tmp_path / "d/README.md").read_text()
