"""Withdrawals change what vttdata wrote, list it beforehand, and leave everything else as it is."""

from __future__ import annotations

import base64
import json
import multiprocessing
import os
import random
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pytest

from tests.compose.test_withdraw import NAMES, TEXTS, build_official, official_files, rows_of, without
from tests.helpers.hub.built import build, build_foils
from tests.helpers.kill_points import kill_at
from tests.helpers.traces import find_traces
from vttdata.compose.correct import correct_dataset
from vttdata.compose.withdraw import WithdrawalRequest, withdraw
from vttdata.dataset import Metadata, write_dataset
from vttdata.dataset.manifest import find_damage, read_dataset_manifest
from vttdata.dataset.protocol_file import Protocol, read_protocol_file
from vttdata.dataset.tombstones import read_tombstones, withdrawal_journal
from vttdata.errors import VttdataError
from vttdata.export import export
from vttdata.records import Caption, Clip, Fingerprint, Source
from vttdata.report.build_report import write_report

FACTS = {"reason": "wrong", "who": "ann", "date": "2026-11-27", "field": "captions.caption"}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return build(tmp_path / "small", TEXTS, sources=NAMES, media=tmp_path / "cut")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_errata(path: Path, name: str, old: str, new: str) -> Path:
    path.write_text(json.dumps(FACTS | {"id": name, "old": old, "new": new}) + "\n")
    return path


def test_a_cache_with_the_same_caption_stays_and_is_named(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    cache = tmp_path / "cache"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(cache))
    folder = cache / "other/default/0.0.0/abc"
    folder.mkdir(parents=True)
    table = pa.table({"text": [TEXTS[1], "another text"]})
    with pa.ipc.new_stream(folder / "other-train.arrow", table.schema) as stream:
        stream.write_table(table)
    (folder / "embeddings.npy").write_bytes(b"\x93NUMPY")
    before = contents(cache)
    report = withdraw(dataset, WithdrawalRequest(ids=["v1"]))
    assert contents(cache) == before
    advice = f"move 'embeddings.npy' out of it, then rm -r {folder}"
    assert [(trace.path, trace.command) for trace in report.traces] == [(folder, advice)]


