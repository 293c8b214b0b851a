"""Change a project of small videos at random, build it after each change, and count what was lost or moved unsaid.

Run it alone: ``python benchmarks/changes.py --changes 1000 --videos 50``. A change adds, removes, renames or moves
videos, adds edited copies, adds, corrects or withdraws captions, replaces their table, changes thresholds, lengths,
ratios, seed, method or pins, or moves the build folder. All stages run as they are, but for cutting; videos are made
once. A build may refuse a change, and then nothing may differ; captions may be dropped only after a refusal that said
how many, and clips may move only with a sentence that says how many.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import csv
import json
import os
import random
import subprocess
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from vttdata.compose.build import AllowedLosses, Messages, build
from vttdata.errors import CaptionLossError, VttdataError
from vttdata.load.local_builds import BuildRegistry
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.pipeline.executors import local
from vttdata.pipeline.stage import process_item

NAME = "me/street"
WIDTH, HEIGHT, RATE, SHOTS = 96, 64, 8, 3
RATIOS = "{train: 0.65, validation: 0.05, test: 0.3}"
WORKERS = ("ann", "bob", "cem")
Caption = tuple[str, str]
"""Text and annotator; every text is written once."""


def write_film(path: Path, seed: int, brightness: float = 0) -> None:
    """Write a film of three shots of two seconds that pan over patchworks; a copy differs in brightness only."""
    draw = np.random.default_rng(seed)
    frames = []
    for _ in range(SHOTS):
        canvas = np.full((HEIGHT, 2 * WIDTH, 3), 110.0 + brightness)
        for size, contrast in ((4, 12), (16, 40)):
            patches = draw.normal(0, contrast, (HEIGHT // size, 2 * WIDTH // size, 3))
            canvas += np.kron(patches, np.ones((size, size, 1)))
        frames += [canvas[:, 2 * step : 2 * step + WIDTH] for step in range(2 * RATE)]
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(RATE), "-i", "-"]
    command = [ffmpeg_path(), "-v", "error", "-y", *raw, "-c:v", "libx264", "-preset", "ultrafast", str(path)]
    subprocess.run(command, input=np.clip(np.stack(frames), 0, 255).astype(np.uint8).tobytes(), check=True)


class ExecutorHere(local.LocalExecutor):
    """Executor that runs items in this process, which spares a thousand builds the start of their workers."""

    def run(self, stage, tasks):  # type: ignore[no-untyped-def]
        """Process all tasks."""
        return ((tag, process_item(stage, item)) for tag, item in tasks)


@dataclass
class State:
    """What a person can change: files of videos -> number of the film, rows of the table of captions, and settings."""

    videos: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[str, str, str]] = field(default_factory=list)
    table: str = "captions.csv"
    settings: dict[str, str] = field(
        default_factory=lambda: {
            "filter.min_seconds": "1",
            "filter.max_frozen": "1",
            "clips.min_seconds": "1",
            "clips.max_seconds": "2.5",
            "clips.per_source": "3",
            "media.keep": "none",
            "filter.min_height": "0",
            "captions.per_clip": "1",
            "captions.below": "reject",
            "captions.min_words": "2",
            "captions.follow": "null",
            "near_duplicates": "keep_all",
            "seed": "0",
            "split.method": "stable",
            "split.ratios": RATIOS,
        }
    )


@dataclass
class Outcome:
    """Outcome of a change.

    Fields:
        kind: name of the change.
        result: ``built``, ``dropped`` (after a refusal), ``undone`` (after a refusal) or ``refused`` (for other
            reasons).
        lost, moved: numbers of captions and clips.
        faults: what was lost or moved without a word, or differs although the build was refused.
    """

    kind: str
    result: str
    lost: int = 0
    moved: int = 0
    faults: list[str] = field(default_factory=list)


class Project:
    """Folder of videos, table of captions and build folder, which are changed again and again."""

    def __init__(self, folder: Path, films: list[Path], number: int, seed: int) -> None:
        self.folder, self.films, self.draw = folder, films, random.Random(seed)
        self.out = folder / "street"
        self.texts = 0
        self.corrected: set[str] = set()
        numbers = self.draw.sample(range(0, len(films), 2), number)
        self.state = State({f"film{n}.mp4": n for n in numbers})
        (folder / "videos").mkdir(parents=True)
        self.run()
        self.caption(self.clips())
        self.run({"captions.file": str(self.folder / self.state.table)})

    def clips(self) -> dict[str, str]:
        """Return the split of each clip in the dataset."""
        return {name: split for split, rows in self._tables("clips") for name in rows.video_id}

    def captions(self) -> Counter[Caption]:
        """Return the captions in the dataset."""
        return Counter(
            pair for _, rows in self._tables("captions") for pair in zip(rows.caption, rows.annotator, strict=True)
        )

    def _tables(self, config: str) -> Iterator[tuple[str, pd.DataFrame]]:
        for path in sorted((self.out / "dataset" / config).glob("*.parquet")):
            yield path.name.partition("-")[0], pd.read_parquet(path)

    def sync(self) -> None:
        """Write the state to the disk."""
        videos = self.folder / "videos"
        for path in [path for path in videos.rglob("*.mp4") if str(path.relative_to(videos)) not in self.state.videos]:
            path.unlink()
        for name, number in self.state.videos.items():
            if not (videos / name).exists():
                (videos / name).parent.mkdir(exist_ok=True)
                os.link(self.films[number], videos / name)
        if self.state.rows:
            with (self.folder / self.state.table).open("w", newline="") as stream:
                csv.writer(stream).writerows([("clip", "caption", "annotator"), *self.state.rows])

    def run(self, settings: dict[str, str] | None = None, **options: object) -> list[str]:
        """Build; return what was said."""
        self.sync()
        self.state.settings |= settings or {}
        given = [f"{key}={value}" for key, value in self.state.settings.items()]
        given += ["captions.columns={video_id: clip}"] if "captions.file" in self.state.settings else []
        given += [f"collect.folder={self.folder / 'videos'}", f"name={NAME}"]
        notes: list[str] = []
        recipe = self.out if (self.out / "build.json").is_file() else "own-folder"
        with (
            warnings.catch_warnings(record=True) as caught,
            mock.patch.object(local, "LocalExecutor", ExecutorHere),
            mock.patch("vttdata.compose.build.create_executor", return_value=ExecutorHere(1)),
            mock.patch("vttdata.report.build_report.write_report"),
        ):
            warnings.simplefilter("always")
            build(recipe, out=self.out, settings=given, messages=Messages(quiet=True, note=notes.append), **options)  # type: ignore[arg-type]
        return [*notes, *(str(warning.message) for warning in caught)]

    def caption(self, clips: object) -> None:
        """Caption clips, two captions each."""
        for video_id in clips:  # type: ignore[attr-defined]
            for worker in self.draw.sample(WORKERS, 2):
                self.texts += 1
                self.state.rows.append((video_id, f"somebody does thing number {self.texts}", worker))

    def waiting(self) -> list[str]:
        """Return the clips that wait for captions."""
        path = self.out / "stages" / "captioned" / "rejected.parquet"
        rows = pd.read_parquet(path)
        return sorted(rows.video_id[rows.reason == "uncaptioned"])

    # Changes; each returns options of the build.

    def add(self) -> dict[str, object]:
        """Add one or a few videos; an odd number is a copy of the film before it."""
        free = sorted(set(range(len(self.films))) - set(self.state.videos.values()))
        for number in self.draw.sample(free, min(len(free), self.draw.choice((1, 1, 1, 4)))):
            self.state.videos[f"film{number}.mp4"] = number
        return {}

    def remove(self) -> dict[str, object]:
        """Remove one or a few videos."""
        for name in self.draw.sample(sorted(self.state.videos), self.draw.choice((1, 1, 3))):
            if len(self.state.videos) > 3:
                del self.state.videos[name]
        return {}

    def rename(self) -> dict[str, object]:
        """Rename a video, or move it into a folder."""
        name = self.draw.choice(sorted(self.state.videos))
        number = self.state.videos.pop(name)
        self.state.videos[f"{self.draw.choice(('', 'more/'))}take {self.draw.randrange(10**6)}.mp4"] = number
        return {}

    def collect_captions(self) -> dict[str, object]:
        """Caption clips that wait for it, or some that have captions."""
        waiting = self.waiting()
        self.caption(waiting or self.draw.sample(sorted(self.clips()), min(2, len(self.clips()))))
        return {}

    def correct_caption(self) -> dict[str, object]:
        """Correct a caption in the table."""
        if not self.state.rows:
            return {}
        index = self.draw.randrange(len(self.state.rows))
        clip, text, worker = self.state.rows[index]
        self.corrected.add(text)
        self.state.rows[index] = (clip, f"{text} again", worker)
        return {}

    def withdraw_captions(self) -> dict[str, object]:
        """Delete rows of the table, or replace the table by another one."""
        if self.draw.random() < 0.3:
            self.state.table = f"later-{self.draw.randrange(10**6)}.csv"
            self.state.rows = self.draw.sample(self.state.rows, max(len(self.state.rows) // 2, 1))
            self.state.settings["captions.file"] = str(self.folder / self.state.table)
        elif len(self.state.rows) > 1:
            del self.state.rows[self.draw.randrange(len(self.state.rows))]
        return {}

    def threshold(self) -> dict[str, object]:
        """Change a threshold, or the lengths of clips."""
        key, values = self.draw.choice(
            [
                ("filter.max_frozen", ("1", "0.9", "0.3")),
                ("filter.min_height", ("0", "64", "100")),
                ("clips.max_seconds", ("2.5", "5", "7")),
                ("clips.min_seconds", ("1", "2.5")),
                ("clips.per_source", ("1", "2", "3")),
                ("captions.per_clip", ("1", "2", "3")),
                ("captions.below", ("keep", "reject")),
                ("captions.min_words", ("2", "5", "6")),
                ("captions.follow", ("null", "0.5")),
                ("near_duplicates", ("keep_all", "keep_one")),
            ]
        )
        self.state.settings[key] = self.draw.choice(values)
        return {}

    def divide(self) -> dict[str, object]:
        """Change how clips are divided."""
        key, values = self.draw.choice(
            [
                ("seed", ("0", "1", "2")),
                ("split.method", ("stable", "balanced")),
                ("split.ratios", (RATIOS, "{train: 0.5, validation: 0.2, test: 0.3}")),
            ]
        )
        self.state.settings[key] = self.draw.choice(values)
        return {}

    def pin(self) -> dict[str, object]:
        """Keep the splits of the build, or take the pins out."""
        if self.draw.random() < 0.3:
            self.state.settings["split.pin"] = "null"
            return {}
        self.state.settings.pop("split.pin", None)
        return {"pin_from": self.out}

    def move(self) -> dict[str, object]:
        """Move the build folder, and go on there."""
        target = self.folder / f"street-{self.draw.randrange(10**6)}"
        self.out.rename(target)
        self.out = target
        return {}

    KINDS = (
        *("add", "add", "add", "remove", "rename", "collect_captions", "collect_captions", "correct_caption"),
        *("withdraw_captions", "threshold", "threshold", "divide", "pin", "move"),
    )

    def change(self) -> Outcome:
        """Make one change, build, and compare the datasets before and after."""
        outcome = Outcome(self.draw.choice(self.KINDS), "built")
        before, clips, captions = copy.deepcopy(self.state), self.clips(), self.captions()
        options = getattr(self, outcome.kind)()
        pinned = "split.pin" in before.settings
        manifest = (self.out / "dataset" / "manifest.json").read_bytes()
        stored = self._settings()
        expected = 0
        try:
            said = self.run(**options)
        except VttdataError as error:
            outcome.result = "undone"
            if (self.out / "dataset" / "manifest.json").read_bytes() != manifest:
                outcome.faults.append("a refused build changed the dataset")
            if isinstance(error, CaptionLossError):
                expected = int(str(error).split("would drop ")[1].split(" ")[0].replace(",", ""))
                if self._settings() != stored:
                    outcome.faults.append("a refused build changed the settings")
            else:
                outcome.result = f"refused: {str(error)[:60]}"
            said = None
            if expected and self.draw.random() < 0.5:
                # Another refusal may follow, such as where no caption fits a clip any more.
                with contextlib.suppress(VttdataError):
                    said = self.run(**options, allow=AllowedLosses(captions=True))
                    outcome.result = "dropped"
            if said is None:
                self.state = before
                if not pinned:
                    self.state.settings.pop("split.pin", None)
                said = self.run()
        self._compare(outcome, clips, captions, expected if outcome.result == "dropped" else 0, said)
        build = BuildRegistry().find(NAME)
        if build is None or build.folder.resolve() != self.out.resolve():
            outcome.faults.append("the name does not stand for the build")
        return outcome

    def _settings(self) -> object:
        return json.loads((self.out / "build.json").read_text())["settings"]

    def _compare(
        self, outcome: Outcome, clips: dict[str, str], captions: Counter[Caption], expected: int, said: list[str]
    ) -> None:
        now = self.clips()
        lost = captions - self.captions()
        for pair in [pair for pair in lost if pair[0] in self.corrected]:
            del lost[pair]
        outcome.lost = lost.total()
        if outcome.lost > expected or (expected and outcome.lost != expected):
            outcome.faults.append(f"{outcome.lost} captions are lost, {expected} were announced")
        outcome.moved = sum(now[name] != split for name, split in clips.items() if name in now)
        announced = [text for text in said if "change their split" in text]
        number = int(announced[0].split(" ")[0].replace(",", "")) if announced else 0
        if outcome.moved != number:
            outcome.faults.append(f"{outcome.moved} clips moved, {number} were announced")


def run_changes(folder: Path, videos: int, changes: int, seed: int) -> Iterator[Outcome]:
    """Make the films and the project in a new folder, and yield the outcome of each change."""
    folder.mkdir(parents=True)
    films = [folder / f"film{number}.mp4" for number in range(2 * (videos + videos // 4))]
    for number, path in enumerate(films):
        write_film(path, number // 2, brightness=number % 2 * 8)
    with mock.patch.dict(os.environ, {"VTTDATA_HOME": str(folder / "home")}):
        project = Project(folder / "project", films, videos, seed)
        for _ in range(changes):
            yield project.change()


def main() -> None:
    """Print a table of the changes by kind, and every fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--videos", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.monotonic()
    outcomes = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, outcome in enumerate(
            run_changes(Path(scratch, "c"), options.videos, options.changes, options.seed)
        ):
            outcomes.append(outcome)
            for fault in outcome.faults:
                print(f"change {number}, {outcome.kind}: {fault}", flush=True)
            if not (number + 1) % 100:
                print(f"{number + 1} changes, {time.monotonic() - started:.0f} s", flush=True)
    print(
        f"{'change':<18} {'tried':>6} {'built':>6} {'dropped':>8} {'undone':>7} {'other':>6} {'lost':>6} {'moved':>6}"
    )
    for kind in dict.fromkeys(Project.KINDS):
        own = [outcome for outcome in outcomes if outcome.kind == kind]
        counts = Counter(outcome.result.partition(":")[0] for outcome in own)
        numbers = (len(own), *(counts[name] for name in ("built", "dropped", "undone", "refused")))
        sums = (sum(outcome.lost for outcome in own), sum(outcome.moved for outcome in own))
        print(
            f"{kind:<18}" + "".join(f"{n:>{w}}" for n, w in zip((*numbers, *sums), (7, 7, 9, 8, 7, 7, 7), strict=True))
        )
    refusals = Counter(outcome.result for outcome in outcomes if outcome.result.startswith("refused"))
    print(*(f"{number} {text}" for text, number in refusals.most_common()), sep="\n")
    print(f"{len(outcomes)} changes, {sum(len(outcome.faults) for outcome in outcomes)} faults")


if __name__ == "__main__":
    main()
