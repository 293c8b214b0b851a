"""Write an audit of splits, or of foils by blind attackers, as a page that people look at."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.files.results import Section
from vttdata.media.video_folder import locate_videos
from vttdata.report.page import PageSection, Tile, render_page
from vttdata.report.page_pictures import read_clip_stills, read_video_stills, select_stills
from vttdata.report.question_sections import blind_alerts, show_questions
from vttdata.report.sections import Example, render_examples, render_sections
from vttdata.split import Audit
from vttdata.split.audit.atlas import Atlas
from vttdata.split.audit.leaks import LEAKS, clips_of_example, example_text

_PAIRS_SHOWN = 24


def audit_page(
    folder: Path | None, title: str, audit: Audit, sections: Iterable[Section], videos: Path | None = None
) -> str:
    """Return the page of an audit of splits: its sections, and frames of the worst examples where files exist.

    The folder is that of the dataset, or None for clips that vttdata did not write.

    Frames of questions come from a folder of videos, named by their ids, or from the dataset's clips.
    """
    examples = {
        leak: [(example_text(leak, example), clips_of_example(leak, example)) for example in found]
        for leak, found in audit.examples.items()
        if found
    }
    ids = {video_id for found in examples.values() for _, clips in found for video_id in clips}
    stills = read_clip_stills(folder, ids) if folder is not None else {}
    rendered = render_sections(sections)
    for leak, found in examples.items():
        body = render_examples(Example(text=text, stills=select_stills(stills, *clips)) for text, clips in found)
        rendered.append(PageSection(leak.replace("_", "-"), LEAKS[leak][0], body, "The worst first.", str(len(found))))
    return render_page(
        title,
        [*rendered, *(show_questions(folder, videos) if folder is not None else ())],
        kicker="Audit",
        tiles=[Tile(f"{counts['clips']:,}", f"clips in {split}") for split, counts in audit.splits.items()],
        alerts=[
            *(blind_alerts(folder) if folder is not None else ()),
            ("warn" if len(audit.filled) < 2 else "good" if audit.ok else "bad", audit.verdict),
            *(("warn", warning) for warning in audit.warnings),
        ],
    )


def foil_audit_page(folder: Path | None, title: str, sections: Iterable[Section], videos: Path | None = None) -> str:
    """Return the page of an audit of foils: its sections, and pairs with frames where files exist.

    The foils are those of the dataset in a folder, or without one of a table. Frames come from a folder of videos,
    named by their ids, or from the dataset's clips.
    """
    rendered = render_sections(sections)
    tables = read_layout(folder, needs=None).files.get("foils", {}) if folder is not None else {}
    rows = read_parquet_rows(itertools.chain(*tables.values()), ("video_id", "caption", "foil"))
    pairs = list(itertools.islice(rows, _PAIRS_SHOWN))
    if folder is not None and pairs:
        ids = {row["video_id"] for row in pairs}
        stills = read_video_stills(locate_videos(videos, ids)) if videos is not None else read_clip_stills(folder, ids)
        body = render_examples(
            Example(text=row["caption"], strong=[row["foil"]], stills=select_stills(stills, row["video_id"]))
            for row in pairs
        )
        frames = ", above the frame in the middle of the video" if stills else ""
        note = f"The first of all pairs, each with the true caption above its foil{frames}."
        rendered.append(PageSection("pairs", "Pairs", body, note))
    return render_page(title, rendered, kicker="Audit of foils")


def atlas_page(atlas: Atlas, command: str) -> str:
    """Return the page of what sets of videos share, which says that `command` makes it."""
    tested = len({own.a for own in atlas.leaks})
    verdict = f"{tested} tested splits share sources with training of another set." if tested else "Nothing leaks."
    return render_page(
        "Sources that benchmarks share",
        render_sections(atlas.sections()),
        kicker=f"{command}, {atlas.date}",
        tiles=[Tile(f"{len(atlas.items):,}", "sets"), Tile(f"{len(atlas.leaks):,}", "pairs of test and training")],
        alerts=[("good" if atlas.ok else "bad", verdict)],
    )
