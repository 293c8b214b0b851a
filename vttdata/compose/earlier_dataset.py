"""Comparison of a build with the dataset that it is about to replace: captions that it would drop, clips that it moves.

Captions are people's work, and a published split is what others have trained on: neither changes without a word.
"""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vttdata.dataset.errata import history_rows, row_id
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.rows import ERRATA
from vttdata.dataset.tombstones import read_history
from vttdata.errors import CaptionLossError, VttdataError, VttdataWarning
from vttdata.files.results import format_plain_table
from vttdata.json_types import Row
from vttdata.pipeline.build_folder import Build, write_pins
from vttdata.pipeline.stages.split import Split
from vttdata.records import Caption, Clip, Source

_EXAMPLES = 3
# Shares of fewer clips say little.
_MIN_CLIPS = 20
# Difference between a wanted and an achieved share of which a build tells, and that of so many clips.
_LARGE_GAP = 0.05
_MANY_CLIPS, _GAP_OF_MANY = 500, 0.02


@dataclass(frozen=True, slots=True)
class EarlierCaption:
    """Caption of an earlier dataset."""

    video_id: str
    caption: str
    annotator: str | None


@dataclass(frozen=True, slots=True)
class EarlierSource:
    """Source of an earlier dataset: checksum and name of its file, as far as known, and the splits of its clips."""

    sha256: str | None
    file: str | None
    splits: Collection[str]


@dataclass(frozen=True, slots=True)
class EarlierDataset:
    """Clips of a dataset with their splits, its captions, and its sources by id."""

    split_of: Mapping[str, str]
    captions: Sequence[EarlierCaption]
    sources: Mapping[str, EarlierSource]


def read_earlier_dataset(folder: Path) -> EarlierDataset:
    """Read the splits, the captions and the sources of a dataset.

    Raises:
        VttdataError: If it is no dataset of clips, or is damaged.
    """
    files = read_layout(folder, needs="clips").files
    split_of = {row["video_id"]: split for split, row in _rows(files["clips"], ("video_id",))}
    # Texts as people wrote them: errata are put in again.
    written = {
        erratum.id: erratum.old
        for erratum in reversed(history_rows(read_history(folder, ERRATA)))
        if erratum.field == "captions.caption"
    }
    captions = [
        EarlierCaption(row["video_id"], written.get(row_id("captions", row)) or row["caption"], row["annotator"])
        for _, row in _rows(files.get("captions", {}), ("video_id", "sen_id", "caption", "annotator"))
    ]
    sources: dict[str, EarlierSource] = {}
    # Without them, clips are known by their ids alone, and captions are kept as well.
    with contextlib.suppress(VttdataError):
        for split, row in _rows(files.get("sources", {}), ("source_id",), ("sha256", "file")):
            # A source has a row in each split with clips of it.
            before = sources.get(row["source_id"])
            splits = {split, *(before.splits if before is not None else ())}
            sources[row["source_id"]] = EarlierSource(row.get("sha256"), row.get("file"), splits)
    return EarlierDataset(split_of, captions, sources)


def _rows(
    files: Mapping[str, Sequence[Path]], columns: Sequence[str], optional: Sequence[str] = ()
) -> Iterable[tuple[str, Row]]:
    return (
        (split, row) for split, paths in files.items() for row in read_parquet_rows(paths, columns, optional=optional)
    )


def replaced_dataset(run: Build) -> EarlierDataset:
    """Return the dataset that a build is about to replace; an empty one where there is none of its name."""
    try:
        if read_dataset_manifest(run.dataset).get("name") == run.loaded.recipe.name:
            return read_earlier_dataset(run.dataset)
    except VttdataError:
        # What cannot be read cannot be lost.
        pass
    return EarlierDataset({}, [], {})


