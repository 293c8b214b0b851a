"""Report of an evaluation: scores with intervals, as JSON and as text."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.dataset.manifest import MANIFEST
from vttdata.dataset.protocol_file import withdraw_from_protocol
from vttdata.dataset.replace_folder import replace_folder
from vttdata.dataset.tombstones import ITEM, VIDEO, Tombstones
from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.conventions import PRINTED, Printed, meanings, read_first
from vttdata.evaluate.items import Items
from vttdata.evaluate.predictions import ItemCounts
from vttdata.evaluate.stored_items import ITEMS, item_lines
from vttdata.files.output_file import write_whole
from vttdata.files.own_folder import FileChanges, FolderKind, check_own
from vttdata.files.reading import read_description
from vttdata.files.results import Bar, Bars, Interval, Limit, Result, ResultColumn, ResultTable, Section, format_p
from vttdata.json_types import JsonObject
from vttdata.statistics.bootstrap import Resampled

_REPORT = "evaluation.json"
EVALUATIONS = (_REPORT, "conditions.json")
"""Files by which stored evaluations are known, of a system and of conditions."""
NOT_COMPARABLE = "NOT COMPARABLE"
"""How a sentence on a comparison begins that compares nothing."""
_WITHDRAWN = "Values of items that were withdrawn since are removed; the scores are those from before."


@dataclass(frozen=True, slots=True)
class Estimate(Interval):
    """Score on a selection of the items with its 95 % interval over sources; NaN where the selection is empty."""

    items: int

    @classmethod
    def of(cls, resampled: Resampled, *, known: bool = False) -> Estimate:
        """Return the estimate of a resampled score, without an interval where it is `known`."""
        ends = (math.nan, math.nan) if known else resampled.interval()
        return cls(resampled.score, *ends, resampled.rows)

    @classmethod
    def of_minimum(cls, resampled: Sequence[Resampled]) -> Estimate:
        """Return the estimate of the least of several values on the same items, such as the gain over the best of k.

        The least of the lower ends holds, whichever value is the least one. Each of the upper ends has a tail of
        .05 / k above it, so that the least of them holds too where all values are equal.
        """
        intervals = [each.interval((0.025, min(0.025, 0.05 / len(resampled)))) for each in resampled]
        low, high = (min(ends) for ends in zip(*intervals, strict=True))
        return cls(min(each.score for each in resampled), low, high, resampled[0].rows)


@dataclass(frozen=True, slots=True)
class MetricScores:
    """Scores of one column.

    Fields:
        all: on all items.
        clean: on the items that share nothing with training; None where training is not known.
        leaked: on those that share something.
        gain: leaked minus clean.
        by_leak: kind of leak -> score on the items that have it.
        lower_is_better: True for ranks.
    """

    all: Estimate
    clean: Estimate | None = None
    leaked: Estimate | None = None
    gain: Estimate | None = None
    by_leak: Mapping[str, Estimate] = field(default_factory=dict)
    lower_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of two systems in one column: the first minus the second.

    Fields:
        difference: with its 95 % interval over sources, `low` to `high`.
        p: two-sided p-value of paired randomisation of sources; NaN where items of the other system are not known.
        p_holm: the same, corrected for the number of columns.
        p_mcnemar: exact McNemar test of hits, item by item; None where values are not all 0 or 1.
        other: score of the second system, or that of the stored evaluation.
    """

    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    p_mcnemar: float | None = None
    other: float | None = None


