"""Writes the README of a dataset for people: what is in it, how it was made, what each column means, how to load it.

Headings follow the Hub's dataset card template where they have something to say. All text that comes from outside is
escaped, so that a title or description cannot become markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vttdata.dataset.card.rights import credits_text
from vttdata.dataset.card.sections import (
    Tables,
    creation_text,
    details_text,
    escape,
    loading_text,
    structure_text,
    table_text,
)
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.statistics import Statistics
from vttdata.split import Audit
from vttdata.split.audit.text import leak_rows, leak_sentence, notes

_TIES = {
    "source": "one source",
    "query": "one search query",
    "uploader": "one uploader",
    "near_duplicate": "sources found to be near-duplicates",
}


def card_text(
    about: Metadata,
    facts: Statistics,
    tables: Tables,
    folder: Path,
    *,
    shipped: int,
    audits: Mapping[str, Audit] | None = None,
) -> str:
    """The README below its YAML head.

    Args:
        about: what the tables do not say.
        facts: what they do.
        tables: the configurations that exist.
        folder: of the dataset; its provenance lies there already.
        shipped: the number of clips whose video file is in the dataset.
        audits: of the splits (``clips``) and of those of each protocol, where they were audited.
    """
    parts = [
        f"# {about.name.partition('/')[2]} {about.version}",
        escape(about.description) or "A video-to-text benchmark built with vttdata.",
        details_text(about),
        loading_text(about, tables),
        "## Statistics\n\n" + table_text([[escape(cell) for cell in row] for row in facts.table()]),
        "Words are what white space separates; the vocabulary is their distinct lower-cased forms. Clip lengths are in "
        "seconds. A source that feeds several splits counts once in the total.",
        table_text(facts.config_table()) if facts.configs else "",
        _against_paper(about, facts),
        _findings(about),
        _availability(about, facts, tables, shipped),
        _splits(about, facts),
        _leaks(about, audits or {}),
        creation_text(about),
        credits_text(about, folder, shipped=shipped > 0),
        structure_text(tables),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _availability(about: Metadata, facts: Statistics, tables: Tables, shipped: int) -> str:
    if not shipped:
        lines = ["No video files are part of this dataset: a clip is its source and its times there."]
    elif "videos" in tables:
        lines = [f"Video files of {shipped:,} of {facts.total.clips:,} clips are in the configuration `videos`."]
    else:
        lines = [
            f"Video files of {shipped:,} of {facts.total.clips:,} clips are part of this dataset (`video`).",
            'They load as `load_dataset("videofolder", data_dir=FOLDER + "/videos")` too.',
        ]
    if 0 < shipped < facts.total.clips:
        lines.append(f"The other {facts.total.clips - shipped:,} are missing here; their rows are kept.")
    missing = [split for split in about.asked if split not in facts.splits]
    if missing:
        lines.append(f"No clips fell into: {', '.join(missing)}. Such a split does not exist here.")
    if not facts.total.sentences:
        lines.append("There are no captions.")
    return " ".join(lines)


def _against_paper(about: Metadata, facts: Statistics) -> str:
    rows: list[tuple[str, ...]] = [("figure", "the paper", "these files", "")]
    for name, figure in about.paper.items():
        digits = len(f"{figure.says:g}".partition(".")[2])
        counted = float(getattr(facts.total, name))
        same = round(counted, digits) == figure.says
        shown = f"{counted:,.{0 if counted.is_integer() else max(digits, 2)}f}"
        rows.append((name, f"{figure.says:,.{digits}f}", shown, "the same" if same else escape(figure.why)))
    return "### Against the paper\n\n" + table_text(rows) if about.paper else ""


def _findings(about: Metadata) -> str:
    if not about.findings:
        return ""
    rows: list[tuple[str, ...]] = [("finding", "count", "meaning", "such as")]
    rows += [(f"`{kind}`", f"{count:,}", escape(meaning), escape(ids)) for kind, meaning, count, ids in about.findings]
    return f"### Findings in the official files\n\nNothing of this was changed.\n\n{table_text(rows)}"


def _splits(about: Metadata, facts: Statistics) -> str:
    if not about.asked:
        return ""
    rows: list[tuple[str, ...]] = [("split", "asked", "achieved", "clips")]
    for split, ratio in about.asked.items():
        clips = facts.splits[split].clips if split in facts.splits else 0
        rows.append((split, f"{ratio:.2%}", f"{clips / max(facts.total.clips, 1):.2%}", f"{clips:,}"))
    ties = " or ".join(_TIES.get(tie, tie) for tie in about.together)
    promise = f"Clips of {ties} are never in different splits." if ties else ""
    return "\n\n".join(part for part in ("## Splits", table_text(rows), _gap(about, facts), promise) if part)


def _gap(about: Metadata, facts: Statistics) -> str:
    """How far the splits are from what was asked, in all and within a category."""
    total = facts.total
    overall = max(_gaps(about, {split: own.clips for split, own in facts.splits.items()}, total.clips))
    within = [
        (*max(_gaps(about, {split: own.categories.get(name, 0) for split, own in facts.splits.items()}, size)), name)
        for name, size in total.categories.items()
    ]
    text = f"The share of `{overall[1]}` differs most from what was asked, by {overall[0]:.2f} percentage points"
    if not within:
        return f"{text}."
    gap, split, name = max(within)
    return f"{text}; within a category that of `{split}` in {escape(name)}, by {gap:.2f}."


def _gaps(about: Metadata, clips: Mapping[str, int], total: int) -> list[tuple[float, str]]:
    return [
        (round(100 * abs(clips.get(split, 0) / max(total, 1) - ratio), 4), split)
        for split, ratio in about.asked.items()
    ]


def _leaks(about: Metadata, audits: Mapping[str, Audit]) -> str:
    audit = audits.get("clips")
    if audit is None:
        return ""
    rows = [[escape(cell) for cell in row] for row in leak_rows(audit)]
    verdict = (
        "No clip shares a source, a stretch of time or, where they are known, a near-duplicate with another split."
    )
    if not audit.ok:
        verdict = f"**These splits leak:** {escape(leak_sentence(audit))}."
    told = " ".join(escape(note) for note in notes(audit))
    protocols = [
        f"- `{name}`: {'no leaks' if own.ok else f'**its splits leak:** {escape(leak_sentence(own))}'}"
        for name, own in audits.items()
        if own is not audit
    ]
    parts = ["## Leaks", verdict, table_text(rows), "The columns count clips that share with another split.", told]
    parts += ["Protocols:\n\n" + "\n".join(protocols)] if protocols else []
    if not all(own.ok for own in audits.values()):
        parts.append(f"Why leaks are accepted: {escape(about.allow_leaks or 'not said')}")
    return "\n\n".join(parts)


def limitations(about: Metadata, facts: Statistics, audits: Mapping[str, Audit], shipped: int) -> list[str]:
    """What is known to be wrong with a dataset, a sentence each: leaks, odd rows of official files, missing files."""
    leaks = [f"The splits of {name} leak: {leak_sentence(own)}." for name, own in audits.items() if not own.ok]
    odd = [f"In the official files, unchanged here: {meaning} ({number})." for _, meaning, number, _ in about.findings]
    lost = facts.total.clips - shipped
    return leaks + odd + ([f"The video files of {lost} of {facts.total.clips} clips are not included."] if lost else [])
