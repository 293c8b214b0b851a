"""Stages that need all items at once: they draw clips, find near-duplicate sources, and assign clips to splits."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vttdata.dataset.tombstones import find_copies
from vttdata.files.results import ResultTable
from vttdata.pipeline.stage import GatheringStage, Kept, Outcome, Rejected, WholeStage
from vttdata.records import Clip, Fingerprint, Source
from vttdata.split import Assignment, SplitSettings, assign_splits
from vttdata.split.assign import find_groups
from vttdata.split.groups import DisjointSets, count_ties
from vttdata.split.near_duplicates.matches import NearDuplicate, match_samples
from vttdata.split.near_duplicates.samples import Samples, collect_samples
from vttdata.split.sample import sample_clips

# Draws that are tried, and the gap of one with which it is content.
_DRAWS, _CLOSE = 100, 0.005
_LARGEST_GROUPS = 3
# Chroma from which a picture counts as one in colour whatever its copies have: of 23 videos the
# three in grey or sepia had 1.5 at most, and the others 3.2 and more, but for one of a plain door, which had 0.9.
_CHROMA = 2.0


@dataclass(frozen=True)
class NearDuplicates(GatheringStage[Source, Samples, NearDuplicate]):
    """Find the pairs of sources that show the same, wholly or in part."""

    name = "copies"
    version = 3
    output = NearDuplicate

    def gather(self, items: Iterable[Source]) -> Samples:
        """Return the samples of those sources that have a fingerprint; all else of the sources is not held."""
        return collect_samples(
            (source.source_id, source.fingerprint) for source in items if source.fingerprint is not None
        )

    def count(self, item: Samples) -> int:
        """Return the number of sources."""
        return len(item.ids)

    def process(self, item: Samples) -> Iterator[Outcome[NearDuplicate]]:
        """Keep every pair."""
        return map(Kept, match_samples(item).duplicates())


@dataclass(frozen=True)
class RefuseCopies(WholeStage[Source, Source]):
    """Reject sources that show what was withdrawn, under whatever name.

    `fingerprints` are those that the tombstones of the dataset keep.
    """

    name = "withdrawn"
    output = Source
    reasons = frozenset({"withdrawn"})

    fingerprints: tuple[tuple[str, Fingerprint], ...]

    def process(self, item: tuple[Source, ...]) -> Iterator[Outcome[Source]]:
        """Keep the other sources, in input order."""
        prints = [(source.source_id, source.fingerprint) for source in item if source.fingerprint is not None]
        copies = find_copies(prints, dict(self.fingerprints))
        for source in item:
            if source.source_id in copies:
                yield Rejected(source.source_id, "withdrawn", "it shows the same as a withdrawn source", source.file)
            else:
                yield Kept(source)


@dataclass(frozen=True)
class DrawClips(WholeStage[Clip, Clip]):
    """Keep at most `total` clips, drawn evenly over categories."""

    name = "drawn"
    output = Clip
    id_column = "video_id"
    reasons = frozenset({"not_drawn"})

    total: int
    seed: int

    def process(self, item: tuple[Clip, ...]) -> Iterator[Outcome[Clip]]:
        """Keep the clips that are drawn, in input order."""
        drawn = sample_clips(item, self.total, self.seed)
        for clip in item:
            if clip.video_id in drawn:
                yield Kept(clip)
            else:
                detail = f"clips.total draws {self.total:,} of {len(item):,} clips evenly over categories"
                yield Rejected(clip.video_id, "not_drawn", detail)


@dataclass(frozen=True, slots=True)
class Rendition:
    """What tells an original from its copies.

    Fields:
        file: its name, for people.
        chroma: as of `Shot`, mean of the source.
        pixels: width times height.
        seconds: length.
        wear: blur and visible block edges together, 0 best.
    """

    source_id: str
    file: str
    chroma: float
    pixels: int
    seconds: float
    wear: float


@dataclass(frozen=True)
class KeepOne(WholeStage[Clip, Clip]):
    """Reject the clips of all sources but one of each family that near-duplicates connect.

    A source with pinned clips stays, else one in colour before grey and tinted ones, then the one with the largest
    picture, the most seconds (to a second), the least wear, and the smallest id. Only sources with clips are
    considered, so that no family is lost.

    Fields:
        pairs: ids of near-duplicate sources.
        renditions: of these sources.
    """

    name = "families"
    output = Clip
    id_column = "video_id"
    reasons = frozenset({"near_duplicate"})

    pairs: tuple[tuple[str, str], ...]
    renditions: tuple[Rendition, ...]
    pinned: tuple[str, ...] = ()

    def process(self, item: tuple[Clip, ...]) -> Iterator[Outcome[Clip]]:
        """Keep the clips of one source of each family, in input order."""
        pinned = frozenset(self.pinned)
        has_pin = {clip.source_id for clip in item if clip.video_id in pinned}
        nodes = DisjointSets()
        for source_a, source_b in self.pairs:
            nodes.join(nodes.node("source", source_a), nodes.node("source", source_b))
        with_clips = {clip.source_id for clip in item}
        families: dict[int, list[Rendition]] = defaultdict(list)
        for each in self.renditions:
            if each.source_id in with_clips:
                families[nodes.root(nodes.node("source", each.source_id))].append(each)
        kept_of: dict[str, Rendition] = {}
        for family in families.values():
            least = min(_CHROMA, max(each.chroma for each in family) / 2)
            ranks = [
                (each.source_id not in has_pin, each.chroma < least, -each.pixels, -round(each.seconds), each.wear)
                for each in family
            ]
            _, _, kept = min((rank, each.source_id, each) for rank, each in zip(ranks, family, strict=True))
            kept_of |= {each.source_id: kept for each in family}
        for clip in item:
            if clip.source_id not in kept_of or clip.source_id == kept_of[clip.source_id].source_id:
                yield Kept(clip)
            else:
                kept = kept_of[clip.source_id]
                detail = f"it shows the same as {kept.file} ({kept.source_id}), of which the clips are kept"
                yield Rejected(clip.video_id, "near_duplicate", detail)


@dataclass(frozen=True)
class Split(WholeStage[Clip, Clip]):
    """Assign groups of clips to splits, and sort clips by id. Pinned clips that do not exist are rejected.

    Sort the tuples, so that the order in which their values were found makes nothing stale.

    Fields:
        pins: (`video_id`, split).
        pairs: ids of near-duplicate sources.
        uploaders: (`source_id`, uploader).
        uploaded: (`source_id`, day of upload).
    """

    name = "split"
    version = 2
    output = Clip
    id_column = "video_id"
    reasons = frozenset({"pinned_but_missing"})

    settings: SplitSettings
    seed: int
    pins: tuple[tuple[str, str], ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    uploaders: tuple[tuple[str, str], ...] = ()
    uploaded: tuple[tuple[str, str], ...] = ()

    def assign(
        self, clips: Sequence[Clip], settings: SplitSettings, group_of: Mapping[str, str] | None = None
    ) -> Assignment:
        """Return the division of clips by some settings, the rest being as it is; `group_of` as of `assign_splits`."""
        pins, uploaders = dict(self.pins), dict(self.uploaders)
        return assign_splits(
            clips,
            settings,
            seed=self.seed,
            pairs=self.pairs,
            uploaders=uploaders,
            pins=pins,
            uploaded=dict(self.uploaded),
            group_of=group_of,
        )

    def groups(self, clips: Sequence[Clip]) -> dict[str, str]:
        """Return `video_id` -> group id."""
        return find_groups(clips, self.settings, self.pairs, dict(self.uploaders))

    def largest_groups(self, clips: Sequence[Clip]) -> ResultTable:
        """Return the table of the largest groups of more than one source, and of what ties their clips."""
        found = count_ties(self.groups(clips), clips, self.pairs, dict(self.uploaders), _LARGEST_GROUPS)
        rows = [
            (name, size, ", ".join(f"{number:,} {kind}" for kind, number in ties.items() if number))
            for name, size, ties in found
            if ties["sources"] > 1
        ]
        return ResultTable(("group", "clips", "ties"), rows)

    def find_closer_draw(self, clips: Sequence[Clip]) -> tuple[int, float]:
        """Return the first draw whose shares are all within half a point of the ratios, and its largest gap.

        If none of a hundred is as close, it is the closest of them.
        """
        closest = (math.inf, 0)
        # No draw changes what belongs together.
        group_of = self.groups(clips)
        for draw in range(_DRAWS):
            gap = self.assign(clips, dataclasses.replace(self.settings, draw=draw), group_of).largest_gap
            closest = min(closest, (gap, draw))
            if gap <= _CLOSE:
                break
        return closest[1], closest[0]

    def process(self, item: tuple[Clip, ...]) -> Iterator[Outcome[Clip]]:
        """Keep every clip with its split."""
        pins = dict(self.pins)
        assignment = self.assign(item, self.settings)
        for clip in sorted(item, key=lambda clip: clip.video_id):
            yield Kept(dataclasses.replace(clip, split=assignment.split_of[clip.video_id]))
        for video_id in assignment.lost_pins:
            yield Rejected(video_id, "pinned_but_missing", f"is pinned to {pins[video_id]}, but there is no such clip")
