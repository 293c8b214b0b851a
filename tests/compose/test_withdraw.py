"""Withdrawals: nothing of what was withdrawn is left, everything else is as it was, and no kill leaves half of one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers.hub.built import build
from tests.helpers.kill_points import count_moments, find_renames, kill_at
from tests.helpers.traces import find_traces
from vttdata.compose import build as builds
from vttdata.compose.correct import correct_dataset
from vttdata.compose.withdraw import WithdrawalRequest, withdraw
from vttdata.dataset.find_tables import read_tables
from vttdata.dataset.manifest import find_damage
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.tombstones import read_history, withdrawal_journal
from vttdata.errors import VttdataError
from vttdata.publish.release_checks import check_dataset

TEXTS = ["a person waves", "a dog runs after a red ball", "a child sings a song", "a cat sleeps on a sofa"]
NAMES = ["alpha", "beta-source", "gamma", "delta"]


def rows_of(dataset: Path) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Every row with its split, by configuration, but for errata and tombstones."""
    return {
        config: [
            (split, row)
            for split, paths in tables.files.items()
            for row in read_parquet_rows(paths, list(tables.types))
        ]
        for config, tables in read_tables(dataset).items()
        if config not in ("errata", "withdrawn")
    }


def without(rows: dict[str, list[tuple[str, dict[str, Any]]]], video_ids: set[str], sources: set[str]) -> Any:
    return {
        config: [
            (split, row)
            for split, row in of_config
            if row.get("video_id") not in video_ids and row.get("source_id") not in sources
        ]
        for config, of_config in rows.items()
    }


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return build(tmp_path / "small", TEXTS, sources=NAMES, media=tmp_path / "cut")


def test_everything_else_stays_as_it_was(dataset: Path) -> None:
    before = rows_of(dataset)
    report = withdraw(dataset, WithdrawalRequest("takedown", ids=["v1"]))
    assert rows_of(dataset) == without(before, {"v1"}, {"beta-source"})
    assert find_damage(dataset) == []
    assert check_dataset(dataset)["version"] == "2.0.0"
    assert not list(find_traces(dataset, ["v1", "beta-source"], [TEXTS[1]]))
    assert (report.requested, report.clips, report.captions) == (1, 1, 1)
    assert not withdrawal_journal(dataset).exists()


@pytest.mark.parametrize("others", [[], ["v0"]])
def test_errata_of_withdrawn_clips_go_with_them(dataset: Path, tmp_path: Path, others: list[str]) -> None:
    """Also where none is left, so that the configuration `errata` goes."""
    about = {"field": "captions.caption", "reason": "wrong", "who": "ann", "date": "2026-11-27"}
    texts = {"v0": TEXTS[0], "v1": TEXTS[1]}
    rows = [about | {"id": f"{clip}#1", "old": texts[clip], "new": f"a new text of {clip}"} for clip in ["v1", *others]]
    table = tmp_path / "errata.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    correct_dataset(dataset, table)
    withdraw(dataset, WithdrawalRequest("takedown", ids=["v1"]))
    assert [row["id"] for row in read_history(dataset, "errata")] == [f"{clip}#1" for clip in others]
    assert find_damage(dataset) == []
    assert check_dataset(dataset)["version"] == "3.0.0"
    assert not list(find_traces(dataset, ["v1", "beta-source"], [TEXTS[1], "a new text of v1"]))
    assert not withdrawal_journal(dataset).exists()


