"""Captions in, pairs of a true and a false caption out: foils for notebooks and for the command line alike.

It prepares plain captions for `vttdata.generate.foils.mine`, which does the work, and reads and writes no files of
its own
but the models and lexicon data that it is asked to load.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from vttdata.errors import VttdataError
from vttdata.generate.foils.plausibility import Usage
from vttdata.generate.foils.search import Document, FoilPair, FoilSettings, Video, search_foils
from vttdata.generate.foils.swaps import contents_of, pair_concepts
from vttdata.generate.foils.verdicts import Verdicts
from vttdata.generate.foils.videos import Annotated, Told, hash_of, known_usage, lessons_for
from vttdata.records import Caption
from vttdata.text.lm import Scorer, load_scorer, scorer_maker
from vttdata.text.nouns.lexicon import Lexicon, Noun, load_lexicon
from vttdata.text.nouns.mentions import Mention, find_mentions, mentions_of_annotation
from vttdata.text.nouns.spacy_finder import load_pipeline

Captions = Iterable[Caption] | Mapping[str, Sequence[str]]


def mine_foils(
    captions: Captions,
    *,
    settings: FoilSettings | None = None,
    seed: int = 0,
    scorer: str = "ngram",
    lexicon: Lexicon | None = None,
    splits: Mapping[str, str | None] | None = None,
    device: str = "cpu",
    pipeline: str | None = None,
    verdicts: Verdicts = MappingProxyType({}),
    watch: Callable[[Sequence[Any], str], Iterable[Any]] | None = None,
) -> Corpus:
    """Make false captions: one visible thing swapped for another of its kind that no caption of the video speaks of.

    The steps are those of section 4.2 of the EMScore paper (Shi et al., CVPR 2022): find things, pair those of one
    supercategory, swap, score by a language model, choose. The default choice differs from the paper's: it takes
    foils such that the set cannot be solved without looking at the videos
    (`vttdata.generate.foils.selection.balanced`).
    Needs ``pip install 'vttdata[foil]'``. Equal captions, settings and seed give equal pairs.

    Args:
        captions: the captions of each video: video id -> texts, or `vttdata.records.Caption` in any order. Some
            hundred videos are the least that gives a set; 200,000 captions take two to three minutes.
        settings: how foils are chosen, `vttdata.generate.foils.search.FoilSettings`; its defaults without any.
        seed: of all choices.
        scorer: the language model that mines: ``ngram``, trained on captions of other videos of these, or a
            causal model of HuggingFace by name or folder (``pip install 'vttdata[lm]'``).
        lexicon: of visible things, from `vttdata.text.nouns.lexicon.load_lexicon`; the packaged one without any.
        splits: video id -> its split; no pair of things that ``train`` swaps is swapped in another split.
        device: where a causal model computes: ``cpu``, ``cuda`` or ``cuda:1``.
        pipeline: a trained spaCy pipeline that finds nouns, such as ``en_core_web_sm``; by rule without one.
        verdicts: foils that people judged, `foil_id` -> how sound it is, from 0 to 1; see
            `vttdata.generate.foils.verdicts.read_verdicts`. ``balanced`` takes none below one half.
        watch: is given each lot of videos and what is done to them, and gives them back one by one; a progress bar is
            ``lambda videos, step: tqdm(videos, desc=step)``.

    Returns:
        `pairs`, a list of `vttdata.generate.foils.search.FoilPair` in the order of the captions (``balanced`` makes
        at most
        one a video): `caption` and `foil`, `swap` with the span, the two concepts and their supercategory, and the
        perplexity of both texts; `rejected`, a list of (caption or video id, reason, detail); and counts.

    Raises:
        VttdataError: when there are no captions or too few to train a model on, when none names a thing of the
            lexicon or only one thing is named often enough (both in one sentence), when a caption is no text or an
            id stands twice, or when a model, a pipeline or a library is not there.

    Example:
        >>> from vttdata.generate import mine_foils
        >>> mined = mine_foils({"video0": ["a dog runs", "a dog barks"], "video1": ["a cat sleeps"]})  # doctest: +SKIP
        >>> [(pair.caption, pair.foil) for pair in mined.pairs]  # doctest: +SKIP
    """
    return mine_corpus(
        told_of(captions, splits),
        lexicon or load_lexicon(),
        settings=settings or FoilSettings(),
        seed=seed,
        scorer=scorer_maker(scorer, device=device),
        pipeline=None if pipeline is None else load_pipeline(pipeline),
        verdicts=verdicts,
        watch=watch,
    )


def told_of(captions: Captions, splits: Mapping[str, str | None] | None = None) -> list[Told]:
    """The videos of some captions, in the order of their ids; a text that stands twice under a video counts once.

    Args:
        captions: as for `mine_foils`. A caption's id is ``VIDEO_SEN``, its record's `sen_id`, or else its place among
            the different texts of its video, from 0.
        splits: as for `mine_foils`.

    Raises:
        VttdataError: when there is no caption, one is no text, or two of a video have one `sen_id`.
    """
    given = captions.items() if isinstance(captions, Mapping) else _by_video(captions)
    told = [_told(video_id, texts, (splits or {}).get(video_id)) for video_id, texts in sorted(given)]
    if not any(text for own in told for text in own.texts):
        raise VttdataError("There are no captions to make foils of, or no words in them.")
    return told


def _by_video(captions: Iterable[Caption]) -> Iterable[tuple[str, Mapping[str, str]]]:
    """Video -> id of a caption -> its text."""
    own: dict[str, dict[str, str]] = {}
    for caption in captions:
        name = f"{caption.video_id}_{caption.sen_id}"
        if name in own.setdefault(caption.video_id, {}):
            raise VttdataError(f"Two captions of video {caption.video_id[:80]!a} have the sen_id {caption.sen_id}.")
        own[caption.video_id][name] = caption.caption
    return own.items()


def _told(video_id: str, texts: Sequence[str] | Mapping[str, str], split: str | None) -> Told:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in _texts(texts)):
        raise VttdataError(f"The captions of video {video_id[:80]!a} should be a list of texts.")
    ids: dict[str, str] = {}
    if isinstance(texts, Mapping):
        for name, text in texts.items():
            ids.setdefault(text.strip(), name)
    else:
        for text in texts:
            ids.setdefault(text.strip(), f"{video_id}_{len(ids)}")
    return Told(video_id, tuple(ids.values()), tuple(ids), split=split)


def _texts(texts: Sequence[str] | Mapping[str, str]) -> Iterable[Any]:
    return texts.values() if isinstance(texts, Mapping) else texts


_LEAST_WORDS = 2


@dataclass
class Corpus:
    """What became of a corpus.

    Fields:
        pairs: the foils.
        rejected: id of a caption or video, reason, detail.
        scorer: the name of the model whose perplexities the pairs have.
    """

    pairs: list[FoilPair] = field(default_factory=list)
    rejected: list[tuple[str, str, str]] = field(default_factory=list)
    scorer: str = ""
    tally: Counter[str] = field(default_factory=Counter)


def mine_corpus(
    told: Sequence[Told],
    lexicon: Lexicon,
    *,
    settings: FoilSettings,
    seed: int,
    scorer: str | Callable[[Iterable[str]], Scorer] = "ngram",
    pipeline: Any = None,
    verdicts: Verdicts = MappingProxyType({}),
    watch: Callable[[Sequence[Any], str], Iterable[Any]] | None = None,
) -> Corpus:
    """Make foils for a corpus.

    Args:
        told: its videos, in any order.
        lexicon: of visible things.
        settings: how to choose.
        seed: of all choices.
        scorer: ``ngram``, or a HuggingFace causal model by name or path; or what makes a model from training texts.
        pipeline: of spaCy, which finds mentions where there are no annotations.
        verdicts: of foils that people judged.
        watch: is given each lot of videos with what is done to them, and gives them back one by one.

    Raises:
        VttdataError: when no caption has a concept, there is one concept only, there is too little text, or only foils
            with verdicts are to be taken and there are none.
    """
    if settings.selection == "balanced" and settings.judged_only and not verdicts:
        raise VttdataError("Only foils that were judged are to be taken, and there are no verdicts; give some.")
    corpus = Corpus()
    lessons = lessons_for(told)
    everything, told = told, [own for own in told if not own.teaches]
    watch = watch or _unwatched
    counts: Counter[str] = Counter()
    usable = [own for own in watch(told, "finding things") if _count(own, lexicon, pipeline, corpus, counts)]
    rivals = _rivals(counts, lexicon, settings)
    # Not in their order, so that where there are too many for one choice no choice is of one kind of them.
    usable.sort(key=lambda own: hash_of("choice", own.video_id))
    for part, thirds in enumerate(lessons.thirds):
        own = [video for video in usable if lessons.part_of[video.video_id] == part]
        miner = load_scorer(scorer, thirds[0]) if isinstance(scorer, str) else scorer(thirds[0])
        balanced = settings.selection == "balanced"
        second = load_scorer("ngram", thirds[1]) if balanced else None
        usage = Usage(known_usage(everything, part, lessons), lexicon) if balanced else None
        corpus.scorer = miner.name
        for side, allowed in _by_split(own, rivals, seed):
            # Found again and not kept: the mentions of a caption take ten times the memory of its text.
            videos = (_video(video, lexicon, pipeline, Corpus()) for video in watch(side, "swapping"))
            known = (video for video in videos if video is not None)
            mined = search_foils(
                known,
                lexicon,
                allowed,
                miner,
                settings=settings,
                seed=seed,
                second=second,
                usage=usage,
                verdicts=verdicts,
            )
            corpus.pairs += mined.pairs
            corpus.tally.update(mined.tally)
    _note_unused(told, usable, corpus)
    changed = {pair.caption_id for pair in corpus.pairs}
    order = {caption_id: place for place, caption_id in enumerate(_ids(told)) if caption_id in changed}
    corpus.pairs.sort(key=lambda pair: order[pair.caption_id])
    return corpus


def _ids(told: Iterable[Told]) -> Iterator[str]:
    for own in told:
        yield from (*own.ids, *own.other_ids)


def _video(told: Told, lexicon: Lexicon, pipeline: Any, corpus: Corpus) -> Video | None:
    """The video with its mentions, or None where no caption of it can be used."""
    if told.needs_others and not told.others:
        corpus.rejected.append((told.video_id, "no_reference", "there is no paragraph by another annotator"))
        return None
    annotated = told.annotated or (None,) * len(told.texts)
    rows = _read(zip(told.ids, told.texts, annotated, strict=True), lexicon, pipeline, corpus)
    further = _read(((name, text, None) for name, text in _further(told)), lexicon, pipeline, corpus)
    sides = [own for own in ((rows, further) if told.other_ids else (rows,)) if any(found for *_, found in own)]
    if not sides:
        corpus.rejected.append((told.video_id, "no_concept", "no caption names a thing of the lexicon"))
        return None
    contents = contents_of([(text, found) for _, text, found in (*rows, *further)], lexicon, told.names)
    alone = [[row] for own in sides for row in own if row[2]]
    documents = [Document(*zip(*own, strict=True)) for own in (sides if told.paragraph else alone)]
    return Video(told.video_id, tuple(documents), contents, told.split)


_Row = tuple[str, str, tuple[Mention, ...]]


def _further(told: Told) -> Iterable[tuple[str, str]]:
    """The further texts of a video, with their ids or with its own."""
    return zip(told.other_ids or [told.video_id] * len(told.others), told.others, strict=True)


def _read(
    captions: Iterable[tuple[str, str, Annotated | None]], lexicon: Lexicon, pipeline: Any, corpus: Corpus
) -> list[_Row]:
    """Id, text and mentions of captions; of those with too few words no mention, since they say only what is there."""
    rows: list[_Row] = []
    for caption_id, text, annotated in captions:
        if len(text.split()) < _LEAST_WORDS:
            corpus.rejected.append((caption_id, "empty", "fewer than two words"))
            rows.append((caption_id, text, ()))
            continue
        try:
            found = _mentions(text, annotated, lexicon, pipeline)
        except VttdataError as error:
            corpus.rejected.append((caption_id, "misaligned", str(error)))
            found = []
        rows.append((caption_id, text, tuple(found)))
    return rows


def _mentions(text: str, annotated: Annotated | None, lexicon: Lexicon, pipeline: Any) -> list[Mention]:
    """The mentions in a text, and those that annotations add."""
    found = find_mentions(text, lexicon, pipeline=pipeline)
    if annotated is None:
        return found
    added = mentions_of_annotation(text, annotated.tokens, annotated.indices, annotated.classes, lexicon)
    clear = [own for own in added if not any(own.start < other.end and other.start < own.end for other in found)]
    return sorted([*found, *clear], key=lambda own: own.start)


def _count(told: Told, lexicon: Lexicon, pipeline: Any, corpus: Corpus, counts: Counter[str]) -> bool:
    """Whether a video can be used; what its captions mention is added to `counts`."""
    video = _video(told, lexicon, pipeline, corpus)
    if video is not None:
        mentions = (mentions for document in video.documents for mentions in document.mentions)
        counts.update(mention.noun for own in mentions for mention in own)
    return video is not None


def _rivals(counts: Mapping[str, int], lexicon: Lexicon, settings: FoilSettings) -> dict[str, tuple[Noun, ...]]:
    if not counts:
        raise VttdataError("No caption names a visible thing of the lexicon; are they English?")
    rivals = pair_concepts(counts, lexicon, min_count=settings.min_count)
    if not rivals:
        raise VttdataError(
            f"No two concepts of one supercategory are mentioned {settings.min_count} times or more, so there is "
            "nothing to swap; lower min_count or give more captions."
        )
    return rivals


def _unwatched(videos: Sequence[Any], step: str) -> Iterable[Any]:  # noqa: ARG001
    return videos


def _by_split(
    videos: Sequence[Told], rivals: Mapping[str, Sequence[Noun]], seed: int
) -> Iterator[tuple[Sequence[Told], Mapping[str, Sequence[Noun]]]]:
    """Each side, the videos of ``train`` and all others, with its pairs; where there are both, no pair is in both."""
    sides: dict[bool, list[Told]] = defaultdict(list)
    for video in videos:
        sides[video.split == "train"].append(video)
    for train, own in sorted(sides.items()):
        allowed = rivals
        if len(sides) > 1:
            allowed = {
                name: [foil for foil in foils if _of_train(name, foil.name, seed) == train]
                for name, foils in rivals.items()
            }
        yield own, allowed


def _of_train(one: str, other: str, seed: int) -> bool:
    return hash_of("pair", str(seed), *sorted((one, other))) % 2 == 0


def _note_unused(told: Iterable[Told], usable: Iterable[Told], corpus: Corpus) -> None:
    left = {own.video_id for own in usable} - {pair.video_id for pair in corpus.pairs}
    for own in told:
        if own.video_id in left:
            corpus.rejected.append((own.video_id, "not_chosen", "no swap keeps its texts right, or none was chosen"))
