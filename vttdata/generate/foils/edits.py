"""Possible edits of videos: which concepts of a document may be swapped for which others, before any is chosen.

Conditions on a single swap are in `swaps`.
"""

from __future__ import annotations

import functools
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from vttdata.generate.foils.documents import Document, VideoDocuments
from vttdata.generate.foils.human_verdicts import Verdicts
from vttdata.generate.foils.noun_usage import NounUsage
from vttdata.generate.foils.scored_edits import Edit
from vttdata.generate.foils.settings import FoilSettings
from vttdata.generate.foils.swaps import (
    Spellings,
    Swap,
    UnsoundProbability,
    find_swaps,
    select_absent_rivals,
    summarize_mentions,
)
from vttdata.text.nouns.lexicon import Lexicon, Noun

# Subcategory of which there is one thing at a time.
_EXCLUSIVE = "room"


@dataclass(frozen=True)
class EditFinder:
    """What decides which edits of a video are possible.

    Fields:
        lexicon: of the videos' mentions.
        rivals: concept -> concepts that may replace it; see `vttdata.generate.foils.swaps.pair_concepts`.
        settings: ``balanced`` changes a document only where every mention of a concept can be swapped, and then swaps
            all, so that nothing left in it contradicts the foil. The others change one mention at a time.
        seed: decides which edits are kept where there are more than `FoilSettings.candidates`.
        counts: number of mentions of each concept in the whole corpus, which questions need.
        usage: the contexts of nouns in other captions; without it they may stand anywhere.
        verdicts: on foils that people judged: ``balanced`` takes none that they refuse, and the others are as sound as
            they say.
    """

    lexicon: Lexicon
    rivals: Mapping[str, Sequence[Noun]]
    settings: FoilSettings
    seed: int
    counts: Mapping[str, int] = field(default_factory=dict)
    usage: NounUsage | None = None
    verdicts: Verdicts = field(default_factory=dict)

    @functools.cached_property
    def exclusive(self) -> Set[tuple[str, str]]:
        """Pairs of concepts that are rivals of each other, in both orders."""
        pairs = {(concept, rival.name) for concept, of_concept in self.rivals.items() for rival in of_concept}
        return {pair for pair in pairs if pair[::-1] in pairs}

    def list_edits(self, video: VideoDocuments, dropped: Counter[str]) -> list[Edit]:
        """List the possible edits of a video, at most `FoilSettings.candidates`; `dropped` counts others by reason."""
        settings = self.settings
        edits = self._list_balanced(video, dropped) if settings.balanced else self._list_single(video, dropped)
        if settings.selection == "paper" or (len(edits) <= settings.candidates and not settings.makes_questions):
            return edits
        ranked = sorted(edits, key=self._hash)
        if settings.makes_questions:
            ranked = group_by_position(ranked, settings.options - 1, self.exclusive, self.counts)
            if edits and not ranked:
                dropped["too_few"] += len(edits)
        kept = {edit.key for edit in ranked[: settings.candidates]}
        return [edit for edit in edits if edit.key in kept]

    def _list_single(self, video: VideoDocuments, dropped: Counter[str]) -> list[Edit]:
        return [
            Edit(video, document, (swap,)) for document, swaps in self._find_swaps(video, dropped) for swap in swaps
        ]

    def _list_balanced(self, video: VideoDocuments, dropped: Counter[str]) -> list[Edit]:
        edits: list[Edit] = []
        for document, swaps in self._find_swaps(video, dropped):
            for group in group_consistent_swaps(swaps):
                edit = Edit(video, document, group).apply_verdicts(self.verdicts, judged_only=self.settings.judged_only)
                if edit is not None and edit.unsound_probability <= self.settings.max_unsound_probability:
                    edits.append(edit)
                else:
                    dropped["implausible" if edit is not None else "refused"] += 1
        return edits

    def _find_swaps(
        self, video: VideoDocuments, dropped: Counter[str]
    ) -> Iterator[tuple[Document, list[tuple[int, Swap]]]]:
        """Yield each document with its swaps, each with the index of its caption."""
        # Who judged a foil has read what the lexicon can only suppose, so what words imply is left to the verdicts.
        by_verdicts = self.settings.balanced and self.settings.judged_only
        summary = replace(video.summary, implied=frozenset()) if by_verdicts else video.summary
        absent = select_absent_rivals(self.rivals, summary, self.lexicon, dropped)
        unsound_probability: UnsoundProbability | None = None
        spellings: Spellings | None = None
        if self.usage is not None:
            spellings = self.usage.common_spellings
            topic_fit = self.usage.topic_fit(video.summary.words)
            unsound_probability = functools.partial(self.usage.unsound_probability, topic_fit=topic_fit)
        doubtful = list_contradicted(video.documents, self.lexicon) & absent.keys()
        allowed = {name: rivals for name, rivals in absent.items() if name not in doubtful}
        for document in video.documents:
            captions = list(zip(document.texts, document.mentions, strict=True))
            of_document = summarize_mentions(captions, self.lexicon)
            dropped["contradicted"] += sum(len(absent[name]) for name in doubtful & of_document.nouns.keys())
            yield (
                document,
                [
                    (index, swap)
                    for index, (text, mentions) in enumerate(captions)
                    for swap in find_swaps(
                        text, mentions, self.lexicon, allowed, of_document, unsound_probability, spellings, dropped
                    )
                ],
            )

    def _hash(self, edit: Edit) -> bytes:
        return hashlib.sha256(f"{self.seed}\0{edit.key}".encode("utf-8", "replace")).digest()


