"""Seeded mutations of everything that comes from outside, each read in a process of its own with limits.

A trial survives if it ends in time, without a traceback, with less than a gigabyte of memory, without a loss that
nobody is told of, and without touching a file outside.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow.parquet as pq

from tests.helpers.builds import LOOSE, film
from tests.helpers.damage import damage, seal, write_rich_dataset
from tests.helpers.official_files import write_unpacked
from tests.helpers.peak_memory import peak_megabytes
from vttdata.annotations.files import list_files
from vttdata.cli.main import main
from vttdata.dataset.protocol_file import Protocol
from vttdata.errors import HaltError, VttdataError
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.measure import measure
from vttdata.media.probe import probe
from vttdata.people.campaign import read_campaign
from vttdata.people.service import Service
from vttdata.people.store import Store
from vttdata.pipeline.stored_results import PartStore
from vttdata.recipe.packaged import load_builder

MAX_MEGABYTES = 1024
MAX_CPU_SECONDS = 60
SECONDS, RATE = 4, 25
_OPTIONS = {
    "mp4": ("-c:v", "libx264", "-preset", "ultrafast", "-g", "25"),
    "mkv": ("-c:v", "libx264", "-preset", "ultrafast", "-g", "25"),
    "flv": ("-c:v", "libx264", "-preset", "ultrafast", "-g", "25"),
    "webm": ("-c:v", "libvpx", "-cpu-used", "8", "-deadline", "realtime", "-g", "25"),
    "avi": ("-c:v", "mpeg4", "-g", "25"),
    "ogv": ("-c:v", "libtheora", "-g", "25"),
}
_VALUES = (
    *("/etc/passwd", "../outside/secret.csv", "pip", "http://127.0.0.1:9/{query}", "~nosuch", "\\x1b[2J", "x" * 5000),
    *("null", "[]", "{}", "-1", "1e999", "99999999999999999999", "*a", "&a [*a]", "!!python/name:os.system", "[" * 200),
)


@dataclass
class Report:
    """Counts of trials by kind, the failures with their seeds, and the greatest memory of a trial in MiB."""

    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    megabytes: float = 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """Outcome of a function in a process of its own: whether the input was refused, and what is wrong if anything."""

    refused: bool
    problem: str
    megabytes: float


def attempt(function: Callable[[], bool], outside: Path) -> Trial:
    """Call a function, which returns whether its input was refused, in a forked process with limits.

    Args:
        function: raises an AssertionError for a loss that is not told of; any other error is a traceback.
        outside: folder that must not be read.
    """
    with tempfile.TemporaryFile("w+") as log:
        pid = os.fork()
        if pid == 0:
            os._exit(_call(function, outside, log))
        megabytes, ended, status, deadline = 0.0, 0, 0, time.monotonic() + 4 * MAX_CPU_SECONDS
        while not ended:
            megabytes = max(megabytes, peak_megabytes(pid))
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended and time.monotonic() > deadline:
                os.kill(pid, 9)
            time.sleep(0.002)
        log.seek(0)
        text = log.read()
    code = os.waitstatus_to_exitcode(status)
    problem = text if code not in (0, 1) or "Traceback" in text else ""
    if code < 0:
        problem = f"ended by signal {-code} (a hang, or a crash): {text[-300:]}"
    if megabytes > MAX_MEGABYTES:
        problem = f"took {megabytes:.0f} MiB"
    return Trial(code == 1, problem[-2000:], megabytes)


def _call(function: Callable[[], bool], outside: Path, log: Any) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    sys.stdout = sys.stderr = log
    watching = [True]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if not watching[0]:
            return
        if event == "open" and str(arguments[0]).startswith(str(outside)):
            raise AssertionError(f"opened {arguments[0]}")
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            raise AssertionError(f"contacted {arguments[1]}")

    sys.addaudithook(watch)
    try:
        return int(function())
    except BaseException:
        traceback.print_exc(file=log)
        return 2
    finally:
        watching[0] = False
        log.flush()


def mutate(content: bytes, chance: random.Random) -> bytes:
    """Return bytes that are cut, overwritten, flipped, doubled or moved."""
    changed = bytearray(content)
    kind = chance.choice(("cut", "hole", "noise", "flip", "flip", "insert", "move"))
    start = chance.randrange(len(changed))
    length = chance.randrange(1, max(len(changed) - start, 2))
    if kind == "cut":
        return bytes(changed[: max(start, 1)])
    if kind == "hole":
        changed[start : start + length] = bytes(len(changed[start : start + length]))
    elif kind == "noise":
        changed[start : start + min(length, 4096)] = chance.randbytes(len(changed[start : start + min(length, 4096)]))
    elif kind == "flip":
        for _ in range(chance.choice((1, 4, 64))):
            # Sizes and counts are where the file begins, and where it ends.
            position = chance.choice((chance.randrange(min(len(changed), 600)), chance.randrange(len(changed))))
            changed[position] ^= 1 << chance.randrange(8)
    elif kind == "insert":
        changed[start:start] = chance.choice((b"\xff" * 64, bytes(4096), b"[" * 4096, bytes(changed[:512])))
    else:
        piece = changed[start : start + min(length, 4096)]
        del changed[start : start + len(piece)]
        position = chance.randrange(len(changed) + 1)
        changed[position:position] = piece
    return bytes(changed)


class Campaign:
    """Trials in a folder; the material is made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "secret.csv").write_text("video_id,caption\na,private\n")
        self._before = self._state()
        self.films = {}
        for suffix, options in _OPTIONS.items():
            path = folder / f"film.{suffix}"
            picture = ("-f", "lavfi", "-i", f"testsrc2=s=96x64:r={RATE}:d={SECONDS}")
            subprocess.run([ffmpeg_path(), "-v", "error", "-y", *picture, *options, str(path)], check=True)
            self.films[suffix] = path.read_bytes()
        self.rich = write_rich_dataset(folder / "rich")
        official = write_unpacked(folder / "official")
        self.archive = folder / "official.zip"
        with zipfile.ZipFile(self.archive, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(official.iterdir()):
                archive.write(path, path.name)
        os.environ["VTTDATA_HOME"] = str(folder / "home")
        self.inputs = folder / "inputs"
        self.commands = self._write_inputs()

    def _write_inputs(self) -> dict[str, tuple[str, ...]]:
        """Write files that commands take beside datasets, and return the command of each; ``@`` is their folder."""
        self.inputs.mkdir()
        rows = [(f"v{video}", system) for video in range(4) for system in "AB"]
        texts = {
            "judgments.csv": [
                "video_id,system,score,worker",
                *(f"{v},{s},{40 + 7 * n},w{n % 2}" for n, (v, s) in enumerate(rows)),
            ],
            "candidates.csv": ["video_id,system,caption", *(f"{v},{s},a {s} person runs by {v}" for v, s in rows)],
            "references.csv": ["video_id,caption", *(f"{v},a person runs by {v}" for v, _ in rows)],
            "scores.csv": ["video_id,system,score", *(f"{v},{s},{n / 9}" for n, (v, s) in enumerate(rows))],
            "predictions.csv": ["video_id,caption", "v3,a person does thing 3"],
        }
        for name, lines in texts.items():
            (self.inputs / name).write_text("\n".join(lines) + "\n")
        self._write_question_tables()
        Protocol("mine", {"train": ["v0"], "test": ["v3"]}).write(self.inputs / "protocol.json")
        queries = np.array([f"v3#{number}" for number in range(3)])
        np.savez(self.inputs / "similarity.npz", similarity=np.eye(3, 1), query_ids=queries, video_ids=np.array(["v3"]))
        judged = (
            "metric",
            "test",
            "@/judgments.csv",
            "--candidates",
            "@/candidates.csv",
            "--references",
            "@/references.csv",
        )
        judged += ("--scores", "@/scores.csv", "--metric", "bleu1", "--draws", "10")
        rich = str(self.rich)
        campaign = write_answered_campaign(self.inputs)
        looked_at = [str(path.relative_to(self.inputs)) for path in sorted(campaign.iterdir()) if path.is_file()]
        return {
            **dict.fromkeys(looked_at, ("people", "score", "@/campaign", "--out", "@/scored")),
            **dict.fromkeys(("judgments.csv", "candidates.csv", "references.csv", "scores.csv"), judged),
            "predictions.csv": ("evaluate", rich, "@/predictions.csv", "--metric", "bleu1"),
            **{name: ("audit", f"@/{name}") for name in ("questions.jsonl", "questions.csv", "pairs.csv")},
            "verdicts.csv": (
                *("foil", "@/many.csv", "--out", "@/out", "--verdicts", "@/verdicts.csv", "--min-count", "1"),
                "--judged-only",
            ),
            "there/availability.csv": ("verify", rich, "--videos", "@/videos", "--out", "@/there"),
            "features.npz": (
                *("evaluate", rich, "@/predictions.csv", "--metric", "emscore", "--features", "@/features.npz"),
            ),
            "similarity.npz": ("evaluate", rich, "@/similarity.npz"),
            "protocol.json": (
                "evaluate",
                rich,
                "@/predictions.csv",
                "--metric",
                "bleu1",
                "--config",
                "@/protocol.json",
            ),
        }

    def _write_question_tables(self) -> None:
        """Write questions with options, pairs of captions and foils, captions with verdicts, and what else has ids."""
        questions = [
            {
                "question": f"what is {n}",
                "options": [f"a {word} {n}" for word in "abc"],
                "answer": n % 3,
                "video_id": f"v{n}",
            }
            for n in range(8)
        ]
        (self.inputs / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
        lines = [f"what is {n},a dog {n},a cat {n},{n % 2},v{n}" for n in range(8)]
        (self.inputs / "questions.csv").write_text(
            "\n".join(["question,option_0,option_1,answer,video_id", *lines]) + "\n"
        )
        lines = [f"a dog runs {n},a cat runs {n},v{n}" for n in range(8)]
        (self.inputs / "pairs.csv").write_text("\n".join(["true,foil,video_id", *lines]) + "\n")
        lines = [
            f"v{n},a {('dog', 'cat', 'horse', 'man')[n % 4]} runs in a {('park', 'house')[n % 2]}" for n in range(16)
        ]
        (self.inputs / "many.csv").write_text("\n".join(["video_id,caption", *lines]) + "\n")
        assert (
            run_command(["foil", f"{self.inputs}/many.csv", "--out", f"{self.inputs}/foiled", "--min-count", "1"])
            is False
        )
        table = pq.read_table(next((self.inputs / "foiled" / "foils").glob("*.parquet")))
        lines = [f"{name},{('sound', 'unsound')[n % 2]}" for n, name in enumerate(table.column("foil_id").to_pylist())]
        (self.inputs / "verdicts.csv").write_text("\n".join(["foil_id,verdict", *lines]) + "\n")
        lines = [
            "s0,,yes,file,2026-01-01",
            "s1,http://127.0.0.1:9/x,no,missing_file,2026-01-01",
            "s2,,unknown,,2026-01-01",
        ]
        (self.inputs / "there").mkdir()
        (self.inputs / "there" / "availability.csv").write_text(
            "\n".join(["source_id,url,available,reason,date", *lines]) + "\n"
        )
        texts = sorted({f"a person does thing {n} of v3" for n in range(3)} | {"a person does thing 3"})
        rng = np.random.default_rng(1)
        np.savez(
            self.inputs / "features.npz",
            video_ids=np.array(["v3"]),
            frame_counts=np.array([2]),
            frame_vectors=rng.normal(size=(2, 4)),
            texts=np.array(texts),
            token_counts=np.full(len(texts), 3),
            tokens=np.tile([1, 2, 3], len(texts)),
            token_vectors=rng.normal(size=(3 * len(texts), 4)),
        )

    def run(self, kinds: Iterable[str], seeds: Iterable[int]) -> Report:
        """Run a trial of each kind with each seed."""
        report = Report()
        for seed in seeds:
            for kind in kinds:
                chance = random.Random(f"{kind} {seed}")
                folder = self.folder / "trial"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                trial = attempt(getattr(self, f"make_{kind}")(folder, chance, seed), self.outside)
                report.tried[kind] += 1
                report.refused[kind] += trial.refused
                report.megabytes = max(report.megabytes, trial.megabytes)
                problem = trial.problem or ("changed a file outside" if self._state() != self._before else "")
                if problem:
                    report.failures.append(f"{kind} {seed}: {problem}")
        return report

    def _state(self) -> list[tuple[str, int, int]]:
        return [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(self.outside.rglob("*"))]

    def make_video(self, folder: Path, chance: random.Random, seed: int) -> Callable[[], bool]:
        """Read a damaged film: it is refused, or all its frames are there."""
        suffix = sorted(self.films)[seed % len(self.films)]
        path = folder / f"a.{suffix}"
        path.write_bytes(mutate(self.films[suffix], chance))

        def trial() -> bool:
            try:
                probe(path)
                frames = measure(path).frames
            except VttdataError:
                return True
            # A bit in the header of one frame may hide it from every reader.
            assert frames >= SECONDS * RATE - 1, f"silent loss: {frames} of {SECONDS * RATE} frames are kept"
            return False

        return trial

    def make_dataset(self, folder: Path, chance: random.Random, seed: int) -> Callable[[], bool]:
        """Give a damaged dataset to a command."""
        dataset = Path(shutil.copytree(self.rich, folder / "dataset"))
        damage(dataset, seed)
        command = chance.choice(("show", "audit", "verify", "list", "diff", "export", "evaluate"))
        options = {
            "diff": [str(self.rich)],
            "export": ["--format", chance.choice(("coco", "jsonl", "retrieval", "mteb")), "--out", str(folder / "out")],
            "evaluate": [str(self.outside.parent / "none.csv")],
            "verify": ["--files-only"],
        }
        return lambda: run_command([command, str(dataset), *options.get(command, [])])

    def make_archive(self, folder: Path, chance: random.Random, seed: int) -> Callable[[], bool]:
        """Read an official release from a damaged archive."""
        (folder / "official.zip").write_bytes(mutate(self.archive.read_bytes(), chance))

        def trial() -> bool:
            try:
                list_files(folder, {".json", ".txt"})
                load_builder("msrvtt").read(folder)
            except VttdataError:
                return True
            return False

        return trial

    def make_input(self, folder: Path, chance: random.Random, seed: int) -> Callable[[], bool]:
        """Give a command a damaged table of judgments or scores, matrix of similarities, protocol or campaign."""
        inputs = Path(shutil.copytree(self.inputs, folder / "inputs"))
        name = sorted(self.commands)[seed % len(self.commands)]
        (inputs / name).write_bytes(mutate((inputs / name).read_bytes(), chance))
        command = [part.replace("@", str(inputs)) for part in self.commands[name]]
        if command[0] != "people":
            return lambda: run_command(command)
        campaign = command[2]
        command = chance.choice((command, ["people", "status", campaign], ["people", "serve", campaign, "--port", "0"]))

        def trial() -> bool:
            if command[1] == "serve":
                threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            return run_command(command, interrupted=command[1] == "serve")

        return trial

    def make_build(self, folder: Path, chance: random.Random, seed: int) -> Callable[[], bool]:
        """Go on with a damaged build, or look at it; what is built has the bytes of a healthy build."""
        build = Path(shutil.copytree(self.builds / ("stopped", "finished")[seed % 2], folder / "build"))
        files = sorted(path for path in build.rglob("*") if path.is_file() and "dataset" not in path.parts)
        path = chance.choice(files)
        change = chance.choice(("mutate", "mutate", "mutate", "gone", "folder", "other", "empty"))
        if change == "mutate" and path.stat().st_size:
            path.write_bytes(mutate(path.read_bytes(), chance))
        elif change == "other":
            path.write_bytes(chance.choice([other for other in files if other.suffix == path.suffix]).read_bytes())
        else:
            path.unlink()
            if change == "folder":
                path.mkdir()
            elif change == "empty":
                path.touch()
        name = path.relative_to(build)
        command = chance.choice((["build"], ["build"], ["rejects"], ["show"]))
        options = ["--quiet", "--workers", "1"] if command == ["build"] else []
        page = ["--page", str(build / "report.html")] if command == ["show"] else []

        def trial() -> bool:
            refused = run_command([*command, str(build), *options, *page], incomplete=True)
            if not refused and options and name.name != "build.json":
                assert self._datasets(build) == self._datasets(self.builds / "finished"), (
                    f"{change} {name}: other bytes"
                )
            return refused

        return trial

    @staticmethod
    def _datasets(build: Path) -> dict[str, str]:
        """Return the SHA-256 of each file of a build's dataset."""
        files = (path for path in (build / "dataset").rglob("*") if path.is_file())
        return {str(path.relative_to(build)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    @functools.cached_property
    def builds(self) -> Path:
        """Build two films; return the folder of the build while it is `stopped` and when it is `finished`."""
        builds = self.folder / "builds"
        videos = builds / "videos"
        videos.mkdir(parents=True)
        for picture in ("testsrc2", "smptebars"):
            film(videos / f"{picture}.mp4", 3, picture)
        settings = [f"collect.folder={videos}", "name=me/street", "filter.max_frozen=1", *LOOSE]
        options = [part for setting in settings for part in ("--set", setting)]
        options += ["--quiet", "--workers", "1", "--out", str(builds / "stopped")]
        write_part = PartStore.write

        def stop_at_cut(store: PartStore, key: str, lines: Iterable[str]) -> None:
            if store.folder.parent.name == "cut":
                raise HaltError("stopped")
            write_part(store, key, lines)

        # What is cut stays in the log of items.
        with mock.patch.object(PartStore, "write", stop_at_cut):
            assert main(["build", "own-folder", *options]) == 1
        assert list(builds.glob("stopped/stages/cut/items/*.jsonl"))
        shutil.copytree(builds / "stopped", builds / "finished")
        assert main(["build", str(builds / "finished"), "--quiet", "--workers", "1"]) == 0
        return builds

    def make_recipe(self, folder: Path, chance: random.Random, seed: int) -> Callable[[], bool]:
        """Verify a dataset whose recipe or provenance names what it should not."""
        dataset = Path(shutil.copytree(self.rich, folder / "dataset"))
        keys = ("scorer", "pipeline", "judges", "lexicon", "input", "verdicts", "verdicts_of", "device", "annotations")
        keys += ("collect.folder", "collect.search.engine", "collect.js_runtime", "collect.proxy", "captions.file")
        lines = ["name: me/rich", "version: 1.0.0", f"builder: {chance.choice(('foils', 'own_videos', 'msrvtt'))}"]
        for key in chance.sample(keys, 3):
            section, _, name = key.rpartition(".")
            value = chance.choice(_VALUES)
            lines.append(f"{section.replace('.', ': {')}: {{{name}: {value}}}" if section else f"{name}: {value}")
        (dataset / "recipe.yaml").write_text("\n".join(lines))
        if seed % 3 == 0:
            damage(dataset, seed)
        seal(dataset)
        return lambda: run_command(["verify", str(dataset), "--rebuild"])


def write_answered_campaign(folder: Path) -> Path:
    """Write a campaign about foils whose two workers have answered everything."""
    foils = [(f"f{n}", f"v{n}", "a dog runs", "a cat runs") for n in range(4)]
    lines = ["foil_id,video_id,caption,foil", *(",".join(row) for row in foils)]
    (folder / "foils.csv").write_text("\n".join(lines) + "\n")
    (folder / "videos").mkdir()
    for _, video_id, *_ in foils:
        (folder / "videos" / f"{video_id}.mp4").symlink_to(folder.parent / "film.mp4")
    made = (
        "people",
        "make",
        "foil-review",
        f"{folder}/foils.csv",
        "--videos",
        f"{folder}/videos",
        "--set",
        "controls=0",
    )
    assert main([*made, "--out", f"{folder}/campaign", "--invite", "ann,bob"]) == 0
    campaign = read_campaign(folder / "campaign")
    store = Store(campaign)
    service = Service(campaign, store)
    for worker in ("ann", "bob"):
        state = service.agree(worker)
        while state["stage"] == "item":
            name = f"{worker}-{state['unit']}-{state['item']}"
            state = service.answer(worker, name, state["unit"], state["item"], {"verdict": "sound"}, None, 5.0)
    store.close()
    return folder / "campaign"


def run_command(arguments: list[str], *, incomplete: bool = False, interrupted: bool = False) -> bool:
    """Run a command in this process and return whether it refused its input.

    Args:
        arguments: of the command line.
        incomplete: whether the command may end with exit code 1, since not all of it could be done.
        interrupted: whether it may end with 130, since the trial interrupts it.
    """
    code = main(arguments)
    assert code in (0, 2, 3, 4) or (incomplete and code == 1) or (interrupted and code == 130), f"exit code {code}"
    return code not in (0, 130)


# A trial with a build takes seconds.
SHORT_KINDS = ("video", "dataset", "archive", "recipe", "input")
KINDS = (*SHORT_KINDS, "build")
