"""Write an audit of splits, or of foils by blind attackers, as a page that people look at."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.generate.blind.shortcuts import Attack, attack_section
from vttdata.json_types import JsonObject
from vttdata.media.video_folder import locate_videos
from vttdata.report.page import PageSection, Tile, render_page
from vttdata.report.page_pictures import read_clip_stills, read_video_stills, select_stills
from vttdata.report.sections import Example, render_examples, render_sections
from vttdata.split import Audit
from vttdata.split.audit.leaks import LEAKS, example_text

_PAIRS_SHOWN = 24


def audit_page(folder: Path, audit: Audit, questions: Sequence[PageSection] = ()) -> str:
    """Return the page of an audit of splits: what they share, with frames of the worst examples where files exist.

    `questions` are the sections of `show_questions`, for a dataset that has some.
    """
    manifest = read_dataset_manifest(folder)
    examples = {
        leak: [(example_text(leak, example), _clips_of(leak, example)) for example in found]
        for leak, found in audit.examples.items()
        if found
    }
    ids = {video_id for found in examples.values() for _, clips in found for video_id in clips}
    stills = read_clip_stills(folder, ids)
    sections = render_sections(audit.overview())
    for leak, found in examples.items():
        body = render_examples(Example(text=text, stills=select_stills(stills, *clips)) for text, clips in found)
        sections.append(PageSection(leak.replace("_", "-"), LEAKS[leak][0], body, "The worst first.", str(len(found))))
    return render_page(
        f"{manifest.get('name')} {manifest.get('version')}",
        [*sections, *questions],
        kicker="Audit of splits",
        tiles=[Tile(f"{counts['clips']:,}", f"clips in {split}") for split, counts in audit.splits.items()],
        alerts=[("good" if audit.ok else "bad", audit.verdict), *(("warn", warning) for warning in audit.warnings)],
    )


def foil_audit_page(
    folder: Path | None,
    title: str,
    attacks: Mapping[str, Sequence[Attack]],
    videos: Path | None = None,
    *,
    same_texts: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """Return the page of an audit of foils: what blind attackers reach, and pairs with frames where files exist.

    Attacks are the results of the blind attackers by configuration. The foils are those of the dataset in a folder, or
    without one of a table. Frames come from a folder of videos, named by their ids, or from the dataset's clips.
    `same_texts` counts the pairs by configuration that were left out because their texts are the same.
    """
    sections = render_sections(
        attack_section(results, same_texts.get(config, 0), title=f"Blind attackers on {config}", key=config)
        for config, results in attacks.items()
    )
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
        sections.append(PageSection("pairs", "Pairs", body, note))
    return render_page(title, sections, kicker="Audit of foils")


def _clips_of(leak: str, example: JsonObject) -> list[str]:
    """Return the ids of clips that an example of a leak names."""
    if leak == "source":
        return [video_id for ids in example["video_ids"].values() for video_id in ids]
    return [clip["video_id"] for clip in example["clips"]] if leak == "overlap" else []
