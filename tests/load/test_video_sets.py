"""Sets of videos are compared however each writes its sources, on planted overlaps among strangers."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable
from pathlib import Path

import pytest

from vttdata.cli.main import main
from vttdata.dataset.protocol_file import read_protocol_file
from vttdata.load.video_sets import read_video_sets
from vttdata.split.audit.atlas import compare_sets

_LETTERS = string.ascii_letters + string.digits + "-_"
# How lists write a YouTube id, a Flickr number, and a Vimeo number.
FORMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("youtube", lambda own: own),
    ("youtube", lambda own: f"v_{own}"),
    ("youtube", lambda own: f"clips/train/{own}.mp4"),
    ("youtube", lambda own: f"{own}_000012_000022"),
    ("youtube", lambda own: f"{own}_3.5_10.webm"),
    ("youtube", lambda own: f"https://youtu.be/{own}?t=3"),
    ("youtube", lambda own: f"http://web.archive.org/web/2019/http://www.youtube.com/watch?feature=x&v={own}"),
    ("flickr", lambda own: own),
    ("flickr", lambda own: f"34507951@N07_{own}_51d0c8ae28.mov"),
    ("vimeo", lambda own: f"https://player.vimeo.com/video/{own}?h=1"),
)


def draw(rng: random.Random, kind: str) -> str:
    if kind == "youtube":
        return "".join(rng.choices(_LETTERS, k=11))
    return str(rng.randrange(10**9, 10**10 - 1))


def write_planted(folder: Path, planted: int, strangers: int) -> tuple[list[str], set[str]]:
    """Write official files of two benchmarks, a table of addresses, and a list with overlaps of all of them.

    Returns the references, of which the list is first, and its lines that overlap.
    """
    rng = random.Random(67)
    known: dict[str, list[str]] = {"youtube": [], "flickr": [], "vimeo": []}
    overlapping, lines = set(), []
    for number in range(planted + strangers):
        kind, write = FORMS[number % len(FORMS)]
        own = draw(rng, kind)
        lines.append(write(own))
        # Others of the same kind, which the list does not have.
        known[kind] += [own, draw(rng, kind)] if number < planted else []
        overlapping |= {lines[-1]} if number < planted else set()
    for name in ("lvbench", "nextqa"):
        (folder / name).mkdir()
    (folder / "lvbench/video_info.meta.jsonl").write_text(
        "".join(json.dumps({"key": own}) + "\n" for own in known["youtube"])
    )
    (folder / "nextqa/train.csv").write_text("video,question\n" + "".join(f"{own},?\n" for own in known["flickr"]))
    (folder / "films.csv").write_text(
        "url,split\n" + "".join(f"https://vimeo.com/{own},test\n" for own in known["vimeo"])
    )
    rng.shuffle(lines)
    (folder / "list.txt").write_text("\n".join(["video_id", *lines]) + "\n")
    references = [
        str(folder / "list.txt"),
        f"lvbench={folder}/lvbench",
        f"nextqa={folder}/nextqa",
        str(folder / "films.csv"),
    ]
    return references, overlapping


def find_planted(references: list[str]) -> set[str]:
    """Return the items of the first set that share a source with any other."""
    sets, _ = read_video_sets(references, print, trained=references[1:])
    first, *others = sets
    # Of the others all count as training, so that all that is shared is listed.
    atlas = compare_sets([first, *(type(own)(own.name, own.table, is_training=True) for own in others)], "today")
    return {item for splits in atlas.shared_items.values() for items in splits.values() for item in items}


def test_planted_overlaps_of_ten_forms_are_found_among_strangers(tmp_path: Path) -> None:
    references, overlapping = write_planted(tmp_path, 50, 2_000)
    assert len(overlapping) == 50
    assert find_planted(references) == {Path(line).name if "://" not in line else line for line in overlapping}


@pytest.mark.long
def test_thousand_overlaps_are_found_among_a_hundred_thousand_strangers(tmp_path: Path) -> None:
    references, overlapping = write_planted(tmp_path, 1_000, 100_000)
    assert len(overlapping) == 1_000
    assert find_planted(references) == {Path(line).name if "://" not in line else line for line in overlapping}


@pytest.fixture
def activitynet(tmp_path: Path) -> Path:
    """Official files of ActivityNet-QA with three training questions and a test question."""
    folder = tmp_path / "activitynet-qa"
    folder.mkdir()
    train = [
        {"video_name": own, "question": "what is he doing?"} for own in ("aaaaaaaaaaa", "bbbbbbbbbbb", "ccccccccccc")
    ]
    (folder / "train_q.json").write_text(json.dumps(train))
    (folder / "test_q.json").write_text(json.dumps([{"video_name": "ddddddddddd", "question": "who is it?"}]))
    return folder


def test_command_counts_sources_seconds_and_texts_and_lists_what_to_leave_out(
    activitynet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.csv"
    rows = ["bbbbbbbbbbb_10_20,0,10,test,What is HE doing", "eeeeeeeeeee,0,5,test,x", "ddddddddddd,0,5,train,y"]
    mine.write_text("\n".join(["video_id,start,end,split,caption", *rows]))
    other = tmp_path / "other.csv"
    other.write_text("youtube_id,start,end\nbbbbbbbbbbb,4,7\nbbbbbbbbbbb,6,99\n")
    across = ("--across", f"activitynet-qa={activitynet}", "--across", str(other))
    pages = [option for name in ("a.md", "a.html") for option in ("--page", str(tmp_path / name))]
    assert main(["audit", str(mine), *across, "--json", "--clean", str(tmp_path / "clean"), *pages]) == 3
    report = json.loads(capsys.readouterr().out)
    pairs = {(*own["a"], *own["b"]): own for own in report["overlaps"]}
    assert set(pairs) == {
        ("mine.csv", "test", "activitynet-qa", "train"),
        ("activitynet-qa", "test", "mine.csv", "train"),
        ("mine.csv", "test", "other.csv", "listed"),
    }
    first = pairs["mine.csv", "test", "activitynet-qa", "train"]
    assert (first["sources"], first["seconds"], first["texts"], first["leak"]) == (1, None, 1, True)
    # 4 to 10 seconds are in both.
    assert pairs["mine.csv", "test", "other.csv", "listed"]["seconds"] == 6
    assert read_protocol_file(tmp_path / "clean/protocol.json").splits == {
        "test": ["eeeeeeeeeee"],
        "train": ["ddddddddddd"],
    }
    assert read_protocol_file(tmp_path / "clean/shared-with-activitynet-qa.json").splits == {
        "test": ["bbbbbbbbbbb_10_20"]
    }
    assert "| mine.csv test |  | 1 (50.0%) | 1 (50.0%) |" in (tmp_path / "a.md").read_text()
    assert "activitynet-qa train" in (tmp_path / "a.html").read_text()


def test_clips_that_another_set_names_have_its_times_and_seconds_say_of_how_many_sources_they_are(
    tmp_path: Path,
) -> None:
    urls = [f"https://www.youtube.com/watch?v={letter * 11}" for letter in "abc"]
    videos = [
        {"video_id": f"video{number}", "url": url, "split": "train", "start time": 10.0, "end time": 20.0}
        for number, url in enumerate(urls)
    ]
    for name, file, content in (
        ("msrvtt", "train_val_videodatainfo.json", json.dumps({"videos": videos, "sentences": []})),
        ("msrvtt-qa", "test.csv", "video_id,question\n0,who\n1,what\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(content)
    (tmp_path / "mine.csv").write_text("youtube_id,start,end\naaaaaaaaaaa,15,40\nbbbbbbbbbbb,,\nccccccccccc,0,11\n")
    references = [f"{name}={tmp_path / name}" for name in ("msrvtt", "msrvtt-qa")]
    sets, _ = read_video_sets([*references, str(tmp_path / "mine.csv")], print)
    found = {
        (each.a.set_name, each.b.set_name): (each.sources, each.timed, each.seconds)
        for each in compare_sets(sets, "2026-01-31").overlaps
    }
    # 10 to 20 s of each of two videos; 15 to 20 s of one, and of the other no times in one's own list.
    assert found == {
        ("msrvtt-qa", "msrvtt"): (2, 2, 20),
        ("msrvtt-qa", "mine.csv"): (2, 1, 5),
        ("mine.csv", "msrvtt"): (3, 2, 6),
    }
    page = "\n".join(str(section) for section in compare_sets(sets, "2026-01-31").sections())
    assert "6 (of 2)" in page


def test_sets_without_leaks_end_with_zero_and_unreadable_ones_in_one_sentence(
    activitynet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "strangers.txt").write_text("zzzzzzzzzzz\n")
    assert main(["audit", f"activitynet-qa={activitynet}", "--across", str(tmp_path / "strangers.txt")]) == 0
    assert "No tested split shares" in capsys.readouterr().out
    assert main(["audit", "mlvu", "--across", str(tmp_path / "strangers.txt")]) == 2
    assert "lead to no source" in capsys.readouterr().err
