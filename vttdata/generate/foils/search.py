"""Search for pairs of a true and a false caption, or paragraph, among the documents of videos.

The steps are those of section 4.2 of the EMScore paper (Shi et al., CVPR 2022): pair the concepts, swap, score, choose.
Possible edits are found in `edits`; conditions on a set of foils are in `selection`.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vttdata.generate.blind.attackers.cooccurrence import measure_association
from vttdata.generate.blind.attackers.linear_classifier import count_word_ngrams
from vttdata.generate.blind.attackers.position import count_by_section
from vttdata.generate.blind.attackers.word_pairs import pair_words
from vttdata.generate.blind.choices import TextPair, VideoCorpus, arrange_pairs
from vttdata.generate.blind.learning import Floats, Integers, choice_regression
from vttdata.generate.foils.documents import FoilPair, MinedFoils, VideoDocuments
from vttdata.generate.foils.edits import EditFinder
from vttdata.generate.foils.questions import balance_questions
from vttdata.generate.foils.scored_edits import Edit, log_perplexity_margin, log_probability_margins, score_edits
from vttdata.generate.foils.selection import balance_foils, choose, combine_margins, correlate_margins
from vttdata.generate.foils.settings import FoilSettings
from vttdata.generate.foils.video_texts import stable_hash
from vttdata.text.lm import Scorer

# Reason for which a video without a possible foil is rejected.
NO_SWAP = "no_swap"
# VideoCorpus of videos, those of one video together.
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
# Below this numbers are no numbers but rounding errors.
_MIN_SCALE = 1e-9


@dataclass(frozen=True, slots=True)
class FoilModels:
    """Models that were trained on texts of other videos than those of which foils are made.

    Fields:
        scorer: gives the perplexities.
        second_scorer: a model trained on other text than `scorer`, by which ``balanced`` corrects for noise in the
            scores; see `vttdata.generate.foils.selection.combine_margins`.
        association_texts: texts by video, in two lists that share no video, by which association is measured; without
            them it is not balanced.
    """

    scorer: Scorer
    second_scorer: Scorer | None = None
    association_texts: tuple[TextsByVideo, TextsByVideo] | None = None

    def combined_margins(self, edits: Sequence[Edit], margins: Sequence[float]) -> Floats:
        """Return the margins of edits (n) by `scorer`, corrected by those of `second_scorer`."""
        by_scorer = np.array(margins)
        if self.second_scorer is None or not edits:
            return by_scorer
        second = np.array([log_perplexity_margin(own) for own in score_edits(edits, self.second_scorer)])
        return combine_margins(by_scorer, second)


def search_foils(
    videos: Iterable[VideoDocuments], finder: EditFinder, models: FoilModels, *, earlier: Sequence[FoilPair] = ()
) -> MinedFoils:
    """Make and choose foils of videos that share their models.

    ``balanced`` makes at most one pair a video, since the texts of several together tell what is true of it. The others
    give every caption its foil.

    Args:
        videos: in any order; each is read once.
        finder: finds the possible edits, by the settings of the choice.
        models: score them.
        earlier: pairs of other videos that are in the set already, from which attackers will learn, too.

    Returns:
        The pairs in the order of the videos, the number of candidates, and how many others each video had, by reason.
    """
    settings = finder.settings
    edits: list[Edit] = []
    margins: list[float] = []
    mined = MinedFoils(scorer=models.scorer.name)
    stream = iter(videos)
    while True:
        block = list(itertools.islice(stream, _VIDEOS_PER_BLOCK))
        if settings.balanced and (not block or len(edits) >= _OPTIONS_PER_CHOICE):
            chosen = choose_balanced(edits, margins, models, settings, finder.seed, [*earlier, *mined.pairs])
            mined.pairs += chosen
            edits, margins = [], []
        if not block:
            return mined
        new = []
        for video in block:
            dropped: Counter[str] = Counter()
            found = finder.list_edits(video, dropped)
            mined.rejected += [(video.video_id, f"foil_{why}", f"{n} possible foils") for why, n in (+dropped).items()]
            if not found:
                mined.rejected.append((video.video_id, NO_SWAP, "no possible foil is left"))
            new += found
        mined.candidates += len(new)
        new = [replace(edit, perplexities=own) for edit, own in zip(new, score_edits(new, models.scorer), strict=True)]
        if settings.balanced:
            edits += new
            margins += [log_perplexity_margin(edit.perplexities) for edit in new]
        else:
            new_margins = log_probability_margins(new, models.scorer)
            options = [edit.option(margin) for edit, margin in zip(new, new_margins, strict=True)]
            indices = choose(options, settings.selection, seed=finder.seed)
            mined.pairs += [pair for index in indices for pair in new[index].pairs()]


def choose_balanced(
    edits: Sequence[Edit],
    margins: Sequence[float],
    models: FoilModels,
    settings: FoilSettings,
    seed: int,
    earlier: Sequence[FoilPair] = (),
) -> list[FoilPair]:
    """Return the pairs of the chosen edits; each split is balanced by itself, and against pairs chosen earlier."""
    combined = models.combined_margins(edits, margins)
    texts = [
        TextPair(" ".join(edit.document.texts), " ".join(edit.texts_with_foils()), edit.video.video_id)
        for edit in edits
    ]
    associations: list[tuple[float, ...]] = [()] * len(edits)
    if models.association_texts and edits:
        associations = measure_associations(texts, models.association_texts)
    splits: dict[str, list[int]] = defaultdict(list)
    for index, edit in enumerate(edits):
        splits[edit.video.split or ""].append(index)
    in_set = [TextPair(pair.caption, pair.foil, pair.video_id) for pair in earlier]
    min_pairs = _MIN_LEARNED_PAIRS_OF_QUESTIONS if settings.makes_questions else _MIN_LEARNED_PAIRS
    chosen: list[int] = []
    for indices in splits.values():
        options = [
            edits[index].option(float(combined[index]), associations[index], whole_video=True) for index in indices
        ]
        numbers = np.array([(float(combined[index]), *associations[index]) for index in indices])
        adversary = Adversary([texts[index] for index in indices], numbers, in_set, min_pairs=min_pairs)
        if settings.makes_questions:
            questions = balance_questions(
                options,
                [edits[index].position for index in indices],
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
                group_share=settings.group_share,
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
    is learned of fewer than `min_pairs`. The folds are not those of `vttdata.generate.blind`, which reports how
    hard the chosen set is.
    """

    def __init__(
        self, pairs: Sequence[TextPair], numbers: Floats, earlier: Sequence[TextPair] = (), *, min_pairs: int
    ) -> None:
        from scipy import sparse

        # Pairs are measured once, for all choices among them.
        choices, answers = arrange_pairs([*pairs, *earlier])
        self._true = choices.starts + answers
        self._features = [choices.features(describe) for describe in (pair_words, count_word_ngrams, count_by_section)]
        scaled = numbers / np.maximum(np.sqrt((numbers**2).mean(axis=0)), _MIN_SCALE)
        signs = np.where(np.arange(2 * len(pairs)) == np.repeat(self._true[: len(pairs)], 2), 0.5, -0.5)
        # Sparse, since the threads of BLAS decide the last digits of products of dense matrices.
        self._features.append(sparse.csr_matrix(np.repeat(scaled, 2, axis=0) * signs[:, None]))
        self._earlier, self._min_pairs = len(earlier), min_pairs
        self._folds = np.array([stable_hash("adversary", pair.video_id) % _FOLDS for pair in pairs])

    def margins(self, chosen: Sequence[int]) -> Iterator[Floats]:
        """Yield the margins of all pairs by each classifier learned on earlier pairs and other folds, or none."""
        if len(chosen) + self._earlier < self._min_pairs:
            return
        of_fold = [np.flatnonzero(self._folds == fold) for fold in range(_FOLDS)]
        for features in self._features:
            margins = np.zeros(len(self._folds))
            for indices in of_fold:
                earlier = np.arange(len(self._folds), features.shape[0] // 2)
                training = np.concatenate([np.setdiff1d(chosen, indices).astype(np.int64), earlier])
                rows = (2 * training[:, None] + np.arange(2)).ravel()
                starts: Integers = 2 * np.arange(len(training))
                scores = features @ choice_regression(features[rows], starts, starts + self._true[training] % 2)
                margins[indices] = scores[self._true[indices]] - scores[self._true[indices] ^ 1]
            yield margins


def measure_associations(
    pairs: Sequence[TextPair], texts: tuple[TextsByVideo, TextsByVideo]
) -> list[tuple[float, ...]]:
    """Return for each pair how much better its true words go with the other words of the document than the false ones.

    There is a number for each column of `measure_association` that can be estimated: where the two lists of texts agree
    so little that even their mean has more noise than signal, nothing can be balanced but noise. The numbers of the two
    lists are combined by `combine_margins`.
    """
    choices, answers = arrange_pairs(pairs)
    true = choices.starts + answers
    measured = [measure_association(VideoCorpus(of_videos), choices) for of_videos in texts]
    first, second = ((columns[true] - columns[true ^ 1]).T for columns in measured)
    columns = [
        combine_margins(*margins)
        for margins in zip(first, second, strict=True)
        if correlate_margins(*margins) > _MIN_ASSOCIATION_CORRELATION
    ]
    return [tuple(row) for row in np.array(columns).T.tolist()] if columns else [()] * len(pairs)
