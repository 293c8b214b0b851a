"""Sections of a card on rights and origin: how to rebuild the dataset, licences by part, and what to cite."""

from __future__ import annotations

from pathlib import Path

from vttdata.dataset.card.sections import escape, fold, format_table
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.provenance import PROVENANCE, RECIPE
from vttdata.files.checksums import file_sha256

_NO_VIDEOS = "remains with its owners; this dataset has links and times only"
_VIDEOS = "as the column `licence` of `sources` says, as far as it is known"
_UNKNOWN = "`unknown`: nobody has stated yet under which terms this may be used"


def format_rights(metadata: Metadata, folder: Path, *, shipped: bool) -> str:
    """Return the sections on licences and citation; unknown facts are stated to be unknown.

    Args:
        metadata: Metadata of the dataset.
        folder: Folder of the dataset, with its provenance if there is one.
        shipped: True if video files are part of it.
    """
    licences: list[tuple[str, ...]] = [("part", "licence")]
    for part, licence in metadata.licences.items():
        if part == "videos" and licence is None:
            licences.append((part, _VIDEOS if shipped else _NO_VIDEOS))
        else:
            licences.append((part, _UNKNOWN if licence in (None, "unknown") else escape(licence or "")))
    # A fence in a citation would end the code block.
    papers = metadata.citation.strip().replace("```", "'''")
    entries = "\n\n".join(filter(None, (papers, build_citation(metadata, folder))))
    parts = [f"## Licences\n\n{format_table(licences)}", f"## Citation\n\n```bibtex\n{entries}\n```"]
    return "\n\n".join(parts)


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
    install = f"pip install 'vttdata[{extra}]{f'=={version}' if version else ''}'"
    parts = [
        "```\n" + "\n".join([install, *commands]) + "\n```",
        "DATASET is this folder or its name. The first command makes it again and reports that all is identical, or "
        "which rows differ. The same bytes need the same input and the same versions of the tools, all of which are "
        f"listed in `{PROVENANCE}`.",
    ]
    if metadata.inputs:
        files = [(escape(name), f"`{sha256}`") for name, sha256 in sorted(metadata.inputs.items())]
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
