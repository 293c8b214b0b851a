"""Sections that the cards of all kinds of datasets share, and Markdown that text from outside cannot break out of.

They say how to load a dataset, what is in it, how it was made and is made again, its licences, and what to cite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from vttdata.dataset.metadata import Metadata
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.provenance import PROVENANCE, RECIPE
from vttdata.dataset.rows import columns_of, row_meaning
from vttdata.dataset.shards import SplitFiles
from vttdata.files.reading import file_sha256
from vttdata.files.results import escape_line
from vttdata.json_types import Row

Tables = Mapping[str, Sequence[SplitFiles]]
"""Configuration -> its splits."""

REPOSITORY = "https://github.com/vttdata/vttdata"

_NOT_IN_VARIABLES = re.compile(r"\W|^(?=\d)")
_NO_LANGUAGE = "not stated; the key `language` of the recipe states it"

# Licences of videos and unknown ones, in words.
_NO_VIDEOS = "remains with its owners; this dataset has links and times only"
_VIDEOS = "as the column `licence` of `sources` says, as far as it is known"
_UNKNOWN = "`unknown`: nobody has stated yet under which terms this may be used"


def read_rows(dataset: Path, tables: Tables, config: str, columns: Sequence[str]) -> Iterator[Row]:
    """Yield some columns of the rows of all splits of a configuration, if the dataset has it."""
    paths = [dataset / shard.path for split in tables.get(config, ()) for shard in split.shards]
    return read_parquet_rows(paths, columns)


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first row is its header."""
    header, *body = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *body])


def fold(summary: str, *parts: str) -> str:
    """Return Markdown that a reader sees after a click on its summary, which is plain text; empty if all parts are."""
    body = "\n\n".join(filter(None, parts))
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>" if body else ""


def format_details(metadata: Metadata) -> str:
    """Return a list with name, version, language and seed."""
    lines = [
        f"- **Name:** `{metadata.name}`",
        f"- **Version:** {metadata.version}" + (f", published {metadata.date}" if metadata.date else ""),
        f"- **Language:** {escape_line(', '.join(metadata.languages)) or _NO_LANGUAGE}",
        f"- **Seed of all random choices:** {metadata.seed}",
    ]
    return "\n".join(lines)


def format_loading(metadata: Metadata, tables: Tables) -> str:
    """Return the section on how to load each configuration, and what a row of each is."""
    default, *others = tables
    lines = [
        "from vttdata import load_dataset  # or from datasets, with this folder's path",
        "",
        f'{_NOT_IN_VARIABLES.sub("_", default)} = load_dataset("{metadata.name}", split="{tables[default][0].split}")',
        *(f'{_NOT_IN_VARIABLES.sub("_", name)} = load_dataset("{metadata.name}", "{name}")' for name in others),
    ]
    options = (
        f'`revision="v{metadata.version}"` loads this version, `streaming=True` reads rows without downloading all '
        "files."
    )
    code = "\n".join(lines)
    meanings = "\n".join(f"- `{config}`: {row_meaning(config)}" for config in tables)
    return f"## How to load it\n\n```python\n{code}\n```\n\n{options}\n\n{meanings}"


def format_structure(tables: Tables) -> str:
    """Return the folded section with the sizes of all splits and the columns of all configurations."""
    sizes = [
        (f"`{config}`", split.split, f"{split.rows:,}", f"{len(split.shards):,}", f"{split.bytes:,}")
        for config, splits in tables.items()
        for split in splits
    ]
    parts = [
        format_table([("configuration", "split", "rows", "files", "bytes"), *sizes]),
        "`manifest.json` lists every file with its SHA-256 checksum; `croissant.json` describes the tables.",
    ]
    for config in tables:
        rows = [(f"`{column.name}`", column.type_name, column.meaning) for column in columns_of(config)]
        parts.append(f"**{config}**\n\n{format_table([('column', 'type', 'meaning'), *rows])}")
    return fold("Files and columns", *parts)