def find_lost_captions(earlier: EarlierDataset, captions: Iterable[Caption]) -> tuple[list[EarlierCaption], int]:
    """Return the captions of a dataset that are not among others, whatever clip those belong to.

    A caption is not lost where its clip has the same one by another annotator, the number of which is also returned,
    or another one by the same annotator in its place, which is a correction.
    """
    clips_of: dict[tuple[str, str | None], list[str]] = {}
    for caption in captions:
        clips_of.setdefault((caption.caption, caption.annotator), []).append(caption.video_id)
    missing = []
    for old in earlier.captions:
        clips = clips_of.get((old.caption, old.annotator))
        if clips:
            clips.remove(old.video_id) if old.video_id in clips else clips.pop()
        else:
            missing.append(old)
    annotators: dict[tuple[str, str], list[str | None]] = {}
    for (text, annotator), clips in clips_of.items():
        for video_id in clips:
            annotators.setdefault((video_id, text), []).append(annotator)
    changed = []
    for old in missing:
        if names := annotators.get((old.video_id, old.caption)):
            names.pop()
        else:
            changed.append(old)
    new = Counter((video_id, annotator) for (video_id, _), names in annotators.items() for annotator in names)
    lost = []
    for old in changed:
        if new[old.video_id, old.annotator]:
            new[old.video_id, old.annotator] -= 1
        else:
            lost.append(old)
    return lost, len(missing) - len(changed)


def refuse_caption_loss(
    run: Build,
    earlier: EarlierDataset,
    captions: Iterable[Caption],
    clips: Iterable[Clip],
    found: Iterable[Clip],
    *,
    warn: bool,
) -> None:
    """Check that a build keeps the captions of the dataset that it replaces; if it may drop some, say how many.

    Args:
        run: The build.
        earlier: That dataset.
        captions: The captions of the clips of the new dataset, and of others, which are left out.
        clips: Its clips.
        found: All clips of the build, also those that are left out of the dataset.
        warn: Whether to warn of captions that may be dropped, and of those that have another annotator.

    Raises:
        CaptionLossError: If captions would be dropped, with their numbers.
    """
    if not earlier.captions:
        return
    video_ids = {clip.video_id for clip in clips}
    lost, renamed = find_lost_captions(earlier, (caption for caption in captions if caption.video_id in video_ids))
    if renamed and warn:
        message = f"{renamed:,} captions have another annotator than in the dataset that is replaced."
        warnings.warn(message, VttdataWarning, stacklevel=2)
    if not lost or (run.allow_caption_loss and not warn):
        return
    workers = {caption.annotator for caption in lost if caption.annotator is not None}
    judged = sum(caption.annotator is not None for caption in lost)
    counts = f"{len(lost):,} of the {len(earlier.captions):,} captions in {run.dataset}"
    counts += f", {judged:,} of them the work of {len(workers):,} people" if workers else ""
    lost_of = Counter(caption.video_id for caption in lost if caption.video_id not in video_ids)
    known = {clip.video_id for clip in found}
    gone = {video_id: number for video_id, number in lost_of.items() if video_id not in known}
    left_out = {video_id: number for video_id, number in lost_of.items() if video_id in known}
    parts = [
        f"{sum(group.values()):,} {why} ({len(group):,}, such as {min(group)})"
        for group, why in ((gone, "because clips are gone"), (left_out, "of clips that the recipe leaves out"))
        if group
    ]
    if stay := [caption for caption in lost if caption.video_id in video_ids]:
        parts.append(f"{len(stay):,} of clips that stay, such as {stay[0].caption[:80]!r} of {stay[0].video_id}")
    if run.allow_caption_loss:
        warnings.warn(f"This build drops {counts}: {'; '.join(parts)}.", VttdataWarning, stacklevel=2)
        return
    advice = "captions.follow=0.5 lets captions follow a clip with half of their span, and " if gone else ""
    raise CaptionLossError(
        f"The change would drop {counts}: {'; '.join(parts)}. The dataset stays as it is; {advice}--allow-caption-loss "
        "drops them."
    )


