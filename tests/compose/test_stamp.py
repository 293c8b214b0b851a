"""A finished build of which nothing has changed ends at once; whatever has changed is seen."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

import vttdata
from tests.helpers.builds import LOOSE, build, film
from tests.helpers.builds import vttdata as run
from vttdata.compose import stamp
from vttdata.files.reading import read_regular
from vttdata.load.local_builds import STAMP
from vttdata.pipeline.stages import videos

UNCHANGED = "Nothing has changed since it was built"


@pytest.fixture(scope="module")
def stamped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder with videos, a table of captions and the build of both in ``out``: the next build has nothing to do."""
    folder = tmp_path_factory.mktemp("stamped")
    (folder / "videos").mkdir()
    for name, picture in (("a", "testsrc2"), ("b", "rgbtestsrc"), ("c", "mandelbrot")):
        film(folder / "videos" / f"{name}.mp4", seconds=3, picture=picture)
    (folder / "captions.csv").write_text("source,start,end,caption\na,0,3,a red shape grows slowly\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VTTDATA_HOME", str(folder / "home"))
        assert not again(folder)
        assert again(folder)
        yield folder


def again(folder: Path, *more: str) -> bool:
    """Build; return whether the build said that nothing had changed."""
    settings = [*LOOSE, f"collect.folder={folder / 'videos'}", f"captions.file={folder / 'captions.csv'}", *more]
    done = build(folder / "out", "captions.per_clip=1", *settings)
    assert done.returncode == 0, done.stderr
    return UNCHANGED in done.stderr


def rewrite(path: Path) -> None:
    """Change a byte of a file, and give it its earlier times."""
    facts = path.stat()
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (facts.st_size, facts.st_mtime_ns)


def replace(path: Path) -> None:
    """Put another file of the same size and times in the place of a file."""
    other = path.with_name("other")
    shutil.copy2(path, other)
    rewrite(other)
    other.replace(path)


def first(folder: Path, pattern: str) -> Path:
    return min(folder.glob(pattern))


