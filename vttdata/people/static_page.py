"""Write the page of a HIT as a single HTML file, which needs only itself and its videos, and no server.

It is the page that a server shows for the task `rate-slider`: its markup, styles and scripts are put into the file,
with a transport that keeps answers in the browser. The security policy names style and scripts by their hashes, so that
no text of a caption can ever run. A page contains what an assessor sees, and nothing about systems or kinds of items.
"""

from __future__ import annotations

import functools
import hashlib
import html
import json
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.people.addresses import policy_source, quote_address
from vttdata.people.hits.hit_records import DEFAULT_QUESTION, DEFAULT_SCALE_ENDS, DEFAULT_TITLE, INSTRUCTIONS, Hit
from vttdata.people.hits.write import PageWriter
from vttdata.people.task import script_of

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
_IMPORT = re.compile(r'^import (\{.*\}) from "\./(.*)";$', re.MULTILINE)
_STYLE_LINK = re.compile(r'<link rel="stylesheet" href="/static/(.*)">\n')
_SCRIPT_LINK = re.compile(r'<script type="module" src="/static/worker.js"></script>\n')
_EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) ([\w$]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ItemView:
    """Item of a HIT as an assessor sees it.

    Fields:
        item: id of the item; must not reveal the kind of item.
        video: ``http(s)`` URL, used unchanged, or a path relative to the page, unquoted.
        caption: any text; shown literally.

    Raises:
        VttdataError: if the id is invalid (see `HitView`), or the video is neither a URL nor a path that a page can
            name.
    """

    item: str
    video: str
    caption: str

    def __post_init__(self) -> None:
        _check_id("item", self.item)
        quote_address(self.video)


@dataclass(frozen=True, slots=True)
class HitView:
    """HIT as an assessor sees it.

    Fields:
        hit: id of the HIT. Ids are letters, digits, ``_``, ``.``, ``:`` and ``-``, begin with a letter or digit, and
            have at most 100 characters: results with them are opened in spreadsheets and joined with ``|``.
        items: items in the order shown, with unique ids.
        question: question of every item.
        ends: labels of the lower and the upper end of the scale.
        title: of the page.
        instructions: paragraphs of the first screen.
        consent: what a worker agrees to on the first screen; nothing is asked if it is empty.
        min_shown: share of a video's length that must be shown before an answer is taken, 0..1.

    Raises:
        VttdataError: if an id is invalid or duplicated, or there are no items.
    """

    hit: str
    items: tuple[ItemView, ...]
    question: str = DEFAULT_QUESTION
    ends: tuple[str, str] = DEFAULT_SCALE_ENDS
    title: str = DEFAULT_TITLE
    instructions: tuple[str, ...] = INSTRUCTIONS
    consent: str = ""
    min_shown: float = 0.0

    def __post_init__(self) -> None:
        _check_id("HIT", self.hit)
        if not self.items:
            raise VttdataError(f"The HIT {self.hit!a} has no items.")
        seen: set[str] = set()
        for view in self.items:
            if view.item in seen:
                raise VttdataError(f"The item {view.item!a} of HIT {self.hit!a} is duplicated.")
            seen.add(view.item)


def hit_view(hit: Hit, videos: Mapping[str, str], question: str = DEFAULT_QUESTION) -> HitView:
    """Return what an assessor sees of a HIT; `videos` is `video_id` -> URL, or path relative to the page."""
    items = (ItemView(item.item, videos[item.video_id], item.caption) for item in hit.items)
    return HitView(hit.hit, tuple(items), question)


def page_writer(
    videos: Mapping[str, str],
    question: str = DEFAULT_QUESTION,
    ends: tuple[str, str] = DEFAULT_SCALE_ENDS,
    *,
    title: str = DEFAULT_TITLE,
    instructions: tuple[str, ...] = INSTRUCTIONS,
    consent: str = "",
    min_shown: float = 0.0,
) -> PageWriter:
    """Return a function that writes the page of a HIT, for `write_hits`; see `hit_view` and `HitView`."""

    def write(path: Path, hit: Hit) -> None:
        view = hit_view(hit, videos, question)
        view = replace(view, ends=ends, title=title, instructions=instructions, consent=consent, min_shown=min_shown)
        write_page(path, view)

    return write


def write_page(path: Path, hit: HitView, *, submit_url: str | None = None) -> None:
    """Write the page of a HIT; see `page_text`.

    Raises:
        VttdataError: if it cannot be written, or `submit_url` is not an address.
    """
    text = page_text(hit, submit_url=submit_url)
    with DescribeOSErrors(f"{path}: cannot be written"):
        path.write_text(text, encoding="ascii", newline="\n")


def page_text(hit: HitView, *, submit_url: str | None = None) -> str:
    """Return the HTML of a HIT's page in ASCII; the same HIT gives the same text.

    Args:
        hit: HIT to show.
        submit_url: address to which the page posts the answers as JSON once they are complete: an ``http(s)`` URL, or
            a path on the page's server, which says with ``{"saved": true}`` that it has them. The page can send data
            nowhere else, except to Mechanical Turk's form if Mechanical Turk opened it.

    Raises:
        VttdataError: if `submit_url` is not such an address.
    """
    view = {
        "hit": hit.hit,
        "question": hit.question,
        "ends": list(hit.ends),
        "min_shown": hit.min_shown,
        "items": [{"item": v.item, "video": quote_address(v.video), "caption": v.caption} for v in hit.items],
    }
    # The digest tells pages of the same HIT id with other contents apart, so that their answers are not mixed up.
    digest = hashlib.sha256(json.dumps(view).encode("ascii")).hexdigest()[:16]
    data = json.dumps(view | {"digest": digest, "submit": submit_url}, separators=(",", ":"))
    # No `</script>` in a caption can end the element that contains the data.
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    style, script = _style(), _script()
    head = f'<meta http-equiv="Content-Security-Policy" content="{html.escape(_security_policy(hit, submit_url))}">\n'
    head += '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
    texts = "".join(f"<p>{_escape(text)}</p>" for text in hit.instructions)
    body = f'<script type="application/json" id="hit">{data}</script>\n<script>{script}</script>\n'
    page = _STYLE_LINK.sub("", _SCRIPT_LINK.sub("", _source("worker.html")))
    for mark, text in (
        ("<title>Videos", f"{head}<style>{style}</style>\n<title>{_escape(hit.title)}"),
        ('id="start-instructions">', f'id="start-instructions">{texts}'),
        ('id="start-consent">', f'id="start-consent">{_escape(hit.consent)}'),
        ("</body>", f"{body}</body>"),
    ):
        before, _, after = page.partition(mark)
        page = before + text + after
    return page


def _escape(text: str) -> str:
    return html.escape(text).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _security_policy(hit: HitView, submit_url: str | None) -> str:
    """Return a Content-Security-Policy that allows our script and style, the videos' hosts, and the answers' target."""
    if submit_url is None:
        submit_origin = "'none'"
    else:
        try:
            quote_address(submit_url)
        except VttdataError as error:
            raise VttdataError(
                f"Answers cannot be sent to {submit_url[:80]!a}; give a URL or a path on the server."
            ) from error
        submit_origin = policy_source(submit_url)
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash_source(_script())}'",
            f"style-src '{_hash_source(_style())}'",
            "img-src data:",
            # Pages that are opened from a folder load their videos by file URLs.
            f"media-src {' '.join(sorted({policy_source(view.video) for view in hit.items}))} file:",
            f"connect-src {submit_origin}",
            # Mechanical Turk takes answers from a form only.
            "form-action https://*.mturk.com",
            "base-uri 'none'",
            # No script can turn text into markup.
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