def report_split_changes(
    run: Build, earlier: EarlierDataset, clips: Sequence[Clip], sources: Sequence[Source], division: Split
) -> None:
    """Warn of clips that are in another split than in the dataset that a build replaces, and of shares far off.

    A clip whose source has another id now is compared with those of the earlier source of the same file or file name.
    The earlier splits are left in the build folder, as a file for ``split.pin``.
    """
    ratios = division.settings.ratios
    split_of = {clip.video_id: clip.split or "train" for clip in clips}
    renamed = _find_renamed(earlier, sources)
    before = {**earlier.split_of}
    for clip in clips:
        if clip.source_id in renamed:
            before.setdefault(clip.video_id, renamed[clip.source_id])
    moved = [name for name in split_of if before.get(name, split_of[name]) != split_of[name]]
    if moved:
        examples = ", ".join(f"{name} ({before[name]} -> {split_of[name]})" for name in moved[:_EXAMPLES])
        pins = write_pins(run.folder, before)
        others = sum(name not in earlier.split_of for name in moved)
        message = (
            f"{len(moved):,} of {len(split_of):,} clips change their split, such as {examples}"
            + (f" ({others:,} have another id now)" if others else "")
            + f"; {pins} holds the earlier splits: --set split.pin={pins} keeps them."
        )
        warnings.warn(message, VttdataWarning, stacklevel=2)
    if division.settings.after is not None:
        # Then the days of upload decide the shares.
        return
    counts = Counter(split_of.values())
    gaps = {split: counts[split] / max(len(split_of), 1) - ratio for split, ratio in ratios.items()}
    gap = max(map(abs, gaps.values()))
    if 1 < len(split_of) < _MIN_CLIPS and gap > _LARGE_GAP:
        nearest = division.assign(clips, dataclasses.replace(division.settings, method="balanced"))
        found, best = (", ".join(f"{of[split]} {split}" for split in ratios) for of in (counts, nearest.counts))
        how = "no other is nearer" if found == best else f"{best} is, with split.method=balanced"
        together = "1 group that stays" if nearest.groups == 1 else f"{nearest.groups} groups that stay"
        message = (
            f"{len(split_of)} clips in {together} together cannot be divided by the wanted "
            f"ratios {', '.join(f'{ratio:.0%}' for ratio in ratios.values())}: they are {found}; {how}."
        )
        warnings.warn(message, VttdataWarning, stacklevel=2)
    if len(split_of) >= _MIN_CLIPS and gap > (_GAP_OF_MANY if len(split_of) >= _MANY_CLIPS else _LARGE_GAP):
        shares = ", ".join(
            f"{split} {counts[split] / len(split_of):.1%} (wanted {ratios[split]:.1%})" for split in gaps
        )
        message = f"The shares of the splits are {shares}."
        if division.settings.method == "stable":
            message = f"{message[:-1]}; split.method=balanced keeps to them."
            draw, closest = division.find_closer_draw(clips)
            if closest < gap:
                message += f" split.draw={draw} brings each within {100 * closest:.1f} points and moves clips once."
        groups = division.largest_groups(clips)
        if any(size > gap * len(split_of) for _, size, _ in groups.rows):
            message += (
                " Ties make large groups, each of which is in one split; near_duplicates=keep_one and split.cut_ties "
                f"make smaller ones.\n{format_plain_table(groups)}"
            )
        warnings.warn(message, VttdataWarning, stacklevel=2)


def _find_renamed(earlier: EarlierDataset, sources: Sequence[Source]) -> dict[str, str]:
    """Return the earlier split of each source that has another id now, but the same file or name of a file."""
    known = {source.source_id for source in sources}
    by_file: dict[str, str] = {}
    by_checksum: dict[str, str] = {}
    for name, earlier_source in earlier.sources.items():
        if name not in known and len(earlier_source.splits) == 1:
            (split,) = earlier_source.splits
            by_file[earlier_source.file or ""] = by_checksum[earlier_source.sha256 or ""] = split
    found = {
        source.source_id: by_checksum.get(source.sha256) or by_file.get(source.file)
        for source in sources
        if source.source_id not in earlier.sources and source.file
    }
    return {name: split for name, split in found.items() if split is not None}