CHANGES: dict[str, Callable[[Path], object]] = {
    "a caption edited, size and time kept": lambda folder: rewrite(folder / "captions.csv"),
    "captions replaced, size and time kept": lambda folder: replace(folder / "captions.csv"),
    "a video edited, size and time kept": lambda folder: rewrite(folder / "videos" / "a.mp4"),
    "a video touched": lambda folder: (folder / "videos" / "a.mp4").touch(),
    "a video added": lambda folder: film(folder / "videos" / "d.mp4", seconds=2),
    "a video removed": lambda folder: (folder / "videos" / "b.mp4").unlink(),
    "a video renamed": lambda folder: (folder / "videos" / "c.mp4").rename(folder / "videos" / "z.mp4"),
    "a part edited": lambda folder: rewrite(first(folder, "out/stages/probe/parts/*")),
    "a part removed": lambda folder: first(folder, "out/stages/probe/parts/*").unlink(),
    "a clip removed": lambda folder: first(folder, "out/dataset/**/*.mp4").unlink(),
    "a table edited": lambda folder: rewrite(first(folder, "out/dataset/clips/*.parquet")),
    "the report removed": lambda folder: (folder / "out" / "report.html").unlink(),
    "the account edited": lambda folder: rewrite(folder / "out" / "build.json"),
    "the stamp cut short": lambda folder: (folder / "out" / STAMP).write_text('{"request": '),
    "an empty stamp": lambda folder: (folder / "out" / STAMP).write_text("{}"),
    "the stamp of something else": lambda folder: (folder / "out" / STAMP).write_text("[]"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.sampled(6)
def test_every_change_is_seen(change: str, stamped: Path) -> None:
    CHANGES[change](stamped)
    assert not again(stamped)
    assert [path.stat().st_size > 1000 for path in stamped.glob("out/dataset/**/*.mp4")] == [True]
    assert again(stamped)


def test_damaged_clips_are_all_cut_again(stamped: Path) -> None:
    clips = {path: path.read_bytes() for path in stamped.glob("out/**/*.mp4")}
    assert len(clips) > 1
    for clip in clips:
        rewrite(clip)
    assert not again(stamped)
    assert {path: path.read_bytes() for path in clips} == clips
    assert again(stamped)


def test_force_compares_the_content_of_inputs(stamped: Path) -> None:
    video = stamped / "videos" / "a.mp4"
    rewrite(video)
    assert not again(stamped)
    assert run("build", str(stamped / "out"), "--force", "--quiet").returncode == 0
    sources = pd.read_parquet(stamped / "out" / "dataset" / "sources")
    assert set(sources.sha256) == {hashlib.sha256(video.read_bytes()).hexdigest()}
    rewrite(video)
    assert run("build", str(stamped / "out"), "--force", "--quiet").returncode == 0
    assert not again(stamped), "the command is another one"


def test_same_result_as_a_look_at_everything(stamped: Path) -> None:
    before = {path: path.read_bytes() for path in stamped.glob("out/dataset/**/*") if path.is_file()}
    everything = run("build", str(stamped / "out"), "--force", "--quiet")
    assert (everything.returncode, UNCHANGED in everything.stderr) == (0, False)
    assert {path: path.read_bytes() for path in stamped.glob("out/dataset/**/*") if path.is_file()} == before
    nothing = run("build", str(stamped / "out"), "--quiet")
    assert (nothing.returncode, UNCHANGED in nothing.stderr) == (0, True)
    texts = [re.sub(r", after .*", "", done.stdout).partition("\n\n") for done in (everything, nothing)]
    assert (texts[0][2] or texts[0][0]) == texts[1][0].lstrip()


def test_one_more_caption_gives_the_result_of_a_look_at_everything(
    stamped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (stamped / "captions.csv").read_text()
    (stamped / "captions.csv").write_text(before + "a,0,3,the shape has become large\n")
    with monkeypatch.context() as patch:
        # No file of features is read, and no clip is compared with its checksum, where nothing else has changed.
        patch.setattr(videos, "load_features", None)
        patch.setattr(videos, "file_sha256", None)
        assert not again(stamped)
    journal = (stamped / "out" / "journal.jsonl").read_text().rpartition('"event": "build"')[2]
    stages = [json.loads(line) for line in journal.splitlines()[1:] if '"stage done"' in line]
    assert {stage["name"]: stage["reused"] < stage["parts"] for stage in stages}["captions"]
    results = {path: path.read_bytes() for path in stamped.glob("out/dataset/**/*") if path.is_file()}
    captions = pd.concat(map(pd.read_parquet, stamped.glob("out/dataset/captions/*.parquet"))).caption
    assert sorted(captions) == ["a red shape grows slowly", "the shape has become large"]
    assert run("build", str(stamped / "out"), "--force", "--quiet").returncode == 0
    assert {path: path.read_bytes() for path in stamped.glob("out/dataset/**/*") if path.is_file()} == results
    (stamped / "captions.csv").write_text(before)
    assert build(stamped / "out", recipe=str(stamped / "out")).returncode == 2, "a caption would be lost"
    (stamped / "captions.csv").write_text(before + "a,0,3,the shape has become large\n")
    assert not again(stamped)


def test_settings_environment_and_working_folder_are_part_of_the_command(
    stamped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not again(stamped, "seed=7")
    assert not again(stamped), "the build is that of seed 7"
    assert again(stamped)
    monkeypatch.setenv("VTTDATA_MAX_PIXELS", "1000000")
    assert not again(stamped)
    monkeypatch.delenv("VTTDATA_MAX_PIXELS")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert not again(stamped)
    assert again(stamped)


def test_other_libraries_and_another_program_are_seen(
    stamped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "site")
    (tmp_path / "site" / "av-99.0.dist-info").mkdir()
    assert not again(stamped)
    assert again(stamped)
    monkeypatch.setattr(stamp, "__version__", "99.0")
    assert not again(stamped)


def test_input_that_changes_while_it_is_built_leaves_no_stamp(stamped: Path) -> None:
    (stamped / "out" / STAMP).unlink()
    settings = [*LOOSE, "captions.per_clip=1", f"captions.file={stamped / 'captions.csv'}"]
    vttdata.build(
        "own-folder",
        out=stamped / "out",
        settings=[*settings, f"collect.folder={stamped / 'videos'}"],
        messages=vttdata.Messages(quiet=True, on_stage_done=lambda _: (stamped / "captions.csv").touch()),
    )
    assert not (stamped / "out" / STAMP).exists()
    assert not again(stamped)
    assert again(stamped)


def test_python_gets_the_finished_build(stamped: Path) -> None:
    arguments = {"out": stamped / "out", "settings": {"seed": 3}}
    stages: list[object] = []
    messages = vttdata.Messages(quiet=True, on_stage_done=stages.append)
    built = vttdata.build(stamped / "out", **arguments, messages=messages)
    count = len(stages)
    assert count > 5
    same = vttdata.build(stamped / "out", **arguments, messages=messages)
    assert len(stages) == count
    assert (same.folder, same.dataset, same.audit, same.status) == (
        built.folder,
        built.dataset,
        built.audit,
        "complete",
    )
    assert [tally.as_json() for tally in same.tallies] == json.loads((same.folder / "build.json").read_text())["stages"]


def test_copy_of_a_build_is_looked_at(stamped: Path, tmp_path: Path) -> None:
    shutil.copytree(stamped / "out", tmp_path / "copy")
    done = run("build", str(tmp_path / "copy"), "--quiet")
    assert (done.returncode, UNCHANGED in done.stderr) == (0, False)


def test_list_which_may_name_further_files_is_looked_at_each_time(stamped: Path, tmp_path: Path) -> None:
    shutil.copy2(first(stamped, "videos/*.mp4"), tmp_path / "c.mp4")
    (tmp_path / "list.csv").write_text("path\nc.mp4\n")
    settings = [*LOOSE, f"collect.manifest={tmp_path / 'list.csv'}", "captions.file=null"]
    for _ in range(2):
        done = build(tmp_path / "out", *settings, recipe="own-list")
        assert (done.returncode, UNCHANGED in done.stderr) == (0, False), done.stderr
    assert not (tmp_path / "out" / STAMP).exists()


def test_all_damaged_files_of_a_build_are_named_or_made_again_at_once(stamped: Path, tmp_path: Path) -> None:
    out = stamped / "out"
    expected = {path: path.read_bytes() for path in out.glob("dataset/**/*.*")}
    tables = sorted(out.glob("stages/*/rejected.parquet"))
    features = sorted(out.glob("**/*.npz"))
    assert len(features) == 3
    for path in (*tables, *features, *out.glob("**/*.mp4")):
        content = bytearray(path.read_bytes())
        content[len(content) // 3 : len(content) // 3 + 40] = bytes(40)
        path.write_bytes(content)
    done = run("rejects", str(out))
    assert done.returncode == 2
    assert f"'vttdata build {out} --force' writes the tables of all stages again" in done.stderr
    assert run("build", str(out), "--force", "--quiet").returncode == 0
    assert run("rejects", str(out)).returncode == 0
    assert {path: path.read_bytes() for path in expected} == expected
    manifest = out / "dataset" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"files"', b'"fi\0es"'))
    done = run("build", str(out), "--quiet")
    assert done.returncode == 2
    assert (
        "its manifest.json is damaged or of another program; choose another folder, or, if it is yours, 'mv "
        in done.stderr
    )
    (out / "dataset").rename(tmp_path / "away")
    assert run("build", str(out), "--quiet").returncode == 0
    assert {path: path.read_bytes() for path in expected} == expected


def test_dataset_is_finished_where_memory_does_not_suffice_for_its_report(
    stamped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> None:
        raise MemoryError

    notes: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr("vttdata.report.build_report.write_report", refuse)
        execution = vttdata.Execution(workers=1, force=True)
        messages = vttdata.Messages(quiet=True, note=notes.append)
        run_of_build = vttdata.build(stamped / "out", execution=execution, messages=messages)
    assert run_of_build.status == "complete"
    assert any("the report was not written" in note for note in notes)
    (stamped / "out" / "report.html").unlink()
    assert run("build", str(stamped / "out"), "--quiet").returncode == 0
    assert (stamped / "out" / "report.html").is_file()


def test_small_file_is_read_in_little_memory(tmp_path: Path) -> None:
    (tmp_path / "build.json").write_text("{}")
    tracemalloc.start()
    try:
        assert read_regular(tmp_path / "build.json", 2**26) == b"{}"
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