@dataclass(frozen=True, slots=True)
class Evaluation(Result):
    """Result of `evaluate`.

    Fields:
        dataset: name of the dataset.
        version: of the dataset.
        config: configuration of the items.
        split: split of the items.
        task: what was scored.
        signature: one line that names items, metrics and versions; scores of another signature are not comparable.
        items: counts of expected, scored, missing, unknown and duplicated predictions; in retrieval of queries, of
            which those whose video has no column are missing too.
        scores: column -> scores.
        item_set: what was predicted for.
        other: what the system is called that this one is compared with.
        against: column -> difference to it; empty without one.
        comparison: sentences on what a reader of the differences should know.
        groups: ``category``, ``length``, ``type`` or ``place`` (of the right option) -> group -> column -> score.
        human: column -> score of the human captions, each against the others of its clip, and of the system against
            as many references; empty unless requested.
        leaks: kind -> number of items that share something with training, and ``clean``; empty without training.
        blind: most successful blind attacker on a set of foils; None for other tasks.
        unavailable: metric -> why it was not computed.
        answers: number of answers to questions that are ``understood`` and ``not_understood``.
        not_understood: id of a question -> answer that no rule understood, which counts as wrong.
        findings: sentences on what a reader of the scores should know.
        reported: protocols by which papers report the task in place of these items -> what they call the test set; of a
            configuration of the dataset its own name.
        columns: values of all items, for further analysis.
        texts: that were predicted for each item, see `Scored`.
    """

    dataset: str
    version: str
    config: str
    split: str
    task: str
    signature: str
    items: ItemCounts
    scores: Mapping[str, MetricScores]
    item_set: Items = field(repr=False)
    other: str = ""
    against: Mapping[str, Difference] = field(default_factory=dict)
    comparison: Sequence[str] = ()
    groups: Mapping[str, Mapping[str, Mapping[str, Estimate]]] = field(default_factory=dict)
    human: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    leaks: Mapping[str, int] = field(default_factory=dict)
    blind: JsonObject | None = None
    unavailable: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, int] = field(default_factory=dict)
    not_understood: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[str] = ()
    reported: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, ScoreColumn] = field(default_factory=dict, repr=False)
    texts: Sequence[Sequence[str]] = field(default=(), repr=False)

    def as_json(self) -> JsonObject:
        """Return plain values under the names of fields that hold any, without those of single items; NaN is None."""
        fields = [item.name for item in dataclasses.fields(self) if item.repr]
        values = {name: getattr(self, name) for name in fields if getattr(self, name) or name == "against"}
        plain: JsonObject = plain_values(values)
        return plain

    @property
    def read_first(self) -> Evaluation:
        """The same without the scores that few read."""
        names = read_first(self.scores)
        kept: dict[str, Any] = {
            field: {name: values[name] for name in names if name in values}
            for field, values in (("scores", self.scores), ("against", self.against))
        }
        left = len(self.scores) - len(names)
        notes = [f"{left:,} further scores are left out here; --all has them."] if left else []
        return dataclasses.replace(self, **kept, findings=[*self.findings, *notes])

    def for_paper(self) -> Section:
        """Return what a paper says of the scores: as the field prints them, on what, and how they were made."""
        lines: dict[str, list[str]] = {}
        differences: list[str] = []
        kinds = {name: Printed("", name.replace("/", " of ")) for name in self.scores if name.startswith("accuracy/")}
        for name, printed in {**PRINTED, **kinds}.items():
            if name in self.scores:
                score = self.scores[name].all
                text = f"{printed.name} {printed.format(score.score)}{_ends(printed, score.low, score.high)}"
                lines.setdefault(printed.subject, []).append(text)
            if name in self.against:
                one = self.against[name]
                sign = "+" if one.difference > 0 else ""
                p = f", {format_p(one.p_holm)}" if math.isfinite(one.p_holm) else ""
                differences.append(
                    f"{printed.subject} {printed.name} {sign}{printed.format(one.difference)}"
                    f"{_ends(printed, one.low, one.high)}{p}".strip()
                )
        items = self.item_set
        head = (
            f"{self.task} on {self.config}/{self.split} of {self.dataset} {self.version}: {self.items.scored:,} of "
            f"{self.items.expected:,} items, {len(items.source_ids):,} sources; 95 % intervals over sources; all x 100 "
            "but ranks."
        )
        scores = [f"{subject}: {', '.join(texts)}".removeprefix(": ") for subject, texts in lines.items()]
        if differences and not any(note.startswith(NOT_COMPARABLE) for note in self.comparison):
            number = len(self.against)
            corrected = f", corrected for {number} scores by Holm's method" if number > 1 else ""
            test = f"; p of paired randomisation of sources{corrected}"
            is_tested = any(math.isfinite(one.p) for one in self.against.values())
            scores.append(f"minus {self.other}: {'; '.join(differences)}{test * is_tested}")
        sentences = [head] if scores else []
        if self.reported:
            first, called = next(iter(self.reported.items()))
            by = "" if first == called else f" (protocol {' or '.join(self.reported)})"
            making = f"'vttdata protocol {first} {self.dataset} --list test=FILE --out {first}.json' makes it, and "
            sentences.append(
                f"Papers report {self.task} on {called}{by}, and this is {self.config}/{self.split}: the scores do not "
                f"compare. {making * bool(by)}--config {first}{'.json' * bool(by)} scores by it."
            )
        return Section("For the paper", sentences, [*scores, f"Signature: {self.signature}"], key="paper")

    def sections(self) -> Iterator[Section]:
        """Yield the scores, what a reader should know, the difference to the other system, people, and groups."""
        counts = self.items
        head = (
            f"{self.dataset} {self.version}, {self.task} on {self.config}/{self.split}: {counts.scored:,} of "
            f"{counts.expected:,} items scored, {counts.missing:,} missing, {counts.unknown:,} unknown."
        )
        selections = ("all", "clean", "leaked", "gain") if self.leaks.get("leaked") else ("all",)
        rows: list[list[object]] = [
            [name, *(getattr(scores, selection) for selection in selections)] for name, scores in self.scores.items()
        ]
        drawn = map(self._draw, self.scores)
        figures = [bars for bars in drawn if len(bars.rows) > 1 or (bars.rows and bars.limits)]
        table = ResultTable(_columns("metric", *selections), rows, "Scores with 95 % intervals over sources")
        yield Section("Scores", [head], meanings(self.scores), table, figures, key="scores")
        if self.leaks:
            leaks = ", ".join(f"{kind.replace('_', '-')} {number:,}" for kind, number in self.leaks.items())
            yield Section("Leaks", [f"Items that share something with training: {leaks}."])
        if self.notes:
            yield Section("Notes", items=self.notes)
        if self.against or self.comparison:
            yield self._differences()
        if self.human:
            rows = [[name, row["human"], row["system"]] for name, row in self.human.items()]
            sentence = "Against one reference fewer, each human caption left out in turn."
            yield Section(
                "People", [sentence], table=ResultTable(_columns("metric", "people", "system"), rows), key="human"
            )
        for kind, groups in self.groups.items():
            # More columns than these are read in the JSON.
            names = next(iter(groups.values()))
            known = [name for name in names if any(math.isfinite(scores[name].score) for scores in groups.values())]
            shown = [name for name in known if name not in ("chance", "accuracy-understood")][:6] or known
            if not shown:
                continue
            rows = [
                [group, scores[shown[0]].items, *(scores[name] for name in shown)] for group, scores in groups.items()
            ]
            table = ResultTable([kind, "items", *shown], rows, brief=True)
            yield Section(f"By {kind}", table=table, key=f"by-{kind}")
        yield self.for_paper()

    def _differences(self) -> Section:
        """Return the section on the difference to the other system, without columns in which nothing is known."""
        tests = {"p": "p", "p (Holm)": "p_holm", "p (McNemar)": "p_mcnemar"}
        known = {
            name: field
            for name, field in tests.items()
            if any((p := getattr(one, field)) is not None and math.isfinite(p) for one in self.against.values())
        }
        rows = []
        for name, one in self.against.items():
            other = math.nan if one.other is None else one.other
            scores = (Interval(score, math.nan, math.nan) for score in (self.scores[name].all.score, other))
            difference = Interval(one.difference, one.low, one.high)
            rows.append([name, *scores, difference, *(getattr(one, field) for field in known.values())])
        table = ResultTable(_columns("metric", "this", self.other, "difference", *known), rows) if rows else None
        return Section(f"Difference to {self.other}", self.comparison, table=table, key="against")

    @property
    def notes(self) -> list[str]:
        """Sentences on metrics that are unavailable, on blind attackers, and `findings`."""
        notes = [f"{name} is unavailable: {reason}" for name, reason in self.unavailable.items()]
        if self.blind:
            blind = self.blind
            notes.append(
                f"Without any video, the {blind['attacker']} reaches {blind['accuracy']:.3f} "
                f"({blind['low']:.3f}-{blind['high']:.3f}), of the blind attackers that were tried "
                "on this set; others may reach more."
            )
        return [*notes, *self.findings]

    def _draw(self, metric: str) -> Bars:
        """Return the figure of a metric: all items, those that leak and those that do not, people, blind attackers."""
        scores = self.scores[metric]
        rows = {"all items": scores.all, "clean": scores.clean, "leaked": scores.leaked}
        rows |= {kind.replace("_", "-"): score for kind, score in scores.by_leak.items()}
        rows |= {f"{who}, one reference fewer": score for who, score in self.human.get(metric, {}).items()}
        bars = [
            Bar.of(label, score, "bad" if label == "leaked" else "a")
            for label, score in rows.items()
            if score is not None and math.isfinite(score.score)
        ]
        limits = [Limit(self.blind["accuracy"], f"blind {self.blind['attacker']}")] if self.blind else []
        better = ", lower is better" if scores.lower_is_better else ""
        # Shares are read beside each other, and beside 1.
        ends = [end for bar in bars for end in (bar.value, bar.low, bar.high) if end is not None]
        maximum = 1.0 if all(0 <= end <= 1 for end in ends) else None
        return Bars(bars, f"{metric}{better}", ("items", "score"), maximum, limits)

    def write(self, folder: Path) -> None:
        """Write ``evaluation.json`` and ``items.jsonl``, the values of every item, into a folder; replace earlier ones.

        Raises:
            VttdataError: if the folder holds anything else, or cannot be written.
        """
        with (
            replace_report(folder, EVALUATION, self.as_json()) as partial,
            (partial / ITEMS).open("w", encoding="utf-8", newline="\n") as stream,
        ):
            stream.writelines(item_lines(self.columns, self.item_set, self.texts))


