"""Takes a whole corpus from captions to foils: finds mentions, trains the models that mine, and rejects what is unfit.

Models are never trained on captions of a video whose foils they judge. Texts come as plain values; files are read and
written elsewhere.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vttdata.errors import VttdataError
from vttdata.generate.foils import Document, FoilPair, FoilSettings, Mined, Video, mine_foils
from vttdata.generate.swaps import contents_of, pair_concepts
from vttdata.text.concepts import Mention, find_mentions, mentions_of_annotation
from vttdata.text.lexicon import Lexicon, Noun
from vttdata.text.lm import load_scorer

_THIRDS = 3
_LEAST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Annotated:
    """The annotated concepts of one caption: its words, and for each mention the place of its word and its class."""

    tokens: tuple[str, ...]
    indices: tuple[int, ...]
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of one video.

    Fields:
        video_id: of the video.
        ids, texts: its captions; only these get foils.
        paragraph: whether the captions are read together; each stands alone otherwise.
        others: further texts about it, which say what is present.
        names: annotated things that are present.
        annotated: of each caption or None, where annotations say which words name things.
        split: balanced by itself; no pair of concepts of ``train`` is one of another split.
        teaches: whether its texts only train language models.
        needs_others: whether it is rejected when it has no other texts.
    """

    video_id: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    paragraph: bool = False
    others: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    annotated: tuple[Annotated | None, ...] = ()
    split: str | None = None
    teaches: bool = False
    needs_others: bool = False


@dataclass
class Corpus:
    """What became of a corpus.

    Fields:
        pairs: the foils.
        rejected: id of a caption or video, reason, detail.
        concepts: how many took part; `arrows` pairs of them, each direction by itself.
        scorer: the name of the model whose perplexities the pairs have.
    """

    pairs: list[FoilPair] = field(default_factory=list)
    rejected: list[tuple[str, str, str]] = field(default_factory=list)
    concepts: int = 0
    arrows: int = 0
    scorer: str = ""
    tally: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Lessons:
    """Who may teach whom: the part of each video, and for each part three lots of texts that share no video.

    The lots are for the miner, for the model beside it, and for blind attackers, who so know nothing of either.
    """

    part_of: Mapping[str, int]
    thirds: Sequence[Sequence[Sequence[str]]]

    def held_out(self) -> dict[int, Sequence[str]]:
        """Part -> the texts that no miner of that part has seen."""
        return {part: own[-1] for part, own in enumerate(self.thirds)}


def lessons_for(told: Sequence[Told]) -> Lessons:
    """Divide texts between models: those of videos that teach, or else one half learns from the other half's.

    Raises:
        VttdataError: when there is too little text.
    """
    training = {own.video_id: own.texts for own in told if own.teaches}
    if training:
        return Lessons({own.video_id: 0 for own in told}, [_divided(training)])
    halves: list[dict[str, Sequence[str]]] = [{}, {}]
    for own in told:
        halves[_hash("half", own.video_id) % 2][own.video_id] = own.texts
    part_of = {video_id: part for part, half in enumerate(halves) for video_id in half}
    return Lessons(part_of, [_divided(half) for half in reversed(halves)])


def mine_corpus(
    told: Sequence[Told],
    lexicon: Lexicon,
    *,
    settings: FoilSettings,
    seed: int,
    scorer: str = "ngram",
    pipeline: Any = None,
) -> Corpus:
    """Make foils for a corpus.

    Args:
        told: its videos, in any order.
        lexicon: of visible things.
        settings: how to choose.
        seed: of all choices.
        scorer: ``ngram``, or a HuggingFace causal model by name or path.
        pipeline: of spaCy, which finds mentions where there are no annotations.

    Raises:
        VttdataError: when no caption has a concept, there is one concept only, or there is too little text.
    """
    corpus = Corpus()
    lessons = lessons_for(told)
    told = [own for own in told if not own.teaches]
    videos = [video for video in (_video(own, lexicon, pipeline, corpus) for own in told) if video is not None]
    rivals = _rivals(videos, lexicon, settings, corpus)
    for part, thirds in enumerate(lessons.thirds):
        own = [video for video in videos if lessons.part_of[video.video_id] == part]
        miner = load_scorer(scorer, thirds[0])
        second = load_scorer("ngram", thirds[1]) if settings.selection == "balanced" else None
        corpus.scorer = miner.name
        for mined in _by_split(own, lexicon, rivals, miner, settings=settings, seed=seed, second=second):
            corpus.pairs += mined.pairs
            corpus.tally.update(mined.tally)
    _note_unused(videos, corpus)
    order = {caption_id: place for place, caption_id in enumerate(name for own in told for name in own.ids)}
    corpus.pairs.sort(key=lambda pair: order[pair.caption_id])
    return corpus


