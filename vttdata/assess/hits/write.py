"""Writes HITs: a manifest for the requester; a crowd platform's CSV, JSON lines and pages for those who assess.

What assessors get names HIT, item, video and caption and nothing else; kinds and systems stand in the manifest alone.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from vttdata.annotate.da_page import DEFAULT_QUESTION, HitView, ItemView, write_page
from vttdata.assess.hits.plan import NOTES, Hit, HitPlan
from vttdata.assess.tables import Table, as_csv
from vttdata.errors import VttdataError
from vttdata.files.csv_safety import html_cell

_OF_DEGRADED = ("original", "sen_id", "start", "words", "donor_video_id", "donor_sen_id", "donor_start")
_ENDINGS = (".mp4", ".webm", ".mkv", ".mov", ".avi", ".m4v")


def addresses(videos: str, video_ids: Iterable[str], pages: Path) -> dict[str, str]:
    """Where the pages find each video; ids without a file are left out.

    Args:
        videos: a URL or a path relative to the pages, with ``{video_id}`` in it, or a folder that holds files of these
            names, itself or in its ``videos``. In a URL ids are percent-encoded.
        video_ids: whose addresses are wanted.
        pages: the folder of the pages; paths to a folder's files are relative to it.

    Raises:
        VttdataError: when `videos` is neither, or an id cannot stand in a path.
    """
    if "{video_id}" in videos:
        return {video: videos.replace("{video_id}", _part(videos, video)) for video in video_ids}
    folder = Path(videos)
    if not folder.is_dir():
        raise VttdataError(f"{videos}: neither a folder of videos nor an address with {{video_id}} in it.")
    files = {path.name: path for place in (folder / "videos", folder) if place.is_dir() for path in place.iterdir()}
    found = {video: [files[video + end] for end in _ENDINGS if video + end in files] for video in video_ids}
    return {video: _relative(paths[0], pages) for video, paths in found.items() if paths}


def _part(template: str, video: str) -> str:
    if template.lower().startswith(("http://", "https://")):
        return quote(video, safe="")
    if "/" in video or "\\" in video or video in {".", ".."}:
        raise VttdataError(f"The video id {video!a} cannot stand in a path; a URL could hold it.")
    return video


def _relative(path: Path, pages: Path) -> str:
    own, other = path.resolve(), pages.resolve()
    shared = 0
    for one, two in zip(own.parts, other.parts, strict=False):
        if one != two:
            break
        shared += 1
    return "/".join([".."] * (len(other.parts) - shared) + list(own.parts[shared:]))


def hit_view(hit: Hit, videos: Mapping[str, str], question: str = DEFAULT_QUESTION) -> HitView:
    """What an assessor gets to see of a HIT.

    Args:
        hit: one of a plan.
        videos: `video_id` -> URL, or path relative to the page.
        question: asked for every item.
    """
    items = (ItemView(item.item, videos[item.video_id], item.caption) for item in hit.items)
    return HitView(hit.hit, tuple(items), question)


def write_hits(plan: HitPlan, folder: Path, videos: Mapping[str, str], question: str = DEFAULT_QUESTION) -> list[str]:
    """Write everything a campaign needs.

    - ``manifest.csv``: `hit, item, video_id, system, kind`, the caption, and of degraded ones the original, the place
      and number of words that went, and the donor's ids and place. Not for workers.
    - ``notes.csv``: what is to be told of the plan. Not for workers.
    - ``crowd.csv``: a row a HIT with `hit` and for each item, counted from 0, `rid_0`, `url_0` and `caption_0`. Since a
      platform puts cells into its page as they stand, captions and addresses are HTML: escaped, and with a character
      reference for a sign that would make the cell a formula.
    - ``hits.jsonl``: a line a HIT, ``{"hit", "question", "items": [{"item", "video", "caption"}]}``; plain text.
    - ``pages/<hit>.html``: the assessment page.

    Args:
        plan: the HITs.
        folder: made if need be.
        videos: `video_id` -> URL, or path relative to ``pages``.
        question: asked for every item.

    Returns:
        The names of what was written.

    Raises:
        VttdataError: when the folder cannot be written to, or has the pages of another campaign.
    """
    pages = folder / "pages"
    try:
        pages.mkdir(parents=True, exist_ok=True)
        strangers = sorted({path.stem for path in pages.glob("*.html")} - {hit.hit for hit in plan.hits})
        if strangers:
            raise VttdataError(
                f"{pages}: holds the HITs of another campaign, such as {strangers[0]!a}; choose another."
            )
        _write(folder / "manifest.csv", [as_csv(_manifest(plan))])
        _write(folder / "notes.csv", [as_csv(notes_table(plan))])
        _write(folder / "crowd.csv", _crowd(plan, videos))
        _write(folder / "hits.jsonl", (_line(hit_view(hit, videos, question)) for hit in plan.hits))
        for hit in plan.hits:
            write_page(pages / f"{hit.hit}.html", hit_view(hit, videos, question))
    except OSError as error:
        raise VttdataError(f"{folder}: cannot be written ({error.strerror or error}).") from error
    return ["manifest.csv", "notes.csv", "crowd.csv", "hits.jsonl", "pages"]


def _write(path: Path, parts: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(parts)


def _manifest(plan: HitPlan) -> Table:
    rows = [["hit", "item", "video_id", "system", "kind", "caption", *_OF_DEGRADED]]
    for hit in plan.hits:
        for item in hit.items:
            told = ["" if item.degraded is None else getattr(item.degraded, name) for name in _OF_DEGRADED]
            rows.append([hit.hit, item.item, item.video_id, item.system, item.kind, item.caption, *told])
    return rows


def notes_table(plan: HitPlan) -> Table:
    """A row for each kind of note: how often, what it means, and the first three cases."""
    rows = [[kind, len(cases), NOTES[kind], ", ".join(cases[:3])] for kind, cases in plan.notes.items()]
    return [["note", "count", "meaning", "such as"], *rows]


def _crowd(plan: HitPlan, videos: Mapping[str, str]) -> Iterator[str]:
    number = plan.settings.items
    yield _row(["hit", *(f"{name}_{place}" for place in range(number) for name in ("rid", "url", "caption"))])
    cells = {video: html_cell(_url(address)) for video, address in videos.items()}
    for hit in plan.hits:
        shown = ((item.item, cells[item.video_id], html_cell(item.caption)) for item in hit.items)
        yield _row([hit.hit, *(cell for cells in shown for cell in cells)])


def _url(address: str) -> str:
    return address if address.lower().startswith(("http://", "https://")) else quote(address)


def _row(cells: list[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _line(view: HitView) -> str:
    items = [{"item": own.item, "video": own.video, "caption": own.caption} for own in view.items]
    return json.dumps({"hit": view.hit, "question": view.question, "items": items}, ensure_ascii=False) + "\n"
