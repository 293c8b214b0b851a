"""Cost of the commands that people run most, beside another checkout of this package: CPU seconds and peak memory.

``python benchmarks/commands.py DATA --against CHECKOUT`` runs each command with both packages in turn, three times with
nothing kept before, and prints the medians. DATA has the official files in ``msrvtt``, ``trecvid-vtt`` and
``questions``. CPU seconds are user and system time of all processes; the peak is that of the largest one.
``--only NAME`` runs some of the jobs.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

sys.path.append(str(Path(__file__).resolve().parents[1]))

from benchmarks import changes
from benchmarks.stages import write_film

HERE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a command, and its peak resident memory in MiB."""

    seconds: float
    memory: float


@dataclass(frozen=True)
class Package:
    """A checkout of the package, run with a home folder and a folder of work of its own."""

    checkout: Path
    work: Path

    def run(self, *arguments: str) -> Cost:
        """Run ``vttdata`` and measure it."""
        environment = os.environ | {"PYTHONPATH": str(self.checkout), "VTTDATA_HOME": str(self.work / "home")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        output = self.work / "output"
        with output.open("wb") as file:
            command = [sys.executable, "-P", "-m", "vttdata", *arguments]
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) not in (0, 3):
            raise SystemExit(f"{' '.join(arguments)} failed: {output.read_text(errors='replace')[-2000:]}")
        return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)

    def has(self, *command: str) -> bool:
        """Whether the package has a command of this name."""
        return (self.checkout / "vttdata/cli" / Path(*command).with_suffix(".py")).exists()


def fresh_msrvtt(package: Package, data: Path) -> Cost:
    """Build MSR-VTT from its official files."""
    return package.run(*build_msrvtt(package, data / "msrvtt"))


def msrvtt_again(package: Package, data: Path) -> Cost:
    """Build it, and measure the same command once more."""
    fresh_msrvtt(package, data)
    return fresh_msrvtt(package, data)


def one_more_caption(package: Package, data: Path) -> Cost:
    """Build it, add a caption to the official file of the test videos, and measure the build that takes it in."""
    annotations = package.work / "annotations"
    shutil.copytree(data / "msrvtt", annotations)
    command = build_msrvtt(package, annotations)
    package.run(*command)
    (path,) = annotations.glob("test*.zip")
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    (name,) = (name for name in contents if name.endswith(".json") and not name.startswith("__"))
    table = json.loads(contents[name])
    last = max(table["sentences"], key=lambda sentence: int(sentence["sen_id"]))
    table["sentences"].append(last | {"sen_id": int(last["sen_id"]) + 1, "caption": "one more sentence about it"})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, json.dumps(table))
    return package.run(*command)


def build_msrvtt(package: Package, annotations: Path) -> list[str]:
    """Return the command that builds MSR-VTT."""
    return ["build", "msrvtt", "--set", f"annotations={annotations}", "--quiet", "--out", str(package.work / "out")]


def build_folder(package: Package, videos: int) -> list[str]:
    """Draw short films into a folder and return the command that builds from it."""
    folder = package.work / "videos"
    if not folder.exists():
        folder.mkdir()
        write_film(folder / "video000.mp4", 12, size="320x240", rate=10)
        for number in range(1, videos):
            shutil.copy(folder / "video000.mp4", folder / f"video{number:03}.mp4")
            with (folder / f"video{number:03}.mp4").open("ab") as file:
                # Another file of the same pictures: a free box of MP4 with the number.
                file.write((12).to_bytes(4, "big") + b"free" + number.to_bytes(4, "big"))
    command = ["build", "own-folder", "--quiet", "--workers", "1", "--out", str(package.work / "out")]
    return [*command, "--set", f"collect.folder={folder}", "--set", "name=benchmark/commands"]


def folder_again(package: Package, _data: Path) -> Cost:
    """Build from three videos, and measure the same command once more."""
    command = build_folder(package, 3)
    package.run(*command)
    return package.run(*command)


def one_more_video(package: Package, _data: Path) -> Cost:
    """Build from 200 videos, add one, and measure the build that takes it in."""
    command = build_folder(package, 200)
    package.run(*command)
    write_film(package.work / "videos/video999.mp4", 15, size="320x240", rate=10)
    return package.run(*command)


def one_film(package: Package, _data: Path) -> Cost:
    """Build from one video of 12 s, with one worker: what every build costs, nearly alone."""
    return package.run(*build_folder(package, 1))


