"""What people change after captions were collected: nothing is dropped or moved without a word."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import vttdata
from tests.helpers.builds import COLUMNS, account
from tests.helpers.builds import vttdata as run
from tests.helpers.films import edit, write_film
from tests.helpers.official_files import write_unpacked
from tests.helpers.session_files import make_once
from vttdata.compose.correct import correct_dataset
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.errors import VttdataError
from vttdata.load.local_builds import remember_settings

SETTINGS = ["name=me/street", "filter.min_seconds=1", "clips.min_seconds=1", "clips.max_seconds=4.5", "media.height=64"]
SETTINGS += ["filter.max_frozen=1.0", "clips.per_source=1", "language=en", "split.ratios={train: 0.5, test: 0.5}"]


def build(recipe: object, *settings: str, options: tuple[str, ...] = ()) -> str:
    """Build, and return what was said on standard error."""
    done = run("build", str(recipe), "--quiet", *(part for text in settings for part in ("--set", text)), *options)
    assert done.returncode == 0, done.stderr
    return done.stderr


def refused(recipe: object, *settings: str, options: tuple[str, ...] = ()) -> str:
    """Build, expect a refusal that leaves dataset and settings as they were, and return what was said."""
    folder = Path(str(recipe))
    before = [(folder / name).read_bytes() for name in ("build.json", "dataset/manifest.json")]
    done = run("build", str(recipe), "--quiet", *(part for text in settings for part in ("--set", text)), *options)
    assert done.returncode == 2
    assert [(folder / name).read_bytes() for name in ("build.json", "dataset/manifest.json")] == before
    return done.stderr.splitlines()[-1]


def rows(folder: Path, config: str = "clips") -> pd.DataFrame:
    paths = sorted((folder / "dataset" / config).glob("*.parquet"))
    tables = [pd.read_parquet(path).assign(split=path.name.partition("-")[0]) for path in paths]
    return pd.concat(tables).sort_values("video_id").reset_index(drop=True)


def source_ids(folder: Path, file: str) -> list[str]:
    sources = pd.read_parquet(folder / "stages/filter/kept.parquet")
    return list(sources.source_id[sources.file == file])


def splits(folder: Path) -> dict[str, str]:
    clips = rows(folder)
    return dict(zip(clips.video_id, clips.split, strict=True))


def write_table(file: Path, ids: list[str], per_clip: int = 3) -> None:
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["clip", "text", "worker"])
        writer.writerows(
            [name, f"a person does {number} of {name}", f"w{number}"] for name in ids for number in range(per_clip)
        )


@pytest.fixture(scope="session")
def captioned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of five films, each with a clip of four seconds, three captions each."""

    def make(folder: Path) -> None:
        (folder / "videos").mkdir()
        for number in range(5):
            write_film(folder / "videos" / f"film{number}.mp4", number)
        write_film(folder / "late.mp4", 9)
        build("own-folder", *SETTINGS, f"collect.folder={folder / 'videos'}", options=("--out", str(folder / "street")))
        write_table(folder / "captions.csv", list(rows(folder / "street").video_id))
        build(folder / "street", f"captions.file={folder / 'captions.csv'}", COLUMNS)

    return make_once(tmp_path_factory, "captioned", make)


