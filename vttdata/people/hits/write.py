"""Write HITs: a manifest and notes for the requester; a crowd platform's CSV, JSON lines and pages for assessors.

Files for assessors contain ids of HITs and items, videos and captions only; kinds and systems are in the manifest.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.csv_safety import html_cell
from vttdata.files.own_folder import replace_own_files
from vttdata.files.table_formats import Table, as_csv
from vttdata.people.addresses import is_url
from vttdata.people.hits.hit_records import DEFAULT_QUESTION, NOTES, Hit, HitPlan
from vttdata.people.task import Note

PageWriter = Callable[[Path, Hit], None]
"""Function that writes the assessment page of a HIT to a path."""

_DEGRADED_COLUMNS = ("original", "sen_id", "start", "words", "donor_video_id", "donor_sen_id", "donor_start")


def write_hits(
    plan: HitPlan,
    folder: Path,
    videos: Mapping[str, str],
    write_page: PageWriter | None = None,
    question: str = DEFAULT_QUESTION,
    notes: Sequence[Note] = (),
) -> list[str]:
    """Write the files of a campaign.

    - ``manifest.csv``: `hit, item, video_id, system, kind`, the caption, and of degraded ones the original, position
      and number of the replaced words, and ids and position of the donor's. Not for workers.
    - ``notes.csv``: the notes. Not for workers.
    - ``crowd.csv``: a row per HIT with `hit` and for each item, counted from 0, `rid_0`, `url_0` and `caption_0`. Since
      a platform inserts cells into its page unchanged, captions and addresses are HTML: escaped, and with a character
      reference for a character that would make the cell a formula.
    - ``hits.jsonl``: a line per HIT, ``{"hit", "question", "items": [{"item", "video", "caption"}]}``; plain text.
    - ``pages/<hit>.html``: assessment pages, if a writer of pages is given.

    Args:
        plan: HITs.
        folder: folder to write; created if it does not exist.
        videos: `video_id` -> URL, or path relative to ``pages``.
        write_page: writer of pages, such as `vttdata.people.static_page.page_writer`.
        question: question of every item.
        notes: notes beside those of the plan.

    Returns:
        Names of the files and folders that were written.

    Raises:
        VttdataError: if the folder cannot be written, has the pages of another campaign, or has files of these names
            that are not of vttdata.
    """
    pages = folder / "pages"
    names = ["manifest.csv", "notes.csv", "crowd.csv", "hits.jsonl"]
    written = names if write_page is None else [*names, *(f"pages/{hit.hit}.html" for hit in plan.hits)]
    # Pages of two campaigns in one folder could not be told apart by those who distribute them.
    unknown_ids = sorted({path.stem for path in pages.glob("*.html")} - {hit.hit for hit in plan.hits})
    if unknown_ids:
        raise VttdataError(
            f"{pages}: contains the HITs of another campaign, such as {unknown_ids[0]!a}; choose another folder."
        )
    with DescribeOSErrors(f"{folder}: cannot be written"), replace_own_files(folder, written):
        (folder / "manifest.csv").write_text(as_csv(manifest_table(plan)), encoding="utf-8", newline="")
        rows = [[n.name, len(n.cases), n.meaning, ", ".join(n.cases[:3])] for n in [*plan_notes(plan), *notes]]
        text = as_csv([["note", "count", "meaning", "such as"], *rows])
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
    return names if write_page is None else [*names, "pages"]


def plan_notes(plan: HitPlan) -> list[Note]:
    """Return the notes of a plan with their meanings."""
    return [Note(kind, NOTES[kind], tuple(cases)) for kind, cases in plan.notes.items()]


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
    urls = {video: html_cell(address if is_url(address) else quote(address)) for video, address in videos.items()}
    for hit in plan.hits:
        cells = ((item.item, urls[item.video_id], html_cell(item.caption)) for item in hit.items)
        rows.writerow([hit.hit, *(cell for cells_of_item in cells for cell in cells_of_item)])
