"""Tables for a harness: items with their references, queries, and the relevance of items to queries.

They follow from the clips and their human captions, and are stored in no dataset.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from vttdata.export.reader import ClipReferences

SCHEMAS: dict[str, pa.Schema] = {
    "items": pa.schema(
        [
            ("video_id", pa.string()),
            ("source_id", pa.string()),
            ("url", pa.string()),
            ("start", pa.float64()),
            ("end", pa.float64()),
            ("video", pa.string()),
            ("references", pa.list_(pa.string())),
        ]
    ),
    "queries": pa.schema([("query_id", pa.string()), ("video_id", pa.string()), ("query", pa.string())]),
    "relevance": pa.schema([("query_id", pa.string()), ("video_id", pa.string()), ("relevance", pa.int64())]),
}


def evaluation_rows(clip: ClipReferences) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table of `SCHEMAS` for a clip; none if it has no human caption.

    A query is a human caption; its id is the clip's id and the number of the caption, ``VIDEO#SEN_ID``.
    """
    if not clip.references:
        return {name: [] for name in SCHEMAS}
    video_id = clip.clip["video_id"]
    facts = {name: clip.clip[name] for name in ("video_id", "source_id", "url", "start", "end", "video")}
    queries = [(f"{video_id}#{reference.sen_id}", reference.text) for reference in clip.references]
    return {
        "items": [facts | {"references": [text for _, text in queries]}],
        "queries": [{"query_id": query_id, "video_id": video_id, "query": text} for query_id, text in queries],
        "relevance": [{"query_id": query_id, "video_id": video_id, "relevance": 1} for query_id, _ in queries],
    }
