"""Write HITs: a manifest and notes for the requester; a crowd platform's CSV, JSON lines and pages for assessors.

Files for assessors contain ids of HITs and items, videos and captions only; kinds and systems are in the manifest.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

from vttdata.assess.hits.hit_records import DEFAULT_QUESTION, NOTES, Hit, HitPlan
from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.csv_safety import html_cell
from vttdata.files.table_formats import Table, as_csv

PageWriter = Callable[[Path, Hit], None]
"""Function that writes the assessment page of a HIT to a path."""

_DEGRADED_COLUMNS = ("original", "sen_id", "start", "words", "donor_video_id", "donor_sen_id", "donor_start")
_VIDEO_SUFFIXES = (".mp4", ".webm", ".mkv", ".mov", ".avi", ".m4v")


def video_addresses(videos: str, video_ids: Iterable[str], pages: Path) -> dict[str, str]:
    """Return the address of each video for the pages; videos without a file are left out.

    Args:
        videos: URL or path relative to the pages that contains ``{video_id}``, or a folder that has files with these
            names, itself or in its folder ``videos``. In a URL, ids are percent-encoded.
        video_ids: ids of the videos.
        pages: folder of the pages; paths to a folder's files are relative to it.

    Raises:
        VttdataError: if `videos` is neither, or an id cannot be part of a path.
    """
    if "{video_id}" in videos:
        return {video: videos.replace("{video_id}", _address_part(videos, video)) for video in video_ids}
    folder = Path(videos)
    if not folder.is_dir():
        raise VttdataError(f"{videos}: neither a folder of videos nor an address with {{video_id}} in it.")
    # The files of a dataset lie in a folder for each split.
    parents = (*(folder / "videos").glob("*/"), *folder.glob("*/"), folder)
    files = {path.name: path for parent in parents if parent.is_dir() for path in parent.iterdir()}
    addresses = {}
    for video in video_ids:
        names = [video + suffix for suffix in _VIDEO_SUFFIXES if video + suffix in files]
        if names:
            addresses[video] = Path(os.path.relpath(files[names[0]].resolve(), pages.resolve())).as_posix()
    return addresses


def _address_part(template: str, video: str) -> str:
    if template.lower().startswith(("http://", "https://")):
        return quote(video, safe="")
    if "/" in video or "\\" in video or video in {".", ".."}:
        raise VttdataError(f"The video id {video!a} cannot be part of a path; use a URL.")
    return video


def write_hits(
    plan: HitPlan,
    folder: Path,
    videos: Mapping[str, str],
    write_page: PageWriter | None = None,
    question: str = DEFAULT_QUESTION,
) -> list[str]:
    """Write the files of a campaign.

    - ``manifest.csv``: `hit, item, video_id, system, kind`, the caption, and of degraded ones the original, position
      and number of the replaced words, and ids and position of the donor's. Not for workers.
    - ``notes.csv``: notes on the plan. Not for workers.
    - ``crowd.csv``: a row per HIT with `hit` and for each item, counted from 0, `rid_0`, `url_0` and `caption_0`. Since
      a platform inserts cells into its page unchanged, captions and addresses are HTML: escaped, and with a character
      reference for a character that would make the cell a formula.
    - ``hits.jsonl``: a line per HIT, ``{"hit", "question", "items": [{"item", "video", "caption"}]}``; plain text.
    - ``pages/<hit>.html``: assessment pages, if a writer of pages is given.

    Args:
        plan: HITs.
        folder: folder to write; created if it does not exist.
        videos: `video_id` -> URL, or path relative to ``pages``.
        write_page: writer of pages, such as `vttdata.annotate.da_page.page_writer`.
        question: question of every item.

    Returns:
        Names of the files and folders that were written.

    Raises:
        VttdataError: if the folder cannot be written, or has the pages of another campaign.
    """
    pages = folder / "pages"
    with DescribeOSErrors(f"{folder}: cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        # Pages of two campaigns in one folder could not be told apart by those who distribute them.
        strangers = sorted({path.stem for path in pages.glob("*.html")} - {hit.hit for hit in plan.hits})
        if strangers:
            raise VttdataError(
                f"{pages}: contains the HITs of another campaign, such as {strangers[0]!a}; choose another folder."
            )
        (folder / "manifest.csv").write_text(as_csv(manifest_table(plan)), encoding="utf-8", newline="")
        notes = [[kind, len(cases), NOTES[kind], ", ".join(cases[:3])] for kind, cases in plan.notes.items()]
        text = as_csv([["note", "count", "meaning", "such as"], *notes])
        (folder / "notes.csv").write_text(text, encoding="utf-8", newline="")
        with (folder / "crowd.csv").open("w", encoding="utf-8", newline="") as stream:
            _write_crowd(stream, plan, videos)
        with (folder / "hits.jsonl").open("w", encoding="utf-8", newline="") as stream:
            for hit in plan.hits:
                items = [{"item": i.item, "video": videos[i.video_id], "caption": i.caption} for i in hit.items]
                line = json.dumps({"hit": hit.hit, "question": question, "items": items}, ensure_ascii=False)
                stream.write(f"{line}\n")
        if write_page is not None:
            pages.mkdir(exist_ok=True)
            for hit in plan.hits:
                write_page(pages / f"{hit.hit}.html", hit)
    names = ["manifest.csv", "notes.csv", "crowd.csv", "hits.jsonl"]
    return names if write_page is None else [*names, "pages"]


def manifest_table(plan: HitPlan) -> Table:
    """Return a row per item: ids, system, kind, caption, and the origin of degraded captions."""
    rows = [["hit", "item", "video_id", "system", "kind", "caption", *_DEGRADED_COLUMNS]]
    for hit in plan.hits:
        for item in hit.items:
            origin = ["" if item.degraded is None else getattr(item.degraded, name) for name in _DEGRADED_COLUMNS]
            rows.append([hit.hit, item.item, item.video_id, item.system, item.kind, item.caption, *origin])
    return rows


def _write_crowd(stream: TextIO, plan: HitPlan, videos: Mapping[str, str]) -> None:
    rows = csv.writer(stream, lineterminator="\n")
    positions = range(plan.settings.items)
    rows.writerow(["hit", *(f"{name}_{position}" for position in positions for name in ("rid", "url", "caption"))])
    urls = {
        video: html_cell(address if address.lower().startswith(("http://", "https://")) else quote(address))
        for video, address in videos.items()
    }
    for hit in plan.hits:
        cells = ((item.item, urls[item.video_id], html_cell(item.caption)) for item in hit.items)
        rows.writerow([hit.hit, *(cell for cells_of_item in cells for cell in cells_of_item)])
