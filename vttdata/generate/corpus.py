"""Takes a whole corpus from captions to foils: finds mentions, trains the models that mine, and rejects what is unfit.

Texts come as plain values; files are read and written elsewhere. Which text may teach what, is said in `told`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from vttdata.errors import VttdataError
from vttdata.generate.foils import Document, FoilPair, FoilSettings, Video, mine_foils
from vttdata.generate.swaps import contents_of, pair_concepts
from vttdata.generate.told import Annotated, Told, hash_of, known_usage, lessons_for
from vttdata.generate.usage import Usage
from vttdata.generate.verdicts import Verdicts
from vttdata.text.concepts import Mention, find_mentions, mentions_of_annotation
from vttdata.text.lexicon import Lexicon, Noun
from vttdata.text.lm import Scorer, load_scorer

__all__ = ["Annotated", "Corpus", "Told", "lessons_for", "mine_corpus"]

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
            mined = mine_foils(
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
