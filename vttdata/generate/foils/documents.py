"""Documents of a video with the nouns they mention, and pairs of captions and foils.

A document is what a reader sees together: a paragraph, or a caption alone. Nothing here changes a text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from vttdata.errors import VttdataError
from vttdata.generate.foils.swaps import MentionSummary, Swap, summarize_mentions
from vttdata.generate.foils.video_texts import ConceptAnnotation, VideoTexts
from vttdata.text.nouns.lexicon import Lexicon
from vttdata.text.nouns.mentions import Mention, find_mentions, mentions_of_annotation

if TYPE_CHECKING:
    from spacy.language import Language


# Shorter captions get no foils; their text still says what is present.
MIN_WORDS = 2

# Id of a caption or video, reason, detail.
Rejection = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Document:
    """Captions that are shown together, with their ids and the mentions in each."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    mentions: tuple[tuple[Mention, ...], ...]


@dataclass(frozen=True, slots=True)
class VideoDocuments:
    """Documents of a video, and a summary of everything that any text or annotation says is in it."""

    video_id: str
    documents: tuple[Document, ...]
    summary: MentionSummary
    split: str | None = None


@dataclass(frozen=True, slots=True)
class FoilPair:
    """True caption and its foil; of a document several captions may be changed, always by the same pair of concepts.

    `caption_index` is that of the caption in its document; the perplexities are by the model that scored candidates.
    """

    video_id: str
    caption_id: str
    caption_index: int
    caption: str
    foil: str
    swap: Swap
    perplexity: float
    foil_perplexity: float
    split: str | None = None

    @property
    def foil_id(self) -> str:
        """Id of the foil, unique in a set."""
        return foil_id(self.caption_id, self.swap)

    def _repr_html_(self) -> str:
        """Return both texts for a notebook, with the swapped spans marked."""
        swap = self.swap
        ends = ((self.caption, swap.end), (self.foil, swap.start + len(swap.replacement)))
        lines = (
            f"{escape(text[: swap.start])}<mark>{escape(text[swap.start : end])}</mark>{escape(text[end:])}"
            for text, end in ends
        )
        return f"<p><code>{escape(self.video_id)}</code><br>{'<br>'.join(lines)}</p>"


@dataclass
class MinedFoils:
    """Foils made from some videos.

    Fields:
        pairs: the captions with their foils.
        rejected: captions and videos without foils, and videos with possible foils that were left out (``foil_...``):
            id, reason, detail.
        scorer: name of the model that the perplexities of the pairs come from.
        candidates: number of possible foils that were scored.
    """

    pairs: list[FoilPair] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    scorer: str = ""
    candidates: int = 0


def foil_id(caption_id: str, swap: Swap) -> str:
    """Return the id of a foil: its caption, the start of the swap in characters, and the false concept."""
    return f"{caption_id}_{swap.start}_{swap.foil_concept.replace(' ', '-')}"


def find_documents(
    video: VideoTexts, lexicon: Lexicon, pipeline: Language | None = None
) -> tuple[VideoDocuments | None, list[Rejection]]:
    """Find the mentions in the texts of a video, by a pipeline of spaCy or, without one, by rule.

    The documents, or None where no caption can be used, come with what was rejected.
    """
    if video.needs_other_texts and not video.other_texts:
        return None, [(video.video_id, "no_reference", "there is no paragraph by another annotator")]
    rejected: list[Rejection] = []
    ids = (*video.ids, *(video.other_ids or [video.video_id] * len(video.other_texts)))
    texts = (*video.texts, *video.other_texts)
    annotations = (*(video.annotations or (None,) * len(video.texts)), *(None for _ in video.other_texts))
    captions = [
        (caption_id, text, _find_in_caption(caption_id, text, annotation, lexicon, pipeline, rejected))
        for caption_id, text, annotation in zip(ids, texts, annotations, strict=True)
    ]
    count = len(video.texts)
    paragraphs = [captions[:count], captions[count:]] if video.other_ids else [captions[:count]]
    paragraphs = [paragraph for paragraph in paragraphs if any(mentions for *_, mentions in paragraph)]
    if not paragraphs:
        rejected.append((video.video_id, "no_concept", "no caption names a thing of the lexicon"))
        return None, rejected
    summary = summarize_mentions([(text, found) for _, text, found in captions], lexicon, video.present)
    if not video.paragraph:
        paragraphs = [[(*caption, found)] for paragraph in paragraphs for *caption, found in paragraph if found]
    documents = tuple(Document(*zip(*paragraph, strict=True)) for paragraph in paragraphs)
    return VideoDocuments(video.video_id, documents, summary, video.split), rejected


def _find_in_caption(
    caption_id: str,
    text: str,
    annotation: ConceptAnnotation | None,
    lexicon: Lexicon,
    pipeline: Language | None,
    rejected: list[Rejection],
) -> tuple[Mention, ...]:
    """Find the mentions in a caption, and add those of its annotation that overlap none of them."""
    if len(text.split()) < MIN_WORDS:
        rejected.append((caption_id, "empty", "fewer than two words"))
        return ()
    try:
        mentions = find_mentions(text, lexicon, pipeline=pipeline)
        if annotation is None:
            return tuple(mentions)
        annotated = mentions_of_annotation(text, annotation.tokens, annotation.indices, annotation.classes, lexicon)
    except VttdataError as error:
        rejected.append((caption_id, "misaligned", str(error)))
        return ()
    clear = [new for new in annotated if not any(new.start < old.end and old.start < new.end for old in mentions)]
    return tuple(sorted([*mentions, *clear], key=lambda mention: mention.start))
