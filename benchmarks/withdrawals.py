"""Withdrawals and errata at full size: what is left of them, what else changes, and what a rebuild takes in.

``python benchmarks/withdrawals.py text ANNOTATIONS WORK`` builds MSR-VTT from its official files, makes foils, a
protocol and an evaluation of it, corrects 50 captions, withdraws 50 clips, publishes all versions on a local Hub and
erases its history, and looks for traces by the bytes of every file. ``videos WORK [DEMO]`` builds a folder of the films
of the demo and of 20 edited copies, withdraws every other film by its id alone, and offers 20 other edited copies of
these under new names to the next build.
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
from pathlib import Path
from typing import Any

from benchmarks.near_duplicates import EDITS
from tests.helpers.hub.server import WRITER, Hub
from tests.helpers.traces import find_traces
from vttdata.dataset.find_tables import read_tables
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.media.ffmpeg_program import ffmpeg_path

ITEMS = 50
COPIES = 20


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


def text(annotations: Path, work: Path) -> None:
    """Correct and withdraw items of MSR-VTT."""
    build, dataset = work / "msrvtt", work / "msrvtt/dataset"
    settings = ("--set", f"annotations={annotations}", "--set", "licence=cc-by-4.0", "--quiet")
    run("build", "msrvtt", *settings, "--out", build)
    captions, clips = plain_rows(dataset, "captions"), plain_rows(dataset, "clips")
    draw = random.Random(47)
    source_of = {row["video_id"]: row["source_id"] for row in clips}
    chosen = draw.sample(sorted(source_of), ITEMS)
    gone_sources = {source_of[name] for name in chosen}
    gone = {name for name, source in source_of.items() if source in gone_sources}
    stay = [row for row in captions if row["video_id"] not in gone]
    kept_texts = {row["caption"] for row in stay}
    texts = {row["caption"] for row in captions if row["video_id"] in gone} - kept_texts
    names = gone | gone_sources | {row["url"] for row in clips if row["video_id"] in gone}

    errata = work / "errata.csv"
    with errata.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "field", "old", "new", "reason", "who", "date"])
        for number, row in enumerate(draw.sample(stay, ITEMS)):
            old = row["caption"]
            where = f"{row['video_id']}#{row['sen_id']}"
            writer.writerow([where, "captions.caption", old, f"{old} {number}", "test", "benchmark", "2026-11-27"])

    predictions = work / "predictions.json"
    first = {row["video_id"]: row["captions"][0] for row in clips if row["captions"]}
    test = {
        row["video_id"]
        for _, paths in [("test", read_tables(dataset)["clips"].files["test"])]
        for row in read_parquet_rows(paths, ["video_id"])
    }
    draw.shuffle(order := sorted(test))
    shifted = dict(zip(sorted(test), order, strict=True))
    predictions.write_text(json.dumps([{"image_id": name, "caption": first[shifted[name]]} for name in sorted(test)]))
    metrics = ("--metric", "bleu", "--metric", "rouge-l", "--metric", "cider-d")
    run("evaluate", build, predictions, *metrics, "--out", work / "old")
    table = work / "captions.csv"
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["video_id", "sen_id", "caption"])
        some = gone | set(draw.sample(sorted(source_of.keys() - gone), 100))
        writer.writerows(
            [row["video_id"], row["sen_id"], row["caption"]] for row in captions if row["video_id"] in some
        )
    run("foil", table, "--out", work / "foils", "--scorer", "ngram", "--licence", "cc-by-4.0", "--quiet")
    protocol = work / "protocols/mine.json"
    protocol.parent.mkdir()
    from vttdata.dataset.protocol_file import Protocol, read_protocol_file

    Protocol("mine", {"test": sorted(some)}).write(protocol)

    (work / "blobs").mkdir()
    with contextlib.closing(Hub(work / "blobs")) as hub:
        token = {"HF_TOKEN": WRITER, "HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1"}
        run("publish", build, "vttdata/msrvtt", "--endpoint", hub.url, **token)
        run("correct", build, "--errata", errata)
        run("publish", build, "vttdata/msrvtt", "--endpoint", hub.url, **token)
        corrected = rows_of(dataset)
        ids = work / "ids.txt"
        ids.write_text("\n".join(chosen) + "\n")
        further = [part for folder in ("foils", "protocols") for part in ("--also", work / folder)]
        print(run("withdraw", build, "--ids", ids, "--reason", "benchmark", *further))
        ids.unlink()
        table.unlink()
        report_traces("build folder, foils and protocols", [build, work / "foils", work / "protocols"], names, texts)
        after = rows_of(dataset)
        lost = {config: corrected[config] - after[config] for config in corrected}
        new = {config: after[config] - corrected[config] for config in corrected}
        wrong = sum(
            json.loads(row)[1].get("video_id", "-") not in gone
            and json.loads(row)[1].get("source_id") not in gone_sources
            for rows in lost.values()
            for row in rows
        )
        print(
            f"rows removed: { {config: rows.total() for config, rows in lost.items()} }; of others {wrong}; "
            f"changed or added {sum(rows.total() for rows in new.values())}"
        )
        read_protocol_file(protocol)
        run("publish", build, "vttdata/msrvtt", "--endpoint", hub.url, **token)
        before_erasing = sum(1 for _ in find_traces(_revisions(hub, work / "all"), names, texts))
        run("publish", build, "vttdata/msrvtt", "--endpoint", hub.url, "--erase-history", **token)
        print(f"Hub before erasing: {before_erasing:,} traces; tags {sorted(hub.store.find('vttdata/msrvtt').tags)}")
        report_traces("Hub, every blob", [_revisions(hub, work / "all2")], names, texts)

    fresh = run("evaluate", build, predictions, *metrics, "--unknown", "ignore", "--json")
    both = run(
        "evaluate",
        build,
        predictions,
        *metrics,
        "--unknown",
        "ignore",
        "--json",
        "--against",
        work / "old/evaluation.json",
    )
    new_scores, beside = json.loads(fresh)["scores"], json.loads(both)
    stored = json.loads((work / "old/evaluation.json").read_text())["scores"]
    for name, scores in new_scores.items():
        gap = abs(scores["all"]["score"] - beside["scores"][name]["all"]["score"])
        against = beside["against"][name]
        old_gap = abs(against["other"] - stored[name]["all"]["score"])
        print(
            f"{name}: old {against['other']:.6f}, new {scores['all']['score']:.6f}, difference "
            f"{against['difference']:+.6f} ({against['low']:+.6f} to {against['high']:+.6f}); off by {gap:.0e} and {old_gap:.0e}"
        )
    run("build", "msrvtt", *settings, "--set", "description=Another.", "--out", build)
    again = rows_of(dataset)
    print(f"rebuild in place: takes in {_taken_in(dataset, gone)} of {len(gone)}; the same rows: {again == after}")
    report_traces("rebuilt folder", [build], names, texts)
    run("build", "msrvtt", *settings, "--set", f"corrections={dataset}", "--out", work / "fresh")
    print(
        f"rebuild elsewhere: takes in {_taken_in(work / 'fresh/dataset', gone)} of {len(gone)}; the same rows: "
        f"{rows_of(work / 'fresh/dataset') == after}"
    )


def _revisions(hub: Hub, folder: Path) -> Path:
    """Copy every blob that the Hub keeps, named so that tables are read as such."""
    folder.mkdir()
    for path in hub.store._folder.iterdir():
        is_table = path.read_bytes()[:4] == b"PAR1"
        shutil.copyfile(path, folder / f"{path.name[:16]}{'.parquet' if is_table else ''}")
    return folder


def _taken_in(dataset: Path, gone: set[str]) -> int:
    return sum(row["video_id"] in gone for row in plain_rows(dataset, "clips"))


def videos(work: Path, demo: Path) -> None:
    """Withdraw films with their edited copies, and offer other copies to the next build."""
    if not demo.exists():
        run("build", "demo", "--out", demo, "--quiet")
    folder = work / "videos"
    folder.mkdir()
    films = sorted((demo / "media/scenes").glob("*.mp4"))
    rows = plain_rows(demo / "dataset", "sources")
    usable = sorted({row["file"] for row in rows})
    originals = [path for path in films if path.name in usable]
    edits = list(EDITS)
    for number, film in enumerate(originals):
        shutil.copyfile(film, folder / f"film{number:02d}.mp4")
    pairs = [(number % len(originals), edits[number % len(edits)]) for number in range(COPIES)]
    for number, (film, edit) in enumerate(pairs):
        _edit(originals[film], folder / f"upload{number:02d}.mp4", edit)
    print(f"{len(originals)} films and {COPIES} edited copies of them")
    settings = (
        "--set",
        f"collect.folder={folder}",
        "--set",
        "media.keep=none",
        "--set",
        "licence=cc0-1.0",
        "--set",
        "filter.min_seconds=4",
        "--set",
        "clips.min_seconds=3",
        "--set",
        "filter.max_frozen=null",
        "--set",
        "filter.max_dark=null",
        "--set",
        "name=me/films",
        "--quiet",
    )
    build = work / "films"
    run("build", "own-folder", *settings, "--out", build)
    dataset = build / "dataset"
    sources = {row["file"]: row for row in plain_rows(dataset, "sources")}
    named = [f"film{number:02d}.mp4" for number in range(0, len(originals), 2)]
    named = [name for name in named if name in sources]
    copies = {f"upload{number:02d}.mp4" for number, (film, _) in enumerate(pairs) if f"film{film:02d}.mp4" in named}
    ids = work / "ids.txt"
    ids.write_text("".join(f"{sources[name]['source_id']}\n" for name in named))
    names = {
        sources[name][key] for name in {*named, *copies} & sources.keys() for key in ("source_id", "sha256", "file")
    }
    before = rows_of(dataset)
    print(run("withdraw", build, "--ids", ids, "--reason", "benchmark"))
    left = {row["file"] for row in plain_rows(dataset, "sources")}
    caught = copies & sources.keys() - left
    print(
        f"named {len(named)} films; edited copies in the dataset {len(copies & sources.keys())}, caught {len(caught)}; "
        f"others lost {sorted(sources.keys() - left - set(named) - copies)}"
    )
    report_traces("build folder", [build], names, set())
    for path in [folder / name for name in {*named, *copies}]:
        path.unlink()
    offered = []
    for number in range(COPIES):
        film = int(named[number % len(named)][4:6])
        edit = edits[(number * 7 + 3) % len(edits)]
        _edit(originals[film], folder / f"again{number:02d}.mp4", edit)
        offered.append((f"again{number:02d}.mp4", edit))
    run("build", "own-folder", *settings, "--out", build)
    taken = {row["file"] for row in plain_rows(dataset, "sources")}
    missed = [(name, edit) for name, edit in offered if name in taken]
    print(
        f"rebuild: {COPIES - len(missed)} of {COPIES} edited copies under new names are refused; missed {missed}; "
        f"named films taken in {len(set(named) & taken)}; rows of other films that changed: "
        f"{sum((rows - before[config]).total() for config, rows in rows_of(dataset).items() if config == 'clips')}"
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
    of_videos.add_argument("demo", type=Path, nargs="?", help="a build of the demo, made if it is missing")
    given = parser.parse_args()
    given.work.mkdir(parents=True)
    os.environ["VTTDATA_HOME"] = str(given.work / "home")
    os.environ["HF_HOME"] = str(given.work / "hf")
    if given.part == "text":
        text(given.annotations.resolve(), given.work.resolve())
    else:
        videos(given.work.resolve(), (given.demo or given.work / "demo").resolve())


if __name__ == "__main__":
    main()
