"""Items, queries and relevance of clips with human captions, for harnesses that know nothing of a dataset's layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vttdata.export.reader import ClipReferences


@dataclass(frozen=True, slots=True)
class EvaluationItem:
    """Clip with its references, which are its human captions."""

    video_id: str
    source_id: str
    url: str | None
    start: float | None
    end: float | None
    video: str | None
    references: list[str]


@dataclass(frozen=True, slots=True)
class CaptionQuery:
    """Human caption as a query; its id is the clip's id and the number of the caption, ``VIDEO#SEN_ID``."""

    query_id: str
    video_id: str
    query: str


@dataclass(frozen=True, slots=True)
class Relevance:
    """Clip that a query was written about; `relevance` is 1."""

    query_id: str
    video_id: str
    relevance: int


EvaluationRow = EvaluationItem | CaptionQuery | Relevance
EVALUATION_TABLES: Mapping[str, type[EvaluationRow]] = {
    "items": EvaluationItem,
    "queries": CaptionQuery,
    "relevance": Relevance,
}


def item_of(clip: ClipReferences) -> EvaluationItem | None:
    """Return the item of a clip; None if it has no human caption."""
    if not clip.references:
        return None
    facts = clip.clip
    texts = [reference.text for reference in clip.references]
    return EvaluationItem(
        facts["video_id"], facts["source_id"], facts["url"], facts["start"], facts["end"], facts["video"], texts
    )


def queries_of(clip: ClipReferences) -> list[CaptionQuery]:
    """Return the queries of a clip."""
    video_id = clip.clip["video_id"]
    return [CaptionQuery(f"{video_id}#{number}", video_id, text) for number, text in clip.references]


def evaluation_rows(table: str, clip: ClipReferences) -> Sequence[EvaluationRow]:
    """Return the rows of a table of `EVALUATION_TABLES` for a clip; none if it has no human caption."""
    if table == "items":
        item = item_of(clip)
        return [item] if item is not None else []
    queries = queries_of(clip)
    return queries if table == "queries" else [Relevance(query.query_id, query.video_id, 1) for query in queries]
