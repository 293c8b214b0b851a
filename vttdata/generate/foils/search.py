"""Search for pairs of a true and a false caption, or paragraph, among the documents of videos.

The steps are those of section 4.2 of the EMScore paper (Shi et al., CVPR 2022): pair the concepts, swap, score, choose.
Conditions on a single foil are in `swaps`, those on a set of foils in `selection`.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le

from vttdata.generate.foils.blind.attacker import AttackedPairs, TextPair
from vttdata.generate.foils.blind.attackers.cooccurrence import measure_association
from vttdata.generate.foils.blind.attackers.linear_classifier import compare_ngrams
from vttdata.generate.foils.blind.attackers.position import count_by_section
from vttdata.generate.foils.blind.attackers.word_pairs import pair_words
from vttdata.generate.foils.blind.learning import Floats, logistic_regression
from vttdata.generate.foils.documents import FoilPair, MinedFoils, VideoDocuments
from vttdata.generate.foils.human_verdicts import Verdicts
from vttdata.generate.foils.noun_usage import NounUsage
from vttdata.generate.foils.questions import balance_questions
from vttdata.generate.foils.scored_edits import Edit, log_perplexity_margin, score_edits
from vttdata.generate.foils.selection import Selection, balance_foils, choose, combine_margins, correlate_margins
from vttdata.generate.foils.swaps import (
    Spellings,
    Swap,
    UnsoundProbability,
    find_swaps,
    select_absent_rivals,
    summarize_mentions,
)
from vttdata.generate.foils.video_texts import stable_hash
from vttdata.settings import Count, PositiveCount, Ratio, Strict
from vttdata.text.lm import Scorer
from vttdata.text.nouns.lexicon import Lexicon, Noun

# Texts of videos, those of one video together.
TextsByVideo = Sequence[Sequence[str]]

# Enough texts for a language model to score at once, with flat memory.
_VIDEOS_PER_BLOCK = 250
# Options of one balanced choice, which takes about 8 KiB an option while it is solved; the last block may exceed it.
_OPTIONS_PER_CHOICE = 100_000
# Fewer pairs teach nothing of other videos, and balancing against what is learned would cost most of them; it costs no
# questions, and small sets of questions are open to attackers without it.
_MIN_LEARNED_PAIRS = 500
_MIN_LEARNED_PAIRS_OF_QUESTIONS = 100
# Correlation of two measures above which more than half of the variance of their mean is common to both.
_MIN_ASSOCIATION_CORRELATION = 1 / 3
# Of videos, for the adversary.
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class FoilSettings(Strict):
    """Choice of foils.

    Fields:
        selection: ``balanced`` (see `vttdata.generate.foils.selection.balance_foils`), ``paper`` (lowest perplexity) or
            ``random``.
        min_count: how often a concept must be mentioned in the whole corpus. The paper has 2,191 ordered pairs of some
            168 concepts; see docs/foils.md for what 19 and 21 leave of ActivityNet's.
        pair_share: the highest share of the set that swaps one word for one other, each direction by itself.
        imbalance: how far above one half ``balanced`` lets the share of pairs be on which a guess by one feature is
            right: by a word, a pair of words, length, frequency, likelihood, or how well a word goes with the others.
            Small sets hide more of it than large.
        max_unsound_probability: the highest estimated probability of being unsound, from 0 to 1, with which
            ``balanced`` takes a foil (see `vttdata.generate.foils.noun_usage.NounUsage.unsound_probability`); a lower
            limit leaves fewer foils, and more of them are sound.
        unsound_penalty: how many sound foils ``balanced`` gives up to avoid one unsound foil.
        judged_only: whether ``balanced`` takes only foils that people judged. Their verdicts outweigh what the lexicon
            says a word implies.
        candidates: how many possible foils of a video are scored; of more, a hash picks.
        options: 2 for pairs of a caption and a foil; more for multiple-choice questions of a caption and as many foils
            as are missing, all in one place; ``balanced`` only.
    """

    selection: Selection = "balanced"
    min_count: Count = 10
    pair_share: Annotated[float, Gt(0), Le(1)] = 0.03
    imbalance: Annotated[float, Ge(0), Le(0.5)] = 0.02
    max_unsound_probability: Ratio = 0.6
    unsound_penalty: Annotated[float, Ge(0), Le(100)] = 0.0
    judged_only: bool = False
    candidates: PositiveCount = 1000
    options: Annotated[int, Ge(2), Le(6)] = 2


def search_foils(
    videos: Iterable[VideoDocuments],
    lexicon: Lexicon,
    rivals: Mapping[str, Sequence[Noun]],
    scorer: Scorer,
    *,
    settings: FoilSettings,
    seed: int,
    counts: Mapping[str, int] = MappingProxyType({}),
    second_scorer: Scorer | None = None,
    association_texts: tuple[TextsByVideo, TextsByVideo] | None = None,
    usage: NounUsage | None = None,
    verdicts: Verdicts = MappingProxyType({}),
    earlier: Sequence[FoilPair] = (),
) -> MinedFoils:
    """Make and choose foils of videos that share a scorer.

    Args:
        videos: in any order; each is read once.
        lexicon: of their mentions.
        rivals: concept -> concepts that may replace it; see `vttdata.generate.foils.swaps.pair_concepts`.
        scorer: gives the perplexities.
        settings: how to choose. ``balanced`` makes at most one pair a video, since the texts of several together tell
            what is true of it; it changes a document only where every mention of a concept can be swapped, and then
            swaps all, so that nothing left in it contradicts the foil. The others give every caption its foil.
        seed: of all choices.
        counts: number of mentions of each concept in the whole corpus, which questions need.
        second_scorer: a model trained on other text than `scorer`, by which ``balanced`` corrects for noise in the
            scores; see `vttdata.generate.foils.selection.combine_margins`.
        association_texts: texts by video, of other videos, in two lists that share no video, by which association is
            measured; without them it is not balanced.
        usage: the contexts of nouns in other captions; without it they may stand anywhere.
        verdicts: on foils that people judged: ``balanced`` takes none that they refuse, and the others are as sound as
            they say.
        earlier: pairs of other videos that are in the set already, from which attackers will learn, too.

    Returns:
        The pairs in the order of the videos, the number of candidates, and how many others each video had, by reason.
    """
    balanced = settings.selection == "balanced"
    edits: list[Edit] = []
    margins: list[float] = []
    mined = MinedFoils(scorer=scorer.name)
    pairs = {(concept, rival.name) for concept, of_concept in rivals.items() for rival in of_concept}
    exclusive = {pair for pair in pairs if pair[::-1] in pairs}
    stream = iter(videos)
    while True:
        block = list(itertools.islice(stream, _VIDEOS_PER_BLOCK))
        if balanced and (not block or len(edits) >= _OPTIONS_PER_CHOICE):
            mined.pairs += choose_balanced(
                edits, margins, second_scorer, association_texts, settings, seed, [*earlier, *mined.pairs]
            )
            edits, margins = [], []
        if not block:
            return mined
        new = []
        for video in block:
            dropped: Counter[str] = Counter()
            new += list_edits(video, lexicon, rivals, settings, seed, usage, verdicts, dropped, exclusive, counts)
            mined.rejected += [(video.video_id, f"foil_{why}", f"{n} possible foils") for why, n in dropped.items()]
        mined.candidates += len(new)
        new = [replace(edit, perplexities=own) for edit, own in zip(new, score_edits(new, scorer), strict=True)]
        new_margins = [log_perplexity_margin(edit.perplexities) for edit in new]
        if balanced:
            edits += new
            margins += new_margins
        else:
            options = [edit.option(margin) for edit, margin in zip(new, new_margins, strict=True)]
            chosen = choose(options, settings.selection, seed=seed)
            mined.pairs += [pair for index in chosen for pair in new[index].pairs()]


def choose_balanced(
    edits: Sequence[Edit],
    margins: Sequence[float],
    second_scorer: Scorer | None,
    association_texts: tuple[TextsByVideo, TextsByVideo] | None,
    settings: FoilSettings,
    seed: int,
    earlier: Sequence[FoilPair] = (),
) -> list[FoilPair]:
    """Return the pairs of the chosen edits; each split is balanced by itself, and against pairs chosen earlier."""
    combined = np.array(margins)
    if second_scorer is not None and edits:
        second = np.array([log_perplexity_margin(own) for own in score_edits(edits, second_scorer)])
        combined = combine_margins(combined, second)
    texts = [
        TextPair(" ".join(edit.document.texts), " ".join(edit.texts_with_foils()), edit.video.video_id)
        for edit in edits
    ]
    associations: list[tuple[float, ...]] = [()] * len(edits)
    if association_texts and edits:
        associations = measure_associations(texts, association_texts)
    splits: dict[str, list[int]] = defaultdict(list)
    for index, edit in enumerate(edits):
        splits[edit.video.split or ""].append(index)
    in_set = [TextPair(pair.caption, pair.foil, pair.video_id) for pair in earlier]
    chosen: list[int] = []
    for indices in splits.values():
        options = [
            edits[index].option(float(combined[index]), associations[index], whole_video=True) for index in indices
        ]
        numbers = np.array([(float(combined[index]), *associations[index]) for index in indices])
        min_pairs = _MIN_LEARNED_PAIRS if settings.options == 2 else _MIN_LEARNED_PAIRS_OF_QUESTIONS
        adversary = Adversary([texts[index] for index in indices], numbers, in_set, min_pairs=min_pairs)
        if settings.options > 2:
            questions = balance_questions(
                options,
                [edits[index].place for index in indices],
                foils=settings.options - 1,
                seed=seed,
                imbalance=settings.imbalance,
                learn=adversary.margins,
            )
            picked = list(itertools.chain.from_iterable(questions))
        else:
            picked = balance_foils(
                options,
                seed=seed,
                pair_share=settings.pair_share,
                imbalance=settings.imbalance,
                unsound_penalty=settings.unsound_penalty,
                learn=adversary.margins,
            )
        chosen += [indices[index] for index in picked]
        for index in picked:
            changed = edits[indices[index]].pairs()
            in_set += [TextPair(pair.caption, pair.foil, pair.video_id) for pair in changed]
    return [pair for index in sorted(chosen) for pair in edits[index].pairs()]


class Adversary:
    """Classifiers that learn from the chosen pairs of some videos, and are tried on all others.

    They go by words beside others, by n-grams, by words in their places, and by `numbers`: pairs x further numbers in
    which each true text differs from its foil. `earlier` are pairs of other videos that are in the set already; nothing
    is learned of fewer than `min_pairs`. The folds are not those of `vttdata.generate.foils.blind`, which reports how
    hard the chosen set is.
    """

    def __init__(
        self, pairs: Sequence[TextPair], numbers: Floats, earlier: Sequence[TextPair] = (), *, min_pairs: int
    ) -> None:
        # Pairs are measured once, for all choices among them.
        attacked = AttackedPairs([*pairs, *earlier])
        scale = np.sqrt((numbers**2).mean(axis=0))
        self._differences = [measure(attacked) for measure in (pair_words, compare_ngrams, count_by_section)]
        self._differences.append(numbers / np.where(scale > 0, scale, 1))
        self._earlier, self._min_pairs = len(earlier), min_pairs
        self._folds = np.array([stable_hash("adversary", pair.video_id) % _FOLDS for pair in pairs])

    def margins(self, chosen: Sequence[int]) -> Iterator[Floats]:
        """Yield the margins of all pairs by each classifier learned on earlier pairs and other folds, or none."""
        if len(chosen) + self._earlier < self._min_pairs:
            return
        of_fold = [np.flatnonzero(self._folds == fold) for fold in range(_FOLDS)]
        for differences in self._differences:
            margins = np.zeros(len(self._folds))
            for indices in of_fold:
                earlier = np.arange(len(self._folds), differences.shape[0])
                training = np.concatenate([np.setdiff1d(chosen, indices).astype(np.int64), earlier])
                margins[indices] = differences[indices] @ logistic_regression(differences[training])
            yield margins


def measure_associations(
    pairs: Sequence[TextPair], texts: tuple[TextsByVideo, TextsByVideo]
) -> list[tuple[float, ...]]:
    """Return for each pair how much better its true words go with the other words of the document than the false ones.

    There is a number for each column of `measure_association` that can be estimated: where the two lists of texts agree
    so little that even their mean has more noise than signal, nothing can be balanced but noise. The numbers of the two
    lists are combined by `combine_margins`.
    """
    first, second = (measure_association(AttackedPairs(pairs, {0: of_videos})).T for of_videos in texts)
    columns = [
        combine_margins(*margins)
        for margins in zip(first, second, strict=True)
        if correlate_margins(*margins) > _MIN_ASSOCIATION_CORRELATION
    ]
    return [tuple(row) for row in np.array(columns).T.tolist()] if columns else [()] * len(pairs)


def list_edits(
    video: VideoDocuments,
    lexicon: Lexicon,
    rivals: Mapping[str, Sequence[Noun]],
    settings: FoilSettings,
    seed: int,
    usage: NounUsage | None,
    verdicts: Verdicts,
    dropped: Counter[str],
    exclusive: Set[tuple[str, str]] = frozenset(),
    counts: Mapping[str, int] = MappingProxyType({}),
) -> list[Edit]:
    """List the possible edits of a video, at most `settings.candidates`; `dropped` counts others by reason.

    For questions, `exclusive` holds the pairs of concepts that are rivals of each other, and `counts` how often each is
    mentioned in the corpus; see `group_by_place`.
    """
    balanced = settings.selection == "balanced"
    # Who judged a foil has read what the lexicon can only suppose, so what words imply is left to the verdicts.
    summary = replace(video.summary, implied=frozenset()) if balanced and settings.judged_only else video.summary
    absent = select_absent_rivals(rivals, summary, lexicon, dropped)
    unsound_probability: UnsoundProbability | None = None
    spellings: Spellings | None = None
    if usage is not None:
        spellings = usage.common_spellings
        topic_fit = usage.topic_fit(video.summary.words)
        unsound_probability = functools.partial(usage.unsound_probability, topic_fit=topic_fit)
    edits: list[Edit] = []
    for document in video.documents:
        captions = list(zip(document.texts, document.mentions, strict=True))
        summary = summarize_mentions(captions, lexicon)
        swaps = [
            (index, swap)
            for index, (text, mentions) in enumerate(captions)
            for swap in find_swaps(text, mentions, lexicon, absent, summary, unsound_probability, spellings, dropped)
        ]
        if not balanced:
            edits += [Edit(video, document, (swap,)) for swap in swaps]
            continue
        for group in group_consistent_swaps(swaps):
            edit = Edit(video, document, group).apply_verdicts(verdicts, judged_only=settings.judged_only)
            if edit is not None and edit.unsound_probability <= settings.max_unsound_probability:
                edits.append(edit)
            else:
                dropped["implausible" if edit is not None else "refused"] += 1
    if settings.selection == "paper" or (len(edits) <= settings.candidates and settings.options == 2):
        return edits
    ranked = sorted(edits, key=lambda edit: hashlib.sha256(f"{seed}\0{edit.key}".encode("utf-8", "replace")).digest())
    if settings.options > 2:
        ranked = group_by_place(ranked, settings.options - 1, exclusive, counts)
        if edits and not ranked:
            dropped["too_few"] += len(edits)
    kept = {edit.key for edit in ranked[: settings.candidates]}
    return [edit for edit in edits if edit.key in kept]


def group_by_place(
    edits: Iterable[Edit], foils: int, exclusive: Set[tuple[str, str]], counts: Mapping[str, int]
) -> list[Edit]:
    """Keep edits of one caption in places where that many concepts can be swapped in, those of a place together.

    The concepts of a place exclude each other as each excludes the true one, or the answer would be the odd one out:
    a girl beside a boy, a young man and a man. Of the edits of a concept in a place the first one is kept, and of a
    place up to twice as many as a question needs: those that are about as frequent as the true concept, so that many
    places have the same concepts and each of them can be the answer beside the others.

    The edits are of one video, the preferred ones first; `exclusive` has pairs of rivals in both orders.
    """
    places: dict[tuple[str, int], dict[str, Edit]] = defaultdict(dict)
    for edit in edits:
        if len(edit.swaps) == 1 and (edit.swaps[0][1].concept, edit.swaps[0][1].foil_concept) in exclusive:
            places[edit.place].setdefault(edit.swaps[0][1].foil_concept, edit)

    def frequency_gap(edit: Edit) -> tuple[float, str]:
        swap = edit.swaps[0][1]
        ratio = counts.get(swap.concept, 1) / counts.get(swap.foil_concept, 1)
        return max(ratio, 1 / ratio), swap.foil_concept

    kept: list[Edit] = []
    for by_concept in places.values():
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
