"""Render a self-contained HTML page from plain values: one template, one style sheet, one small script, no network.

The page works from disk, follows the reader's light or dark scheme, and prints. Its content security policy names the
style sheet and the script by their hashes, so that nothing else in it can run, whatever its texts hold.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import jinja2
from markupsafe import Markup, escape

from vttdata.files.results import format_ends, format_score, map_code

_TEMPLATES = Path(__file__).parent / "templates"
# Control characters, surrogates, and the controls that reorder or hide text.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


class Tile(NamedTuple):
    """Figure at the top of a page: a short text such as ``1,204``, what it counts, and a line below.

    `tone` is ``good``, ``warn`` or ``bad``, or empty; `href` leads to a section, such as ``#leaks``.
    """

    figure: str
    label: str
    detail: str = ""
    tone: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class PageScript:
    """Script of one page: a file of the folder ``templates``, and the data that it reads.

    `data` are ``<script type="application/json">`` elements.
    """

    data: str | Markup = ""
    file: str = ""


class PageSection(NamedTuple):
    """Part of a page: `key` is its anchor, `title` stands in the navigation, `body` comes from `render` or a plot.

    `note` is a sentence below the title; `badge` a short text beside the title in the navigation, such as a count.
    """

    key: str
    title: str
    body: Markup
    note: str | Markup = ""
    badge: str = ""


def replace_controls(value: object) -> object:
    """Return a text without characters that control, hide or reorder others; other values are returned unchanged.

    Jinja2 applies it to every value that a template prints, before it escapes what HTML would interpret.
    """
    return _UNSAFE.sub("\ufffd", value) if isinstance(value, str) and not isinstance(value, Markup) else value


@functools.cache
def environment() -> jinja2.Environment:
    """Return the Jinja2 environment of all pages: values are cleaned and escaped, and a missing value is an error."""
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=replace_controls,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {
        "number": format_number,
        "zip": zip,
        "code": mark_code,
        "ends": format_ends,
        "score": format_score,
    }
    return jinja


def render(template: str, **values: object) -> Markup:
    """Return a template of the folder ``templates`` as markup; texts among the values are escaped.

    A template that imports ``macros.html`` has the macros `table`, `thumb` and `details` of all pages.
    """
    return Markup(environment().get_template(template).render(**values))  # noqa: S704


def render_text(source: str, **values: object) -> Markup:
    """Return a short template, given as its text, as markup; texts among the values are escaped."""
    return Markup(environment().from_string(source).render(**values))  # noqa: S704


def render_page(
    title: str,
    sections: Sequence[PageSection],
    *,
    kicker: str = "",
    lead: str | Markup = "",
    tiles: Sequence[Tile] = (),
    alerts: Sequence[tuple[str, str]] = (),
    footer: str | Markup = "",
    script: PageScript = PageScript(),
) -> str:
    """Return a whole page; its title is the name of the browser's tab too, and the navigation lists the sections.

    The kicker is above the title, such as ``Build report``, and the lead, a sentence, below it. An alert is the tone
    (``good``, ``warn`` or ``bad``) and the sentence of a notice above the tiles. The footer says how the page was made.
    """
    style = (_TEMPLATES / "page.css").read_text(encoding="utf-8")
    scripts = [(_TEMPLATES / name).read_text(encoding="utf-8") for name in ("page.js", script.file) if name]
    sources = " ".join(["'self' file:", *map(_hash_source, scripts)])
    policy = (
        f"default-src 'none'; img-src 'self' data: file:; style-src {_hash_source(style)}; script-src {sources}; "
        "base-uri 'none'; form-action 'none'"
    )
    page = render(
        "page.html",
        title=title,
        sections=sections,
        kicker=kicker,
        lead=lead,
        tiles=tiles,
        alerts=alerts,
        footer=footer,
        data=script.data,
        policy=policy,
        style=Markup(style),  # noqa: S704
        scripts=[Markup(text) for text in scripts],  # noqa: S704
    )
    return f"{page}\n"


def render_figure(title: str, body: Markup) -> str:
    """Return a page with one plot and no script."""
    style = (_TEMPLATES / "page.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; img-src data:; style-src {_hash_source(style)}; base-uri 'none'; form-action 'none'"
    page = render("figure.html", title=title, body=body, policy=policy, style=Markup(style))  # noqa: S704
    return f"{page}\n"


def format_number(value: float | None, digits: int | None = None) -> str:
    """Return a number for readers: thousands apart, three significant digits unless `digits` says how many decimals."""
    if value is None:
        return "\u2013"
    if digits is not None:
        return f"{value:,.{digits}f}"
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.2g}"


def mark_code(text: str) -> Markup:
    """Return a sentence as markup; what stands in backquotes is code."""
    code = Markup("<code>{}</code>").format
    parts = map_code(str(replace_controls(text)), escape, lambda part: code(part.strip("`")))
    return Markup().join(parts)


def _hash_source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
