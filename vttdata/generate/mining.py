"""Captions in, pairs of a true and a false caption out: foils for notebooks and for the command line alike.

It prepares plain captions for `vttdata.generate.corpus`, which does the work, and reads and writes no files of its own
but the models and lexicon data that it is asked to load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from vttdata.errors import VttdataError
from vttdata.generate.corpus import Corpus, Told, mine_corpus
from vttdata.generate.foils import FoilSettings
from vttdata.generate.verdicts import Verdicts
from vttdata.records import Caption
from vttdata.text.lexicon import Lexicon, load_lexicon
from vttdata.text.lm import scorer_maker
from vttdata.text.trained import load_pipeline

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
    foils such that the set cannot be solved without looking at the videos (`vttdata.generate.selection.balanced`).
    Needs ``pip install 'vttdata[foil]'``. Equal captions, settings and seed give equal pairs.

    Args:
        captions: the captions of each video: video id -> texts, or `vttdata.records.Caption` in any order. Some
            hundred videos are the least that gives a set; 200,000 captions take two to three minutes.
        settings: how foils are chosen, `vttdata.generate.foils.FoilSettings`; its defaults without any.
        seed: of all choices.
        scorer: the language model that mines: ``ngram``, trained on captions of other videos of these, or a
            causal model of HuggingFace by name or folder (``pip install 'vttdata[lm]'``).
        lexicon: of visible things, from `vttdata.text.lexicon.load_lexicon`; the packaged one without any.
        splits: video id -> its split; no pair of things that ``train`` swaps is swapped in another split.
        device: where a causal model computes: ``cpu``, ``cuda`` or ``cuda:1``.
        pipeline: a trained spaCy pipeline that finds nouns, such as ``en_core_web_sm``; by rule without one.
        verdicts: foils that people judged, `foil_id` -> how sound it is, from 0 to 1; see
            `vttdata.generate.verdicts.read_verdicts`. ``balanced`` takes none below one half.
        watch: is given each lot of videos and what is done to them, and gives them back one by one; a progress bar is
            ``lambda videos, step: tqdm(videos, desc=step)``.

    Returns:
        `pairs`, a list of `vttdata.generate.foils.FoilPair` in the order of the captions (``balanced`` makes at most
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