def one_more_of_20000_captions(package: Package, _data: Path) -> Cost:
    """Build from 1,000 films of 6 s with 20 captions each, add one caption, and measure the build that takes it in."""
    films = package.work / "videos"
    films.mkdir()
    for number in range(1000):
        changes.write_film(films / f"v{number:04}.mp4", number)
    settings = {"collect.folder": films, "name": "benchmark/captions", "clips.min_seconds": 4, "filter.min_seconds": 4}
    settings |= {"filter.min_width": 90, "filter.min_height": 60}
    command = ["build", "own-folder", "--quiet", "--out", str(package.work / "out")]
    command += [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    package.run(*command)
    clips = [pd.read_parquet(path, columns=["video_id"]) for path in package.work.glob("out/dataset/clips/*.parquet")]
    table, draw = package.work / "captions.csv", random.Random(1)
    with table.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["video_id", "caption"])
        for video_id in sorted(pd.concat(clips).video_id):
            for number in range(20):
                who = draw.choice(("man", "woman", "dog", "child", "band"))
                writer.writerow([video_id, f"a {who} walks past number {number} of {draw.random()}"])
    command += ["--set", f"captions.file={table}"]
    package.run(*command)
    with table.open("a", newline="") as stream:
        csv.writer(stream).writerow([video_id, "somebody adds one more caption"])
    return package.run(*command)


def default_evaluate(package: Package, data: Path) -> Cost:
    """Score a baseline on MSR-VTT's test split with the default metrics."""
    fresh_msrvtt(package, data)
    return package.run("evaluate", str(package.work / "out"), "--baseline", "category-caption", "--json")


def human_evaluate(package: Package, data: Path) -> Cost:
    """Score the human captions too, each against the others of its clip."""
    fresh_msrvtt(package, data)
    return package.run("evaluate", str(package.work / "out"), "--baseline", "category-caption", "--human", "--json")


def metric_test(package: Package, data: Path) -> Cost:
    """Test the default metrics against people's scores of TRECVID, with no score kept before."""
    out = package.work / "out"
    package.run("build", "trecvid-vtt", "--set", f"annotations={data / 'trecvid-vtt'}", "--quiet", "--out", str(out))
    shutil.rmtree(package.work / "home", ignore_errors=True)
    command = ["metric", "test"] if package.has("metric", "test") else ["evaluate-metric"]
    return package.run(*command, str(out), "--json")


def audit_questions(package: Package, data: Path) -> Cost:
    """Audit the 4,996 questions of five options of NExT-QA's validation split."""
    table = package.work / "questions.csv"
    questions = pd.read_csv(data / "questions/nextqa/val.csv", dtype=str, keep_default_na=False)
    names = {"video": "video_id"} | {f"a{number}": f"option_{number}" for number in range(5)}
    questions.rename(columns=names)[["video_id", "question", "answer", *list(names.values())[1:]]].to_csv(
        table, index=False
    )
    return package.run("audit", str(table), "--json")


JOBS: dict[str, Callable[[Package, Path], Cost]] = {
    "build msrvtt, fresh": fresh_msrvtt,
    "build msrvtt, again": msrvtt_again,
    "build msrvtt, one more caption": one_more_caption,
    "build own-folder, again": folder_again,
    "build own-folder, one more of 200": one_more_video,
    "build own-folder, one film": one_film,
    "build own-folder, one more of 20,000 captions": one_more_of_20000_captions,
    "evaluate, MSR-VTT test": default_evaluate,
    "evaluate --human, MSR-VTT test": human_evaluate,
    "metric test, TRECVID, cold": metric_test,
    "audit, NExT-QA": audit_questions,
}


def main() -> None:
    """Run the jobs with each checkout in turn and print a Markdown table of medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, metavar="SHARED_DATA", help="folder of the official files")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout of this package")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", metavar="NAME", help="a job that begins so; may be repeated")
    options = parser.parse_args()
    checkouts = ([("before", options.against.resolve())] if options.against else []) + [("now", HERE)]
    names = [name for name in JOBS if not options.only or name.startswith(tuple(options.only))]
    heads = "".join(f" {label}, CPU s | MiB |" for label, _ in checkouts)
    print(f"| command |{heads}\n|---|{'--:|' * 2 * len(checkouts)}", flush=True)
    for name in names:
        costs: dict[str, list[Cost]] = {label: [] for label, _ in checkouts}
        for _ in range(options.rounds):
            for label, checkout in checkouts:
                with tempfile.TemporaryDirectory() as work:
                    costs[label].append(JOBS[name](Package(checkout, Path(work)), options.data.resolve()))
        cells = "".join(
            f" {statistics.median(cost.seconds for cost in runs):.2f} | {max(cost.memory for cost in runs):.0f} |"
            for runs in costs.values()
        )
        print(f"| {name} |{cells}", flush=True)


if __name__ == "__main__":
    main()
