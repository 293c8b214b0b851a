"""Mines pairs of a true and a false caption, or paragraph, from captions of videos.

The steps are those of section 4.2 of the EMScore paper (Shi et al., CVPR 2022): pair the concepts, swap, score, choose.
What a foil must satisfy is decided in `swaps`, which foils are taken in `selection`.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from vttdata.generate.foils.edits import Document, Edit, FoilPair, Video, lean_of, pairs_of, score
from vttdata.generate.foils.plausibility import Usage
from vttdata.generate.foils.selection import balanced, choose, joint_leans
from vttdata.generate.foils.swaps import Swap, UnsoundProbability, Writings, absent, candidates, contents_of
from vttdata.generate.foils.verdicts import Verdicts
from vttdata.settings import STRICT, Count, PositiveCount, Ratio
from vttdata.text.lm import Scorer
from vttdata.text.nouns.lexicon import Lexicon, Noun

__all__ = ["Document", "FoilPair", "FoilSettings", "Mined", "Video", "search_foils"]

_VIDEOS_AT_A_TIME = 250
_OPTIONS_AT_ONCE = 200_000
"""What one balanced choice takes at most, and those of some videos more; about 4 KiB an option while it is solved."""


@dataclass(frozen=True, slots=True)
class FoilSettings:
    """How foils are mined.

    Fields:
        selection: ``balanced`` (see `balanced` in `selection`), ``paper`` (lowest perplexity) or ``random``.
        min_count: how often a concept must be mentioned in the whole corpus. The paper's 2,191 pairs of about 13 foils
            a concept are some 168 concepts; of ActivityNet-Entities' classes so many have 25 mentions or more.
        pair_share: the highest share of the set that swaps one word for one other, each direction by itself.
        imbalance: how far from one half ``balanced`` lets the share of uses be in which a word is the true one; half as
            far for foils that are longer, commoner or likelier than the truth. Small sets hide more of it than large.
        max_unsound_probability: the highest estimated probability of being unsound, from 0 to 1, with which
            ``balanced`` takes a foil (see `vttdata.generate.foils.plausibility.Usage.unsound_probability`); a lower
            limit leaves fewer foils, and more of them are sound.
        unsound_penalty: how many sound foils ``balanced`` gives up to avoid one unsound foil.
        judged_only: whether ``balanced`` takes only foils that people judged.
        candidates: how many possible foils of a document are scored; of more, a hash picks.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    selection: Literal["balanced", "paper", "random"] = "balanced"
    min_count: Count = 10
    pair_share: Annotated[float, Gt(0), Le(1)] = 0.03
    imbalance: Annotated[float, Ge(0), Le(0.5)] = 0.02
    max_unsound_probability: Ratio = 0.8
    unsound_penalty: Annotated[float, Ge(0), Le(100)] = 0.0
    judged_only: bool = False
    candidates: PositiveCount = 1000


@dataclass(frozen=True, slots=True)
class Mined:
    """The pairs in the order of the videos; how many videos, documents and captions had a candidate, and candidates."""

    pairs: tuple[FoilPair, ...]
    tally: Mapping[str, int]


def search_foils(
    videos: Iterable[Video],
    lexicon: Lexicon,
    rivals: Mapping[str, Sequence[Noun]],
    scorer: Scorer,
    *,
    settings: FoilSettings,
    seed: int,
    second: Scorer | None = None,
    usage: Usage | None = None,
    verdicts: Verdicts = MappingProxyType({}),
) -> Mined:
    """Make and choose foils.

    Args:
        videos: in any order; each is looked at once.
        lexicon: of their mentions.
        rivals: which concept may stand for which; see `vttdata.generate.foils.swaps.pair_concepts`.
        scorer: whose perplexities count.
        settings: how to choose. ``balanced`` makes at most one pair a video, since the texts of several together tell
            what is true of it: of a document whose every mention of a concept can be swapped, all are, so that no
            word stands there that the rest contradicts. The others give every caption its foil.
        seed: of all choices.
        second: a model trained on other text than `scorer`, by which ``balanced`` allows for what is noise in the
            scores; see `vttdata.generate.foils.selection.joint_leans`.
        usage: where nouns were seen; without it they may stand anywhere.
        verdicts: on foils that people judged: ``balanced`` takes none that they refuse, and the others are
            as sound as they say.
    """
    together = settings.selection == "balanced"
    edits: list[Edit] = []
    leans: list[float] = []
    pairs: list[FoilPair] = []
    tally = {"videos": 0, "documents": 0, "captions": 0, "candidates": 0}
    for block in _blocks(videos):
        if together and len(edits) >= _OPTIONS_AT_ONCE:
            pairs += _balanced(edits, leans, second, settings, seed)
            edits, leans = [], []
        own = [edit for video in block for edit in _edits_of(video, lexicon, rivals, settings, seed, usage, verdicts)]
        _count(own, tally)
        scored = [edit.scored(found) for edit, found in zip(own, score(own, scorer), strict=True)]
        found = np.array([lean_of(edit.perplexities) for edit in scored])
        if together:
            edits += scored
            leans += found.tolist()
        else:
            options = [edit.option(float(lean)) for edit, lean in zip(scored, found, strict=True)]
            chosen = choose(options, settings.selection, seed=seed)
            pairs += [pair for place in chosen for pair in pairs_of(scored[place])]
    if together:
        pairs += _balanced(edits, leans, second, settings, seed)
    return Mined(tuple(pairs), tally)


