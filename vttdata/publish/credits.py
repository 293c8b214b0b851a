"""The sections of a card on rights and origin: licences by part, what to cite, and how to make the same bytes again."""

from __future__ import annotations

from vttdata.publish.about import About
from vttdata.publish.card_parts import escape, table_text
from vttdata.publish.provenance import RECIPE

_OTHERS = "remains with its owners; this dataset has links and times only"
_SHIPPED = "as the column `licence` of `sources` says, as far as it is known"
_NOT_SAID = "`unknown`: nobody has said yet under which terms this may be used"


def credits_text(about: About, *, shipped: bool, recipe_sha256: str | None = None) -> str:
    """The three sections; what is not known is said to be so.

    Args:
        about: the dataset.
        shipped: whether video files are part of it.
        recipe_sha256: of `RECIPE` in the dataset, where there is one.
    """
    parts = [_rebuilding(about, recipe_sha256), _licences(about, shipped=shipped), _citation(about, recipe_sha256)]
    return "\n\n".join(part for part in parts if part)


def _licences(about: About, *, shipped: bool) -> str:
    rows: list[tuple[str, ...]] = [("part", "licence")]
    for part, licence in about.licences.items():
        if part == "videos" and licence is None:
            rows.append((part, _SHIPPED if shipped else _OTHERS))
        else:
            rows.append((part, _NOT_SAID if licence in (None, "unknown") else escape(licence or "")))
    return f"## Licences\n\n{table_text(rows)}"


def _rebuilding(about: About, recipe_sha256: str | None) -> str:
    if recipe_sha256 is None:
        return ""
    keys = "".join(f" --set {key}={'FILE' if about.needs[key] == 'file' else 'FOLDER'}" for key in about.needs)
    version = about.provenance.get("vttdata")
    commands = [
        f"pip install 'vttdata[build]{f'=={version}' if version else ''}'",
        f"vttdata build {RECIPE}{keys} --out rebuilt",
        "vttdata verify DATASET  # this folder, or its name: identical, or which rows differ",
    ]
    rows = [("file", "SHA-256"), *((escape(name), f"`{sha256}`") for name, sha256 in sorted(about.inputs.items()))]
    told = "The same bytes need the same input files and the versions listed under Dataset Creation."
    parts = ["## Rebuilding it to the byte", "```\n" + "\n".join(commands) + "\n```", told]
    return "\n\n".join([*parts, *([table_text(rows)] if about.inputs else [])])


def _citation(about: About, recipe_sha256: str | None) -> str:
    own = build_citation(about, recipe_sha256)
    papers = about.citation.strip().replace("```", "'''")
    return "## Citation\n\n```bibtex\n" + (f"{papers}\n\n" if papers else "") + f"{own}\n```"


def build_citation(about: About, recipe_sha256: str | None) -> str:
    """A BibTeX entry for this build: name, version, program and, where there is one, the recipe's checksum."""
    fields = {
        "title": f"{about.name}, version {about.version}",
        "howpublished": f"built with vttdata {about.provenance.get('vttdata', '')}".strip(),
        "url": f"https://huggingface.co/datasets/{about.name}",
    }
    fields |= {"year": about.date[:4]} if about.date else {}
    fields |= {"note": f"SHA-256 of {RECIPE}: {recipe_sha256}"} if recipe_sha256 else {}
    key = f"{about.name.replace('/', '-')}-{about.version}"
    return "\n".join([f"@misc{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"])
