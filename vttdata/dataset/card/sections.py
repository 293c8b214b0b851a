"""The sections that the cards of all kinds of datasets share, and Markdown that outside text cannot break out of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from vttdata.dataset.columns import columns_of
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.shards import SplitFiles

Tables = Mapping[str, Sequence[SplitFiles]]
"""Configuration -> its splits."""

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
    "swaps": "one row a concept and what takes its place, with how many pairs do so",
    "videos": "one row a clip whose video file is here, with the file's bytes",
    "judgments": "one row a judged caption, with its human scores and references",
}
_PROTOCOL_ROW = "one row a clip, with its captions, in the splits and the order of this protocol"


def escape(text: str) -> str:
    """Plain text as one line of Markdown that means nothing else: no HTML, no links, no table cells."""
    folded = " ".join("".join(sign for sign in text if sign.isprintable() or sign.isspace()).split())
    marked = _MARKUP.sub(r"\\\1", folded.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return marked.replace("://", ":&#47;/").replace("@", "&#64;").replace("www.", "www&#46;")


def details_text(about: Metadata) -> str:
    """What a dataset is in a few lines, as a section."""
    lines = [
        f"- **Name:** `{about.name}`",
        f"- **Version:** {about.version}" + (f", published {about.date}" if about.date else ""),
        f"- **Language:** {escape(about.language)}",
        f"- **Seed of all random choices:** {about.seed}",
    ]
    return "## Dataset Details\n\n" + "\n".join(lines)


def loading_text(about: Metadata, tables: Tables) -> str:
    """How the configurations are loaded, and what a row of each is, as a section."""
    main, *others = tables
    lines = [
        "from vttdata import load_dataset  # or from datasets, with this folder's path",
        "",
        f'{_VARIABLE.sub("_", main)} = load_dataset("{about.name}", split="{tables[main][0].split}")',
        *(f'{_VARIABLE.sub("_", name)} = load_dataset("{about.name}", "{name}")' for name in others),
    ]
    meanings = "\n".join(
        f"- `{config}`: {_CONFIG_ROWS.get(config.partition('-without-')[0], _PROTOCOL_ROW)}" for config in tables
    )
    pin = f'`revision="v{about.version}"` asks for this version, `streaming=True` reads without downloading all.'
    code = "\n".join(lines)
    return f"## Uses\n\n```python\n{code}\n```\n\n{pin}\n\n{meanings}"


def structure_text(tables: Tables) -> str:
    """The sizes of all splits and the columns of all configurations, as a section."""
    rows: list[tuple[str, ...]] = [("configuration", "split", "rows", "files", "bytes")]
    rows += [
        (f"`{config}`", own.split, f"{own.rows:,}", f"{len(own.shards):,}", f"{own.bytes:,}")
        for config, splits in tables.items()
        for own in splits
    ]
    columns = "\n\n".join(columns_text(config) for config in tables)
    told = "`manifest.json` lists every file with its SHA-256 checksum; `croissant.json` describes the tables."
    return f"## Dataset Structure\n\n{table_text(rows)}\n\n{told}\n\n{columns}"


def creation_text(about: Metadata) -> str:
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
    "video": "bytes and path",
    "classes": "list of class label",
}


def table_text(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is its header."""
    head, *body = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *body])
