"""Measure reports of builds and datasets: CPU, memory, size of the main page, how it opens and scrolls in a browser.

``python benchmarks/report.py rows [N]`` writes a dataset of N clips (1,000,000) without videos, with a caption and one
of 20 categories each, and measures its report. ``videos [N]`` does so with N clips (10,000) that have a file each: a
drawn film of 320 x 240 pixels and 12 s, one of ten, told apart by a box behind its end. ``build FOLDER`` measures the
report of a build; ``--build-seconds`` is the CPU time of that build, to compare with. ``categories FOLDER`` gives 100
clips of a build random other categories and counts how many of them the report lists as doubtful. ``share ARGUMENT...``
runs ``vttdata build ARGUMENT...`` into a new folder and prints which share of its CPU time goes into its report.

The report is written in a process of its own, and its CPU time counts what it starts;
``imports`` is a process that imports the same and writes nothing. The page is opened from disk in
headless Chromium: ``opened`` is the time from the start of its navigation until its clips are shown, ``frames`` are the
times between frames while the contact sheet, opened to 240 clips, is scrolled through.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.pages import OpenPage
from tests.helpers.peak_memory import run_python
from vttdata.dataset import MediaFiles, Metadata, OfficialLayout, write_dataset
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.leak_audit import audit_files
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.records import Caption, Clip, ClipMedia
from vttdata.report import category_misfits
from vttdata.report.category_misfits import find_misfits

ROOT = Path(__file__).resolve().parents[1]
WORDS = "person dog car boat guitar kitchen street game ball red small old young runs plays cooks talks shows rides a"
FILMS = 10
WRITE = """
import sys
from pathlib import Path
from vttdata.report.build_report import write_report
if len(sys.argv) > 2:
    write_report(Path(sys.argv[1]), Path(sys.argv[2]))
"""
SHARE = """
import os, sys
from vttdata.cli.main import main
from vttdata.report import build_report
def cpu_seconds():
    return sum(os.times()[:4])
def measured(folder):
    global spent
    before = cpu_seconds()
    write_report(folder)
    spent = cpu_seconds() - before
spent, write_report, build_report.write_report = 0.0, build_report.write_report, measured
code = main(["build", "--quiet", *sys.argv[1:]])
print(spent, cpu_seconds(), file=sys.stderr)
sys.exit(code)
"""
SCROLL = """
const done = arguments[0], gaps = [];
document.documentElement.style.scrollBehavior = "auto";
const sheet = document.getElementById("clip-sheet");
scrollTo(0, sheet.getBoundingClientRect().top + scrollY);
let last = performance.now();
const step = (now) => {
  gaps.push(now - last);
  last = now;
  scrollBy(0, 60);
  if (sheet.getBoundingClientRect().bottom > innerHeight) requestAnimationFrame(step);
  else done(gaps.slice(1));
};
requestAnimationFrame(step);
"""


def draw_films(folder: Path) -> list[bytes]:
    """Return films of different moving patterns as MP4 files."""
    films = []
    for number in range(FILMS):
        path = folder / f"film{number}.mp4"
        source = f"testsrc2=s=320x240:r=25,hue=h={36 * number}"
        options = ["-t", "12", "-c:v", "libx264", "-preset", "fast", "-crf", "30", "-pix_fmt", "yuv420p"]
        subprocess.run([ffmpeg_path(), "-v", "error", "-f", "lavfi", "-i", source, *options, str(path)], check=True)
        films.append(path.read_bytes())
        path.unlink()
    return films


def write_clips(folder: Path, number: int, films: Sequence[bytes]) -> Path:
    """Write a dataset of so many clips, with files made of films if there are any, and the account of its build.

    A build has audited its splits before it writes its report.
    """
    media = folder / "media"
    media.mkdir()
    words = WORDS.split()

    def write_file(clip: int) -> ClipMedia | None:
        if not films:
            return None
        path = media / f"v{clip:07d}.mp4"
        data = films[clip % len(films)] + struct.pack(">I4sQ", 16, b"free", clip)
        path.write_bytes(data)
        return ClipMedia(f"videos/{path.name}", sha256(data).hexdigest(), len(data), 300, 12.0, 320, 240)

    clips = (
        Clip(
            f"v{clip:07d}",
            f"s{clip // 3}",
            start := clip % 3 * 20.0,
            start + 12,
            0,
            299,
            1,
            category=f"category {clip // 3 % 20}",
            media=write_file(clip),
            split="validation" if clip // 3 % 20 == 0 else ("train", "test")[clip // 3 % 3 == 0],
        )
        for clip in range(number)
    )
    captions = (
        Caption(
            f"v{clip:07d}",
            1,
            " ".join(words[clip * step % 20] for step in (1, 3, 7, 11)) + f" {clip}",
            f"w{clip % 500}",
        )
        for clip in range(number)
    )
    write_dataset(
        folder / "dataset",
        clips=clips,
        captions=captions,
        sources=[],
        metadata=Metadata("vttdata/clips", licence="cc0-1.0"),
        media=MediaFiles(media) if films else None,
        official=OfficialLayout(categories=[f"category {number}" for number in range(20)]),
    )
    audit = audit_files(read_layout(folder / "dataset").files).as_json()
    account = {"recipe": "vttdata/clips", "version": "1.0.0", "status": "complete", "audit": audit}
    (folder / "build.json").write_text(json.dumps(account), encoding="utf-8")
    return folder


@contextmanager
def open_browser() -> Iterator[Any]:
    """Yield headless Chromium."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def _has_more(page: OpenPage, shown: int) -> bool:
    return len(page.texts(".sheet li")) > shown


