"""Mining of foils: captions in, pairs of a true and a false caption out, for notebooks, recipes and the command line.

It brings together the texts, the models and the search, and reads no files but the models and lexicons it is asked to
load.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from vttdata.errors import VttdataError, VttdataWarning
from vttdata.generate.foils.documents import MinedFoils, Rejection, find_documents
from vttdata.generate.foils.edits import EditFinder
from vttdata.generate.foils.human_verdicts import Verdicts
from vttdata.generate.foils.noun_usage import NounUsage
from vttdata.generate.foils.search import NO_SWAP, FoilModels, search_foils
from vttdata.generate.foils.settings import FoilSettings
from vttdata.generate.foils.swaps import pair_concepts
from vttdata.generate.foils.video_texts import (
    Captions,
    TrainingTexts,
    VideoTexts,
    assign_training_folds,
    group_texts_by_video,
    select_usage_texts,
    stable_hash,
)
from vttdata.text.language import detect_other_language, estimate_share_of_others
from vttdata.text.lm import Scorer, load_scorer, scorer_maker
from vttdata.text.nouns.lexicon import Lexicon, Noun, load_lexicon
from vttdata.text.nouns.mentions import load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language

# Takes videos and the name of a step, and gives them back one by one.
Progress = Callable[[Sequence[VideoTexts], str], Iterable[VideoTexts]]


@dataclass(frozen=True, slots=True)
class LanguageTools:
    """What finds things in captions and scores texts; see `load`.

    Fields:
        lexicon: of visible things.
        make_scorer: makes the language model that scores candidates, from training texts.
        pipeline: trained pipeline of spaCy that finds mentions where there are no annotations; None for rules.
    """

    lexicon: Lexicon
    make_scorer: Callable[[Iterable[str]], Scorer]
    pipeline: Language | None = None

    @classmethod
    def load(
        cls,
        *,
        lexicon: str | os.PathLike[str] | None = None,
        scorer: str = "ngram",
        device: str = "cpu",
        pipeline: str | None = None,
    ) -> LanguageTools:
        """Load tools by their names.

        Args:
            lexicon: a file, see `vttdata.text.nouns.lexicon.load_lexicon`; the packaged one if omitted.
            scorer: ``ngram``, trained on captions of other videos of the corpus, or a causal model of HuggingFace by
                name or folder (``pip install 'vttdata[lm]'``).
            device: where a causal model computes: ``cpu``, ``cuda`` or ``cuda:1``.
            pipeline: a trained spaCy pipeline, such as ``en_core_web_sm``; rules find nouns if omitted.

        Raises:
            VttdataError: when a file, a model, a pipeline or a library is missing.
        """
        return cls(
            load_lexicon(None if lexicon is None else Path(lexicon)),
            scorer_maker(scorer, device=device),
            None if pipeline is None else load_pipeline(pipeline),
        )


def mine_foils(
    captions: Captions,
    *,
    settings: FoilSettings | None = None,
    seed: int = 0,
    splits: Mapping[str, str | None] | None = None,
    tools: LanguageTools | None = None,
    verdicts: Verdicts = MappingProxyType({}),
    watch: Progress | None = None,
) -> MinedFoils:
    """Make foils: captions with one visible thing swapped for another that no caption of the video mentions.

    The steps are those of section 4.2 of the EMScore paper (Shi et al., CVPR 2022): find things, pair those of one
    supercategory, swap, score by a language model, choose. The default choice differs from the paper's: it takes
    foils such that the set cannot be solved without looking at the videos
    (`vttdata.generate.foils.selection.balance_foils`).
    Needs ``pip install 'vttdata[foil]'``. Equal captions, settings and seed give equal pairs.

    Args:
        captions: the captions of each video: video id -> texts, or `vttdata.records.Caption` in any order. A set needs
            some hundred videos at least; 200,000 captions take two to three minutes.
        settings: how foils are chosen; the defaults of `vttdata.generate.foils.settings.FoilSettings` if omitted.
        seed: of all choices.
        splits: video id -> its split; no pair of things that ``train`` swaps is swapped in another split, but for
            questions with more than two options.
        tools: lexicon, language model and pipeline, from `LanguageTools.load`; its defaults if omitted.
        verdicts: foils that people judged, `foil_id` -> soundness, from 0 to 1; see
            `vttdata.generate.foils.human_verdicts.read_verdicts`. ``balanced`` takes none below one half.
        watch: takes a sequence of videos and the name of a step, and gives the videos back one by one; for a progress
            bar, ``lambda videos, step: tqdm(videos, desc=step)``.

    Returns:
        `pairs`, a list of `vttdata.generate.foils.documents.FoilPair` in the order of the captions (``balanced`` makes
        at most one a video): `caption` and `foil`, `swap` with the span, the two concepts and their supercategory, and
        the perplexity of both texts; and `rejected`, a list of (caption or video id, reason, detail).

    Raises:
        VttdataError: when there are no captions or too few to train a model on, when they name fewer than two frequent
            things of one supercategory, when a caption is not a text or an id is duplicated, or when a model, a
            pipeline or a library is missing.

    Example:
        >>> from vttdata.generate import mine_foils
        >>> mined = mine_foils({"video0": ["a dog runs", "a dog barks"], "video1": ["a cat sleeps"]})  # doctest: +SKIP
        >>> [(pair.caption, pair.foil) for pair in mined.pairs]  # doctest: +SKIP
    """
    return mine_videos(
        group_texts_by_video(captions, splits),
        tools or LanguageTools.load(),
        settings=settings or FoilSettings(),
        seed=seed,
        verdicts=verdicts,
        watch=watch,
    )


def mine_videos(
    videos: Sequence[VideoTexts],
    tools: LanguageTools,
    *,
    settings: FoilSettings,
    seed: int,
    verdicts: Verdicts = MappingProxyType({}),
    watch: Progress | None = None,
) -> MinedFoils:
    """Make foils of videos whose texts are already grouped, in any order; arguments are as of `mine_foils`.

    Raises:
        VttdataError: when most captions are not English, no caption has a concept, no concept can be swapped, there is
            too little text, or only foils with verdicts are to be taken and there are none.
    """
    texts = [text for video in videos for text in video.texts]
    language = detect_other_language(texts, "en")
    if language is not None:
        raise VttdataError(f"These captions are {language}; the lexicon and the grammar for foils are English.")
    others = estimate_share_of_others(texts, "en")
    if others:
        message = (
            f"About {others:.1%} of the captions are in other languages than English; the lexicon and the grammar for "
            "foils are English, so that few or no foils come from them, and language models are trained on them too."
        )
        warnings.warn(message, VttdataWarning, stacklevel=2)
    settings.check(has_verdicts=bool(verdicts))
    watch = watch or (lambda videos, _: videos)
    folds = assign_training_folds(videos)
    sources = [video for video in videos if not video.lm_training_only]
    mined = MinedFoils()
    usable, counts = _find_things(watch(sources, "finding things"), tools, mined.rejected)
    rivals = _pair_frequent_concepts(counts, tools.lexicon, settings)
    # In a hashed order, so that where a choice takes only a part of the videos, that part is a random sample.
    usable.sort(key=lambda video: stable_hash("choice", video.video_id))
    for fold, training in enumerate(folds.training):
        in_fold = [video for video in usable if folds.fold_of[video.video_id] == fold]
        models = _train_models(training, tools, settings)
        usage = NounUsage(select_usage_texts(videos, fold, folds), tools.lexicon) if settings.balanced else None
        mined.scorer = models.scorer.name
        # Questions are balanced in each split, so that a pair of words says nothing of the answer in another one; and
        # all words of a question would have to be pairs of its split.
        parts = [(in_fold, rivals)] if settings.makes_questions else separate_train_split(in_fold, rivals, seed)
        for of_split, allowed in parts:
            finder = EditFinder(tools.lexicon, allowed, settings, seed, counts, usage, verdicts)
            # Found again instead of kept: the mentions of a caption take ten times the memory of its text.
            found = (find_documents(video, tools.lexicon, tools.pipeline)[0] for video in watch(of_split, "swapping"))
            documents = (video for video in found if video is not None)
            split_foils = search_foils(documents, finder, models, earlier=mined.pairs)
            mined.pairs += split_foils.pairs
            mined.candidates += split_foils.candidates
            mined.rejected += split_foils.rejected
    _finish(mined, sources, usable)
    return mined


def _find_things(
    videos: Iterable[VideoTexts], tools: LanguageTools, rejected: list[Rejection]
) -> tuple[list[VideoTexts], Counter[str]]:
    """Return the videos that name things, and how often each is mentioned; add captions and videos that name none."""
    counts: Counter[str] = Counter()
    usable: list[VideoTexts] = []
    for video in videos:
        documents, rejected_here = find_documents(video, tools.lexicon, tools.pipeline)
        rejected += rejected_here
        if documents is not None:
            mentions = (mentions for document in documents.documents for mentions in document.mentions)
            counts.update(mention.noun for mention in itertools.chain.from_iterable(mentions))
            usable.append(video)
    return usable, counts


def _train_models(training: TrainingTexts, tools: LanguageTools, settings: FoilSettings) -> FoilModels:
    scorer = tools.make_scorer(itertools.chain.from_iterable(training.scorer))
    second_scorer = (
        load_scorer("ngram", itertools.chain.from_iterable(training.second_scorer)) if settings.balanced else None
    )
    return FoilModels(scorer, second_scorer, (training.scorer, training.second_scorer))


def _finish(mined: MinedFoils, sources: Sequence[VideoTexts], usable: Sequence[VideoTexts]) -> None:
    """Add the usable videos that got no foil to the rejected ones, and sort the pairs by their captions."""
    unused = {video.video_id for video in usable} - {pair.video_id for pair in mined.pairs}
    unused -= {video_id for video_id, why, _ in mined.rejected if why == NO_SWAP}
    reason = ("not_chosen", "it has possible foils, and none was chosen")
    mined.rejected += [(video.video_id, *reason) for video in sources if video.video_id in unused]
    changed = {pair.caption_id for pair in mined.pairs}
    caption_ids = (caption_id for video in sources for caption_id in video.caption_ids)
    order = {caption_id: index for index, caption_id in enumerate(caption_ids) if caption_id in changed}
    mined.pairs.sort(key=lambda pair: order[pair.caption_id])


def _pair_frequent_concepts(
    counts: Mapping[str, int], lexicon: Lexicon, settings: FoilSettings
) -> dict[str, tuple[Noun, ...]]:
    if not counts:
        raise VttdataError("No caption names a visible thing of the lexicon.")
    rivals = pair_concepts(counts, lexicon, min_count=settings.min_count)
    if not rivals:
        raise VttdataError(
            f"No two concepts of one supercategory are mentioned {settings.min_count} times or more, so there is "
            "nothing to swap; lower min_count or give more captions."
        )
    return rivals


def separate_train_split(
    videos: Sequence[VideoTexts], rivals: Mapping[str, Sequence[Noun]], seed: int
) -> Iterator[tuple[Sequence[VideoTexts], Mapping[str, Sequence[Noun]]]]:
    """Yield the videos of ``train`` and all others, with their rivals; where there are both, they share no pair."""

    def is_train_pair(name: str, foil_name: str) -> bool:
        return stable_hash("pair", str(seed), *sorted((name, foil_name))) % 2 == 0

    sides: dict[bool, list[VideoTexts]] = defaultdict(list)
    for video in videos:
        sides[video.split == "train"].append(video)
    for train, side in sorted(sides.items()):
        allowed = rivals
        if len(sides) > 1:
            allowed = {
                name: [foil for foil in foils if is_train_pair(name, foil.name) == train]
                for name, foils in rivals.items()
            }
        yield side, allowed
