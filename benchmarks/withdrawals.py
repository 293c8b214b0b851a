"""Withdrawals and errata at full size: what is left of them, what else changes, and what a rebuild takes in.

``python benchmarks/withdrawals.py text ANNOTATIONS WORK`` builds MSR-VTT from its official files, makes foils, a
protocol and an evaluation of it, corrects 50 captions, withdraws 50 clips, publishes all versions on a local Hub and
erases its history, and looks for traces by the bytes of every file. ``videos WORK FILM...`` builds a folder of
films and of 20 edited copies of every other one, withdraws these by their ids alone, and offers 20 other edited copies
of them under new names to the next build.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.near_duplicates import EDITS
from tests.helpers.hub.server import WRITER, Hub
from tests.helpers.traces import find_traces
from vttdata.dataset.find_tables import read_tables
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.protocol_file import Protocol, read_protocol_file
from vttdata.media.ffmpeg_program import ffmpeg_path

ITEMS = 50
COPIES = 20
METRICS = ("--metric", "bleu", "--metric", "rouge-l", "--metric", "cider-d")


def run(*arguments: object, **variables: str) -> str:
    """Run a command of the package, and return what it prints."""
    command = [sys.executable, "-m", "vttdata.cli.main", *map(str, arguments)]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | variables, check=False)
    print(f"{time.monotonic() - started:7.1f} s, exit {done.returncode}: vttdata {' '.join(map(str, arguments))[:110]}")
    if done.returncode not in (0, 4):
        raise SystemExit(done.stderr)
    return done.stdout


def rows_of(dataset: Path) -> dict[str, Counter[str]]:
    """Return the rows of each configuration, as text with their split, and how often each is there."""
    return {
        config: Counter(
            json.dumps([split, row], sort_keys=True)
            for split, paths in tables.files.items()
            for row in read_parquet_rows(paths, list(tables.types))
        )
        for config, tables in read_tables(dataset).items()
        if config not in ("errata", "withdrawn")
    }


def plain_rows(dataset: Path, config: str) -> list[dict[str, Any]]:
    """Return the rows of all splits of a configuration."""
    tables = read_tables(dataset)[config]
    return list(read_parquet_rows(tables.paths, list(tables.types)))


def report_traces(name: str, folders: list[Path], names: set[str], texts: set[str]) -> None:
    """Print how many traces of names and texts folders have, and the first of them."""
    found = [each for folder in folders for each in find_traces(folder, names, texts)]
    print(f"{name}: {len(found)} traces of {len(names):,} names and {len(texts):,} texts {found[:3]}")


@dataclass
class Trial:
    """MSR-VTT with what is to be withdrawn from it, and what is made of it."""

    work: Path
    settings: tuple[str, ...]
    draw: random.Random = field(default_factory=lambda: random.Random(47))

    def __post_init__(self) -> None:
        self.build, self.dataset = self.work / "msrvtt", self.work / "msrvtt/dataset"
        run("build", "msrvtt", *self.settings, "--out", self.build)
        self.captions, self.clips = plain_rows(self.dataset, "captions"), plain_rows(self.dataset, "clips")
        source_of = {row["video_id"]: row["source_id"] for row in self.clips}
        self.chosen = self.draw.sample(sorted(source_of), ITEMS)
        self.gone_sources = {source_of[name] for name in self.chosen}
        self.gone = {name for name, source in source_of.items() if source in self.gone_sources}
        kept = {row["caption"] for row in self.captions if row["video_id"] not in self.gone}
        self.texts = {row["caption"] for row in self.captions if row["video_id"] in self.gone} - kept
        urls = {row["url"] for row in self.clips if row["video_id"] in self.gone}
        self.names = self.gone | self.gone_sources | urls

    def make_others(self) -> None:
        """Make an evaluation, a set of foils and a protocol."""
        (test,) = [paths for split, paths in read_tables(self.dataset)["clips"].files.items() if split == "test"]
        names = sorted(row["video_id"] for row in read_parquet_rows(test, ["video_id"]))
        first = {row["video_id"]: row["captions"][0] for row in self.clips if row["captions"]}
        self.draw.shuffle(others := list(names))
        content = [{"image_id": name, "caption": first[other]} for name, other in zip(names, others, strict=True)]
        (self.work / "predictions.json").write_text(json.dumps(content))
        run("evaluate", self.build, self.work / "predictions.json", *METRICS, "--out", self.work / "old")
        rest = sorted({row["video_id"] for row in self.clips} - self.gone)
        some = self.gone | set(self.draw.sample(rest, 100))
        table = self.work / "captions.csv"
        rows = ([row["video_id"], row["sen_id"], row["caption"]] for row in self.captions if row["video_id"] in some)
        write_table(table, ["video_id", "sen_id", "caption"], rows)
        run("foil", table, "--out", self.work / "foils", "--scorer", "ngram", "--licence", "cc-by-4.0", "--quiet")
        table.unlink()
        Protocol("mine", {"test": sorted(some)}).write(self.work / "protocols/mine.json")

    def correct(self) -> None:
        """Correct captions of clips that stay."""
        stay = [row for row in self.captions if row["video_id"] not in self.gone]
        known = ("test", "benchmark", "2026-11-27")
        rows = (
            [f"{row['video_id']}#{row['sen_id']}", "captions.caption", old := row["caption"], f"{old} {number}", *known]
            for number, row in enumerate(self.draw.sample(stay, ITEMS))
        )
        errata = self.work / "errata.csv"
        write_table(errata, ["id", "field", "old", "new", "reason", "who", "date"], rows)
        run("correct", self.build, "--errata", errata)

    def withdraw(self) -> None:
        """Withdraw the chosen clips, look for traces, and count what else changed."""
        before = rows_of(self.dataset)
        ids = self.work / "ids.txt"
        ids.write_text("\n".join(self.chosen) + "\n")
        further = [part for name in ("foils", "protocols/mine.json") for part in ("--also", self.work / name)]
        print(run("withdraw", self.build, "--ids", ids, "--reason", "benchmark", *further))
        ids.unlink()
        folders = [self.build, self.work / "foils", self.work / "protocols"]
        report_traces("build folder, foils and protocols", folders, self.names, self.texts)
        after = rows_of(self.dataset)
        lost = {config: before[config] - after[config] for config in before}
        added = sum((after[config] - before[config]).total() for config in before)
        removed = [json.loads(row)[1] for rows in lost.values() for row in rows]
        wrong = [row for row in removed if {row.get("video_id"), row.get("source_id")}.isdisjoint(self.names)]
        counts = {config: rows.total() for config, rows in lost.items()}
        print(f"rows removed: {counts}; of others {len(wrong)}; changed or added {added}")
        read_protocol_file(self.work / "protocols/mine.json")

    def rescore(self) -> None:
        """Compare the stored evaluation, and a fresh one, with what `--against` shows."""
        predictions = (self.build, self.work / "predictions.json", *METRICS, "--unknown", "ignore", "--json")
        fresh = json.loads(run("evaluate", *predictions))["scores"]
        report = json.loads(run("evaluate", *predictions, "--against", self.work / "old/evaluation.json"))
        stored = json.loads((self.work / "old/evaluation.json").read_text())["scores"]
        for name, against in report["against"].items():
            new = report["scores"][name]["all"]["score"]
            off = abs(new - fresh[name]["all"]["score"]), abs(against["other"] - stored[name]["all"]["score"])
            interval = f"{against['low']:+.6f} to {against['high']:+.6f}"
            print(
                f"{name}: old {against['other']:.6f}, new {new:.6f}, {against['difference']:+.6f} ({interval}); {off}"
            )

    def rebuild(self) -> None:
        """Build again in the same folder and in another one."""
        after = rows_of(self.dataset)
        run("build", "msrvtt", *self.settings, "--set", "description=Another.", "--out", self.build)
        report_traces("rebuilt folder", [self.build], self.names, self.texts)
        run("build", "msrvtt", *self.settings, "--set", f"corrections={self.dataset}", "--out", self.work / "fresh")
        for dataset in (self.dataset, self.work / "fresh/dataset"):
            taken = sum(row["video_id"] in self.gone for row in plain_rows(dataset, "clips"))
            print(f"{dataset}: takes in {taken} of {len(self.gone)}; the same rows: {rows_of(dataset) == after}")


def text(annotations: Path, work: Path) -> None:
    """Correct and withdraw items of MSR-VTT."""
    trial = Trial(work, ("--set", f"annotations={annotations}", "--set", "licence=cc-by-4.0", "--quiet"))
    trial.make_others()
    (work / "blobs").mkdir()
    with contextlib.closing(Hub(work / "blobs")) as hub:
        token = {"HF_TOKEN": WRITER, "HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1"}
        publish = ("publish", trial.build, "vttdata/msrvtt", "--endpoint", hub.url)
        run(*publish, **token)
        trial.correct()
        run(*publish, **token)
        trial.withdraw()
        run(*publish, **token)
        report_traces("Hub, before", [_revisions(hub, work / "all")], trial.names, trial.texts)
        run(*publish, "--erase-history", **token)
        report_traces("Hub, every blob", [_revisions(hub, work / "rest")], trial.names, trial.texts)
        print(f"tags: {sorted(hub.store.find('vttdata/msrvtt').tags)}")
    trial.rescore()
    trial.rebuild()


def write_table(path: Path, head: list[str], rows: Iterable[list[Any]]) -> None:
    """Write a table of commas."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(head)
        writer.writerows(rows)