def _video(told: Told, lexicon: Lexicon, pipeline: Any, corpus: Corpus) -> Video | None:
    """The video with its mentions, or None where no caption of it can be used."""
    if told.needs_others and not told.others:
        corpus.rejected.append((told.video_id, "no_reference", "there is no paragraph by another annotator"))
        return None
    annotated = told.annotated or (None,) * len(told.texts)
    ids, texts, mentions = [], [], []
    for caption_id, text, own in zip(told.ids, told.texts, annotated, strict=True):
        if len(text.split()) < _LEAST_WORDS:
            corpus.rejected.append((caption_id, "empty", "fewer than two words"))
            continue
        try:
            found = _mentions(text, own, lexicon, pipeline)
        except VttdataError as error:
            corpus.rejected.append((caption_id, "misaligned", str(error)))
            found = []
        ids.append(caption_id)
        texts.append(text)
        mentions.append(tuple(found))
    if not any(mentions):
        corpus.rejected.append((told.video_id, "no_concept", "no caption names a thing of the lexicon"))
        return None
    others = [(text, find_mentions(text, lexicon, pipeline=pipeline)) for text in told.others]
    contents = contents_of([*zip(texts, mentions, strict=True), *others], lexicon, told.names)
    rows = list(zip(ids, texts, mentions, strict=True))
    whole = [Document(told.video_id, tuple(ids), tuple(texts), tuple(mentions))]
    alone = [Document(name, (name,), (text,), (own,)) for name, text, own in rows if own]
    return Video(told.video_id, tuple(whole if told.paragraph else alone), contents, told.split)


def _mentions(text: str, annotated: Annotated | None, lexicon: Lexicon, pipeline: Any) -> list[Mention]:
    """The mentions in a text, and those that annotations add."""
    found = find_mentions(text, lexicon, pipeline=pipeline)
    if annotated is None:
        return found
    added = mentions_of_annotation(text, annotated.tokens, annotated.indices, annotated.classes, lexicon)
    clear = [own for own in added if not any(own.start < other.end and other.start < own.end for other in found)]
    return sorted([*found, *clear], key=lambda own: own.start)


def _rivals(
    videos: Iterable[Video], lexicon: Lexicon, settings: FoilSettings, corpus: Corpus
) -> dict[str, tuple[Noun, ...]]:
    counts = Counter(
        mention.noun
        for video in videos
        for document in video.documents
        for mentions in document.mentions
        for mention in mentions
    )
    if not counts:
        raise VttdataError("No caption names a visible thing of the lexicon; are they English?")
    rivals = pair_concepts(counts, lexicon, min_count=settings.min_count)
    if not rivals:
        raise VttdataError(
            f"No two concepts of one supercategory are mentioned {settings.min_count} times or more, so there is "
            "nothing to swap; lower min_count or give more captions."
        )
    corpus.concepts, corpus.arrows = len(rivals), sum(map(len, rivals.values()))
    return rivals


def _divided(texts: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Texts in three parts that share no video: for the miner, for the model beside it, and for blind attackers."""
    thirds: list[list[str]] = [[] for _ in range(_THIRDS)]
    for video_id, own in texts.items():
        thirds[_hash("third", video_id) % _THIRDS].extend(own)
    if not all(any(text.split() for text in third) for third in thirds):
        raise VttdataError("There are too few videos with captions to train language models on; give more captions.")
    return thirds


def _by_split(
    videos: Sequence[Video], lexicon: Lexicon, rivals: Mapping[str, Sequence[Noun]], miner: Any, **options: Any
) -> Iterable[Mined]:
    """Foils of each side: the videos of ``train``, and all others; where there are both, no pair is in both."""
    sides: dict[bool, list[Video]] = defaultdict(list)
    for video in videos:
        sides[video.split == "train"].append(video)
    for train, own in sorted(sides.items()):
        allowed = rivals
        if len(sides) > 1:
            allowed = {
                name: [foil for foil in foils if _of_train(name, foil.name, options["seed"]) == train]
                for name, foils in rivals.items()
            }
        yield mine_foils(own, lexicon, allowed, miner, **options)


def _of_train(one: str, other: str, seed: int) -> bool:
    return _hash("pair", str(seed), *sorted((one, other))) % 2 == 0


def _note_unused(videos: Iterable[Video], corpus: Corpus) -> None:
    used = {pair.video_id for pair in corpus.pairs}
    for video in videos:
        if video.video_id not in used:
            corpus.rejected.append((video.video_id, "not_chosen", "no swap keeps its texts right, or none was chosen"))


def _hash(*texts: str) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).digest()[:4], "big")