def list_contradicted(documents: Sequence[Document], lexicon: Lexicon) -> Set[str]:
    """Return the nouns that other documents of a video speak against, so that a document that has them may be wrong.

    The others name another noun of its subcategory, never together with it. Two rooms exclude each other, so of these
    the one is doubted that no more documents name; of other things, which may both be there, one that nobody else
    names, by any word for it, where two others name another one.
    """
    named = [frozenset(mention.noun for of_text in each.mentions for mention in of_text) for each in documents]
    times = Counter(noun for nouns in named for noun in nouns)
    contradicted = set()
    for name in times:
        noun, related = lexicon.nouns[name], lexicon.relatives(name)
        rivals = [
            other
            for other in times.keys() - related
            if (lexicon.nouns[other].supercategory, lexicon.nouns[other].subcategory)
            == (noun.supercategory, noun.subcategory)
            and not any({name, other} <= nouns for nouns in named)
        ]
        most = max((times[rival] for rival in rivals), default=0)
        support = sum(not related.isdisjoint(nouns) for nouns in named)
        if most and (most >= support if noun.subcategory == _EXCLUSIVE else most > support == 1):
            contradicted.add(name)
    return contradicted


def group_by_position(
    edits: Iterable[Edit], foils: int, exclusive: Set[tuple[str, str]], counts: Mapping[str, int]
) -> list[Edit]:
    """Keep edits of one caption in positions where that many concepts can be swapped in, those of a position together.

    The concepts of a position exclude each other as each excludes the true one, or the answer would be the odd one out:
    a girl beside a boy, a young man and a man. Of the edits of a concept in a position the first one is kept, and of a
    position up to twice as many as a question needs: those that are about as frequent as the true concept, so that many
    positions have the same concepts and each of them can be the answer beside the others.

    The edits are of one video, the preferred ones first; `exclusive` has pairs of rivals in both orders.
    """
    positions: dict[tuple[str, int], dict[str, Edit]] = defaultdict(dict)
    for edit in edits:
        if len(edit.swaps) == 1 and (edit.swaps[0][1].concept, edit.swaps[0][1].foil_concept) in exclusive:
            positions[edit.position].setdefault(edit.swaps[0][1].foil_concept, edit)

    def frequency_gap(edit: Edit) -> tuple[float, str]:
        swap = edit.swaps[0][1]
        ratio = counts.get(swap.concept, 1) / counts.get(swap.foil_concept, 1)
        return max(ratio, 1 / ratio), swap.foil_concept

    kept: list[Edit] = []
    for by_concept in positions.values():
        ranked = [edit.swaps[0][1].foil_concept for edit in sorted(by_concept.values(), key=frequency_gap)]
        for first in ranked:
            concepts = [first]
            for concept in ranked:
                if len(concepts) < 2 * foils and all((concept, other) in exclusive for other in concepts):
                    concepts.append(concept)
            if len(concepts) >= foils:
                kept += [by_concept[concept] for concept in concepts]
                break
    return kept


def group_consistent_swaps(swaps: Iterable[tuple[int, Swap]]) -> Iterator[tuple[tuple[int, Swap], ...]]:
    """Yield groups of swaps of one concept for one other that together change every mention of it, once a caption."""
    groups: dict[tuple[str, str, str], list[tuple[int, Swap]]] = defaultdict(list)
    for index, swap in swaps:
        groups[swap.concept, swap.foil_concept, swap.foil_name].append((index, swap))
    for group in groups.values():
        once_a_caption = len({index for index, _ in group}) == len(group)
        if once_a_caption and all(swap.other_mentions == len(group) - 1 for _, swap in group):
            yield tuple(group)
