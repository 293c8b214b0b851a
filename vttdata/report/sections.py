"""Render the sections of a result as those of a page."""

from __future__ import annotations

from collections.abc import Iterable

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
        rendered.append(PageSection(key, section.title, body, note, section.badge))
    return rendered
