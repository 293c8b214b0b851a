"""A dataset's media, its replacement, and what is refused, escaped or found to be damaged."""

from __future__ import annotations

import dataclasses
import errno
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.dataset.conftest import Material, contents, load
from vttdata.dataset import Metadata, compute_statistics, find_damage, sorted_captions
from vttdata.dataset.sorted_captions import SortedCaptions
from vttdata.errors import VttdataError
from vttdata.records import Caption


class TestMedia:
    def test_files_are_linked_not_copied_and_listed(self, with_media: Material, tmp_path: Path) -> None:
        with_media.write(tmp_path / "d")
        assert with_media.media is not None
        assert (tmp_path / "d/videos/train/video7.mp4").samefile(with_media.media / "video7.mp4")
        rows = load(tmp_path / "d", tmp_path / "cache", split="test")
        assert rows["video"][:] == ["videos/test/video11.mp4", None]
        assert (rows[0]["width"], rows[0]["frames"], rows[1]["width"]) == (320, 312, None)
        assert "Video files of 5 of 6 clips" in (tmp_path / "d/README.md").read_text()

    def test_dataset_without_media_lists_no_video_file(self, with_media: Material, tmp_path: Path) -> None:
        with_media.write(tmp_path / "d", media=None)
        assert not (tmp_path / "d/videos").exists()
        assert set(load(tmp_path / "d", tmp_path / "cache", split="train")["video"]) == {None}

    @pytest.mark.parametrize("damage", ["missing", "shortened"])
    def test_changed_video_file_is_refused_and_keeps_the_earlier_dataset(
        self, with_media: Material, tmp_path: Path, damage: str
    ) -> None:
        with_media.write(tmp_path / "out/d")
        before = contents(tmp_path / "out/d")
        assert with_media.media is not None
        victim = with_media.media / "video8.mp4"
        victim.unlink()
        if damage == "shortened":
            victim.write_bytes(b"film")
        with pytest.raises(VttdataError, match=r"video8\.mp4"):
            with_media.write(tmp_path / "out/d")
        assert contents(tmp_path / "out/d") == before
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["d"]

    def test_video_name_outside_its_folder_is_refused(self, with_media: Material, tmp_path: Path) -> None:
        media = with_media.clips[0].media
        assert media is not None
        for name in ("videos/../x.mp4", "/etc/passwd", "videos/other.mp4"):
            with_media.clips[0] = dataclasses.replace(with_media.clips[0], media=dataclasses.replace(media, video=name))
            with pytest.raises(VttdataError, match="video7: its file is called"):
                with_media.write(tmp_path / "d")


class TestReplacing:
    def test_writing_killed_between_renames_is_repaired(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d")
        before = contents(tmp_path / "d")
        (tmp_path / "d").rename(tmp_path / ".d.vttdata-old")
        (tmp_path / ".d.vttdata-partial").mkdir()
        with pytest.raises(VttdataError):
            material.write(tmp_path / "d", captions=[Caption("nowhere", 1, "x")])
        assert contents(tmp_path / "d") == before
        assert [path.name for path in tmp_path.iterdir()] == ["d"]

    def test_folder_that_is_no_dataset_is_not_replaced(self, material: Material, tmp_path: Path) -> None:
        (tmp_path / "thesis.txt").write_text("ten years")
        with pytest.raises(VttdataError, match=r"holds 'thesis\.txt' and is not replaced by a dataset"):
            material.write(tmp_path)
        assert (tmp_path / "thesis.txt").read_text() == "ten years"


class TestContradictions:
    def test_contradiction_is_refused_in_one_sentence(self, material: Material, tmp_path: Path) -> None:
        first = material.clips[0]
        cases: list[tuple[dict[str, Any], str]] = [
            ({"captions": [Caption("video99", 1, "x")]}, "'video99', which is not in the dataset"),
            ({"captions": [Caption("video7", 1, "x"), Caption("video7", 1, "y")]}, "have the same sen_id"),
            ({"captions": [Caption("video7", 1, "half \ud83d")]}, "contains an unpaired surrogate"),
            ({"clips": [first, first]}, "'video7' is duplicated"),
            ({"clips": [dataclasses.replace(first, video_id="../x")]}, "cannot be a file name"),
            ({"clips": [dataclasses.replace(first, split="test/a")]}, "cannot name a split"),
            ({"clips": [dataclasses.replace(first, source_id="gone")]}, "'gone' of a clip is not among the sources"),
        ]
        for changes, message in cases:
            with pytest.raises(VttdataError, match=message):
                material.write(tmp_path / "d", **({"captions": []} | changes))
        assert not list(tmp_path.iterdir())

    def test_full_disk_is_reported_for_the_scratch_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sorted_captions, "IN_MEMORY", 0)
        database = sqlite3.connect(tmp_path / "scratch", isolation_level=None)
        database.execute("PRAGMA max_page_count = 10")
        monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: database)
        captions = (Caption("v", number, "word " * 50) for number in range(1_000))
        with pytest.raises(OSError, match="captions cannot be sorted on disk") as error:
            SortedCaptions(tmp_path / "scratch", {"v": 0}, captions)
        assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(tmp_path / "scratch"))

    def test_limit_on_the_size_of_files_is_reported_for_the_scratch_file(self, tmp_path: Path) -> None:
        code = (
            "import resource, signal, sys; from pathlib import Path;"
            "from vttdata.dataset import sorted_captions; sorted_captions.IN_MEMORY = 0;"
            "from vttdata.records import Caption; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000));"
            "captions = [Caption('v', n, 'word ' * 50) for n in range(20_000)];"
            "sorted_captions.SortedCaptions(Path(sys.argv[1]), {'v': 0}, captions)"
        )
        command = [sys.executable, "-c", code, str(tmp_path / "scratch")]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert f"OSError: [Errno {errno.EIO}] captions cannot be sorted on disk" in done.stderr.splitlines()[-1]

    def test_invalid_names_and_versions_are_refused(self) -> None:
        for name in ("demo", "../demo", "a/b/c", "a/b..c", "a/b\nc"):
            with pytest.raises(ValueError, match="is not a name for a dataset"):
                Metadata(name)
        with pytest.raises(ValueError, match="is not a version"):
            Metadata("a/b", version="1.0")


