"""Write the README of a dataset for people: first what a reader wants at once, then details that unfold.

The beginning says what it is, shows clips, counts the splits, and says how to load it, what leaks and the terms. All
text from outside is escaped, so that a title or description cannot become markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from vttdata.dataset.card.corrections import format_corrections
from vttdata.dataset.card.questions import describe_attacks, format_questions
from vttdata.dataset.card.sections import (
    Tables,
    fold,
    format_creation,
    format_details,
    format_loading,
    format_rebuilding,
    format_responsible,
    format_rights,
    format_structure,
    format_table,
    read_rows,
)
from vttdata.dataset.facts import DatasetFacts
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.statistics import Statistics
from vttdata.dataset.videos import PREVIEW, count_shipped_videos
from vttdata.files.results import escape_line
from vttdata.ids import is_pseudonym
from vttdata.records import HDR_TRANSFERS, INTERLACED
from vttdata.split import Audit
from vttdata.split.audit.leaks import count_rows, leak_rows, leak_sentence, notes

# Beginning of the card's line on items that the dataset lacks because their processing was cut short.
INCOMPLETE = "**Incomplete:** "

_TOGETHER = {
    "source": "one source",
    "query": "one search query",
    "uploader": "one uploader",
    "near_duplicate": "sources found to be near-duplicates",
}


def format_card(
    facts: DatasetFacts, statistics: Statistics, audits: Mapping[str, Audit], tables: Tables, folder: Path
) -> str:
    """Return the README below its front matter, of a folder that has its provenance already.

    `audits` are those of the splits (``clips``) and of each protocol, if they were audited.
    """
    metadata = facts.metadata
    shipped = count_shipped_videos(folder, tables)
    parts = [
        f"# {metadata.name.partition('/')[2]} {metadata.version}",
        f"{INCOMPLETE}items of {escape_line(metadata.unprocessed)} are missing, because their processing was cut "
        "short. The same build, run again, tries them again."
        if metadata.unprocessed
        else "",
        *_format_verdicts(audits),
        escape_line(metadata.description) or "A video-to-text benchmark built with vttdata.",
        f"![One frame each of clips of this dataset]({PREVIEW})" if (folder / PREVIEW).is_file() else "",
        format_details(metadata),
        _format_splits(metadata, statistics),
        _format_availability(metadata, statistics, tables, shipped),
        *_format_pictures(tables, folder, shipped=shipped > 0),
        format_questions(tables, folder),
        format_loading(metadata, tables),
        _format_people(tables, folder),
        _format_leaks(metadata, audits),
        format_responsible(metadata),
        format_rights(metadata, folder, shipped=shipped > 0),
        format_corrections(facts, tables, folder),
        "## Details",
        _format_figures(statistics),
        _format_paper_comparison(metadata, statistics),
        _format_findings(metadata),
        _format_ratios(metadata, statistics),
        _format_audit(audits),
        format_creation(metadata),
        format_rebuilding(metadata, folder),
        format_structure(tables),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _format_people(tables: Tables, folder: Path) -> str:
    """Return whether those who wrote and checked captions appear under names or pseudonyms; empty without any."""
    people = {
        name
        for row in read_rows(folder, tables, "captions", ("annotator", "verified_by"))
        for name in row.values()
        if name is not None
    }
    if not people:
        return ""
    named = sum(not is_pseudonym(name) for name in people)
    if not named:
        return "The people who wrote captions (`annotator`) appear under pseudonyms or numbers."
    return (
        f"Of the {len(people):,} people who wrote or checked captions (`annotator`, `verified_by`), {named:,} appear "
        "under a name or id as it was given; `captions.pseudonyms` in a recipe puts pseudonyms in their place."
    )


def _format_figures(statistics: Statistics) -> str:
    return fold(
        "All figures",
        format_table([(escape_line(name), *figures) for name, *figures in statistics.table()]),
        "Words are separated by white space, and are letters in scripts that separate no words; the vocabulary is "
        "their distinct lower-cased forms. Clip lengths are in seconds. A source that feeds several splits counts "
        "once in the total.",
        format_table(statistics.config_table()) if statistics.configs else "",
    )


def _format_paper_comparison(metadata: Metadata, statistics: Statistics) -> str:
    rows: list[tuple[str, ...]] = [("figure", "the paper", "these files", "")]
    for name, figure in metadata.paper.items():
        digits = len(f"{figure.says:g}".partition(".")[2])
        counted = metadata.counted[name] if name in metadata.counted else getattr(statistics.total, name)
        is_same = counted is not None and round(float(counted), digits) == figure.says
        shown = "-" if counted is None else f"{counted:,.{0 if float(counted).is_integer() else max(digits, 2)}f}"
        rows.append(
            (
                name.replace("_", " "),
                f"{figure.says:,.{digits}f}",
                shown,
                "the same" if is_same else escape_line(figure.why),
            )
        )
    return fold("Against the paper", format_table(rows)) if metadata.paper else ""


def _format_findings(metadata: Metadata) -> str:
    if not metadata.findings:
        return ""
    rows = [
        (f"`{kind}`", f"{count:,}", escape_line(meaning), escape_line(examples))
        for kind, meaning, count, examples in metadata.findings
    ]
    table = format_table([("finding", "count", "meaning", "such as"), *rows])
    return fold("Findings in the official files", "None of these was changed.", table)


def _format_availability(metadata: Metadata, statistics: Statistics, tables: Tables, shipped: int) -> str:
    clips = statistics.total.clips
    if not shipped:
        sentences = ["No video files are part of this dataset: a clip is its source and its times there."]
    elif "videos" in tables:
        sentences = [f"Video files of {shipped:,} of {clips:,} clips are in the configuration `videos`."]
    else:
        sentences = [
            f"Video files of {shipped:,} of {clips:,} clips are part of this dataset (`video`).",
            'They load as `load_dataset("videofolder", data_dir=FOLDER + "/videos")` too, split by split; its `Video` '
            "columns are decoded by the library `torchcodec`.",
        ]
    if 0 < shipped < clips:
        sentences.append(f"The other {clips - shipped:,} are missing here; their rows are kept.")
    missing = [split for split in metadata.split_ratios if split not in statistics.splits]
    if missing:
        sentences.append(f"No clips fell into: {', '.join(missing)}. Such a split does not exist here.")
    if not statistics.total.sentences:
        sentences.append("There are no captions.")
    return " ".join(sentences)


def _format_pictures(tables: Tables, folder: Path, *, shipped: bool) -> Iterator[str]:
    """Yield how many sources are of high dynamic range and how many interlaced, and what became of their clips."""
    rows = read_rows(folder, tables, "sources", ("source_id", "color_transfer", "field_order"))
    facts = {row["source_id"]: (row["color_transfer"], row["field_order"]) for row in rows}
    hdr = Counter(HDR_TRANSFERS[transfer] for transfer, _ in facts.values() if transfer in HDR_TRANSFERS)
    if hdr:
        kinds = " and ".join(f"{count:,} of {name}" for name, count in sorted(hdr.items()))
        clips = "; their clips here are tone-mapped to the standard range (BT.709, 8 bits)" if shipped else ""
        yield f"Of {len(facts):,} sources {hdr.total():,} are of high dynamic range ({kinds}){clips}."
    interlaced = sum(order in INTERLACED for _, order in facts.values())
    if interlaced:
        what = "film frames are restored, and other pictures deinterlaced, each at its time"
        clips = f"; in their clips here {what}" if shipped else ""
        yield f"Of {len(facts):,} sources {interlaced:,} are interlaced{clips}."


def _split_rows(statistics: Statistics) -> list[tuple[str, ...]]:
    """Return the main figures of each split, rounded for reading, below a header."""
    rows: list[tuple[str, ...]] = [("split", "clips", "sources", "hours", "captions", "words a caption")]
    for split, figures in [*statistics.splits.items(), ("all", statistics.total)]:
        hours, words = figures.hours, figures.words_per_sentence
        rows.append(
            (
                split,
                f"{figures.clips:,}",
                f"{figures.sources:,}",
                "-" if hours is None else f"{hours:,.{0 if hours >= 100 else 1 if hours >= 1 else 2}f}",
                f"{figures.sentences:,}",
                "-" if words is None else f"{words:.1f}",
            )
        )
    return rows


def _format_splits(metadata: Metadata, statistics: Statistics) -> str:
    """Return the section with the main figures of each split, and with what is never in two of them."""
    together = " or ".join(_TOGETHER.get(key, key) for key in metadata.together)
    promise = f"Clips of {together} are never in different splits." if together else ""
    return "\n\n".join(part for part in ("## Splits", format_table(_split_rows(statistics)), promise) if part)


def _format_ratios(metadata: Metadata, statistics: Statistics) -> str:
    if not metadata.split_ratios:
        return ""
    total = statistics.total
    rows: list[tuple[str, ...]] = [("split", "asked", "achieved", "clips")]
    for split, ratio in metadata.split_ratios.items():
        clips = statistics.splits[split].clips if split in statistics.splits else 0
        rows.append((split, f"{ratio:.2%}", f"{clips / max(total.clips, 1):.2%}", f"{clips:,}"))
    clips_of = {split: figures.clips for split, figures in statistics.splits.items()}
    gap, split = _largest_gap(metadata, clips_of, total.clips)
    deviation = f"The share of `{split}` differs most from what was asked, by {gap:.2f} percentage points"
    within = []
    for category, size in total.categories.items():
        clips_of = {split: figures.categories.get(category, 0) for split, figures in statistics.splits.items()}
        within.append((*_largest_gap(metadata, clips_of, size), category))
    if within:
        gap, split, category = max(within)
        deviation += f"; within a category that of `{split}` in {escape_line(category)}, by {gap:.2f}"
    return fold("Split ratios", format_table(rows), f"{deviation}.")


def _largest_gap(metadata: Metadata, clips: Mapping[str, int], total: int) -> tuple[float, str]:
    """Return the largest gap between requested and achieved ratio in percentage points, and its split."""
    return max(
        (round(100 * abs(clips.get(split, 0) / max(total, 1) - ratio), 4), split)
        for split, ratio in metadata.split_ratios.items()
    )


def _format_leaks(metadata: Metadata, audits: Mapping[str, Audit]) -> str:
    audit = audits.get("clips")
    if audit is None:
        return ""
    protocols = [
        f"- `{name}`: {escape_line(protocol.verdict)}" for name, protocol in audits.items() if protocol is not audit
    ]
    parts = ["## Leaks", f"{escape_line(audit.verdict)} {escape_line(notes(audit)[-1])}"]
    parts += ["Protocols:\n\n" + "\n".join(protocols)] if protocols else []
    if not all(audit.ok for audit in audits.values()):
        # `vttdata.publish.release_checks` reads this line.
        parts.append(f"Why leaks are accepted: {escape_line(metadata.allow_leaks or 'not said')}")
    return "\n\n".join(parts)


def _format_audit(audits: Mapping[str, Audit]) -> str:
    audit = audits.get("clips")
    if audit is None:
        return ""
    return fold(
        "Leaks, counted",
        format_table([[escape_line(cell) for cell in row] for row in leak_rows(audit)]),
        "The columns count clips that share with another split.",
        " ".join(escape_line(note) for note in notes(audit)),
        format_table(
            [[escape_line(cell) for cell in row] for row in count_rows(audit) if row[0] not in ("clips", "captions")]
        ),
        "Sources that near-duplicates connect are one family; its members show the same and are not independent.",
    )


def _format_verdicts(audits: Mapping[str, Audit]) -> list[str]:
    """Return the outcome of the audit in bold, those of protocols that leak, and all warnings."""
    verdicts = [
        audit.verdict if name == "clips" else f"Protocol {name}: {audit.verdict}"
        for name, audit in audits.items()
        if name == "clips" or not audit.ok
    ]
    warnings = dict.fromkeys(f"WARNING: {warning}" for audit in audits.values() for warning in audit.warnings)
    return [f"**{escape_line(sentence)}**" for sentence in (*verdicts, *warnings)]


def list_limitations(
    metadata: Metadata, statistics: Statistics, audits: Mapping[str, Audit], tables: Tables, folder: Path
) -> list[str]:
    """Return the known limitations, a sentence each: leaks, irregularities of official files, missing files, blind."""
    sentences = [f"Incomplete: items of {metadata.unprocessed} are missing."] if metadata.unprocessed else []
    sentences += [
        f"The splits of {name} leak: {leak_sentence(audit)}." for name, audit in audits.items() if not audit.ok
    ]
    sentences += [warning for audit in audits.values() for warning in audit.warnings]
    sentences += [
        f"In the official files, unchanged here: {meaning} ({count})." for _, meaning, count, _ in metadata.findings
    ]
    missing = statistics.total.clips - count_shipped_videos(folder, tables)
    if missing:
        sentences.append(f"The video files of {missing} of {statistics.total.clips} clips are not included.")
    return [*sentences, *filter(None, [describe_attacks(folder)])]