def format_creation(metadata: Metadata) -> str:
    """Return the folded section on the stages and tools of the build; empty if neither is known."""
    parts = []
    if metadata.attrition:
        rows: list[tuple[str, ...]] = [("stage", "counted", "in", "kept", "rejected and failed")]
        rows += [
            (escape_line(stage), escape_line(unit), f"{taken:,}", f"{kept:,}", escape_line(losses))
            for stage, unit, taken, kept, losses in metadata.attrition
        ]
        parts += ["Input and output of each stage:", format_table(rows)]
    if metadata.tools:
        lines = [f"- {escape_line(name)}: {escape_line(version)}" for name, version in sorted(metadata.tools.items())]
        parts += ["Made with:", "\n".join(lines)]
    return fold("How it was made, and what was left out", *parts)


def format_rights(metadata: Metadata, folder: Path, *, shipped: bool) -> str:
    """Return the sections on licences and citation; unknown facts are stated to be unknown.

    The folder is that of the dataset, with its provenance if there is one; `shipped` means that videos are in it.
    """
    licences: list[tuple[str, ...]] = [("part", "licence")]
    for part, licence in metadata.licences.items():
        if part == "videos" and licence is None:
            licences.append((part, _VIDEOS if shipped else _NO_VIDEOS))
        else:
            licences.append((part, _UNKNOWN if licence in (None, "unknown") else escape_line(licence or "")))
    # A fence in a citation would end the code block.
    papers = metadata.citation.strip().replace("```", "'''")
    entries = "\n\n".join(filter(None, (papers, build_citation(metadata, folder))))
    parts = [f"## Licences\n\n{format_table(licences)}", f"## Citation\n\n```bibtex\n{entries}\n```"]
    return "\n\n".join(parts)


def format_responsible(metadata: Metadata) -> str:
    """Return the section with what the makers say of a dataset; empty if they say nothing."""
    stated = metadata.responsible
    texts = {
        "Limitations": stated.limitations,
        "Biases": stated.biases,
        "Personal and sensitive information": stated.sensitive,
        "Uses": stated.uses,
        "Social impact": stated.social_impact,
    }
    lines = [f"- **{name}:** {escape_line(text)}" for name, text in texts.items() if text]
    return "\n".join(["## Responsible use\n", *lines]) if lines else ""


def format_rebuilding(metadata: Metadata, folder: Path) -> str:
    """Return the folded section with the commands that make a dataset again; empty without provenance."""
    if (folder / RECIPE).is_file():
        keys = "".join(f" --set {key}={kind.upper()}" for key, kind in metadata.required_paths.items())
        commands = [f"vttdata verify DATASET{keys or ' --rebuild'}", f"vttdata build {RECIPE}{keys} --out rebuilt"]
    elif (folder / PROVENANCE).is_file():
        commands = ["vttdata verify DATASET --input INPUT"]
    else:
        return ""
    version = metadata.tools.get("vttdata")
    extra = "foil" if (folder / "foils").is_dir() else "build"
    install = f"pip install '.[{extra}]'  # in a checkout of vttdata{f' {version}' if version else ''}: {REPOSITORY}"
    parts = [
        "```\n" + "\n".join([install, *commands]) + "\n```",
        "DATASET is this folder or its name. The first command makes it again and reports that all is identical, or "
        "which rows differ. The same bytes need the same input and the same versions of the tools, all of which are "
        f"listed in `{PROVENANCE}`.",
    ]
    if metadata.inputs:
        files = [(escape_line(name), f"`{sha256}`") for name, sha256 in sorted(metadata.inputs.items())]
        parts.append(format_table([("file", "SHA-256"), *files]))
    return fold("Rebuilding it to the byte", *parts)


def build_citation(metadata: Metadata, folder: Path) -> str:
    """Return a BibTeX entry for this build: name, version, program and, if there is one, the checksum of its recipe."""
    fields = {
        "title": f"{metadata.name}, version {metadata.version}",
        "howpublished": f"built with vttdata {metadata.tools.get('vttdata', '')}".strip(),
        "url": f"https://huggingface.co/datasets/{metadata.name}",
    }
    fields |= {"year": metadata.date[:4]} if metadata.date else {}
    if (folder / RECIPE).is_file():
        fields["note"] = f"SHA-256 of {RECIPE}: {file_sha256(folder / RECIPE)}"
    key = f"{metadata.name.replace('/', '-')}-{metadata.version}"
    return "\n".join([f"@misc{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"])
