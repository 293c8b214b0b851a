"""Provide the demo with its videos, and a small dataset with official ids, texts that mislead readers and no videos."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import vttdata
from tests.clients.client import CHOSEN, Client
from tests.clients.mutations import MUTATIONS
from tests.helpers.builds import TINY_DEMO
from tests.helpers.session_files import make_once
from vttdata.compose.build import Execution, Messages
from vttdata.dataset import Metadata, OfficialLayout, write_dataset
from vttdata.export import export
from vttdata.records import Caption, Clip, Source

# Several clips in each split, and still only seconds of drawing.
DEMO = TINY_DEMO | {"collect.scenes.videos": 4, "clips.per_source": 2}
TEXTS = (
    "a man is singing",
    '"quoted", and\nin two lines',
    "=1+1 is no formula",
    "sépar\u2028ated 字",
    "a dog runs in a park",
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that is skipped although its environment was chosen."""
    report = yield
    if os.environ.get(CHOSEN) and report.skipped and "is left out of this run" not in str(report.longrepr):
        report.outcome, report.longrepr = "failed", f"not run: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def mutated_export(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change each export of a test as the environment variable VTTDATA_MUTATION names it; see `mutations`."""
    if (name := os.environ.get("VTTDATA_MUTATION")) is None:
        return

    def export_and_change(dataset: Path, kind: str, out: Path, **options: Any) -> None:
        export(dataset, kind, out, **options)
        if "captions" not in options:
            MUTATIONS[name].change(out)

    monkeypatch.setattr(request.module, "export", export_and_change)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the dataset folder of a demo of a few small films; tests must not change it."""

    def make(folder: Path) -> None:
        vttdata.build("demo", out=folder, settings=DEMO, execution=Execution(workers=1), messages=Messages(quiet=True))

    return make_once(tmp_path_factory, "client-demo", make) / "dataset"


@pytest.fixture(scope="session")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset folder with the layout of MSR-VTT: twelve clips with links, some without, and no videos."""

    def make(folder: Path) -> None:
        clips = [
            Clip(f"video{number}", f"source{number // 2}", 10.5 * (number % 2), 20.25, None, None, None,
                 url=None if number % 5 == 4 else f"https://www.youtube.com/watch?v=abcdefghij{number // 2}",
                 category=("music", "sports/actions")[number // 2 % 2], split="train" if number < 4 else "test")
            for number in range(12)
        ]  # fmt: skip
        captions = [
            Caption(clip.video_id, 100 * number + 50 - turn, f"{TEXTS[(number + turn) % len(TEXTS)]} {number}")
            for number, clip in enumerate(clips)
            for turn in range(1 + number % 4)
        ]
        write_dataset(
            folder,
            clips=clips,
            captions=captions,
            sources=[
                Source(source, "", "nowhere", "", 0) for source in dict.fromkeys(clip.source_id for clip in clips)
            ],
            metadata=Metadata(
                "vttdata/small-msrvtt",
                version="1.0.0",
                licence="cc-by-4.0",
                date="2026-11-29",
                citation="@misc{small, title = {Small}, year = {2026}}",
            ),
            media=None,
            official=OfficialLayout(
                categories=("music", "sports/actions"), protocols={"1k-A": {"test": ["video7", "video5"]}}
            ),
        )

    return make_once(tmp_path_factory, "client-official", make)


def references(dataset: Path, *splits: str) -> dict[str, list[str]]:
    """Return the references with which `vttdata evaluate` scores each clip of some splits, or of all, by id."""
    from vttdata.evaluate.items import read_clips
    from vttdata.export.reader import DatasetReader

    found = {}
    for split in splits or DatasetReader(dataset).splits("clips"):
        items = read_clips(dataset, config="clips", split=split)
        found |= dict(zip(items.ids, map(list, items.references), strict=True))
    return found


def evaluated(dataset: Path, predictions: Path, **options: Any) -> dict[str, float]:
    """Return the scores that `vttdata evaluate` gives to predictions, by the name of the column."""
    report = vttdata.evaluate(dataset, predictions, **options)
    return {name: column.all.score for name, column in report.scores.items()}


def plain_rows_are_those_of_evaluate(client: Client, demo: Path, official: Path, scratch: Path, mode: str) -> None:
    """Load both datasets with plain `datasets`, and the demo's videos as a ``videofolder``; compare all captions."""
    shown = client.run("datasets_rows.py", demo, scratch / "cache", mode, "videos")
    wanted = references(demo)
    assert shown["clips"] == shown["captions"] == wanted
    assert {name: row[2:] for name, row in shown["videos"].items()} == wanted
    assert all(Path(path).parent.name == split for split, path, *_ in shown["videos"].values())
    other = client.run("datasets_rows.py", official, scratch / "cache", mode, "no videos")
    assert other["clips"] == other["captions"] == references(official)
    client.showed(
        f'load_dataset("DATASET", "clips"{", streaming=True" * (mode == "streaming")}); '
        'load_dataset("videofolder", data_dir="DATASET/videos")',
        f"{len(wanted) + len(other['clips'])} clips, {sum(map(len, [*wanted.values(), *other['clips'].values()]))} "
        f"captions; {len(wanted)} videos with their captions",
        "captions as `evaluate` reads them",
    )
