"""Render the sections of a result as those of a page, and examples with pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from vttdata.files.results import Section
from vttdata.report import plots
from vttdata.report.page import PageSection, mark_code, render


def render_sections(sections: Iterable[Section]) -> list[PageSection]:
    """Return the sections of a page; those of a depth above 0 are inside the one before."""
    rendered: list[PageSection] = []
    for section in sections:
        body = render("section.html", section=section, figures=map(plots.bars, section.figures))
        if section.depth and rendered:
            rendered[-1] = rendered[-1]._replace(body=rendered[-1].body + body)
            continue
        key = section.key or "-".join("".join(c if c.isalnum() else " " for c in section.title.lower()).split())
        note = mark_code(" ".join(section.sentences))
        rendered.append(PageSection(key, mark_code(section.title), body, note, section.badge))
    return rendered


@dataclass(frozen=True, slots=True)
class Example:
    """Example of what a section is about: title, text, texts that stand out, pictures, and a list.

    `stills` are names with the addresses of pictures, and `marked` is the number of the item that stands out.
    """

    title: str = ""
    text: str = ""
    strong: Sequence[str] = ()
    stills: Mapping[str, str] = field(default_factory=dict)
    listed: Sequence[str] = ()
    marked: int | None = None


def render_examples(examples: Iterable[Example]) -> Markup:
    """Return examples one below the other."""
    return render("examples.html", examples=examples)