@given(
    chosen=st.sets(st.integers(0, 6), min_size=1, max_size=6),
    sources=st.lists(st.integers(0, 3), min_size=8, max_size=8),
)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_choice_leaves_a_trace_or_changes_another_row(
    tmp_path_factory: pytest.TempPathFactory, chosen: set[int], sources: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("property")
    names = [f"source-{number}-of-clips" for number in sources]
    names[-1] = "source-of-the-test-split"
    texts = [f"a text about clip number {number} alone" for number in range(8)]
    dataset = build(folder / "d", texts, sources=names)
    before = rows_of(dataset)
    gone_sources = {names[number] for number in chosen}
    gone = {f"v{number}" for number, name in enumerate(names) if name in gone_sources}
    report = withdraw(dataset, WithdrawalRequest("takedown", ids=[f"v{number}" for number in chosen]))
    assert ("clips/train" in report.emptied) == (len(gone) == 7)
    assert rows_of(dataset) == without(before, gone, gone_sources)
    gone_texts = [texts[int(name[1:])] for name in gone]
    # The card states the version, such as v2.0.0, which is a clip's id here.
    found = find_traces(dataset, gone | gone_sources, gone_texts)
    assert not [each for each in found if (each[0].name, each[1]) != ("README.md", "v2")]
    shutil.rmtree(folder)


def test_captions_of_an_annotator_go_and_the_clips_stay(tmp_path: Path) -> None:
    dataset = tmp_path / "d"
    from vttdata.dataset import Metadata, write_dataset
    from vttdata.records import Caption, Clip

    clips = [Clip(f"clip{n}", f"source{n}", 0.0, 9.0, None, None, None, split="test") for n in range(2)]
    captions = [
        Caption(f"clip{n}", m, f"text {m} of clip {n} here", annotator=f"w{m}") for n in range(2) for m in range(2)
    ]
    write_dataset(
        dataset, clips=clips, captions=captions, sources=[], metadata=Metadata("me/small", licence="mit"), media=None
    )
    withdraw(dataset, WithdrawalRequest("their wish", annotators=["w1"]))
    rows = rows_of(dataset)
    assert [row["captions"] for _, row in rows["clips"]] == [["text 0 of clip 0 here"], ["text 0 of clip 1 here"]]
    assert {row["annotator"] for _, row in rows["captions"]} == {"w0"}
    assert not list(find_traces(dataset, ["w1"], ["text 1 of clip 0 here", "text 1 of clip 1 here"]))


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (WithdrawalRequest("x", ids=["v9"]), "neither a clip nor a source 'v9'"),
        (WithdrawalRequest("x", urls=["https://example.org/none"]), "no source has the address"),
        (WithdrawalRequest("x", annotators=["nobody"]), "no caption is by 'nobody'"),
    ],
)
def test_an_unknown_item_changes_nothing(dataset: Path, request_: WithdrawalRequest, words: str) -> None:
    before = rows_of(dataset)
    with pytest.raises(VttdataError, match=words):
        withdraw(dataset, request_)
    assert rows_of(dataset) == before


def test_a_split_may_be_left_empty_and_a_dataset_not(dataset: Path) -> None:
    before = rows_of(dataset)
    with pytest.raises(VttdataError, match="nothing would be left"):
        withdraw(dataset, WithdrawalRequest("x", ids=["v0", "v1", "v2", "v3"]))
    assert rows_of(dataset) == before
    assert check_dataset(dataset)["version"] == "1.0.0"
    report = withdraw(dataset, WithdrawalRequest("x", ids=["v3"]))
    assert {"clips/test", "captions/test"} <= set(report.emptied)
    assert "nothing is left of clips/test" in report.as_text()
    assert rows_of(dataset) == without(before, {"v3"}, {"delta"})
    assert "clips/test" in (dataset / "README.md").read_text()
    assert check_dataset(dataset)["version"] == "2.0.0"