def _blocks(videos: Iterable[Video]) -> Iterator[list[Video]]:
    """So many videos at a time that scoring is fast and memory flat."""
    stream = iter(videos)
    while block := list(itertools.islice(stream, _VIDEOS_AT_A_TIME)):
        yield block


def _count(edits: Sequence[Edit], tally: dict[str, int]) -> None:
    tally["videos"] += len({edit.video.video_id for edit in edits})
    tally["documents"] += len({edit.document.ids[0] for edit in edits})
    tally["captions"] += len({edit.document.ids[place] for edit in edits for place, _ in edit.swaps})
    tally["candidates"] += len(edits)


def _balanced(
    edits: Sequence[Edit], leans: Sequence[float], second: Scorer | None, settings: FoilSettings, seed: int
) -> list[FoilPair]:
    """The pairs of the chosen edits; each split is balanced by itself."""
    likely = np.array(leans)
    if second is not None and edits:
        likely = joint_leans(likely, np.array([lean_of(own) for own in score(edits, second)]))
    options = [edit.option(float(lean), whole_video=True) for edit, lean in zip(edits, likely, strict=True)]
    places: dict[str, list[int]] = defaultdict(list)
    for place, edit in enumerate(edits):
        places[edit.video.split or ""].append(place)
    chosen: list[int] = []
    for own in places.values():
        limits = {name: getattr(settings, name) for name in ("pair_share", "imbalance", "unsound_penalty")}
        picked = balanced([options[place] for place in own], seed=seed, **limits)
        chosen += [own[place] for place in picked]
    return [pair for place in sorted(chosen) for pair in pairs_of(edits[place])]


def _edits_of(
    video: Video,
    lexicon: Lexicon,
    rivals: Mapping[str, Sequence[Noun]],
    settings: FoilSettings,
    seed: int,
    usage: Usage | None,
    verdicts: Verdicts,
) -> list[Edit]:
    """The options of a video, at most so many a document."""
    free = absent(rivals, video.contents, lexicon)
    estimate: UnsoundProbability | None = None
    writings: Writings | None = None
    if usage is not None:
        writings = usage.writings
        estimate = functools.partial(usage.unsound_probability, company=usage.company(video.contents.words))
    found: list[Edit] = []
    for document in video.documents:
        around = contents_of(zip(document.texts, document.mentions, strict=True), lexicon)
        swaps = [
            (place, swap)
            for place, (text, mentions) in enumerate(zip(document.texts, document.mentions, strict=True))
            for swap in candidates(text, mentions, lexicon, free, around, estimate, writings)
        ]
        together = settings.selection == "balanced"
        groups = _consistent(swaps) if together else ((pair,) for pair in swaps)
        edits = (Edit(video, document, group) for group in groups)
        if together:
            judged = (edit.judged(verdicts, only=settings.judged_only) for edit in edits)
            edits = (
                edit
                for edit in judged
                if edit is not None and edit.unsound_probability <= settings.max_unsound_probability
            )
        found += edits
    limit = settings.candidates
    if settings.selection == "paper" or len(found) <= limit:
        return found
    ranked = sorted(found, key=lambda edit: hashlib.sha256(f"{seed}\0{edit.key}".encode("utf-8", "replace")).digest())
    keep = {edit.key for edit in ranked[:limit]}
    return [edit for edit in found if edit.key in keep]


def _consistent(swaps: Iterable[tuple[int, Swap]]) -> Iterator[tuple[tuple[int, Swap], ...]]:
    """Swaps of one concept for one other that together change every mention of it, one a caption."""
    groups: dict[tuple[str, str, str], list[tuple[int, Swap]]] = defaultdict(list)
    for place, swap in swaps:
        groups[swap.concept, swap.foil_concept, swap.foil_name].append((place, swap))
    for group in groups.values():
        once = len({place for place, _ in group}) == len(group)
        if once and all(swap.others == len(group) - 1 for _, swap in group):
            yield tuple(group)
