"""The sections of a card on rights and origin: licences by part, what to cite, and how to make the same bytes again."""

from __future__ import annotations

from pathlib import Path

from vttdata.dataset.card.sections import escape, table_text
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.provenance import PROVENANCE, RECIPE
from vttdata.dataset.shards import file_sha256

_OTHERS = "remains with its owners; this dataset has links and times only"
_SHIPPED = "as the column `licence` of `sources` says, as far as it is known"
_NOT_SAID = "`unknown`: nobody has said yet under which terms this may be used"


def credits_text(about: Metadata, folder: Path, *, shipped: bool) -> str:
    """The three sections; what is not known is said to be so.

    Args:
        about: the dataset.
        folder: of the dataset, with its provenance if there is one.
        shipped: whether video files are part of it.
    """
    parts = [_rebuilding(about, folder), _licences(about, shipped=shipped), _citation(about, folder)]
    return "\n\n".join(part for part in parts if part)


def _licences(about: Metadata, *, shipped: bool) -> str:
    rows: list[tuple[str, ...]] = [("part", "licence")]
    for part, licence in about.licences.items():
        if part == "videos" and licence is None:
            rows.append((part, _SHIPPED if shipped else _OTHERS))
        else:
            rows.append((part, _NOT_SAID if licence in (None, "unknown") else escape(licence or "")))
    return f"## Licences\n\n{table_text(rows)}"


def _rebuilding(about: Metadata, folder: Path) -> str:
    commands = _commands(about, folder)
    if not commands:
        return ""
    version = about.provenance.get("vttdata")
    extra = "foil" if (folder / "foils").is_dir() else "build"
    install = f"pip install 'vttdata[{extra}]{f'=={version}' if version else ''}'"
    rows = [("file", "SHA-256"), *((escape(name), f"`{sha256}`") for name, sha256 in sorted(about.inputs.items()))]
    told = (
        "DATASET is this folder or its name; the first command makes it again and says that all is identical, or which "
        "rows differ. The same bytes need the same input and the same versions of what it was made with: "
        f"`{PROVENANCE}` lists all of both."
    )
    parts = ["## Rebuilding it to the byte", "```\n" + "\n".join([install, *commands]) + "\n```", told]
    return "\n\n".join([*parts, *([table_text(rows)] if about.inputs else [])])


def _commands(about: Metadata, folder: Path) -> list[str]:
    """The commands that make a dataset again; none where its provenance is not known."""
    if (folder / RECIPE).is_file():
        keys = "".join(f" --set {key}={kind.upper()}" for key, kind in about.needs.items())
        return [f"vttdata verify DATASET{keys or ' --rebuild'}", f"vttdata build {RECIPE}{keys} --out rebuilt"]
    return ["vttdata verify DATASET --input INPUT"] if (folder / PROVENANCE).is_file() else []


def _citation(about: Metadata, folder: Path) -> str:
    papers = about.citation.strip().replace("```", "'''")
    return "## Citation\n\n```bibtex\n" + (f"{papers}\n\n" if papers else "") + f"{build_citation(about, folder)}\n```"


def build_citation(about: Metadata, folder: Path) -> str:
    """A BibTeX entry for this build: name, version, program and, where there is one, the checksum of its recipe."""
    fields = {
        "title": f"{about.name}, version {about.version}",
        "howpublished": f"built with vttdata {about.provenance.get('vttdata', '')}".strip(),
        "url": f"https://huggingface.co/datasets/{about.name}",
    }
    fields |= {"year": about.date[:4]} if about.date else {}
    if (folder / RECIPE).is_file():
        fields["note"] = f"SHA-256 of {RECIPE}: {file_sha256(folder / RECIPE)}"
    key = f"{about.name.replace('/', '-')}-{about.version}"
    return "\n".join([f"@misc{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"])