@pytest.mark.not_on("win32")
@pytest.mark.parametrize("points", ["around the change", pytest.param("everywhere", marks=pytest.mark.long)])
def test_no_kill_leaves_half_a_withdrawal(dataset: Path, tmp_path: Path, points: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "scores.jsonl").write_text('{"item": "v0", "value": 1}\n{"item": "v1", "value": 0}\n')
    before = rows_of(dataset)
    wanted = without(before, {"v1"}, {"beta-source"})
    folder = tmp_path / "try"

    def reset() -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(dataset, folder / "small")
        shutil.copytree(notes, folder / "notes")
        # What a kill in the middle of writing the journal leaves.
        (folder / f".{withdrawal_journal(folder / 'small').name}.0a1b2c3d.part").write_text('{"ids": ["v1"')
        return folder / "small"

    def act() -> None:
        withdraw(folder / "small", WithdrawalRequest("takedown", ids=["v1"], also=[folder / "notes"]))

    reset()
    act()
    assert rows_of(folder / "small") == wanted
    reset()
    if points == "everywhere":
        total = count_moments(act)
        moments = [1 + number * total // 20 for number in range(20)]
    else:
        # The dataset goes away, the new one comes into its place, and what follows is left to do.
        moments = find_renames(act, folder / "small")
        moments += [moments[-1] + 1]
        assert len(moments) == 3
    for moment in moments:
        target = reset()
        assert kill_at(moment, act)
        assert points == "everywhere" or withdrawal_journal(target).exists()
        if target.exists():
            # The old dataset or the new one, whole.
            assert find_damage(target) == []
            assert rows_of(target) in (before, wanted)
            if withdrawal_journal(target).exists():
                with pytest.raises(VttdataError, match="a withdrawal was interrupted"):
                    check_dataset(target)
        act()
        assert rows_of(target) == wanted
        assert check_dataset(target)["version"] == "2.0.0"
        assert (folder / "notes/scores.jsonl").read_bytes() == (notes / "scores.jsonl").read_bytes()
        assert {path.name for path in folder.iterdir()} <= {"small", "notes", ".small.lock"}
        assert not list(find_traces(target, ["v1", "beta-source"], [TEXTS[1]]))


def official_files(folder: Path) -> Path:
    """A release in the shape of MSR-VTT's, with two clips of one video."""
    folder.mkdir()
    videos = [
        {"video_id": f"video{n}", "url": f"https://www.youtube.com/watch?v=abcdefgh{n // 2:03d}", "start time": 10 * n}
        | {"end time": 10 * n + 9, "split": "train" if n < 6 else "test", "category": 0}
        for n in range(8)
    ]
    sentences = [
        {"video_id": f"video{n}", "sen_id": 10 * n + m, "caption": f"sentence {m} about the clip of number {n}"}
        for n in range(8)
        for m in range(2)
    ]
    (folder / "all.json").write_text(json.dumps({"videos": videos, "sentences": sentences}))
    return folder


def build_official(folder: Path, out: Path, **more: object) -> Path:
    given = {"annotations": folder, "name": "me/small", "licence": "cc-by-4.0", **more}
    return builds.build("msrvtt", out=out, settings=given, messages=builds.Messages(quiet=True)).dataset


@pytest.mark.not_on("win32")
def test_a_rebuild_keeps_withdrawals_and_errata(tmp_path: Path) -> None:
    files = official_files(tmp_path / "files")
    dataset = build_official(files, tmp_path / "out")
    table = tmp_path / "errata.jsonl"
    erratum = {"id": "video0#1", "field": "caption", "old": "sentence 1 about the clip of number 0", "new": "corrected"}
    table.write_text(json.dumps(erratum | {"reason": "wrong", "who": "ann", "date": "2026-11-27"}) + "\n")
    correct_dataset(tmp_path / "out", table)
    withdraw(tmp_path / "out", WithdrawalRequest("takedown", ids=["video2"]))
    gone, texts = (
        ["video2", "video3", "abcdefgh001"],
        [f"sentence {m} about the clip of number {n}" for n in (2, 3) for m in (0, 1)],
    )
    assert not list(find_traces(tmp_path / "out", gone, texts))
    rows = rows_of(dataset)
    assert {row["video_id"] for _, row in rows["clips"]} == {*(f"video{n}" for n in (0, 1, 4, 5, 6, 7))}
    assert rows["clips"][0][1]["captions"][1] == "corrected"
    again = build_official(files, tmp_path / "out", description="Another one.")
    assert rows_of(again) == rows
    assert check_dataset(again)["version"] == "3.0.0"
    assert not list(find_traces(tmp_path / "out", gone, texts))
    elsewhere = build_official(files, tmp_path / "other", corrections=dataset)
    assert rows_of(elsewhere) == rows
    assert not list(find_traces(tmp_path / "other", gone, texts))
    refreshed = build_official(files, tmp_path / "third")
    assert len(rows_of(refreshed)["clips"]) == 8
