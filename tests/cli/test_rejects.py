"""`vttdata rejects`, the file names in tables of rejects, and what a build says at its end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.helpers.builds import LOOSE, film
from tests.helpers.builds import build as run_build
from tests.helpers.builds import vttdata as run
from vttdata.cli.main import main
from vttdata.load.local_builds import BuildRegistry

SETTINGS = ["name=me/street", *LOOSE, "filter.min_seconds=3", "max_failed=1.0"]


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build whose sources are a good film, a short one, a still one, a copy, and a damaged one, with odd names."""
    folder = tmp_path_factory.mktemp("rejects")
    videos = folder / "videos"
    (videos / "sub").mkdir(parents=True)
    film(videos / "good.mp4", 4)
    film(videos / "sub" / "Kurz & gut.mp4", 2)
    film(videos / "still.mp4", 4, "smptebars")
    shutil.copy(videos / "good.mp4", videos / "z copy.mp4")
    (videos / "bad-\x1b[31m.mp4").write_bytes(b"no video")
    (folder / "captions.csv").write_text(
        "source,start,end,caption\ngood.mp4,0,3.5,a test picture\ngood.mp4,0,3.5,a test picture\nnowhere.mp4,0,3,x y\n"
        "Kurz & gut,0,2,a short film\nstill.mp4,0,3,bars of colours\nz copy.mp4,0,3.5,the sign of a cafÃ©\n"
        "good.mp4,0,3.5,一个测试画面\n",
        encoding="utf-8",
    )
    settings = [*SETTINGS, f"collect.folder={videos}", f"captions.file={folder / 'captions.csv'}"]
    done = run_build(folder / "street", *settings)
    assert done.returncode == 0, done.stderr
    (folder / "said.txt").write_text(done.stdout)
    (folder / "warned.txt").write_text(done.stderr)
    return folder / "street"


def rejects(folder: Path, *options: str) -> list[dict[str, Any]]:
    done = run("rejects", str(folder), "--json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    return list(json.loads(done.stdout))


def test_each_reject_has_its_file_and_its_measured_value(street: Path) -> None:
    entries = {(entry["stage"], entry["reason"]): entry for entry in rejects(street)}
    short = entries["screen", "too_short"]
    assert (short["file"], short["detail"], short["failed"]) == (
        "sub/Kurz & gut.mp4",
        "2.00 s, at least 3 s wanted",
        False,
    )
    still = entries["filter", "frozen"]
    assert (still["file"], still["detail"]) == ("still.mp4", "frozen 1.000, at most 0.8 wanted")
    copy = entries["duplicates", "duplicate"]
    assert copy["file"] == "z copy.mp4"
    assert copy["detail"].startswith("z copy.mp4 has the same content as")
    damaged = entries["probe", "unreadable"]
    assert damaged["failed"]
    assert damaged["file"].startswith("bad-")
    assert entries["captions", "duplicate"]["file"] == "good.mp4"
    assert entries["captions", "unknown_clip"]["file"] is None


def test_caption_of_a_rejected_source_says_at_which_stage_and_why(street: Path) -> None:
    details = [
        entry["detail"] for entry in rejects(street, "--stage", "captions") if entry["reason"] == "rejected_source"
    ]
    short, still = sorted(details)
    assert short.startswith("line 5: source ")
    assert short.endswith(" was rejected in stage screen: too_short (2.00 s, at least 3 s wanted)")
    assert still.startswith("line 6: source ")
    assert still.endswith(" was rejected in stage filter: frozen (frozen 1.000, at most 0.8 wanted)")


def test_damaged_caption_is_named_with_its_line_and_kept(street: Path) -> None:
    (warning,) = (line for line in (street.parent / "warned.txt").read_text().splitlines() if "damaged" in line)
    assert f"{street.parent / 'captions.csv'}:7: 'the sign of a cafÃ©' has damaged characters" in warning
    assert "the sign of a cafÃ©" in captions(street)


def test_caption_in_another_script_is_not_labelled_as_english(street: Path) -> None:
    assert captions(street) == {"a test picture": "en", "the sign of a cafÃ©": "en", "一个测试画面": "und"}


def captions(build: Path) -> dict[str, str]:
    rows = [row for file in (build / "dataset/captions").glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    return {row["caption"]: row["language"] for row in rows}


def test_every_table_of_rejects_has_a_column_of_files(street: Path) -> None:
    stages = [path for path in (street / "stages").iterdir() if path.is_dir()]
    assert len(stages) > 10
    for stage in stages:
        for name in ("rejected", "failed"):
            assert pq.read_schema(stage / f"{name}.parquet").names[1:4] == ["file", "reason", "detail"]


def test_text_is_one_aligned_line_each_without_control_characters(street: Path) -> None:
    done = run("rejects", str(street))
    header, *lines = done.stdout.splitlines()
    assert header.split() == ["stage", "id", "file", "reason", "detail"]
    assert len(lines) == len(rejects(street))
    assert "\x1b" not in done.stdout
    assert "failed: unreadable" in done.stdout
    assert "2.00 s, at least 3 s wanted; set by filter.min_seconds, clips.min_seconds" in done.stdout
    assert run("rejects", "me/street").stdout == done.stdout


def test_one_stage_is_listed_whole_and_others_shortened(street: Path, tmp_path: Path) -> None:
    assert {entry["stage"] for entry in rejects(street, "--stage", "screen")} == {"screen"}
    folder = Path(shutil.copytree(street, tmp_path / "street"))
    table = folder / "stages/screen/rejected.parquet"
    rows = pq.read_table(table).to_pylist() * 1500
    pq.write_table(pa.Table.from_pylist(rows), table)
    done = run("rejects", str(folder))
    assert done.stdout.count("\nscreen ") == 20
    assert done.stdout.endswith(f"\n\n1,480 more of stage screen: vttdata rejects {folder} --stage screen\n")
    assert run("rejects", str(folder), "--stage", "screen").stdout.count("\nscreen ") == 1500


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("nothing", "has no stage 'nix'; there are collect, probe,"),
        ("table", "rejected.parquet: is damaged or unreadable"),
        ("stages", "has no build.json of a build."),
        ("name", "has no stage '../x'"),
        ("account", "There is no build"),
    ],
)
def test_bad_input_is_one_sentence(street: Path, tmp_path: Path, damage: str, message: str) -> None:
    folder = Path(shutil.copytree(street, tmp_path / "street"))
    account = json.loads((folder / "build.json").read_text())
    options: list[str] = []
    match damage:
        case "nothing":
            options = ["--stage", "nix"]
        case "table":
            (folder / "stages/screen/rejected.parquet").write_bytes(b"PAR1")
        case "stages":
            (folder / "build.json").write_text(json.dumps(account | {"stages": 7}))
        case "name":
            (folder / "build.json").write_text(json.dumps(account | {"stages": [{"name": "../x"}, 3]}))
            options = ["--stage", "../x"]
        case "account":
            (folder / "build.json").write_text("[")
    done = run("rejects", str(folder), *options)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


