"""Writes the README of a dataset for people: what is in it, how it was made, what each column means, how to load it.

Headings follow the Hub's dataset card template where they have something to say. All text that comes from outside is
escaped, so that a title or description cannot become markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from vttdata.publish.about import About
from vttdata.publish.columns import columns_of
from vttdata.publish.statistics import Statistics
from vttdata.report.audit import leak_rows, leak_sentence, notes
from vttdata.split import Audit

_MARKUP = re.compile(r"([\\`*_{}\[\]#|~]|^[-+=]|(?<=^\d)[.)])")
_VARIABLE = re.compile(r"\W|^(?=\d)")
_CONFIG_ROWS = {
    "clips": "one row a clip, with its captions",
    "captions": "one row a caption",
    "sources": "one row an original video, in each split that has clips of it",
    "concepts": "one row a clip, with the annotated concepts of its sentence",
    "degraded": "one row a caption, with a degraded one for Direct Assessment and how it was made",
    "foils": "one row a pair of a true caption and its foil",
    "paragraphs": "one row a pair of a true paragraph and its foil",
    "judgments": "one row a judged caption, with its human scores and references",
}
_TIES = {
    "source": "one source",
    "query": "one search query",
    "uploader": "one uploader",
    "near_duplicate": "sources found to be near-duplicates",
}
_PROTOCOL_ROW = "one row a clip, with its captions, in the splits and the order of this protocol"


def card_text(
    about: About,
    facts: Statistics,
    configs: Iterable[str],
    *,
    shipped: int,
    missing: Sequence[str],
    audits: Mapping[str, Audit] | None = None,
) -> str:
    """The README below its YAML head.

    Args:
        about: what the tables do not say.
        facts: what they do.
        configs: the configurations that exist.
        shipped: the number of clips whose video file is in the dataset.
        missing: names of splits that were asked for and got no clip.
        audits: of the splits (``clips``) and of those of each protocol, where they were audited.
    """
    configs = list(configs)
    parts = [
        f"# {about.name.partition('/')[2]} {about.version}",
        escape(about.description) or "A video-to-text benchmark built with vttdata.",
        _details(about),
        _loading(about, configs, facts),
        "## Statistics\n\n" + table_text([[escape(cell) for cell in row] for row in facts.table()]),
        "Words are what white space separates; the vocabulary is their distinct lower-cased forms. Clip lengths are in "
        "seconds. A source that feeds several splits counts once in the total.",
        table_text(facts.config_table()) if facts.configs else "",
        _against_paper(about, facts),
        _findings(about),
        _availability(facts, shipped, missing),
        _splits(about, facts),
        _leaks(about, audits or {}),
        creation_text(about),
        "## Dataset Structure\n\n" + "\n\n".join(columns_text(config) for config in configs),
        "`manifest.json` lists every file with its SHA-256 checksum.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def escape(text: str) -> str:
    """Plain text as one line of Markdown that means nothing else: no HTML, no links, no table cells."""
    folded = " ".join("".join(sign for sign in text if sign.isprintable() or sign.isspace()).split())
    marked = _MARKUP.sub(r"\\\1", folded.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return marked.replace("://", ":&#47;/").replace("@", "&#64;").replace("www.", "www&#46;")


def _details(about: About) -> str:
    return (
        f"## Dataset Details\n\n- **Language:** {escape(about.language)}\n- **Licence of the annotations:** "
        f"{escape(about.licence)}\n- **Version:** {about.version}\n- **Seed of all random choices:** {about.seed}"
    )


def _loading(about: About, configs: Sequence[str], facts: Statistics) -> str:
    first = next(iter(facts.splits), "train")
    others = "".join(
        f'{_VARIABLE.sub("_", name)} = load_dataset("{about.name}", "{name}")\n' for name in configs if name != "clips"
    )
    return (
        "## Uses\n\n```python\nfrom vttdata import load_dataset  # or from datasets, with this folder's path\n\n"
        f'clips = load_dataset("{about.name}", split="{first}")\n{others}```\n\n'
        + "\n".join(
            f"- `{config}`: {_CONFIG_ROWS.get(config.partition('-without-')[0], _PROTOCOL_ROW)}" for config in configs
        )
    )


def _availability(facts: Statistics, shipped: int, missing: Sequence[str]) -> str:
    lines = [f"Video files of {shipped:,} of {facts.total.clips:,} clips are part of this dataset (`video`)."]
    if 0 < shipped < facts.total.clips:
        lines.append(
            f"The other {facts.total.clips - shipped:,} are missing here; their rows are kept, without `video`."
        )
    if missing:
        lines.append(f"No clips fell into: {', '.join(missing)}. Such a split does not exist here.")
    if not facts.total.sentences:
        lines.append("There are no captions.")
    return " ".join(lines)


def _against_paper(about: About, facts: Statistics) -> str:
    rows: list[tuple[str, ...]] = [("figure", "the paper", "these files", "")]
    for name, figure in about.paper.items():
        digits = len(f"{figure.says:g}".partition(".")[2])
        counted = float(getattr(facts.total, name))
        same = round(counted, digits) == figure.says
        shown = f"{counted:,.{0 if counted.is_integer() else max(digits, 2)}f}"
        rows.append((name, f"{figure.says:,.{digits}f}", shown, "the same" if same else escape(figure.why)))
    return "### Against the paper\n\n" + table_text(rows) if about.paper else ""


def _findings(about: About) -> str:
    if not about.findings:
        return ""
    rows: list[tuple[str, ...]] = [("finding", "count", "meaning", "such as")]
    rows += [(f"`{kind}`", f"{count:,}", escape(meaning), escape(ids)) for kind, meaning, count, ids in about.findings]
    return f"### Findings in the official files\n\nNothing of this was changed.\n\n{table_text(rows)}"


def _splits(about: About, facts: Statistics) -> str:
    if not about.asked:
        return ""
    rows: list[tuple[str, ...]] = [("split", "asked", "achieved", "clips")]
    for split, ratio in about.asked.items():
        clips = facts.splits[split].clips if split in facts.splits else 0
        rows.append((split, f"{ratio:.2%}", f"{clips / max(facts.total.clips, 1):.2%}", f"{clips:,}"))
    ties = " or ".join(_TIES.get(tie, tie) for tie in about.together)
    promise = f"Clips of {ties} are never in different splits." if ties else ""
    return "\n\n".join(part for part in ("## Splits", table_text(rows), _gap(about, facts), promise) if part)


def _gap(about: About, facts: Statistics) -> str:
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


def _gaps(about: About, clips: Mapping[str, int], total: int) -> list[tuple[float, str]]:
    return [
        (round(100 * abs(clips.get(split, 0) / max(total, 1) - ratio), 4), split)
        for split, ratio in about.asked.items()
    ]


def _leaks(about: About, audits: Mapping[str, Audit]) -> str:
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


def creation_text(about: About) -> str:
    """How a dataset was made, as a section; empty where nothing is said of it."""
    if not about.attrition and not about.provenance:
        return ""
    parts = ["## Dataset Creation"]
    if about.attrition:
        rows: list[tuple[str, ...]] = [("stage", "counted", "in", "kept", "rejected and failed")]
        rows += [
            (escape(stage), escape(unit), f"{taken:,}", f"{kept:,}", escape(losses))
            for stage, unit, taken, kept, losses in about.attrition
        ]
        parts += ["What went into each stage, and what was left:", table_text(rows)]
    if about.provenance:
        lines = [f"- {escape(name)}: {escape(version)}" for name, version in sorted(about.provenance.items())]
        parts += ["Made with:", "\n".join(lines)]
    return "\n\n".join(parts)


def columns_text(config: str) -> str:
    """The columns of a configuration, as a section."""
    rows: list[tuple[str, ...]] = [("column", "type", "meaning")]
    rows += [
        (f"`{column.name}`", _TYPES.get(column.kind, column.kind), column.meaning) for column in columns_of(config)
    ]
    return f"### {config}\n\n" + table_text(rows)


_TYPES = {
    "strings": "list of string",
    "int64s": "list of int64",
    "float64s": "list of float64",
    "category": "class label",
    "classes": "list of class label",
}


def table_text(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is its header."""
    head, *body = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *body])
