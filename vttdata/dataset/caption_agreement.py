"""Describe how alike the captions of a clip are: by words between authors, and by subject, verb and object.

These are figures about a dataset and no metrics: two good captions of a clip may share neither a word nor a subject.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.files.results import ResultTable, Section
from vttdata.json_types import JsonObject
from vttdata.text.lm.pretrained import load_encoder, split_revision
from vttdata.text.nouns.mentions import load_pipeline
from vttdata.text.svo import ROLES, extract_svo
from vttdata.text.weighted_word_overlap import WordWeights, distinct_words

if TYPE_CHECKING:
    from spacy.language import Language


# Pairs of captions of a clip that are compared at most; MSR-VTT's 20 captions have 190.
_MAX_PAIRS = 1_000
# Clips whose captions are encoded at a time.
_CLIPS_PER_BATCH = 200

Clips = Mapping[str, Sequence[tuple[str, str]]]
"""Clip -> author and text of each of its captions."""

Encode = Callable[[Sequence[str]], NDArray[np.float64]]
Cosines = Iterable[tuple[tuple[int, int], float]]


class AuthorSimilarity(NamedTuple):
    """Similarity of the captions of two authors, 0..1: mean and median over clips, and the number of clips."""

    mean: float
    median: float
    clips: int


class Consistency(NamedTuple):
    """Share of a caption's subjects, verbs and objects that other captions of its clip have in the same role.

    Fields:
        another: share that a randomly chosen other caption of the clip has, mean of clips, 0..1.
        any: share that at least one other caption of the clip has, mean of clips, 0..1.
        clips: number of clips with two such captions.
        captions: number of captions with a subject, a verb or an object.
    """

    another: float
    any: float
    clips: int
    captions: int


def read_captions_by_clip(dataset: Path) -> dict[str, dict[str, list[tuple[str, str]]]]:
    """Return split -> clip -> author and text of its captions.

    Raises:
        VttdataError: if the folder is no dataset of vttdata with captions, or a file is damaged.
    """
    files = read_layout(dataset, needs=None).files.get("captions")
    if files is None:
        raise VttdataError(f"{dataset}: has no captions that could be compared.")
    splits: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for split, paths in files.items():
        clips = splits.setdefault(split, {})
        for row in read_parquet_rows(paths, ("video_id", "caption"), optional=("author",)):
            if row["caption"] is not None:
                clips.setdefault(row["video_id"], []).append((row.get("author") or "human", row["caption"]))
    return splits


def measure_similarity(clips: Clips, encode: Encode | None = None) -> dict[str, dict[str, AuthorSimilarity]]:
    """Return the similarity of the captions of every two authors, and of captions by one author.

    Similarity is the cosine of the words of two captions of a clip, each word weighted by its inverse document
    frequency over clips, or of the vectors of an encoder: the mean of all such pairs of a clip, then of clips. People
    are one author, ``human``. `encode` takes texts to vectors, a row of the same length for each.
    """
    values: dict[tuple[str, str], list[float]] = {}
    for authors, cosines in _cosines_of_encoder(clips, encode) if encode is not None else _cosines_of_words(clips):
        of_clip: dict[tuple[str, str], list[float]] = {}
        for (i, j), cosine in itertools.islice(cosines, _MAX_PAIRS):
            names = (min(authors[i], authors[j]), max(authors[i], authors[j]))
            of_clip.setdefault(names, []).append(cosine)
        for names, similarities in of_clip.items():
            values.setdefault(names, []).append(statistics.fmean(similarities))
    table: dict[str, dict[str, AuthorSimilarity]] = {}
    for (first, second), column in sorted(values.items()):
        similarity = AuthorSimilarity(statistics.fmean(column), statistics.median(column), len(column))
        table.setdefault(first, {})[second] = similarity
        table.setdefault(second, {})[first] = similarity
    return {author: dict(sorted(row.items())) for author, row in sorted(table.items())}


def _cosines_of_words(clips: Clips) -> Iterator[tuple[list[str], Cosines]]:
    """Yield the authors of each clip's captions, and the cosines of pairs of captions by their numbers."""
    words = {clip: [distinct_words(text) for _, text in texts] for clip, texts in clips.items()}
    weights = WordWeights(set[str]().union(*of_clip) for of_clip in words.values())
    for clip, texts in clips.items():
        pairs = itertools.combinations(range(len(texts)), 2)
        cosines = (((i, j), weights.cosine(words[clip][i], words[clip][j])) for i, j in pairs)
        yield [author for author, _ in texts], cosines


def _cosines_of_encoder(clips: Clips, encode: Encode) -> Iterator[tuple[list[str], Cosines]]:
    """Yield the same by an encoder, which gets many clips at a time."""
    names = list(clips)
    for start in range(0, len(names), _CLIPS_PER_BATCH):
        batch = [clips[name] for name in names[start : start + _CLIPS_PER_BATCH]]
        texts = list(dict.fromkeys(text for texts in batch for _, text in texts))
        vectors = encode(texts)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        units = dict(zip(texts, vectors / np.where(lengths > 0, lengths, 1), strict=True))
        for own in batch:
            rows = np.stack([units[text] for _, text in own])
            products = rows @ rows.T
            pairs = itertools.combinations(range(len(own)), 2)
            yield [author for author, _ in own], (((i, j), float(products[i, j])) for i, j in pairs)