@functools.cache
def _script() -> str:
    """Return the scripts of the page as one, each in a function of its own that returns what it exports."""
    parts = ['"use strict";', "{", "const modules = {};"]
    done: set[str] = set()

    def add(name: str) -> None:
        done.add(name)
        text = _source(name)
        for _, needed in _IMPORT.findall(text):
            if needed not in done:
                add(needed)
        names = ", ".join(_EXPORT.findall(text))
        text = _IMPORT.sub(r'const \1 = modules["\2"];', text)
        text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
        parts.append(f'modules["{name}"] = (() => {{\n{text}return {{ {names} }};\n}})();')

    add("worker.js")
    return "\n".join([*parts, "}", ""])


@functools.cache
def _style() -> str:
    return "\n".join(_source(name) for name in _STYLE_LINK.findall(_source("worker.html")))


def _hash_source(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _check_id(noun: str, name: str) -> None:
    if _ID.fullmatch(name) is None:
        raise VttdataError(
            f"The {noun} id {name[:80]!a} must be letters, digits, '_', '.', ':' and '-' (at most 100), "
            "beginning with a letter or digit."
        )


def _source(name: str) -> str:
    if name == "task.js":
        return script_of("rate-slider").read_text(encoding="utf-8")
    site = files("vttdata.people").joinpath("site")
    return site.joinpath("static.js" if name == "transport.js" else name).read_text(encoding="utf-8")