class TestHostileTexts:
    TEXT = 'x"\n---\n<script>alert(1)</script> | [a](javascript:b) `c` # %s {{d}} \u202eé https://e.org'

    def test_hostile_texts_survive_in_tables_and_are_escaped_on_the_card(
        self, material: Material, tmp_path: Path
    ) -> None:
        clips = [dataclasses.replace(clip, category=self.TEXT, query=self.TEXT) for clip in material.clips]
        captions = [dataclasses.replace(caption, caption=self.TEXT) for caption in material.captions]
        about = Metadata(
            "vttdata/small",
            licence=self.TEXT,
            description=self.TEXT,
            attrition=[("probe", "sources", 3, 2, self.TEXT)],
            tools={"ffmpeg": self.TEXT},
        )
        material.write(tmp_path / "d", clips=clips, captions=captions, sources=[], metadata=about)
        loaded = load(tmp_path / "d", tmp_path / "cache", split="test")
        assert loaded.features["category"].names == [self.TEXT]
        assert loaded[0]["captions"] == [self.TEXT] * 3
        assert compute_statistics(tmp_path / "d").total.categories == {self.TEXT: 6}

        head, body = (tmp_path / "d/README.md").read_text().split("\n---\n", 1)
        assert yaml.safe_load(head.removeprefix("---\n"))["license"] == "other"
        markup = ("<details>", "</details>", "<summary>", "</summary>")
        assert set(re.findall("<[^>]*>?", body)) <= {*markup}
        assert "[a]" not in body
        assert "https://e.org" not in body
        for line in body.splitlines():
            if line.startswith("| probe"):
                assert line.replace("\\|", "").count("|") == 6


class TestDamage:
    def test_unchanged_dataset_has_no_damage(self, with_media: Material, tmp_path: Path) -> None:
        with_media.write(tmp_path / "d")
        assert find_damage(tmp_path / "d") == []

    def test_missing_cut_and_changed_files_are_named(self, with_media: Material, tmp_path: Path) -> None:
        with_media.write(tmp_path / "d")
        folder = tmp_path / "d"
        clips, captions = next(folder.glob("clips/test-*")), next(folder.glob("captions/test-*"))
        clips.unlink()
        captions.write_bytes(captions.read_bytes()[:-1])
        readme = (folder / "README.md").read_text()
        (folder / "README.md").write_text(readme.replace("license", "licence", 1))
        found = find_damage(folder)
        assert [sentence.split(":")[0] for sentence in found] == [
            "README.md",
            f"captions/{captions.name}",
            f"clips/{clips.name}",
        ]
        assert ["changed" in found[0], "bytes" in found[1], "missing" in found[2]] == [True, True, True]
        with pytest.raises(VttdataError, match="no file matches 'clips/test"):
            compute_statistics(folder)

    def test_damaged_table_is_refused_in_one_sentence(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d")
        next((tmp_path / "d").glob("captions/test-*")).write_bytes(b"PAR1 nothing PAR1")
        with pytest.raises(VttdataError, match=r"captions/test-.*: is damaged or unreadable"):
            compute_statistics(tmp_path / "d")