def report_folder(what: str, report: str, *others: str) -> FolderKind:
    """Return the kind of folder that holds a report in JSON, by which it is known, and other files."""

    def names(folder: Path) -> tuple[str, ...]:
        is_ours = not {"signature", "signatures"}.isdisjoint(json.loads(read_description(folder, report)))
        return (report, *others) if is_ours else ()

    return FolderKind(what, report, names)


EVALUATION = report_folder("an evaluation", _REPORT, ITEMS)


def withdraw_from_evaluation(folder: Path, dataset: str, tombstones: Tombstones, changes: FileChanges) -> None:
    """Take the values of withdrawn items, and lists that name them, out of a stored evaluation, of conditions too.

    Scores stay as they are, and the report says so.

    Raises:
        VttdataError: if a file of it is damaged, or cannot be written.
    """
    report = next((folder / name for name in EVALUATIONS if (folder / name).is_file()), None)
    content = json.loads(read_description(folder, report.name)) if report is not None else {}
    if report is None or {"signature", "signatures"}.isdisjoint(content) or content.get("dataset") != dataset:
        changes.left.append((folder, f"is no evaluation on {dataset}"))
        return
    lines = (folder / ITEMS).read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not _is_withdrawn(json.loads(line), tombstones)]
    for path in sorted(folder.glob("*.json")):
        if path != report:
            withdraw_from_protocol(path, dataset, tombstones, changes)
    findings = content.setdefault("findings", [])
    if len(kept) < len(lines) and _WITHDRAWN not in findings and changes.note(report, "changed"):
        findings.append(_WITHDRAWN)
        write_whole(report, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    if len(kept) < len(lines) and changes.note(folder / ITEMS, "changed"):
        write_whole(folder / ITEMS, "".join(kept))


def _is_withdrawn(row: JsonObject, tombstones: Tombstones) -> bool:
    names = [str(row.get(name, "")) for name in ("item", "query", "source")]
    # That of a caption is that of its clip and a number.
    names += [name.rpartition("#")[0] for name in names]
    return any(tombstones.covers(name, (*VIDEO, *ITEM)) for name in names)


def check_folder(folder: Path, kind: FolderKind = EVALUATION) -> None:
    """Check that a folder holds nothing but what it may hold of an earlier run.

    Raises:
        VttdataError: if it holds something else, or lies in a dataset.
    """
    check_own(folder, kind)
    if any((path / MANIFEST).is_file() for path in folder.resolve().parents):
        raise VttdataError(f"{folder}: lies in a dataset, which would differ from its manifest; choose another folder.")


@contextlib.contextmanager
def replace_report(folder: Path, kind: FolderKind, content: JsonObject) -> Iterator[Path]:
    """Replace a folder by one with a report in JSON, and further files that the block writes into the yielded path.

    Raises:
        VttdataError: if the folder holds anything else than an earlier report, or cannot be written.
    """
    check_folder(folder, kind)
    with DescribeOSErrors(f"{folder}: cannot be written"), replace_folder(folder, kind) as partial:
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (partial / kind.marker).write_text(text, encoding="utf-8", newline="\n")
        yield partial


def plain_values(value: object) -> Any:
    """Return dataclasses and mappings as dictionaries without empty fields, and NaN as None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
        return {name: plain_values(field) for name, field in fields.items() if field is not None and field != {}}
    if isinstance(value, Mapping):
        return {name: plain_values(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_values(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _ends(printed: Printed, low: float, high: float) -> str:
    """Return the ends of an interval in brackets as papers print them; empty where there are none."""
    to = " to " if low < 0 else "-"
    return f" ({printed.format(low)}{to}{printed.format(high)})" if math.isfinite(low) else ""


def _columns(name: str, *scores: str) -> list[ResultColumn | str]:
    return [name, *(ResultColumn(score, 4) for score in scores)]
