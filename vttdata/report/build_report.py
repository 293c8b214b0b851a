"""Write the report of a build or dataset: what it looks like, what was left out and why, and what is suspicious.

Everything comes from the tables of the build and of its dataset; nothing is computed anew but the findings on captions,
the counts for other thresholds, and thumbnails of what can be opened here. The same tables and videos give the same
bytes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.leak_audit import audit_files
from vttdata.dataset.manifest import read_manifest
from vttdata.dataset.parquet import open_parquet, read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.load.local_builds import dataset_in, read_account
from vttdata.media.filters import SCORES
from vttdata.pipeline.attrition import attrition_rows
from vttdata.pipeline.rejects import Reject, read_rejects
from vttdata.report import plots
from vttdata.report.caption_findings import CaptionFindings, find_odd_captions
from vttdata.report.category_findings import MIN_ODDS, CategoryFindings, find_misfits
from vttdata.report.clip_files import ClipPages, clear_clip_files, read_clip_batches, remove_folder_if_empty
from vttdata.report.page import PageSection, Tile, format_number, render, render_page
from vttdata.report.thumbnails import Still, as_data_address, make_stills, remove_others, sample_times
from vttdata.report.what_if import count_alternatives

REPORT = "report.html"
# Stages after which nothing of a rejected video is on disk.
_BEFORE_FETCHING = frozenset({"search", "found", "collect"})
_EXAMPLES = 12
# Rejects with their details that the main page lists for each reason.
_LISTED = 200
_PAIRS = 60
_BINS = 40
_CAPTIONS = pa.schema({"video_id": pa.large_string(), "caption": pa.large_string(), "annotator": pa.large_string()})
# Rejects and pairs whose pictures the main page holds; later ones are in the folder.
_INLINE_STILLS = 120
_TIMELINES = 40


@dataclass(slots=True)
class _Report:
    """What is read before the page is put together."""

    build: Path | None
    dataset: Path | None
    account: dict[str, Any]
    out: Path
    workers: int
    files: dict[str, dict[str, list[Path]]] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    missing: list[str] = field(default_factory=list)
    videos: dict[str, Path] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    rows_of_source: dict[str, list[int]] = field(default_factory=dict)
    splits_of_source: dict[str, set[str]] = field(default_factory=dict)
    row_of_clip: dict[str, int] = field(default_factory=dict)
    category_of_clip: dict[str, str] = field(default_factory=dict)
    stills: dict[str, str] = field(default_factory=dict)
    used_stills: set[str] = field(default_factory=set)

    @property
    def folder(self) -> Path:
        """Folder of further files beside the page."""
        return self.out.with_suffix("")

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the build."""
        settings = self.account.get("settings")
        return settings if isinstance(settings, dict) else {}

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Entries of the stages in ``build.json``."""
        stages = self.account.get("stages")
        return [stage for stage in stages if isinstance(stage, dict)] if isinstance(stages, list) else []


def write_report(folder: Path, out: Path | None = None, *, workers: int | None = None) -> Path:
    """Write the report of a build or dataset as one HTML file, and what does not fit into a folder beside it.

    Args:
        folder: build folder, or dataset folder.
        out: file to write; by default ``report.html`` in the build folder. The folder has its name without ``.html``.
        workers: threads that make thumbnails; by default one per core.

    Returns:
        The file.

    Raises:
        VttdataError: if the folder is neither a build nor a dataset, or a table is damaged.
    """
    account, dataset = read_account(folder), dataset_in(folder)
    if account is None and dataset is None:
        raise VttdataError(f"{folder}: is neither a build folder nor a dataset folder.")
    if account is None and dataset is not None:
        account = read_account(dataset.parent)
        folder = dataset.parent if account is not None else folder
    if out is None:
        if account is None:
            raise VttdataError("A report of a dataset without its build needs a file: --out report.html.")
        out = folder / REPORT
    if out.suffix.lower() not in {".html", ".htm"}:
        raise VttdataError(f"{out}: a report is an HTML file; name one that ends in .html.")
    out.parent.mkdir(parents=True, exist_ok=True)
    build = folder if account is not None else None
    report = _Report(build, dataset, account or {}, out, workers or os.cpu_count() or 1)
    if dataset is not None:
        layout = read_layout(dataset, needs=None)
        report.files, report.categories = layout.files, tuple(layout.categories)
    clear_clip_files(report.folder)
    _find_videos(report)
    shots = _read_shots(report)
    data, summary = _write_clips(report, shots)
    audit = _read_audit(report)
    table = _read_captions(report)
    captions, misfits = find_odd_captions(table), find_misfits(table, report.category_of_clip)
    rejects = _collect_rejects(report)
    pairs = _read_pairs(report)
    _make_example_stills(report, rejects, pairs)
    sections = [
        _funnel_section(report, rejects),
        _thresholds_section(report),
        _clips_section(summary),
        _distributions_section(report, summary, captions),
        _leaks_section(report, audit, pairs),
        _timelines_section(report, shots),
        _captions_section(report, captions, misfits),
        _provenance_section(report),
    ]
    remove_others(report.folder / "stills", report.used_stills)
    remove_folder_if_empty(report.folder)
    name, version = _name_of(report)
    page = render_page(
        name,
        [section for section in sections if section is not None],
        kicker="Build report" if build is not None else "Dataset report",
        lead=str(report.settings.get("description") or ""),
        tiles=_tiles(report, summary, captions, audit, pairs),
        alerts=_alerts(report, audit),
        footer=f"{name} {version}. Written by vttdata; everything comes from the tables of the build and its dataset.",
        data=data,
        script="clips.js" if summary.clips else "",
    )
    partial = out.with_name(f".{out.name}.{os.getpid()}.part")
    partial.write_text(page, encoding="utf-8")
    partial.replace(out)
    return out


def _name_of(report: _Report) -> tuple[str, str]:
    if report.account:
        return str(report.account.get("recipe")), str(report.account.get("version") or "")
    manifest = read_manifest(report.dataset) if report.dataset is not None else {}
    return str(manifest.get("name")), str(manifest.get("version") or "")


def _find_videos(report: _Report) -> None:
    """Find the files of sources, as far as they are on this machine."""
    if report.build is None:
        return
    collect = report.settings.get("collect")
    collect = collect if isinstance(collect, dict) else {}
    listed = report.build / "media" / "scenes"
    if collect.get("folder"):
        listed = Path(str(collect["folder"]))
    elif collect.get("manifest"):
        listed = Path(str(collect["manifest"])).parent
    folders = {"listed": listed, "fetched": report.build / "media" / "sources"}
    columns = ("source_id", "file", "stored", "container_seconds", "seconds")
    for stage in ("collect", "probe", "measure"):
        path = report.build / "stages" / stage / "kept.parquet"
        if not path.is_file():
            continue
        for row in read_parquet_rows([path], (), optional=columns):
            folder = folders.get(str(row.get("stored")))
            if folder is not None and row.get("file"):
                report.videos[row["source_id"]] = folder / row["file"]
            seconds = row.get("seconds") or row.get("container_seconds")
            if seconds:
                report.seconds[row["source_id"]] = seconds


def _read_shots(report: _Report) -> dict[str, list[tuple[float, float, str]]]:
    """Return source -> start, end and transition of its shots."""
    shots: dict[str, list[tuple[float, float, str]]] = {}
    path = report.build / "stages" / "shots" / "kept.parquet" if report.build is not None else None
    if path is not None and path.is_file():
        for row in read_parquet_rows([path], ("source_id", "start", "end", "transition")):
            shots.setdefault(row["source_id"], []).append((row["start"], row["end"], row["transition"]))
    return shots


@dataclass(slots=True)
class _Summary:
    """Figures that are counted while clips are written."""

    clips: int = 0
    pictures: int = 0
    named_videos: int = 0
    by_split: Counter[str] = field(default_factory=Counter)
    categories: dict[str, Counter[str]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    captions: Counter[int] = field(default_factory=Counter)
    spans: dict[str, list[tuple[float, float, str]]] = field(default_factory=dict)


def _write_clips(report: _Report, shots: Mapping[str, Sequence[tuple[float, float, str]]]) -> tuple[Markup, _Summary]:
    summary = _Summary()
    splits = report.files.get("clips", {})
    files = ClipPages(report.folder, report.folder.name)
    stills = report.folder / "stills"
    for number, (split, paths) in enumerate(splits.items()):
        for rows in read_clip_batches(paths):
            wanted = {row["video_id"]: still for row in rows if (still := _still_of_clip(report, row))}
            made = make_stills(wanted.values(), stills, workers=report.workers)
            for row in rows:
                still = wanted.get(row["video_id"])
                picture = stills / still.name if still is not None and still.name in made else None
                label = row.get("category")
                if isinstance(label, int):
                    label = report.categories[label] if 0 <= label < len(report.categories) else str(label)
                start, end, source = row.get("start"), row.get("end"), row.get("source_id") or ""
                inner = [
                    round(shot[0], 3)
                    for shot in shots.get(source, ())
                    if start is not None and end is not None and start < shot[0] < end
                ]
                texts = [text for text in row.get("captions") or () if text]
                name = f"{report.folder.name}/stills/{still.name}" if picture is not None and still is not None else ""
                category = -1 if label is None else _index(summary.categories, label)
                files.add(
                    [
                        row["video_id"],
                        source,
                        split,
                        label or "",
                        start,
                        end,
                        name,
                        texts,
                        inner,
                        row.get("video") or "",
                    ],
                    picture,
                    (number, category),
                )
                if picture is not None and still is not None:
                    report.used_stills.add(still.name)
                    summary.pictures += 1
                report.row_of_clip[row["video_id"]] = summary.clips
                if source:
                    report.rows_of_source.setdefault(source, []).append(summary.clips)
                    report.splits_of_source.setdefault(source, set()).add(split)
                if start is not None and end is not None:
                    summary.seconds.append(end - start)
                    if shots:
                        summary.spans.setdefault(source, []).append((start, end, split))
                if label is not None:
                    summary.categories[label][split] += 1
                    report.category_of_clip[row["video_id"]] = sys.intern(label)
                summary.clips += 1
                summary.named_videos += bool(row.get("video"))
                summary.by_split[split] += 1
                summary.captions[len(texts)] += 1
    labels = {"splits": list(splits), "categories": list(summary.categories)}
    return files.finish(labels) if summary.clips else Markup(), summary


def _index(categories: dict[str, Counter[str]], label: str) -> int:
    if label not in categories:
        categories[label] = Counter()
    return list(categories).index(label)


def _still_of_clip(report: _Report, row: Mapping[str, Any]) -> Still | None:
    """Return the wanted picture of a clip: from its file, or else from that of its source."""
    start, end, video = row.get("start"), row.get("end"), row.get("video")
    if isinstance(video, str) and report.dataset is not None and start is not None and end is not None:
        path = report.dataset / video
        inside = path.resolve()
        roots = [report.dataset.resolve(), *([report.build.resolve()] if report.build is not None else [])]
        if path.is_file() and any(inside.is_relative_to(root) for root in roots):
            return Still(row.get("sha256") or row["video_id"], path, sample_times(0.0, end - start))
    source = report.videos.get(row.get("source_id") or "")
    if source is not None and start is not None and end is not None and source.is_file():
        return Still(f"{row['source_id']}", source, sample_times(start, end))
    return None


def _read_captions(report: _Report) -> pa.Table:
    """Return the captions of all splits, with their annotators where those are known."""
    tables = []
    for path in chain(*report.files.get("captions", {}).values()):
        with open_parquet(path, "video_id", "caption") as file:
            names = [name for name in _CAPTIONS.names if name in file.schema_arrow.names]
            table = file.read(columns=names)
        for name in _CAPTIONS.names[len(names) :]:
            table = table.append_column(name, pa.nulls(table.num_rows, pa.string()))
        tables.append(table.select(_CAPTIONS.names).cast(_CAPTIONS))
    return pa.concat_tables(tables) if tables else _CAPTIONS.empty_table()


def _read_audit(report: _Report) -> dict[str, Any]:
    """Return the audit that the build stored, or audit the dataset; empty without clips, of which none can leak."""
    if not report.row_of_clip:
        return {}
    audit = report.account.get("audit")
    if isinstance(audit, dict):
        return audit
    return audit_files(report.files, media=report.dataset).as_json()


@dataclass(slots=True)
class _Reason:
    """Rejects of one stage for one reason: their number and examples."""

    stage: str
    reason: str
    failed: bool
    number: int = 0
    rejects: list[Reject] = field(default_factory=list)


def _collect_rejects(report: _Report) -> dict[str, list[_Reason]]:
    """Return stage -> reasons, of the stages whose tables are there."""
    found: dict[str, list[_Reason]] = {}
    if report.build is None:
        return found
    for stage in report.stages:
        name = str(stage.get("name"))
        folder = report.build / "stages" / name
        if not name.isidentifier() or not (folder / "rejected.parquet").is_file():
            report.missing.append(f"stages/{name}")
            continue
        if not stage.get("rejected") and not stage.get("failed"):
            continue
        reasons: dict[tuple[str, bool], _Reason] = {}
        for reject in read_rejects(report.build, name):
            reason = reasons.setdefault((reject.reason, reject.failed), _Reason(name, reject.reason, reject.failed))
            reason.number += 1
            if len(reason.rejects) < _LISTED:
                reason.rejects.append(reject)
        found[name] = sorted(reasons.values(), key=lambda reason: (-reason.number, reason.reason))
    return found


def _read_pairs(report: _Report) -> list[dict[str, Any]]:
    """Return near-duplicates, those across splits first, then the most alike."""
    path = report.build / "stages" / "copies" / "kept.parquet" if report.build is not None else None
    if path is None or not path.is_file():
        examples = _read_audit(report).get("examples", {}).get("near_duplicate", [])
        pairs = [
            {
                "source_a": each["sources"][0],
                "source_b": each["sources"][1],
                "start_seconds": 0.0,
                **{name: each.get(name) for name in ("offset_seconds", "overlap_seconds", "similarity", "distance")},
            }
            for each in examples
            if len(each.get("sources", ())) == 2
        ]
    else:
        pairs = list(read_parquet_rows([path], _PAIR))
    for pair in pairs:
        sides = [report.splits_of_source.get(pair[name], set()) for name in ("source_a", "source_b")]
        pair["splits"] = [", ".join(sorted(side)) or "in no split" for side in sides]
        pair["crosses"] = len(sides[0] | sides[1]) > 1
    return sorted(
        pairs, key=lambda pair: (not pair["crosses"], -(pair["similarity"] or 0), pair["source_a"], pair["source_b"])
    )


_PAIR = (
    *("source_a", "source_b", "offset_seconds", "speed", "start_seconds", "overlap_seconds", "mirrored", "rotation"),
    *("distance", "similarity"),
)


def _make_example_stills(
    report: _Report, rejects: Mapping[str, Sequence[_Reason]], pairs: list[dict[str, Any]]
) -> None:
    """Make pictures of rejected sources and of near-duplicates, and put the first ones into the page."""
    wanted: dict[tuple[str, float], Still] = {}

    def want(source: str, time: float) -> None:
        path = report.videos.get(source)
        if path is not None and path.is_file():
            wanted[source, time] = Still(f"source {source}", path, (round(time, 3),))

    reasons = [reason for of_stage in rejects.values() for reason in of_stage]
    for name in [reject.id for reason in reasons for reject in reason.rejects[:_EXAMPLES]]:
        source = name if name in report.videos else name.split("_")[0]
        want(source, report.seconds.get(source, 0.0) / 2)
    for pair in pairs[:_PAIRS]:
        middle = (pair["start_seconds"] or 0.0) + (pair["overlap_seconds"] or 0.0) / 2
        pair["time_a"] = middle
        pair["time_b"] = max(middle * (pair.get("speed") or 1.0) + (pair["offset_seconds"] or 0.0), 0.0)
        want(pair["source_a"], pair["time_a"])
        want(pair["source_b"], pair["time_b"])
    closest = _read_audit(report).get("closest")
    if isinstance(closest, dict):
        for source in closest.get("sources", ()):
            want(source, report.seconds.get(source, 0.0) / 2)
    stills = report.folder / "stills"
    made = make_stills(wanted.values(), stills, workers=report.workers)
    for number, ((source, time), still) in enumerate(wanted.items()):
        if still.name in made:
            report.used_stills.add(still.name)
            address = (
                as_data_address(stills / still.name)
                if number < _INLINE_STILLS
                else f"{report.folder.name}/stills/{still.name}"
            )
            report.stills[f"{source} {round(time, 3)}"] = address
            report.stills.setdefault(source, address)


def _tiles(
    report: _Report, summary: _Summary, captions: CaptionFindings, audit: Mapping[str, Any], pairs: Sequence[Any]
) -> list[Tile]:
    tiles = []
    if report.stages:
        lost = sum(sum(stage["rejected"].values()) + sum(stage["failed"].values()) for stage in report.stages)
        tiles.append(Tile(format_number(lost), "left out", "rejected or failed, in all stages", href="#attrition"))
    if summary.clips:
        by_split = ", ".join(f"{split} {number:,}" for split, number in summary.by_split.items())
        tiles.append(Tile(format_number(summary.clips), "clips", by_split, href="#clips"))
        sources = len(report.rows_of_source)
        tiles.append(
            Tile(format_number(sources), "sources", f"{format_number(sum(summary.seconds) / 3600)} hours of clips")
        )
    if captions.captions:
        share = captions.shared_captions / captions.captions
        mean = sum(number * count for number, count in captions.words.items()) / captions.captions
        tiles.append(Tile(format_number(captions.captions), "captions", f"{mean:.1f} words each", href="#captions"))
        tone = "bad" if share >= 0.1 else "warn" if share >= 0.02 else ""
        tiles.append(Tile(f"{share:.1%}", "captions shared by several clips", "", tone, "#captions"))
    if captions.annotators:
        tone = "warn" if captions.unusual else "good"
        tiles.append(Tile(format_number(len(captions.unusual)), "unusual annotators", "", tone, "#captions"))
    if audit:
        leaking = {
            name: sum(leak["clips"].values()) for name, leak in audit.get("leaks", {}).items() if name != "caption"
        }
        total = sum(leaking.values())
        tone = "good" if audit.get("ok") else "bad"
        detail = ", ".join(f"{number:,} {name.replace('_', '-')}" for name, number in leaking.items() if number)
        tiles.append(Tile(format_number(total), "leaks, in clips", detail or "no leak found", tone, "#leaks"))
    if pairs:
        crossing = sum(pair["crosses"] for pair in pairs)
        detail = f"{crossing:,} across splits"
        tiles.append(
            Tile(format_number(len(pairs)), "near-duplicate pairs", detail, "bad" if crossing else "", "#leaks")
        )
    return tiles


def _alerts(report: _Report, audit: Mapping[str, Any]) -> list[tuple[str, str]]:
    alerts = []
    status = report.account.get("status", "complete")
    if status != "complete":
        state = "is running, or was interrupted" if status == "running" else f"is {status}"
        alerts.append(("bad", f"The build {state}: what follows is what it finished. The same command goes on."))
    if report.dataset is None:
        alerts.append(("warn", "There is no dataset yet, so that no clips, splits or captions can be shown."))
    elif not report.row_of_clip and "foils" in report.files:
        alerts.append(("warn", "This is a set of foils: 'vttdata audit DATASET --html audit.html' shows its pairs."))
    elif not report.row_of_clip:
        alerts.append(("warn", "The dataset holds no clips, so that no pictures, lengths and leaks can be shown."))
    if report.dataset is not None and not report.account:
        alerts.append(
            ("warn", "This is a dataset without its build: what was rejected, and shots, are not known here.")
        )
    if report.missing:
        alerts.append(("warn", f"Tables are missing, and their rejects with them: {', '.join(report.missing)}."))
    verdict = audit.get("verdict")
    if verdict:
        alerts.append(("good" if audit.get("ok") else "bad", str(verdict)))
    for warning in audit.get("warnings", ()):
        alerts.append(("warn", str(warning)))
    return alerts


def _funnel_section(report: _Report, rejects: Mapping[str, Sequence[_Reason]]) -> PageSection | None:
    if not report.stages:
        return None
    rows = []
    for name, unit, taken, kept, _ in attrition_rows(report.stages):
        lost = sum(reason.number for reason in rejects.get(name, ()))
        share = max(1 - lost / taken, 0.0) if taken else 1.0
        rows.append(
            {"name": name, "unit": unit, "taken": taken, "kept": kept, "lost": lost, "share": round(100 * share, 1)}
        )
    groups = []
    for stage, reasons in rejects.items():
        for reason in reasons:
            entries = [
                {
                    "reject": reject,
                    "still": report.stills.get(reject.id) or report.stills.get(reject.id.split("_")[0], ""),
                }
                for reject in reason.rejects
            ]
            key = f"reason-{stage}-{'failed' if reason.failed else 'rejected'}-{_slug(reason.reason)}"
            groups.append({"key": key, "reason": reason, "entries": entries, "no_file": stage in _BEFORE_FETCHING})
    body = render("attrition.html", rows=rows, groups=groups, examples=_EXAMPLES, name=_name_of(report)[0])
    lost = sum(reason.number for reasons in rejects.values() for reason in reasons)
    note = "What every stage took and kept. A reason leads to examples: was this right?"
    return PageSection("attrition", "Left out", body, note, f"{lost:,}")


def _slug(text: str) -> str:
    return "".join(character if character.isalnum() and character.isascii() else "-" for character in text)


def _thresholds_section(report: _Report) -> PageSection | None:
    if report.build is None:
        return None
    alternatives = list(count_alternatives(report.build / "stages", report.settings))
    histograms = _score_histograms(report)
    if not alternatives and not histograms:
        return None
    body = render("thresholds.html", alternatives=alternatives, histograms=histograms)
    note = (
        "Counts for neighbouring values of each threshold, exact: the same rules judged the same tables again. "
        "Sources that a stage before would let through then are not in its count."
    )
    return PageSection("thresholds", "What if", body, note)


def _score_histograms(report: _Report) -> list[Markup]:
    path = report.build / "stages" / "measure" / "kept.parquet" if report.build is not None else None
    if path is None or not path.is_file():
        return []
    columns: dict[str, list[float]] = {name: [] for name in ("seconds", *SCORES)}
    for row in read_parquet_rows([path], (), optional=tuple(columns)):
        for name, values in columns.items():
            if row.get(name) is not None:
                values.append(row[name])
    settings = report.settings.get("filter")
    settings = settings if isinstance(settings, dict) else {}
    unit = {"seconds": "s"}
    plots_of_scores = []
    for name, values in columns.items():
        limits = [
            plots.Limit(
                settings[key],
                f"filter.{key}" + ("" if name not in settings.get("score_only", ()) else " (not applied)"),
            )
            for key in (f"min_{name}", f"max_{name}")
            if isinstance(settings.get(key), int | float)
        ]
        bounds = None if name == "seconds" else (0.0, 1.0)
        title = "Length of sources" if name == "seconds" else f"Score {name} of sources, 0 best and 1 worst"
        plot = _histogram(values, title, unit.get(name, ""), limits, bounds)
        plots_of_scores += [plot] if plot is not None else []
    return plots_of_scores


def _histogram(
    values: Sequence[float],
    title: str,
    unit: str,
    limits: Sequence[plots.Limit] = (),
    bounds: tuple[float, float] | None = None,
) -> Markup | None:
    array = np.asarray(values, dtype=float)
    array = array[np.isfinite(array)]
    if not len(array):
        return None
    low, high = bounds or (
        min([0.0 if array.min() < array.max() / 3 else array.min(), *(limit.value for limit in limits)]),
        max([array.max(), *(limit.value for limit in limits)]),
    )
    counts, edges = np.histogram(array, bins=_BINS, range=(low, high if high > low else low + 1))
    note = f"median {format_number(float(np.median(array)))} {unit}".strip()
    return plots.histogram(counts.tolist(), edges.tolist(), title=title, unit=unit, limits=limits, note=note)


def _clips_section(summary: _Summary) -> PageSection | None:
    if not summary.clips:
        return None
    note = "Each clip opens to its first, middle and last keyframes, its shots and captions."
    if not summary.pictures:
        note += " The videos are not here, so that there are no pictures."
    elif summary.pictures < summary.clips:
        missing = summary.clips - summary.pictures
        note += f" {missing:,} have no picture, since their videos are not here or cannot be decoded."
    return PageSection("clips", "Clips", render("clips.html"), note, f"{summary.clips:,}")


def _distributions_section(report: _Report, summary: _Summary, captions: CaptionFindings) -> PageSection | None:
    if not summary.clips:
        return None
    settings = report.settings.get("clips")
    settings = settings if isinstance(settings, dict) and not settings.get("whole") else {}
    limits = [
        plots.Limit(settings[key], f"clips.{key}")
        for key in ("min_seconds", "max_seconds")
        if isinstance(settings.get(key), int | float)
    ]
    per_clip = (report.settings.get("captions") or {}).get("per_clip") if report.build is not None else None
    caption_limits = [plots.Limit(per_clip, "captions.per_clip")] if isinstance(per_clip, int) else []
    charts = [
        _histogram(summary.seconds, "Length of clips", "s", limits),
        _histogram(list(summary.captions.elements()), "Captions of a clip", "captions", caption_limits),
        _histogram(list(captions.words.elements()), "Words of a caption", "words"),
    ]
    body = Markup('<div class="plots">{}</div>').format(Markup("").join(chart for chart in charts if chart is not None))
    if summary.categories:
        splits = list(summary.by_split)
        rows = {
            label: [counts[split] for split in splits]
            for label, counts in sorted(summary.categories.items(), key=lambda entry: -entry[1].total())
        }
        body += plots.stacked_bars(
            dict(list(rows.items())[:60]), splits, caption="Clips of each category, by split", heading="category"
        )
    return PageSection("distributions", "Distributions", body)


def _leaks_section(report: _Report, audit: Mapping[str, Any], pairs: Sequence[dict[str, Any]]) -> PageSection | None:
    if not audit and not pairs:
        return None
    splits = list(audit.get("splits", {}))
    rows = [
        [name.replace("_", "-"), *(leak["clips"].get(split, 0) for split in splits)]
        for name, leak in audit.get("leaks", {}).items()
    ]
    shared = [
        {"source": source, "splits": ", ".join(sorted(names)), "rows": report.rows_of_source[source][:12]}
        for source, names in report.splits_of_source.items()
        if len(names) > 1
    ]
    shown = []
    for pair in pairs[:_PAIRS]:
        sides = [
            {
                "source": pair[f"source_{side}"],
                "split": pair["splits"][number],
                "time": pair.get(f"time_{side}", 0.0),
                "still": report.stills.get(f"{pair[f'source_{side}']} {round(pair.get(f'time_{side}', 0.0), 3)}", ""),
                "rows": report.rows_of_source.get(pair[f"source_{side}"], [])[:6],
            }
            for number, side in enumerate("ab")
        ]
        shown.append({"pair": pair, "sides": sides})
    closest = audit.get("closest")
    if isinstance(closest, dict):
        closest = {
            **closest,
            "sides": [
                {
                    "source": source,
                    "still": report.stills.get(source, ""),
                    "rows": report.rows_of_source.get(source, [])[:6],
                }
                for source in closest.get("sources", ())
            ],
            "names": [", ".join(names) for names in closest.get("splits", ())],
        }
    examples = audit.get("examples", {}).get("caption", [])
    body = render(
        "leaks.html",
        columns=["leak", *splits],
        rows=rows,
        shared=shared[:200],
        shared_number=len(shared),
        pairs=shown,
        pair_number=len(pairs),
        closest=closest,
        captions=examples,
        has_pictures=bool(report.stills),
    )
    note = "A clip leaks where another split has its source, a part of its time, or a near-duplicate of its source."
    return PageSection("leaks", "Leaks and copies", body, note)


def _timelines_section(report: _Report, shots: Mapping[str, Sequence[tuple[float, float, str]]]) -> PageSection | None:
    if not shots:
        return None
    clips: dict[str, list[tuple[float, float]]] = {}
    for paths in report.files.get("clips", {}).values():
        for row in read_parquet_rows(paths, ("source_id", "start", "end")):
            if row["source_id"] in shots and len(clips) < _TIMELINES:
                clips.setdefault(row["source_id"], []).append((row["start"], row["end"]))
    entries = []
    for source in [*clips, *(source for source in shots if source not in clips)][:_TIMELINES]:
        own = shots[source]
        lanes = {
            "shots": [
                plots.Stretch(start, end, f"shot {number}: {start:.2f} to {end:.2f} s, {transition}", "ag"[number % 2])
                for number, (start, end, transition) in enumerate(own)
            ],
            "clips": [
                plots.Stretch(start, end, f"clip: {start:.2f} to {end:.2f} s", "c")
                for start, end in clips.get(source, ())
            ],
        }
        entries.append(
            {
                "source": source,
                "picture": plots.timeline(lanes, own[-1][1]),
                "shots": len(own),
                "clips": len(lanes["clips"]),
                "seconds": own[-1][1],
                "row": report.rows_of_source.get(source, [None])[0],
            }
        )
    body = render("timelines.html", entries=entries, number=len(shots))
    note = "Shots of each source above the clips that were taken from it."
    return PageSection("timelines", "Shots", body, note, f"{sum(map(len, shots.values())):,}")


def _captions_section(report: _Report, captions: CaptionFindings, misfits: CategoryFindings) -> PageSection | None:
    if not captions.captions:
        return None
    annotators = [
        [
            name,
            figures.captions,
            len(figures.clips),
            round(figures.mean_words, 1),
            f"{figures.repeated:.1%}",
            figures.commonest,
            captions.unusual.get(name, ""),
        ]
        for name, figures in sorted(
            captions.annotators.items(), key=lambda entry: (entry[0] not in captions.unusual, -entry[1].captions)
        )
    ]
    body = render(
        "captions.html",
        found=captions,
        annotators=annotators[:300],
        misfits=misfits,
        min_odds=MIN_ODDS,
        rows={
            video_id: report.row_of_clip.get(video_id)
            for video_id in [
                *(video_id for video_id, _ in captions.shortest + captions.longest),
                *(misfit.video_id for misfit in misfits.misfits),
            ]
        },
    )
    return PageSection("captions", "Captions", body, badge=f"{captions.captions:,}")


def _provenance_section(report: _Report) -> PageSection:
    name, version = _name_of(report)
    account = report.account
    facts: list[tuple[str, str]] = [("name", name), ("version", version)]
    if account:
        facts += [
            ("recipe", str(account.get("recipe_file"))),
            ("SHA-256 of the recipe", str(account.get("recipe_sha256"))),
            ("vttdata", str(account.get("vttdata_version"))),
            *((tool, str(number)) for tool, number in sorted((account.get("tools") or {}).items())),
            ("seed", str(report.settings.get("seed"))),
        ]
    command = f"vttdata build {name}" if account else f"vttdata verify {name}"
    return PageSection("provenance", "Provenance", render("provenance.html", facts=facts, command=command))


def preview_pictures(folder: Path, number: int = 12) -> list[bytes]:
    """Return pictures (WebP, first, middle and last keyframes side by side) of clips of a dataset, evenly spread.

    Args:
        folder: build or dataset folder.
        number: most pictures.

    Raises:
        VttdataError: if the folder is no dataset.
    """
    dataset = dataset_in(folder)
    if dataset is None:
        raise VttdataError(f"{folder}: is neither a build folder nor a dataset folder.")
    report = _Report(None, dataset, {}, folder / REPORT, 1)
    rows: Iterable[dict[str, Any]] = [
        row
        for paths in read_layout(dataset).files["clips"].values()
        for batch in read_clip_batches(paths)
        for row in batch
    ]
    stills = [still for row in rows if (still := _still_of_clip(report, row))]
    stills = [stills[index * len(stills) // number] for index in range(number)] if len(stills) > number else stills
    with tempfile.TemporaryDirectory() as temporary:
        made = make_stills(stills, Path(temporary))
        return [(Path(temporary) / still.name).read_bytes() for still in stills if still.name in made]
