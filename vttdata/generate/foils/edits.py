"""What mining works with: documents, videos, the changes that are possible in them, and how likely these read.

Which changes are possible is found in `swaps`; which are taken, in `selection`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vttdata.generate.foils.selection import Option
from vttdata.generate.foils.swaps import Contents, Swap
from vttdata.generate.foils.verdicts import LEAST, Verdicts
from vttdata.text.lm import Scorer
from vttdata.text.lm.scorer import Swap as Change
from vttdata.text.nouns.mentions import Mention


@dataclass(frozen=True, slots=True)
class Document:
    """What a judge is shown together: a paragraph of captions, or one caption alone. `ids` name its captions."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    mentions: tuple[tuple[Mention, ...], ...]


@dataclass(frozen=True, slots=True)
class Video:
    """A video with its documents and with everything that any text or annotation says is in it."""

    video_id: str
    documents: tuple[Document, ...]
    contents: Contents
    split: str | None = None


@dataclass(frozen=True, slots=True)
class FoilPair:
    """A true caption and its foil; of a document several captions may be changed, always the same concept in them.

    `perplexity` and `foil_perplexity` are those of the scorer that mined it.
    """

    video_id: str
    caption_id: str
    place: int
    caption: str
    foil: str
    swap: Swap
    perplexity: float
    foil_perplexity: float
    split: str | None = None

    @property
    def foil_id(self) -> str:
        """Tells the foils of one corpus apart."""
        return foil_id(self.caption_id, self.swap)


def foil_id(caption_id: str, swap: Swap) -> str:
    """What names a foil: its caption, the place of the swap in it, in characters, and what is swapped in."""
    return f"{caption_id}_{swap.start}_{swap.foil_concept.replace(' ', '-')}"


@dataclass(frozen=True, slots=True)
class Edit:
    """One option in full: its document and the swaps to be made in it, by the place of the caption."""

    video: Video
    document: Document
    swaps: tuple[tuple[int, Swap], ...]
    perplexities: tuple[tuple[float, float], ...] = ()

    @property
    def key(self) -> str:
        """Tells the edits of one corpus apart."""
        first = self.swaps[0]
        names = (first[1].concept, first[1].foil_concept, first[1].foil_name)
        return "\0".join((self.document.ids[0], str(first[0]), str(first[1].start), *names))

    @property
    def unsound_probability(self) -> float:
        """Probability of its least sound swap."""
        return max(swap.unsound_probability for _, swap in self.swaps)

    def judged(self, verdicts: Verdicts, *, only: bool) -> Edit | None:
        """The edit, as sound as people say; None where they refuse a foil of it, or with `only` said nothing."""
        said = [verdicts.get(foil_id(self.document.ids[place], swap)) for place, swap in self.swaps]
        known = [one for one in said if one is not None]
        if min(known, default=1.0) < LEAST or (only and len(known) < len(said)):
            return None
        if len(known) < len(said):
            return self
        return replace(
            self, swaps=tuple((place, replace(swap, unsound_probability=1 - min(known))) for place, swap in self.swaps)
        )

    def scored(self, perplexities: tuple[tuple[float, float], ...]) -> Edit:
        """The edit with the perplexities of its captions, true and foil."""
        return replace(self, perplexities=perplexities)

    def option(self, lean: float, *, whole_video: bool = False) -> Option:
        """What selection sees of it; its unit is the video or the caption."""
        unit = self.video.video_id if whole_video else self.document.ids[self.swaps[0][0]]
        words, foil_words = ({getattr(swap, side) for _, swap in self.swaps} for side in ("word", "foil_word"))
        return Option(
            unit, self.key, "+".join(sorted(words)), "+".join(sorted(foil_words)), lean, self.unsound_probability
        )


def score(edits: Sequence[Edit], scorer: Scorer) -> list[tuple[tuple[float, float], ...]]:
    """For each edit the perplexities of its changed captions, true and foil; a span is scored once for all edits."""
    spans: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    for edit in edits:
        for place, swap in edit.swaps:
            text = edit.document.texts[place]
            own = spans[text, swap.start, swap.end]
            own[text[swap.start : swap.end]] = own[swap.replacement] = 0.0
    changes = [Change(*span, list(own)) for span, own in spans.items()]
    for own, found in zip(spans.values(), scorer.swap_perplexities(changes), strict=True):
        own.update(zip(own, found.tolist(), strict=True))
    return [tuple(_of_span(spans, edit.document.texts[place], swap) for place, swap in edit.swaps) for edit in edits]


def _of_span(spans: Mapping[tuple[str, int, int], Mapping[str, float]], text: str, swap: Swap) -> tuple[float, float]:
    own = spans[text, swap.start, swap.end]
    return own[text[swap.start : swap.end]], own[swap.replacement]


def lean_of(perplexities: Sequence[tuple[float, float]]) -> float:
    """How far a model leans to the true captions: the summed logarithms of foil over true perplexity."""
    return float(sum(np.log(foil) - np.log(true) for true, foil in perplexities))


def pairs_of(edit: Edit) -> Iterator[FoilPair]:
    """Its captions with their foils."""
    for (place, swap), (true, foil) in zip(edit.swaps, edit.perplexities, strict=True):
        text, document = edit.document.texts[place], edit.document
        names = (edit.video.video_id, document.ids[place], place)
        yield FoilPair(*names, text, swap.apply(text), swap, true, foil, edit.video.split)
