"""Turns the finished tables of a build into its dataset folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import vttdata
from vttdata.errors import LeakError
from vttdata.pipeline.build import Build
from vttdata.publish.about import About
from vttdata.publish.audited import audit_files
from vttdata.publish.dataset import write_dataset
from vttdata.records import Caption, Clip, Source
from vttdata.report.attrition import attrition_rows
from vttdata.report.audit import leak_sentence
from vttdata.split import Audit, Resemblance, SplitSettings


def package(
    run: Build,
    clips: Iterable[Clip],
    captions: Iterable[Caption],
    sources: Iterable[Source],
    split: SplitSettings,
    media: Path | None,
    near: Resemblance | None = None,
) -> None:
    """Replace the build's dataset by one of these records.

    Args:
        run: the build; its recipe and its stages' counts go into the card.
        clips: with their splits.
        captions: of these clips and of others, which are left out.
        sources: at least those of the clips.
        split: what was asked of the splits.
        media: the folder of the clips' files, or None when the clips have none.
        near: near-duplicate sources, where they are known.

    Raises:
        VttdataError: when no clip is left.
        LeakError: when an audit of the splits finds leaks and the recipe has no `allow_leaks`. The dataset that was
            there before stays.
    """
    recipe = run.loaded.recipe
    about = About(
        name=recipe.name,
        version=recipe.version,
        licence=recipe.licence,
        language=recipe.language,
        seed=recipe.seed,
        description=recipe.description,
        asked=split.ratios,
        together=split.together,
        allow_leaks=recipe.allow_leaks,
        attrition=attrition_rows([table.tally.as_json() for table in run.tables]),
        provenance={"vttdata": vttdata.__version__, **run.tools},
    )
    clips = list(clips)
    wanted = {clip.video_id for clip in clips}
    kept = (caption for caption in captions if caption.video_id in wanted)

    def judge(files: Mapping[str, Sequence[Path]]) -> Audit:
        found = audit_files(files, near=near)
        run.audit = found.as_json()
        if not found.ok and recipe.allow_leaks is None:
            raise LeakError(
                f"The splits leak, so no dataset was packaged: {leak_sentence(found)}; {run.folder / 'build.json'} "
                "holds the worst under 'audit', 'split.together' keeps clips together, and 'allow_leaks: REASON' "
                "packages them all the same."
            )
        return found

    write_dataset(run.dataset, clips=clips, captions=kept, sources=sources, about=about, media=media, judge=judge)