def _revisions(hub: Hub, folder: Path) -> Path:
    """Copy every blob that the Hub keeps, named so that tables are read as such."""
    folder.mkdir()
    for path in hub.store._folder.iterdir():
        is_table = path.read_bytes()[:4] == b"PAR1"
        shutil.copyfile(path, folder / f"{path.name[:16]}{'.parquet' if is_table else ''}")
    return folder


def videos(work: Path, films: list[Path]) -> None:
    """Withdraw films by their ids, with their edited copies, and offer other copies to the next build."""
    folder = work / "videos"
    folder.mkdir()
    edits = list(EDITS)
    for number, film in enumerate(films):
        shutil.copyfile(film, folder / f"film{number:02d}{film.suffix}")
    named = {f"film{number:02d}{films[number].suffix}": films[number] for number in range(0, len(films), 2)}
    originals = list(named.values())
    copies = [(f"upload{number:02d}.mp4", edits[number % len(edits)]) for number in range(COPIES)]
    for number, (name, edit) in enumerate(copies):
        _edit(originals[number % len(originals)], folder / name, edit)
    settings = [f"collect.folder={folder}", "media.keep=none", "licence=cc0-1.0", "name=me/films"]
    settings += ["filter.min_seconds=1", "clips.min_seconds=1"]
    settings += ["filter.min_height=1", "filter.max_frozen=null", "filter.max_dark=null"]
    settings += ["split.ratios={train: 0.5, test: 0.5}", "split.method=balanced"]
    build = work / "films"
    command = (
        "build",
        "own-folder",
        *(part for text in settings for part in ("--set", text)),
        "--quiet",
        "--out",
        build,
    )
    run(*command)
    dataset = build / "dataset"
    sources = {row["file"]: row for row in plain_rows(dataset, "sources")}
    known = [name for name, _ in copies if name in sources]
    (work / "ids.txt").write_text("".join(f"{sources[name]['source_id']}\n" for name in named if name in sources))
    before = rows_of(dataset)["clips"]
    print(run("withdraw", build, "--ids", work / "ids.txt", "--reason", "benchmark"))
    left = {row["file"] for row in plain_rows(dataset, "sources")}
    missed = [(name, edit) for name, edit in copies if name in left]
    names = {str(sources[name][key]) for name in sources.keys() - left for key in ("source_id", "sha256")}
    others = sources.keys() - left - named.keys() - set(known)
    print(
        f"{len(named)} of {len(films)} films are named; of {len(known)} edited copies of them "
        f"{len(known) - len(missed)} are caught, missed {missed}; others lost {sorted(others)}"
    )
    report_traces("build folder", [build], names, set())
    for name in (*named, *known):
        (folder / name).unlink(missing_ok=True)
    offered = [(f"again{number:02d}.mp4", edits[(number * 7 + 3) % len(edits)]) for number in range(COPIES)]
    for number, (name, edit) in enumerate(offered):
        _edit(originals[number % len(originals)], folder / name, edit)
    run(*command)
    taken = {row["file"] for row in plain_rows(dataset, "sources")}
    missed = [(name, edit) for name, edit in offered if name in taken]
    changed = [row for row in rows_of(dataset)["clips"] - before if json.loads(row)[1]["file"] not in dict(offered)]
    print(
        f"rebuild: {COPIES - len(missed)} of {COPIES} edited copies under new names are refused, missed {missed}; "
        f"rows of other films that changed: {len(changed)}"
    )


def _edit(film: Path, target: Path, edit: str) -> None:
    chain, *options = EDITS[edit]
    options = options if "-c:v" in options else ["-c:v", "libx264", "-crf", "28", *options]
    command = [ffmpeg_path(), "-v", "error", "-y", "-i", str(film), "-vf", chain, "-an", *options, str(target)]
    subprocess.run(command, check=True)


def main() -> None:
    """Run the part that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    of_text = parts.add_parser("text")
    of_text.add_argument("annotations", type=Path)
    of_text.add_argument("work", type=Path)
    of_videos = parts.add_parser("videos")
    of_videos.add_argument("work", type=Path)
    of_videos.add_argument("films", type=Path, nargs="+", help="films of which none is a copy of another")
    given = parser.parse_args()
    given.work.mkdir(parents=True)
    os.environ["VTTDATA_HOME"] = str(given.work / "home")
    os.environ["HF_HOME"] = str(given.work / "hf")
    if given.part == "text":
        text(given.annotations.resolve(), given.work.resolve())
    else:
        videos(given.work.resolve(), given.films)


if __name__ == "__main__":
    main()