@pytest.fixture
def project(captioned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that project, whose build is known by its name."""
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    shutil.copytree(captioned, tmp_path / "project")
    folder = tmp_path / "project"
    moved = (folder / "street/build.json").read_text().replace(str(captioned), str(folder))
    (folder / "street/build.json").write_text(moved)
    remember_settings(json.loads(moved)["settings"])
    assert len(rows(folder / "street", "captions")) == 15
    return folder


def correct_first(project: Path, new: str) -> Any:
    """Correct the first caption of annotator w0 in the dataset by an erratum, and return its row before."""
    first = rows(project / "street", "captions").query("annotator == 'w0'").iloc[0]
    facts = {"reason": "wrong", "who": "ann", "date": "2026-11-27", "new": new}
    fields = {"id": f"{first.video_id}#{first.sen_id}", "field": "captions.caption", "old": first.caption}
    pd.DataFrame([fields | facts]).to_csv(project / "errata.csv", index=False)
    correct_dataset(project / "street", project / "errata.csv")
    return first


class TestCaptionLoss:
    @pytest.mark.parametrize(
        "setting", ["clips.whole=true", "filter.min_seconds=9", "captions.per_clip=4", "captions.min_words=7"]
    )
    @pytest.mark.sampled(2)
    def test_change_that_drops_captions_is_refused_with_their_number(self, project: Path, setting: str) -> None:
        street = project / "street"
        if setting == "filter.min_seconds=9":
            write_film(project / "videos/long.mp4", 20, 10)
            build(street)
        said = refused(street, setting)
        assert "would drop 15 of the 15 captions" in said
        assert "15 of them the work of 3 people" in said

    def test_dropping_is_a_choice_and_is_said(self, project: Path) -> None:
        street = project / "street"
        (project / "videos/film0.mp4").unlink()
        assert "would drop 3 of the 15 captions" in refused(street)
        said = build(street, options=("--allow-caption-loss",))
        assert "This build drops 3 of the 15 captions" in said
        assert len(rows(street, "captions")) == 12
        assert "captions" not in build(street)

    def test_table_that_lacks_earlier_captions_is_refused(self, project: Path) -> None:
        street = project / "street"
        (project / "later.csv").write_text("clip,text,worker\n" + f"{rows(street).video_id[0]},a man walks,w0\n")
        said = refused(street, f"captions.file={project / 'later.csv'}", COLUMNS)
        assert "would drop 14 of the 15 captions" in said
        assert "would drop 15 of the 15 captions" in refused(street, "captions.file=null")

    def test_corrected_caption_is_no_loss(self, project: Path) -> None:
        table = project / "captions.csv"
        table.write_text(table.read_text().replace("a person does 1", "one person does 1"))
        build(project / "street")
        assert sum(rows(project / "street", "captions").caption.str.startswith("one person")) == 5

    def test_renamed_annotators_are_no_loss_and_lose_no_erratum(self, project: Path) -> None:
        street, table = project / "street", project / "captions.csv"
        first = correct_first(project, "somebody else")
        table.write_text(table.read_text().replace("w0", "ann0"))
        said = build(street)
        assert "5 captions have another annotator" in said
        assert "fit no row" not in said
        after = rows(street, "captions")
        assert len(after) == 15
        assert set(after[after.caption == "somebody else"].video_id) == {first.video_id}
        assert set(after.annotator) == {"ann0", "w1", "w2"}

    def test_version_that_corrections_raised_is_kept(self, project: Path) -> None:
        street, table = project / "street", project / "captions.csv"
        first = correct_first(project, "a person does nothing")
        table.write_text(table.read_text().replace(first.caption, "a person does nothing", 1))
        assert "fit no row" in build(street)
        assert read_dataset_manifest(street / "dataset")["version"] == "2.0.0"
        table.write_text(table.read_text().replace("a person does 1", "one person does 1"))
        assert "2.0.0, which stays, since 1.0.0 is lower" in build(street)
        assert read_dataset_manifest(street / "dataset")["version"] == "2.0.0"

    def test_captions_follow_a_clip_that_still_overlaps_if_asked(self, project: Path) -> None:
        street = project / "street"
        before = rows(street)
        build(street, "clips.whole=true", "captions.follow=0.2")
        after = rows(street)
        assert len(rows(street, "captions")) == 15
        assert not set(after.video_id) & set(before.video_id)
        for old, new in zip(before.itertuples(), after.itertuples(), strict=True):
            assert old.source_id == new.source_id
            overlap = min(old.end, new.end) - max(old.start, new.start)
            assert overlap / (max(old.end, new.end) - min(old.start, new.start)) >= 0.2
            assert sorted(new.captions) == sorted(old.captions)
        said = refused(street, "captions.follow=0.9")
        assert "would drop 15 of the 15 captions" in said

    def test_captions_change_nothing_about_which_near_duplicate_is_kept(self, tmp_path: Path) -> None:
        (tmp_path / "videos").mkdir()
        film = write_film(tmp_path / "videos/film.mp4", 1)
        edit(film, tmp_path / "videos/copy.mp4", "hue=s=0")
        write_film(tmp_path / "videos/other.mp4", 2)
        street, table = tmp_path / "street", tmp_path / "captions.csv"
        more = ["clips.per_source=2", "media.keep=none", f"collect.folder={tmp_path / 'videos'}"]
        build("own-folder", *SETTINGS, *more, options=("--out", str(street)))
        write_table(table, list(rows(street).video_id))
        build(street, f"captions.file={table}", COLUMNS)
        assert len(rows(street, "captions")) == 18

        said = refused(street, "near_duplicates=keep_one")
        assert "would drop 6 of the 18 captions" in said
        assert "6 of clips that the recipe leaves out (2, such as " in said
        assert "captions.follow" not in said
        copies = {name for name in rows(street).video_id if name.startswith(tuple(source_ids(street, "copy.mp4")))}
        assert len(copies) == 2
        said = build(street, "near_duplicates=keep_one", options=("--allow-caption-loss",))
        assert "This build drops 6 of the 18 captions" in said
        assert "Captions of clips that near_duplicates=keep_one leaves out: 6, such as " in said
        assert len(rows(street, "captions")) == 12
        assert not set(rows(street).video_id) & copies

        # Neither do clips wait for captions of which another copy is kept, nor do captions of the other one count.
        film = source_ids(street, "film.mp4")[0]
        lines = table.read_text().splitlines(keepends=True)
        table.write_text(
            "".join(line for line in lines if film not in line) + "copy,a person does what film shows,w1\n"
        )
        said = build(street, options=("--allow-caption-loss",))
        assert "keep_one leaves out: 7, " in said
        assert "Clips that wait for captions: 2; " in said
        waiting = pd.read_parquet(street / "stages/captioned/rejected.parquet").video_id
        assert all(name.startswith(film) for name in waiting)
        rejected = pd.read_parquet(street / "stages/captions/rejected.parquet")
        assert Counter(rejected.reason) == {"rejected_clip": 6, "rejected_source": 1}
        assert all("shows the same as film.mp4" in detail for detail in rejected.detail)


def test_a_file_name_says_what_to_withdraw(project: Path) -> None:
    street, names = project / "street", project / "gone.txt"
    sources = pd.read_parquet(street / "stages/filter/kept.parquet").set_index("file").source_id
    # A name that files in two folders may have is asked for in full.
    (project / "videos/more").mkdir()
    write_film(project / "videos/more/late.mp4", 9)
    build(street, "captions.below=keep")
    names.write_text("late.mp4\n")
    refusal = run("withdraw", str(street), "--ids", str(names), "--reason", "takedown")
    assert refusal.returncode == 2
    assert "source 'late.mp4'; write the whole name of its file: 'more/late.mp4'; nothing was changed" in refusal.stderr
    names.write_text("film3.mp4\nmore/late.mp4\n")
    assert run("withdraw", str(street), "--ids", str(names), "--reason", "takedown").returncode == 0
    assert set(rows(street).source_id) == set(sources.drop("film3.mp4"))


def test_clips_of_renamed_or_encoded_files_are_told_when_they_move(tmp_path: Path) -> None:
    folder, street = tmp_path / "videos", tmp_path / "street"
    folder.mkdir()
    films = [write_film(folder / f"film{number}.mp4", number) for number in range(6)]
    manifest = tmp_path / "videos.csv"
    listed = pd.DataFrame({"id": [f"s{n}" for n in range(6)], "path": [str(film) for film in films]})
    listed.to_csv(manifest, index=False)
    build("own-list", *SETTINGS, f"collect.manifest={manifest}", "media.keep=none", options=("--out", str(street)))
    before = rows(street).set_index("source_id").split
    listed.assign(id=[f"vid{n}" for n in range(6)]).to_csv(manifest, index=False)
    said = build(street)
    after = rows(street).set_index("source_id").split.rename(index=lambda name: name.replace("vid", "s"))
    moved = (after[before.index] != before).sum()
    assert moved > 0
    assert f"{moved} of 6 clips change their split" in said
    (pins,) = street.glob("pins-*.jsonl")
    build(street, f"split.pin={pins}")
    after = rows(street).set_index("source_id").split.rename(index=lambda name: name.replace("vid", "s"))
    assert (after[before.index] == before).all()


def test_later_video_waits_for_captions_and_joins(project: Path) -> None:
    street = project / "street"
    before = splits(street)
    shutil.copy(project / "late.mp4", project / "videos/late.mp4")
    said = build(street)
    assert "Clips that wait for captions: 1; their files are in" in said
    (waiting,) = (street / "uncaptioned").iterdir()
    assert account(street)["captioned"]["rejected"] == {"uncaptioned": 1}
    assert splits(street) == before
    with (project / "captions.csv").open("a", newline="") as stream:
        csv.writer(stream).writerow([waiting.name, "a person comes later", "w1"])
    build(street)
    assert splits(street).items() >= before.items()
    assert len(splits(street)) == 6
    assert not (street / "uncaptioned").exists()


class TestSplits:
    def test_moved_clips_are_said_and_can_be_kept(self, project: Path) -> None:
        street = project / "street"
        before = splits(street)
        seed = 0
        said = ""
        while "change their split" not in said:
            seed += 1
            said = build(street, f"seed={seed}")
        moved = sum(before[name] != split for name, split in splits(street).items())
        assert f"{moved} of 5 clips change their split" in said
        (pins,) = street.glob("pins-*.jsonl")
        build(street, f"split.pin={pins}")
        assert splits(street) == before

    def test_pins_of_a_build_hold_through_a_move_until_they_are_unset(self, project: Path, tmp_path: Path) -> None:
        street = project / "street"
        before = splits(street)
        assert "change their split" not in build(street, "seed=7", options=("--pin-from", str(street)))
        street.rename(tmp_path / "lane")
        street = tmp_path / "lane"
        assert "change their split" not in build(street, "seed=8")
        assert splits(street) == before
        assert json.loads((street / "build.json").read_text())["settings"]["split"]["pin"].startswith("pins-")
        build(street, "split.pin=null")
        assert json.loads((street / "build.json").read_text())["settings"]["split"]["pin"] is None

    def test_new_build_takes_the_splits_of_another(self, project: Path) -> None:
        other = project / "other"
        settings = [text.replace("street", "other") for text in SETTINGS]
        build(
            "own-folder",
            *settings,
            f"collect.folder={project / 'videos'}",
            "seed=99",
            options=("--out", str(other), "--pin-from", str(project / "street")),
        )
        assert splits(other) == splits(project / "street")

    def test_recipe_without_splits_refuses_pins(self, project: Path) -> None:
        done = run("build", "vatex-eval", "--set", "input=x/y", "--pin-from", str(project / "street"))
        assert done.returncode == 2


def test_table_without_captions_is_refused_before_any_work(project: Path) -> None:
    (project / "empty.csv").write_text("video_id,caption\n")
    said = refused(project / "street", f"captions.file={project / 'empty.csv'}")
    assert "empty.csv: has no captions, without which no clip is left" in said


def test_columns_of_an_earlier_table_are_forgotten(project: Path) -> None:
    street = project / "street"
    table = pd.read_csv(project / "captions.csv")
    table.columns = ["video_id", "caption", "annotator"]
    table.to_csv(project / "renamed.csv", index=False)
    build(street, f"captions.file={project / 'renamed.csv'}")
    assert Counter(rows(street, "captions").annotator) == {"w0": 5, "w1": 5, "w2": 5}
    assert json.loads((street / "build.json").read_text())["settings"]["captions"]["columns"] == {}


def test_moved_build_is_known_again_once_it_was_opened(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    street = project / "street"
    build(street)
    street.rename(tmp_path / "lane")
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: (_ for _ in ()).throw(OSError("offline")))
    with pytest.raises(VttdataError, match=str(street)):
        vttdata.find_dataset("me/street")
    with pytest.raises(VttdataError, match=str(street)):
        vttdata.find_dataset("street")
    assert vttdata.find_dataset(tmp_path / "lane") == tmp_path / "lane/dataset"
    assert vttdata.find_dataset("me/street") == tmp_path / "lane/dataset"


def test_rows_of_clips_name_the_file_and_folders_can_be_categories(project: Path, tmp_path: Path) -> None:
    street = project / "street"
    assert sorted(rows(street).file) == [f"film{number}.mp4" for number in range(5)]
    (project / "videos/night/wet").mkdir(parents=True)
    (project / "videos/film1.mp4").rename(project / "videos/night/wet/film1.mp4")
    build(street, "collect.category=folder")
    sources = pd.read_parquet(street / "stages/collect/kept.parquet")
    assert dict(zip(sources.file, sources.category.fillna("none"), strict=True)) == {
        **{f"film{number}.mp4": "none" for number in (0, 2, 3, 4)},
        "night/wet/film1.mp4": "night",
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("film0.mp4", ["film0.mp4: 1 clip in the dataset"]),
        ("film0", ["1 clip in the dataset"]),
        ("late.mp4", ["0 clips in the dataset", "stage 'captioned' rejected it: uncaptioned"]),
        ("short.mp4", ["0 clips in the dataset", "stage 'screen' rejected it: too_short", "2.00 s, at least 3 s"]),
        ("bad.mp4", ["0 clips in the dataset", "stage 'probe' failed"]),
    ],
)
@pytest.mark.sampled(3)
def test_one_line_says_why_a_video_has_no_clip(captioned: Path, tmp_path: Path, name: str, words: list[str]) -> None:
    def make(folder: Path) -> None:
        shutil.copytree(captioned / "videos", folder / "videos")
        shutil.copy(captioned / "late.mp4", folder / "videos/late.mp4")
        write_film(folder / "videos/short.mp4", 30, 2)
        (folder / "videos/bad.mp4").write_bytes(b"x")
        more = [f"collect.folder={folder / 'videos'}", "filter.min_seconds=3", "max_failed=1.0", COLUMNS]
        more.append(f"captions.file={captioned / 'captions.csv'}")
        build("own-folder", *SETTINGS, *more, options=("--out", str(folder / "street")))

    folder = tmp_path.parent / "rejected-videos"
    if not folder.exists():
        folder.mkdir()
        make(folder)
    done = run("rejects", str(folder / "street"), "--video", name)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert all(text in done.stdout for text in words)
    unknown = run("rejects", str(folder / "street"), "--video", "nobody.mp4")
    assert (unknown.returncode, unknown.stdout) == (2, "")


@pytest.mark.parametrize("mode", ["files", "none"])
def test_force_compares_videos_of_official_clips(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    write_unpacked(tmp_path / "files")
    (tmp_path / "videos").mkdir()
    video = tmp_path / "videos" / "video3.mp4"
    write_film(video, 3)
    settings = [f"annotations={tmp_path / 'files'}", f"videos={tmp_path / 'videos'}", f"publish.media={mode}"]
    for _ in range(2):
        build("msrvtt", *settings, options=("--out", str(tmp_path / "out"), "--force"))
        clips = pd.read_parquet(tmp_path / "out" / "stages" / "clip_files" / "kept.parquet").set_index("video_id")
        assert hashlib.sha256(video.read_bytes()).hexdigest() in str(clips.loc["video3"].to_dict())
        facts = video.stat()
        video.write_bytes(video.read_bytes()[:-1] + b"?")
        os.utime(video, ns=(facts.st_atime_ns, facts.st_mtime_ns))