def measure_svo_consistency(clips: Clips, pipeline: Language) -> dict[str, Consistency]:
    """Return how often human captions of a clip have the same subject, verb and object, by role and ``all`` together.

    A pipeline of spaCy finds them. Xu et al. (CVPR 2016, section 5) report 62.7 % for MSR-VTT without stating parser
    and definition.
    """
    texts = ((text, clip) for clip, captions in clips.items() for author, text in captions if author == "human")
    parts: dict[str, list[dict[str, frozenset[str]]]] = {}
    for doc, clip in pipeline.pipe(texts, as_tuples=True):
        parts.setdefault(clip, []).append(extract_svo(doc))
    roles_by_name: Mapping[str, Sequence[str]] = {"all": ROLES, **{role: (role,) for role in ROLES}}
    return {name: _consistency(parts.values(), roles) for name, roles in roles_by_name.items()}


def _consistency(clips: Iterable[Sequence[Mapping[str, frozenset[str]]]], roles: Sequence[str]) -> Consistency:
    another, anyone, captions = [], [], 0
    for parsed in clips:
        found = [
            {(role, lemma) for role in roles for lemma in caption.get(role, ())}
            for caption in parsed
            if any(caption.get(role) for role in roles)
        ]
        captions += len(found)
        if len(found) > 1:
            counts = Counter(itertools.chain.from_iterable(found))
            total = counts.total()
            another.append(sum(n * (n - 1) for n in counts.values()) / (total * (len(found) - 1)))
            anyone.append(sum(n for n in counts.values() if n > 1) / total)
    if not another:
        return Consistency(float("nan"), float("nan"), 0, captions)
    return Consistency(statistics.fmean(another), statistics.fmean(anyone), len(another), captions)


def describe_agreement(
    dataset: Path, *, similarity: bool, pipeline: str | None, encoder: str | None = None
) -> JsonObject:
    """Return the figures of each split: ``similarity`` by authors, ``svo`` by role; only those that are wanted.

    `pipeline` is the name or folder of a spaCy pipeline, for ``svo``, and `encoder` that of an encoder of HuggingFace
    with which captions are compared instead of their words.

    Raises:
        VttdataError: if there are no captions, or the pipeline cannot be loaded.
    """
    parser = load_pipeline(pipeline) if pipeline is not None else None
    encode: Encode | None = None
    if encoder is not None:
        name, revision = split_revision(encoder)
        encode = load_encoder(name, revision=revision)
    figures: JsonObject = {}
    for split, clips in read_captions_by_clip(dataset).items():
        figures[split] = {}
        if similarity:
            figures[split]["similarity"] = measure_similarity(clips, encode)
        if parser is not None:
            figures[split]["svo"] = measure_svo_consistency(clips, parser)
    return figures


def agreement_sections(figures: Mapping[str, JsonObject]) -> Iterator[Section]:
    """Yield a section for each split and figure of `describe_agreement`."""
    for split, parts in figures.items():
        similarity: Mapping[str, Mapping[str, AuthorSimilarity]] = parts.get("similarity", {})
        if similarity:
            rows: list[list[object]] = []
            for author, row in similarity.items():
                others = [value.mean for other, value in row.items() if other != author]
                cells = [row[other].mean if other in row else None for other in similarity]
                rows.append([author, *cells, statistics.fmean(others) if others else None])
            sentences = []
            if "human" in similarity.get("human", {}):
                own = similarity["human"]["human"]
                sentences = [f"Median similarity of two human captions: {own.median:.3f} of {own.clips:,} clips."]
            title = f"{split}: similarity of captions by two authors (cosine, mean of clips)"
            yield Section(title, sentences, table=ResultTable(("", *similarity, "others"), rows))
        svo: Mapping[str, Consistency] = parts.get("svo", {})
        if svo:
            rows = [[name, one.another, one.any, one.captions, one.clips] for name, one in svo.items()]
            title = f"{split}: subjects, verbs and objects that other human captions of the clip have"
            columns = ("part", "in another caption", "in any other", "captions", "clips")
            yield Section(title, table=ResultTable(columns, rows))


def plain_agreement(figures: Mapping[str, JsonObject]) -> JsonObject:
    """Return the figures of `describe_agreement` as plain values for JSON; NaN is None."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: plain(part) for name, part in value.items()}
        if isinstance(value, AuthorSimilarity | Consistency):
            return {name: plain(part) for name, part in value._asdict().items()}
        return None if isinstance(value, float) and math.isnan(value) else value

    return {split: plain(parts) for split, parts in figures.items()}