def test_what_a_journal_found_beside_data_says_is_not_done(dataset: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("a word\n")
    (other / "word.mp4").write_bytes(b"film")
    before, rows = contents(other), rows_of(dataset)
    planned = {"dataset": str(dataset), "version": "2.0.0", "names": ["word"], "texts": [], "further": [str(other)]}
    numbers = dict.fromkeys(("requested", "copies", "clips", "captions"), 1)
    withdrawal_journal(dataset).write_text(json.dumps(planned | numbers | {"tombstones": []}))
    with pytest.raises(VttdataError, match="interrupted before it changed anything"):
        withdraw(dataset, WithdrawalRequest())
    withdraw(dataset, WithdrawalRequest(ids=["v1"]))
    assert contents(other) == before
    assert rows_of(dataset) == without(rows, {"v1"}, {"beta-source"})
    assert not withdrawal_journal(dataset).exists()


def test_a_file_of_others_stays_and_its_lines_are_listed(dataset: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "analysis.ipynb").write_text('{"cells": [\n"beta-source.mp4"\n]}\n')
    (notes / "log.txt").write_text("first\nbeta-source.mp4\n")
    (notes / "answers.csv").write_text(f'id,text\nv0,x\nv1,y\nv2,"{TEXTS[1]}"\n')
    (notes / "beta-source.mp4").write_bytes(b"their own film")
    (notes / "paper.docx").write_bytes(b"PK\0\0beta-source\0")
    (notes / "fine.txt").write_text("nothing here\n")
    before = contents(notes)
    request = WithdrawalRequest(ids=["v1"], also=[notes])
    dry = withdraw(dataset, request, dry_run=True)
    report = withdraw(dataset, request)
    assert contents(notes) == before
    assert report.traces == dry.traces
    # Other tests have prepared tables with the same captions.
    traces = [trace for trace in report.traces if trace.path.is_relative_to(notes)]
    assert {(trace.path.name, trace.where) for trace in traces} == {
        ("analysis.ipynb", "line 2"),
        ("log.txt", "line 2"),
        ("answers.csv", "line 3, 4"),
        ("beta-source.mp4", "name"),
        ("paper.docx", "content"),
    }
    by_hand = [trace for trace in traces if trace.command.startswith("take it out by hand")]
    assert [trace.path.name for trace in by_hand] == ["analysis.ipynb"]
    for trace in traces:
        assert trace in by_hand or os.system(trace.command) == 0
    assert {name: content.decode() for name, content in contents(notes).items()} == {
        "analysis.ipynb": '{"cells": [\n"beta-source.mp4"\n]}\n',
        "log.txt": "first\n",
        "answers.csv": "id,text\nv0,x\n",
        "fine.txt": "nothing here\n",
    }


def test_a_dry_run_lists_what_then_changes(tmp_path: Path) -> None:
    dataset = build_official(official_files(tmp_path / "files"), tmp_path / "out")
    folder = tmp_path / "out"
    account = json.loads((folder / "build.json").read_text())
    closest = {"sources": ["abcdefgh001", "abcdefgh003"], "splits": [["train"], ["test"]], "similarity": 0.6}
    account["audit"]["closest"] = closest | {"distance": 0.1, "offset_seconds": 0.0, "overlap_seconds": 3.0}
    account["audit"]["closest"] |= {"mirrored": False, "rotation": 0}
    (folder / "build.json").write_text(json.dumps(account, indent=2))
    write_report(folder)
    export(dataset, "jsonl", tmp_path / "exported")
    Protocol("mine", {"test": ["video2", "video4"], "one": ["video2"]}).write(tmp_path / "mine.json")
    request = WithdrawalRequest(ids=["video2"], also=[tmp_path / "exported", tmp_path / "mine.json"])
    before = contents(tmp_path)
    dry = withdraw(folder, request, dry_run=True)
    assert contents(tmp_path) == before
    report = withdraw(folder, request)
    assert dry.changes.files == report.changes.files
    after = contents(tmp_path)
    changed = {tmp_path / name for name in {*before, *after} if before.get(name) != after.get(name)}
    listed = {path for path, _ in report.changes.files}
    assert all(not listed.isdisjoint((path, *path.parents)) for path in changed)
    # A folder stands for what is in it.
    assert all(path in changed or any(path in each.parents for each in changed) for path in listed)
    gone = ["video2", "video3", "abcdefgh001"]
    texts = [f"sentence {m} about the clip of number {n}" for n in (2, 3) for m in (0, 1)]
    assert not [each for name in ("out", "exported") for each in find_traces(tmp_path / name, gone, texts)]
    write_report(folder)
    assert withdraw(folder, WithdrawalRequest()).changes.files == []
    assert (folder / "report.html").exists()
    protocol = read_protocol_file(tmp_path / "mine.json")
    assert protocol.splits == {"test": ["video4"], "one": []}


def test_a_file_beside_the_report_stays_and_the_report_goes(tmp_path: Path) -> None:
    files, folder = official_files(tmp_path / "files"), tmp_path / "out"
    build_official(files, folder)
    page = folder / "report.html"
    beside = page.with_name("report.html.files")
    (beside / "stills").mkdir(parents=True, exist_ok=True)
    (beside / ".vttdata-page").touch()
    (beside / "clips-00000.js").write_text("video2")
    (beside / "mine.jpg").write_bytes(b"mine")
    subtitles = folder / "media/sources/abcdefgh001.srt"
    subtitles.parent.mkdir(parents=True, exist_ok=True)
    subtitles.write_text("1\n")
    report = withdraw(folder, WithdrawalRequest(ids=["video2"]))
    assert not page.exists()
    assert {path.name for path in beside.iterdir()} == {"mine.jpg", ".vttdata-page"}
    assert report.changes.left == [(beside / "mine.jpg", "was not written by vttdata")]
    assert subtitles.exists()
    assert [(trace.path, trace.where) for trace in report.traces if trace.path == subtitles] == [(subtitles, "name")]
    build_official(files, folder, description="Another one.")
    assert page.exists()
    assert (beside / "mine.jpg").read_bytes() == b"mine"


def test_what_vttdata_wrote_is_not_to_be_edited(tmp_path: Path) -> None:
    """A recipe may name what is withdrawn; the lines of `build.json` stay whole."""
    folder = tmp_path / "out"
    build_official(official_files(tmp_path / "files"), folder, description="With abcdefgh001 in it.")
    report = withdraw(folder, WithdrawalRequest(ids=["video2"]))
    advice = f"vttdata wrote it: make {folder} again, or delete that as a whole"
    assert {trace.command for trace in report.traces if trace.path == folder / "build.json"} == {advice}


def test_all_folders_with_files_of_others_are_named_at_once(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "jsonl", tmp_path / "exported")
    foils = build_foils(tmp_path / "foils")
    mine = [dataset / "notes.txt", dataset / "videos/mine.jpg", tmp_path / "exported/a.txt", foils / "b.txt"]
    for path in mine:
        path.write_text("mine\n")
    before = contents(tmp_path)
    request = WithdrawalRequest(ids=["v1"], also=[tmp_path / "exported", foils])
    for dry_run in (True, False):
        with pytest.raises(VttdataError, match="move these files away") as refusal:
            withdraw(dataset, request, dry_run=dry_run)
        assert all(path.name in str(refusal.value) for path in mine)
        assert contents(tmp_path) == before
    for path in mine:
        path.unlink()
    withdraw(dataset, request)
    assert not list(find_traces(tmp_path / "exported", ["beta-source"], [TEXTS[1]]))


def test_what_states_another_dataset_is_left(dataset: Path, tmp_path: Path) -> None:
    other = build(tmp_path / "other", TEXTS, sources=NAMES, name="me/other")
    export(other, "jsonl", tmp_path / "exported")
    Protocol("theirs", {"test": ["v1", "v2"]}, {"dataset": "me/other"}).write(tmp_path / "theirs.json")
    foils = build_foils(tmp_path / "foils")
    manifest = json.loads((foils / "manifest.json").read_text())
    manifest["facts"]["made_of"] = {"dataset": "me/other", "version": "1.0.0", "sha256": "0" * 64}
    (foils / "manifest.json").write_text(json.dumps(manifest))
    also = [tmp_path / "exported", tmp_path / "theirs.json", foils]
    before = [contents(tmp_path / "exported"), also[1].read_bytes(), contents(foils)]
    report = withdraw(dataset, WithdrawalRequest(ids=["v1"], also=also))
    assert [contents(tmp_path / "exported"), also[1].read_bytes(), contents(foils)] == before
    assert [path for path, _ in report.changes.left] == also
    assert report.changes.left[-1] == (foils, "is made of me/other")


def test_tars_of_an_export_lose_what_is_withdrawn(dataset: Path, tmp_path: Path) -> None:
    """The search opens them: what it finds before is gone after."""
    shards = tmp_path / "shards"
    export(dataset, "webdataset", shards)
    wanted = (["beta-source"], [TEXTS[1]])
    assert any(path.suffix == ".tar" for path, _ in find_traces(shards, *wanted))
    withdraw(dataset, WithdrawalRequest(ids=["v1"], also=[shards]))
    assert not list(find_traces(shards, *wanted))
    assert any(path.suffix == ".tar" for path, _ in find_traces(shards, ["gamma"], [TEXTS[2]]))


def test_a_list_names_nothing_outside_its_folder(dataset: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("beta-source\n")
    path = dataset / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"]["../victim.txt"] = {"sha256": "0" * 64, "bytes": 12}
    path.write_text(json.dumps(manifest))
    before = contents(tmp_path)
    with pytest.raises(VttdataError, match=r"\.\./victim.txt is missing or leads out"):
        withdraw(dataset, WithdrawalRequest(ids=["v1"]))
    assert contents(tmp_path) == before


def repeat_until_done(change: Callable[[], object]) -> None:
    while True:
        try:
            change()
        except VttdataError as error:
            if "another" not in str(error):
                raise
            time.sleep(0.05)
        else:
            return


def run_at_once(*changes: Callable[[], object]) -> None:
    """Run functions in processes of their own at the same time, each until no other one is in its way."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=repeat_until_done, args=(change,)) for change in changes]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(processes)


@pytest.mark.not_on("win32", "darwin")
def test_two_at_once_lose_nothing(dataset: Path, tmp_path: Path) -> None:
    before = rows_of(dataset)
    run_at_once(*(partial(withdraw, dataset, WithdrawalRequest(ids=[name])) for name in ("v0", "v1")))
    tombstones = read_tombstones(dataset)
    assert all(tombstones.covers(name) for name in ("v0", "v1", "alpha", "beta-source"))
    assert rows_of(dataset) == without(before, {"v0", "v1"}, {"alpha", "beta-source"})
    assert read_dataset_manifest(dataset)["version"] == "3.0.0"
    shutil.rmtree(dataset)
    build(dataset, TEXTS, sources=NAMES)
    errata = [write_errata(tmp_path / f"{n}.jsonl", f"v{n}#1", TEXTS[n], f"text {n}") for n in (0, 2)]
    run_at_once(*(partial(correct_dataset, dataset, path) for path in errata))
    assert read_dataset_manifest(dataset)["version"] == "3.0.0"
    texts = {row["video_id"]: row["caption"] for _, row in rows_of(dataset)["captions"]}
    assert texts == {"v0": "text 0", "v1": TEXTS[1], "v2": "text 2", "v3": TEXTS[3]}


def test_what_a_value_names_beside_it_stays(tmp_path: Path) -> None:
    """An address of several sources, a question's id that is also that of a clip, an annotator called like a clip."""
    clips = [Clip(f"{n}", f"s{n}", 0.0, 9.0, None, None, None, split="test") for n in range(3)]
    captions = [Caption(f"{n}", 1, f"text of clip {n} here", annotator="0" if n else "x") for n in range(3)]
    url = "https://example.org/list"
    sources = [Source(f"s{n}", f"s{n}.mp4", "listed", str(n) * 64, 9, url=url) for n in range(3)]
    metadata = Metadata("me/small", licence="mit")
    dataset = tmp_path / "d"
    write_dataset(dataset, clips=clips, captions=captions, sources=sources, metadata=metadata, media=None)
    before = rows_of(dataset)
    withdraw(dataset, WithdrawalRequest(ids=["0"]))
    assert rows_of(dataset) == without(before, {"0"}, {"s0"})


@pytest.mark.parametrize("keep_copies", [False, True])
def test_edited_copies_stay_on_request(tmp_path: Path, keep_copies: bool) -> None:
    fingerprint = Fingerprint("halves-2", base64.b64encode(random.Random(7).randbytes(1600)).decode())
    clips = [Clip(f"c{n}", f"s{n}", 0.0, 9.0, None, None, None, split="test") for n in range(3)]
    sources = [
        Source(f"s{n}", f"s{n}.mp4", "listed", str(n) * 64, 9, fingerprint=fingerprint if n < 2 else None)
        for n in range(3)
    ]
    dataset, metadata = tmp_path / "d", Metadata("me/small", licence="mit")
    write_dataset(dataset, clips=clips, captions=[], sources=sources, metadata=metadata, media=None)
    report = withdraw(dataset, WithdrawalRequest(ids=["c0"], keep_copies=keep_copies))
    assert report.copies == (not keep_copies)
    left = {row["video_id"] for _, row in rows_of(dataset)["clips"]}
    assert left == ({"c1", "c2"} if keep_copies else {"c2"})
    # By a fingerprint, the next build would refuse the copy.
    assert bool(read_tombstones(dataset).fingerprints) == (not keep_copies)


def test_a_clip_without_a_source_is_counted(tmp_path: Path) -> None:
    foils = build_foils(tmp_path / "foils")
    report = withdraw(foils, WithdrawalRequest(ids=["v1"]))
    assert (report.requested, report.clips) == (1, 1)
    assert {row["video_id"] for _, row in rows_of(foils)["foils"]} == {"v0", "v2"}


def test_what_was_forgotten_is_named_later(dataset: Path, tmp_path: Path) -> None:
    """A set of foils has tombstones of its own, with another salt, and keeps them."""
    foils = build_foils(tmp_path / "foils")
    withdraw(foils, WithdrawalRequest(ids=["v2"]))
    withdraw(dataset, WithdrawalRequest(ids=["v1"]))
    for _ in range(2):
        withdraw(dataset, WithdrawalRequest(also=[foils]))
        assert {row["video_id"] for _, row in rows_of(foils)["foils"]} == {"v0"}
        assert read_dataset_manifest(foils)["version"] == "3.0.0"
        assert find_damage(foils) == []
        tombstones = read_tombstones(foils)
        assert [tombstones.covers(name) for name in ("v0", "v1", "v2")] == [False, True, True]


@pytest.mark.not_on("win32")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 200))])
def test_no_sequence_of_changes_loses_one(tmp_path: Path, seed: int) -> None:
    """Withdrawals, corrections, builds and kills in any order: what went stays away, and all else is there."""
    draw = random.Random(seed)
    files, out = official_files(tmp_path / "files"), tmp_path / "out"
    dataset = build_official(files, out)
    gone: set[int] = set()
    texts: dict[str, str] = {}

    def call(action: Callable[[], object]) -> None:
        if draw.random() < 0.5:
            kill_at(draw.randrange(1, 60), action)
        action()

    version = 1
    for number in range(4):
        pairs = sorted({0, 1, 2, 3} - gone)
        what = draw.choice(["withdraw", "withdraw", "correct", "build"])
        if what == "withdraw" and len(pairs) > 1:
            pair = draw.choice(pairs)
            call(lambda pair=pair: withdraw(out, WithdrawalRequest(ids=[f"video{2 * pair}"])))
            gone.add(pair)
            version += 1
        elif what == "correct":
            name = f"video{2 * draw.choice(pairs)}"
            old = texts.get(name, f"sentence 0 about the clip of number {name[5:]}")
            table = write_errata(
                tmp_path / f"{number}.jsonl", f"{name}#{10 * int(name[5:])}", old, f"correction {number} of {name}"
            )
            correct_dataset(out, table)
            texts[name] = f"correction {number} of {name}"
            version += 1
        else:
            call(lambda number=number: build_official(files, out, description=f"Build {number}."))
        rows = rows_of(dataset)
        assert {row["video_id"] for _, row in rows["clips"]} == {f"video{n}" for n in range(8) if n // 2 not in gone}, (
            seed,
            number,
            what,
        )
        first = {row["video_id"]: row["captions"][0] for _, row in rows["clips"]}
        assert {name: first[name] for name in texts if name in first} == {
            name: text for name, text in texts.items() if name in first
        }
        assert read_dataset_manifest(dataset)["version"] == f"{version}.0.0"
        assert find_damage(dataset) == []
        ids = [f"video{n}" for n in range(8) if n // 2 in gone]
        assert not list(find_traces(out, ids))
