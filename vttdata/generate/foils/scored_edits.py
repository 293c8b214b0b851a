"""Edits of documents: the swaps that together make one foil, with their perplexities.

The swaps that are possible are found in `swaps`; which edits are taken, in `selection`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vttdata.generate.blind.words import lower_words
from vttdata.generate.foils.documents import Document, FoilPair, VideoDocuments, foil_id
from vttdata.generate.foils.human_verdicts import MIN_SOUNDNESS, Verdicts
from vttdata.generate.foils.selection import Option
from vttdata.generate.foils.swaps import Swap
from vttdata.text.lm import Scorer, Substitution

# Perplexities of a true caption and of its foil.
Perplexities = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Edit:
    """Swaps of one concept for one other in a document, each with the index of its caption there.

    `perplexities`, of each changed caption and its foil, are empty until they are scored.
    """

    video: VideoDocuments
    document: Document
    swaps: tuple[tuple[int, Swap], ...]
    perplexities: tuple[Perplexities, ...] = ()

    @property
    def key(self) -> str:
        """Text that no other edit of the corpus has."""
        index, swap = self.swaps[0]
        names = (swap.concept, swap.foil_concept, swap.foil_name)
        return "\0".join((self.document.ids[0], str(index), str(swap.start), *names))

    @property
    def position(self) -> tuple[str, int]:
        """Id of the first changed caption, and where the swapped noun ends in it, in characters."""
        index, swap = self.swaps[0]
        return self.document.ids[index], swap.end

    @property
    def unsound_probability(self) -> float:
        """Highest unsound probability of its swaps."""
        return max(swap.unsound_probability for _, swap in self.swaps)

    def apply_verdicts(self, verdicts: Verdicts, *, judged_only: bool) -> Edit | None:
        """Return the edit with the unsound probability of its verdicts, once every swap of it has one.

        None where a verdict refuses one of its foils, or, with `judged_only`, where a foil has no verdict.
        """
        soundness = [verdicts.get(foil_id(self.document.ids[index], swap)) for index, swap in self.swaps]
        judged = [value for value in soundness if value is not None]
        complete = len(judged) == len(soundness)
        if min(judged, default=1.0) < MIN_SOUNDNESS or (judged_only and not complete):
            return None
        if not complete:
            return self
        unsound = 1 - min(judged)
        return replace(
            self, swaps=tuple((index, replace(swap, unsound_probability=unsound)) for index, swap in self.swaps)
        )

    def texts_with_foils(self) -> list[str]:
        """Return the texts of the document after the swaps."""
        texts = list(self.document.texts)
        for index, swap in self.swaps:
            texts[index] = swap.apply(texts[index])
        return texts

    def option(self, margin: float, associations: tuple[float, ...] = (), *, whole_video: bool = False) -> Option:
        """Return the edit as an option for selection; the unit is the video, and the rest its context, or a caption."""
        unit = self.video.video_id if whole_video else self.document.ids[self.swaps[0][0]]
        word = "+".join(sorted({swap.word for _, swap in self.swaps}))
        foil_word = "+".join(sorted({swap.foil_word for _, swap in self.swaps}))
        context: tuple[str, ...] = ()
        if whole_video:
            true, foil = (lower_words(" ".join(texts)) for texts in (self.document.texts, self.texts_with_foils()))
            context = tuple(sys.intern(shared) for shared in sorted({*true} & {*foil}))
        return Option(
            unit,
            self.key,
            word,
            foil_word,
            margin,
            self.unsound_probability,
            associations,
            context,
            self.swaps[0][1].supercategory,
            len(self.swaps),
        )

    def pairs(self) -> Iterator[FoilPair]:
        """Yield the changed captions with their foils."""
        for (index, swap), perplexities in zip(self.swaps, self.perplexities, strict=True):
            text = self.document.texts[index]
            names = (self.video.video_id, self.document.ids[index], index)
            yield FoilPair(*names, text, swap.apply(text), swap, *perplexities, self.video.split)


def score_edits(edits: Sequence[Edit], scorer: Scorer) -> list[tuple[Perplexities, ...]]:
    """Return the perplexities of the changed captions of each edit; a span is scored once for all edits."""
    spans: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    for edit in edits:
        for index, swap in edit.swaps:
            text = edit.document.texts[index]
            perplexities = spans[text, swap.start, swap.end]
            perplexities[text[swap.start : swap.end]] = perplexities[swap.replacement] = 0.0
    substitutions = [Substitution(*span, list(perplexities)) for span, perplexities in spans.items()]
    scored = scorer.substitution_perplexities(substitutions)
    for perplexities, values in zip(spans.values(), scored, strict=True):
        perplexities.update(zip(perplexities, values.tolist(), strict=True))

    def look_up(text: str, swap: Swap) -> Perplexities:
        perplexities = spans[text, swap.start, swap.end]
        return perplexities[text[swap.start : swap.end]], perplexities[swap.replacement]

    return [tuple(look_up(edit.document.texts[index], swap) for index, swap in edit.swaps) for edit in edits]


def log_perplexity_margin(perplexities: Sequence[Perplexities]) -> float:
    """Return by how much a model prefers the true captions: the summed ln(foil perplexity / true perplexity)."""
    return float(sum(np.log(foil) - np.log(true) for true, foil in perplexities))


def log_probability_margins(edits: Sequence[Edit], scorer: Scorer) -> list[float]:
    """Return by how much the scorer of each edit's perplexities prefers the true captions, by whole texts.

    That is the summed ln(probability of the true caption / probability of the foil). Perplexity is a mean over tokens:
    a foil with one word more is divided by one more, and its last word may be certain where its first one is not.
    """
    changed = [[(edit.document.texts[index], swap) for index, swap in edit.swaps] for edit in edits]
    texts = list(dict.fromkeys(each for swaps in changed for text, swap in swaps for each in (text, swap.apply(text))))
    tokens = dict(zip(texts, scorer.count_tokens(texts).tolist(), strict=True))
    return [
        float(
            sum(
                tokens[swap.apply(text)] * np.log(foil) - tokens[text] * np.log(true)
                for (text, swap), (true, foil) in zip(swaps, edit.perplexities, strict=True)
            )
        )
        for edit, swaps in zip(edits, changed, strict=True)
    ]
