"""Write the report of a build or dataset: what it looks like, what was left out and why, and what is suspicious.

Everything comes from the tables of the build and of its dataset; nothing is computed anew but the findings on captions,
the counts for other thresholds, and thumbnails of what can be opened here. The same tables and videos give the same
bytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from vttdata.dataset.errata import correction_hint
from vttdata.dataset.parquet import open_parquet
from vttdata.errors import VttdataError
from vttdata.files.output_file import HTML, check_output_file, write_whole
from vttdata.files.own_folder import FileChanges, check_own, foreign_files
from vttdata.files.results import ResultColumn, ResultTable, Section
from vttdata.json_types import JsonObject
from vttdata.memory import arrow_memory_from_system, garbage_collection_paused
from vttdata.report import plots
from vttdata.report.caption_findings import CaptionFindings, find_odd_captions
from vttdata.report.category_misfits import MAX_ODDS, MIN_ODDS, CategoryFindings, find_misfits
from vttdata.report.clip_sheet import (
    PAGE_FOLDER,
    ClipFigures,
    clear_clip_files,
    read_clip_rows,
    remove_folder_if_empty,
    write_clips,
)
from vttdata.report.leaks import read_audit, read_pairs, show_leaks
from vttdata.report.left_out import read_reasons, show_attrition, show_thresholds
from vttdata.report.page import PageScript, PageSection, Tile, format_number, render, render_page
from vttdata.report.page_pictures import PictureFolder
from vttdata.report.question_sections import blind_alerts, show_questions
from vttdata.report.report_input import ReportInput
from vttdata.report.sections import render_sections
from vttdata.subprocesses import usable_cores

REPORT = "report.html"
# Pictures that the main page holds; later ones are in the folder.
_INLINE_STILLS = 120
_TIMELINES = 40
_ANNOTATORS = 300
_DAMAGED = 50
_CATEGORIES = 60
# Clips whose categories are compared with their captions.
_COMPARED = 50_000
_CAPTIONS = pa.schema({"video_id": pa.large_string(), "caption": pa.large_string(), "annotator": pa.large_string()})


@garbage_collection_paused()
@arrow_memory_from_system()
def remove_report(build: Path, changes: FileChanges) -> None:
    """Remove the report of a build folder with the files beside it, as far as vttdata wrote them."""
    page, beside = build / REPORT, build / f"{REPORT}.files"
    try:
        check_output_file(page, HTML)
    except VttdataError as error:
        changes.left.append((page, str(error)))
        return
    if page.exists() and changes.note(page, "removed"):
        page.unlink()
    foreign = foreign_files(beside, PAGE_FOLDER)
    changes.left += [(beside / name, "was not written by vttdata") for name in foreign]
    if not (beside / PAGE_FOLDER.marker).is_file() or not changes.note(beside, "changed" if foreign else "removed"):
        return
    if foreign:
        clear_clip_files(beside)
        shutil.rmtree(beside / "stills", ignore_errors=True)
    else:
        shutil.rmtree(beside)


def write_report(folder: Path, out: Path | None = None, *, workers: int | None = None) -> Path:
    """Write the report of a build or dataset as one HTML file, and what does not fit into a folder beside it.

    Args:
        folder: build folder, or dataset folder.
        out: file to write and return; by default ``report.html`` in the build folder. The folder has its name and
            ``.files``.
        workers: threads that make thumbnails; by default one per core.

    Raises:
        VttdataError: if the folder is neither a build nor a dataset, a table is damaged, or the folder beside the page
            is of somebody else, or the page would replace another file.
    """
    report = ReportInput.open(folder)
    if out is None:
        if report.build is None:
            raise VttdataError("A report of a dataset without its build needs a file to write, such as report.html.")
        out = report.build / REPORT
    else:
        check_output_file(out, HTML)
    beside = out.with_name(f"{out.name}.files")
    if not (beside / PAGE_FOLDER.marker).is_file():
        check_own(beside, PAGE_FOLDER)
    clear_clip_files(beside)
    pictures = PictureFolder(beside, inlined=_INLINE_STILLS, workers=workers or usable_cores())
    with pictures:
        data, figures = write_clips(report, beside, pictures)
        audit = read_audit(report, figures)
        pairs = read_pairs(report, figures, audit)
        table = _read_captions(report)
        captions = find_odd_captions(table)
        misfits = find_misfits(table, figures.sample_categories(_COMPARED))
        del table
        reasons, missing = read_reasons(report)
        sections = [
            *(show_questions(report.dataset) if report.dataset is not None else ()),
            _show_clips(report, figures),
            show_attrition(report, reasons, pictures),
            show_thresholds(report),
            _show_distributions(report, figures, captions),
            show_leaks(report, figures, audit, pairs, pictures),
            _show_captions(figures, captions, misfits),
            _show_timelines(report, figures),
            *render_sections([_describe_provenance(report)]),
        ]
        pictures.remove_others()
    remove_folder_if_empty(beside)
    name, version = report.name_and_version
    page = render_page(
        name,
        [section for section in sections if section is not None],
        kicker="Build report" if report.build is not None else "Dataset report",
        lead=str(report.settings.get("description") or ""),
        tiles=_tiles(report, figures, captions, misfits, audit, pairs),
        alerts=_alerts(report, figures, missing, audit),
        footer=f"{name} {version}. Written by vttdata; everything comes from the tables of the build and its dataset.",
        script=PageScript(data, "clips.js" if figures.clips else ""),
    )
    write_whole(out, page)
    return out


def _read_captions(report: ReportInput) -> pa.Table:
    """Return the captions of all splits, with their annotators where those are known."""
    tables = [_CAPTIONS.empty_table()]
    for path in chain(*report.files.get("captions", {}).values()):
        with open_parquet(path, "video_id", "caption") as file:
            table = file.read(columns=[name for name in _CAPTIONS.names if name in file.schema_arrow.names])
        tables.append(table.cast(pa.schema([_CAPTIONS.field(name) for name in table.column_names])))
    return pa.concat_tables(tables, promote_options="default")


def _tiles(
    report: ReportInput,
    figures: ClipFigures,
    captions: CaptionFindings,
    misfits: CategoryFindings,
    audit: JsonObject,
    pairs: Sequence[JsonObject],
) -> list[Tile]:
    tiles = []
    if figures.clips:
        by_split = ", ".join(f"{split} {number:,}" for split, number in figures.splits.items())
        tiles.append(Tile(format_number(figures.clips), "clips", by_split, href="#clips"))
        sources = pc.count_distinct(figures.source_ids).as_py()
        total = float(figures.seconds.sum(dtype=float))
        length = f"{total / 3600:,.1f} hours" if total >= 3600 else f"{total / 60:.1f} minutes"
        known = f"{length} of clips" if len(figures.seconds) else "no times of clips are known"
        tiles.append(Tile(format_number(sources), "sources", known))
    if report.stages:
        lost = sum(sum(stage["rejected"].values()) + sum(stage["failed"].values()) for stage in report.stages)
        tiles.append(Tile(format_number(lost), "left out", "rejected or failed, in all stages", href="#attrition"))
    if captions.captions:
        share = captions.shared_captions / captions.captions
        mean = sum(number * count for number, count in captions.words.items()) / captions.captions
        tiles.append(Tile(format_number(captions.captions), "captions", f"{mean:.1f} words each", href="#captions"))
        tone = "bad" if share >= 0.1 else "warn" if share >= 0.02 else ""
        tiles.append(Tile(f"{share:.1%}", "captions shared by several clips", "", tone, "#shared-captions"))
    if captions.annotators:
        tone = "warn" if captions.unusual else "good"
        tiles.append(Tile(format_number(len(captions.unusual)), "unusual annotators", "", tone, "#unusual-annotators"))
    if misfits.judged:
        tone, detail = "warn" if misfits.found else "good", f"of {misfits.judged:,} compared"
        label = "clips in doubtful categories"
        tiles.append(Tile(format_number(misfits.found), label, detail, tone, "#misfits"))
    if audit and len(figures.splits) > 1:
        leaking = {
            name: sum(leak["clips"].values()) for name, leak in audit.get("leaks", {}).items() if name != "caption"
        }
        tone = "good" if audit.get("ok") else "bad"
        detail = ", ".join(f"{number:,} {name.replace('_', '-')}" for name, number in leaking.items() if number)
        tiles.append(
            Tile(format_number(sum(leaking.values())), "leaks, in clips", detail or "no leak found", tone, "#leaks")
        )
    if pairs:
        crossing = sum(pair["crosses"] for pair in pairs)
        detail = f"{crossing:,} across splits"
        tiles.append(
            Tile(format_number(len(pairs)), "near-duplicate pairs", detail, "bad" if crossing else "", "#leaks")
        )
    return tiles


def _alerts(
    report: ReportInput, figures: ClipFigures, missing: Sequence[str], audit: JsonObject
) -> list[tuple[str, str]]:
    alerts = blind_alerts(report.dataset) if report.dataset is not None else []
    status = report.account.get("status", "complete")
    if status != "complete":
        state = "is running, or was interrupted" if status == "running" else f"is {status}"
        alerts.append(("bad", f"The build {state}: what follows is what it finished. The same command goes on."))
    if report.dataset is None:
        alerts.append(("warn", "There is no dataset yet, so that no clips, splits or captions can be shown."))
    elif not figures.clips and "foils" in report.files:
        alerts.append(("warn", "This is a set of foils: 'vttdata audit DATASET --page audit.html' shows its pairs."))
    elif not figures.clips:
        alerts.append(("warn", "The dataset holds no clips, so that no pictures, lengths and leaks can be shown."))
    if report.build is None:
        alerts.append(
            ("warn", "This is a dataset without its build: what was rejected, and shots, are not known here.")
        )
    if missing:
        alerts.append(("warn", f"Tables are missing, and their rejects with them: {', '.join(missing)}."))
    verdict = audit.get("verdict")
    if verdict:
        alerts.append(("good" if audit.get("ok") else "bad", str(verdict)))
    for warning in audit.get("warnings", ()):
        alerts.append(("warn", str(warning)))
    return alerts


def _show_clips(report: ReportInput, figures: ClipFigures) -> PageSection | None:
    if not figures.clips:
        return None
    note = "Each clip opens to its first, middle and last frames, its shots and captions."
    if not figures.pictures:
        note = "Each clip opens to its captions. There are no pictures, since the videos are not here"
        note += "; 'videos=FOLDER' in a build names them." if "videos" in report.settings else "."
    elif figures.pictures < figures.clips:
        missing = figures.clips - figures.pictures
        note += f" {missing:,} have no picture, since their videos are not here or cannot be decoded."
    return PageSection("clips", "Clips", render("clips.html"), note, f"{figures.clips:,}")


def _show_distributions(report: ReportInput, figures: ClipFigures, captions: CaptionFindings) -> PageSection | None:
    if not figures.clips:
        return None
    settings = report.section("clips")
    limits = [] if settings.get("whole") else plots.setting_limits(settings, ("min_seconds", "max_seconds"), "clips")
    caption_limits = plots.setting_limits(report.section("captions"), ["per_clip"], "captions")
    words = np.repeat(*np.array([*captions.words.items()], int).reshape(-1, 2).T)
    charts = [
        plots.histogram_of(figures.seconds, "Length of clips", "s", limits),
        plots.histogram_of(figures.index["captions"], "Captions of a clip", "captions", caption_limits),
        plots.histogram_of(words, "Words of a caption", "words"),
    ]
    body = Markup('<div class="plots">{}</div>').format(Markup("").join(charts))
    if figures.categories:
        largest = sorted(figures.categories.items(), key=lambda entry: -entry[1].total())[:_CATEGORIES]
        rows = {label: [counts[split] for split in figures.splits] for label, counts in largest}
        body += plots.stacked_bars(
            rows, list(figures.splits), caption="Clips of each category, by split", heading="category"
        )
    return PageSection("distributions", "Distributions", body)


def _show_timelines(report: ReportInput, figures: ClipFigures) -> PageSection | None:
    shots = report.shots
    if not shots:
        return None
    rows = figures.rows_of(figures.source_ids, list(shots))
    sources = [*rows, *(source for source in shots if source not in rows)][:_TIMELINES]
    clips = read_clip_rows(report, [row for source in sources for row in rows.get(source, ())])
    entries = []
    for source in sources:
        lanes = {
            "shots": [
                plots.Stretch(start, end, f"shot {number}: {start:.2f} to {end:.2f} s, {transition}", "ag"[number % 2])
                for number, (start, end, transition) in enumerate(shots[source])
            ],
            "clips": [
                plots.Stretch(clip["start"], clip["end"], f"clip: {clip['start']:.2f} to {clip['end']:.2f} s", "c")
                for clip in (clips[row] for row in rows.get(source, ()))
            ],
        }
        seconds = shots[source][-1].end
        entries.append(
            {
                "source": source,
                "picture": plots.timeline(lanes, seconds),
                "shots": len(lanes["shots"]),
                "clips": len(lanes["clips"]),
                "seconds": seconds,
                "row": rows.get(source, [None])[0],
            }
        )
    body = render("timelines.html", entries=entries, number=len(shots))
    note = "Shots of each source above the clips that were taken from it."
    return PageSection("timelines", "Shots", body, note, f"{sum(map(len, shots.values())):,}")


def _show_captions(figures: ClipFigures, captions: CaptionFindings, misfits: CategoryFindings) -> PageSection | None:
    if not captions.captions:
        return None
    ordered = sorted(
        captions.annotators.items(), key=lambda entry: (entry[0] not in captions.unusual, -entry[1].captions)
    )
    annotators = [
        (
            name,
            each.captions,
            each.clips,
            each.mean_words,
            f"{each.repeated:.1%}",
            each.commonest,
            captions.unusual.get(name, ""),
        )
        for name, each in ordered[:_ANNOTATORS]
    ]
    figures_of = (
        "annotator",
        "captions",
        "clips",
        ResultColumn("words a caption", 1),
        "repeated",
        "most frequent text",
    )
    categories = [
        (name, each.clips, f"{each.named / each.clips:.0%}", each.misfits, each.better)
        for name, each in misfits.categories.items()
    ]
    told = ("category", "clips", "named by words", "speak for another", "mostly for")
    named = {video_id for video_id, _ in captions.shortest + captions.longest + captions.damaged[:_DAMAGED]}
    named |= {misfit.video_id for misfit in misfits.misfits}
    rows = figures.rows_of(figures.video_ids, sorted(named))
    body = render(
        "captions.html",
        found=captions,
        annotators=ResultTable((*figures_of, "unusual"), annotators, "Annotators with at least 10 captions"),
        misfits=misfits,
        categories=ResultTable(told, categories, "Categories with at least 5 clips"),
        shared=ResultTable(
            ("text", "captions"), list(captions.shared.items()), "Texts of several clips, the most frequent first"
        ),
        min_odds=MIN_ODDS,
        max_odds=MAX_ODDS,
        rows={video_id: rows[video_id][0] if video_id in rows else None for video_id in named},
    )
    return PageSection("captions", "Captions", body, badge=f"{captions.captions:,}")


def _describe_provenance(report: ReportInput) -> Section:
    name, version = report.name_and_version
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
    commands = [
        *([f"Build it again: `vttdata build {name}`"] if account else []),
        f"See what was left out: `vttdata rejects {name}`",
        f"Check the splits: `vttdata audit {name}`",
        f"Build the dataset's own recipe again: `vttdata verify {name}`",
        *filter(None, [correction_hint(report.dataset) if report.dataset is not None else ""]),
    ]
    return Section("Provenance", items=commands, table=ResultTable(("fact", "value"), facts))