def test_name_of_several_builds_is_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("me/road", "you/road"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "build.json").write_text(json.dumps({"recipe": name}))
        BuildRegistry().add(name, tmp_path / name)
    assert main(["rejects", "road"]) == 2
    assert capsys.readouterr().err == "vttdata: 'road' may be me/road or you/road; write which.\n"


def test_mistyped_name_of_a_build_is_suggested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "build.json").write_text(json.dumps({"recipe": "me/uglyfilms"}))
    BuildRegistry().add("me/uglyfilms", tmp_path)
    for typed, meant in (("uglyfilm", "uglyfilms"), ("me/uglifilms", "me/uglyfilms")):
        assert main(["build", typed]) == 2
        error = capsys.readouterr().err
        assert error == f"vttdata: No recipe '{typed}': no such file or build; did you mean your build '{meant}'?\n"
    assert main(["build", "own-foldr"]) == 2
    assert "(did you mean 'own-folder'?)" in capsys.readouterr().err


def test_build_without_rejects_says_so(tmp_path: Path) -> None:
    film(tmp_path / "videos.mp4", 3)
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos.mp4").rename(tmp_path / "videos/a.mp4")
    done = run_build(tmp_path / "out", f"collect.folder={tmp_path / 'videos'}", *LOOSE)
    assert "Left out" not in done.stdout
    assert run("rejects", str(tmp_path / "out")).stdout == "Nothing was rejected, and nothing failed.\n"


def test_stage_before_the_one_that_failed_is_not_taken_for_the_build(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos/a.mp4").write_bytes(b"no video")
    out = tmp_path / "out"
    assert run_build(out, f"collect.folder={tmp_path / 'videos'}", *LOOSE).returncode == 2
    stopped = "The build came as far as stage 'probe'; later ones have not run.\n"
    nothing = "Stage 'collect' rejected nothing, and nothing failed in it. Others did: probe.\n"
    assert run("rejects", str(out), "--stage", "collect").stdout == nothing + stopped
    said = run("rejects", str(out)).stdout
    assert "failed: unreadable" in said
    assert said.endswith(stopped)
    assert run("rejects", str(out), "--stage", "cut").stderr.endswith(f"there are collect, probe. {stopped}")


def test_build_that_never_started_has_rejected_nothing_yet(street: Path, tmp_path: Path) -> None:
    account = json.loads((street / "build.json").read_text())
    (tmp_path / "build.json").write_text(json.dumps(account | {"stages": [], "status": "running"}))
    done = run("rejects", str(tmp_path))
    assert done.stdout == f"Nothing was built in {tmp_path} yet; 'vttdata build {tmp_path}' goes on.\n", done


def test_build_ends_with_how_to_load_it_what_was_left_out_and_how_long_it_took(street: Path) -> None:
    *_, done, common, contents, load, left_out, following = (street.parent / "said.txt").read_text().splitlines()
    assert done.startswith(f"me/street 1.0.0 is in {street / 'dataset'}, after ")
    assert done.endswith(" s")
    assert common == "1 of 2 were left out as frozen in stage 'filter': filter.max_frozen is 0.8; --set changes it."
    assert contents.startswith("Clips: ")
    assert contents.endswith(" Nothing was compared: all clips are in train.")
    assert load == 'Load it in Python: vttdata.load_dataset("me/street")'
    assert left_out.startswith("Left out: 2 rejected_source (captions), 1 failed: unreadable (probe), ")
    assert left_out.endswith("; 'vttdata rejects me/street' says which and why")
    assert following.startswith("Next: ")
    assert "vttdata build me/street --set " in following