def measure(label: str, folder: Path, out: Path, build_seconds: float | None) -> None:
    """Write the report of a folder, open it, and print what both cost."""
    done = run_python(["-c", WRITE, str(folder), str(out)], cwd=ROOT)
    imports = run_python(["-c", WRITE, "nothing"], cwd=ROOT)
    if done.code:
        raise SystemExit(done.stderr)
    further = [path for path in out.with_suffix("").rglob("*") if path.is_file()]
    share = f", {(done.seconds - imports.seconds) / build_seconds:.1%} of the build's" if build_seconds else ""
    print(f"{label}: {done.seconds:.2f} s CPU, imports {imports.seconds:.2f} s{share}")
    print(f"  peak memory {done.megabytes:,.0f} MiB, imports {imports.megabytes:,.0f} MiB")
    beside = sum(path.stat().st_size for path in further)
    print(f"  main page {out.stat().st_size:,} bytes, {len(further):,} further files of {beside:,} bytes")
    with open_browser() as browser:
        page = OpenPage(browser, out)
        opened = []
        for _ in range(5):
            browser.get("about:blank")
            browser.get(page.url)
            page.wait(lambda: page.texts(".sheet li"))
            opened.append(page.js("return performance.getEntriesByName('clips-shown')[0].startTime"))
        for _ in range(9):
            shown = len(page.texts(".sheet li"))
            if page.js("const more = document.getElementById('clip-more'); more.click(); return more.hidden"):
                break
            page.wait(partial(_has_more, page, shown))
        gaps = sorted(browser.execute_async_script(SCROLL))
        late = sum(gap > 50 for gap in gaps) / len(gaps)
        print(
            f"  opened in {statistics.median(opened):.0f} ms (median of 5), {len(gaps)} frames: median "
            f"{statistics.median(gaps):.1f} ms, 95 % below {gaps[int(len(gaps) * 0.95)]:.1f} ms, {late:.1%} above 50 ms"
        )


def plant_categories(folder: Path, planted: int = 100, draws: int = 5) -> None:
    """Give clips of a build random other categories, and print how many of them the report would list."""
    tables = {name: sorted((folder / "dataset" / name).glob("*.parquet")) for name in ("clips", "captions")}
    clips, captions = (
        pa.concat_tables(pq.read_table(path, columns=["video_id", column]) for path in tables[name])
        for name, column in (("clips", "category"), ("captions", "caption"))
    )
    categories = {row["video_id"]: str(row["category"]) for row in clips.to_pylist()}
    names = sorted(set(categories.values()))
    print(f"as it is: {find_misfits(captions, categories).found:,} of {len(categories):,} clips are listed")
    category_misfits._SHOWN = len(categories)
    for seed in range(1, draws + 1):
        rng = Random(seed)
        moved = rng.sample([*categories], planted)
        changed = {name: rng.choice([other for other in names if other != categories[name]]) for name in moved}
        found = find_misfits(captions, categories | changed)
        are_planted = [misfit.video_id in changed for misfit in found.misfits]
        print(
            f"draw {seed}: {found.found:,} listed, {sum(are_planted)} of {planted} planted ones among them, "
            f"{sum(are_planted[:48])} among the first 48"
        )


def measure_share(arguments: Sequence[str], out: Path) -> None:
    """Print the CPU seconds of a build and of its report, with those of the processes that they start."""
    command = [sys.executable, "-c", SHARE, *arguments, "--out", str(out / "build")]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    report, whole = map(float, done.stderr.splitlines()[-1].split())
    print(f"report {report:.2f} of {whole:.1f} CPU s: {report / whole:.1%}")


def main() -> None:
    """Run the benchmark of a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, number in (("rows", 1_000_000), ("videos", 10_000)):
        commands.add_parser(name).add_argument("number", metavar="N", nargs="?", type=int, default=number)
    commands.add_parser("categories").add_argument("folder", metavar="FOLDER", type=Path)
    build = commands.add_parser("build")
    build.add_argument("folder", metavar="FOLDER", type=Path)
    build.add_argument("--build-seconds", type=float)
    commands.add_parser("share").add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.command == "categories":
        plant_categories(options.folder)
        return
    with tempfile.TemporaryDirectory() as temporary:
        if options.command == "share":
            measure_share(options.arguments, Path(temporary))
            return
        out = Path(temporary) / "report.html"
        if options.command == "build":
            measure(options.folder.name, options.folder, out, options.build_seconds)
            return
        films = draw_films(Path(temporary)) if options.command == "videos" else []
        written = write_clips(Path(temporary), options.number, films)
        measure(f"{options.number:,} clips", written, out, None)
        if films:
            measure("again, with the pictures that are there", written, out, None)


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
