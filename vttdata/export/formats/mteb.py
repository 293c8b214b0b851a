"""Corpus, queries and relevance judgments of retrieval, for MTEB and plain datasets.

The export is a dataset of its own, which `datasets.load_dataset(folder, "corpus" | "queries" | "qrels")` opens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.dataset.shards import SplitFiles, write_split
from vttdata.errors import VttdataError
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.export.reader import CaptionCounts, ClipReferences, DatasetReader
from vttdata.export.repeated_ids import Hashes, count_repeated, hash_ids
from vttdata.files.yaml_writer import format_yaml

RULES = (
    "The corpus is all clips of a split. Each clip with a human caption has one query, its caption with the lowest "
    "`sen_id`, and only that clip is relevant to it, as in published video retrieval: a query that is also the query "
    "of another clip is kept, although the wrong clip answers it as well; the notes count such queries. Query ids are "
    "`<video_id>#<sen_id>`. `video` is the name of the file, or null where the dataset ships none."
)
_USAGE = """\
```python
import datasets

corpus = datasets.load_dataset("FOLDER", "corpus", split="{split}")
queries = datasets.load_dataset("FOLDER", "queries", split="{split}")
qrels = datasets.load_dataset("FOLDER", "qrels", split="{split}")

# MTEB's encoders take a column `video` of videos; with the files at hand:
corpus = corpus.map(lambda row: {{"video": f"VIDEOS/{{row['id']}}.mp4"}}).cast_column("video", datasets.Video())
```"""
_CORPUS = {"id": "string", "video": "string", "url": "string", "start": "float64", "end": "float64"}
_QUERIES = {"id": "string", "text": "string"}
_QRELS = {"query-id": "string", "corpus-id": "string", "score": "int64"}
_CONFIGS = {"corpus": _CORPUS, "queries": _QUERIES, "qrels": _QRELS}
_BATCH_ROWS = 2_000


def write_mteb(request: ExportRequest) -> Written:
    """Write the configurations corpus, queries and qrels.

    Raises:
        VttdataError: if a split has no clip with a human caption.
    """
    dataset, folder, config = request.dataset, request.folder, request.clip_config
    tables: dict[str, list[SplitFiles]] = {name: [] for name in _CONFIGS}
    notes = []
    for split in request.splits():
        hashes: list[Hashes] = []
        clips = dataset.references(config, split, folder, request.counts)
        queries = write_split(folder, "queries", split, _schema("queries"), _query_rows(clips, hashes))
        if queries is None:
            raise VttdataError(f"{dataset.folder}: no clip of '{split}' has a human caption, so there are no queries.")
        query_files = [folder / shard.path for shard in queries.shards]
        qrels = write_split(folder, "qrels", split, _schema("qrels"), _qrel_rows(query_files))
        # Captions are counted once, with the queries.
        clips = dataset.references(config, split, folder, CaptionCounts())
        corpus = write_split(folder, "corpus", split, _schema("corpus"), _corpus_rows(clips))
        assert qrels is not None
        assert corpus is not None
        tables["corpus"].append(corpus)
        tables["queries"].append(queries)
        tables["qrels"].append(qrels)
        shared = sum(count_repeated(hashes).values())
        notes.append(f"{split}: {queries.rows:,} queries; {shared:,} of them are the query of another clip as well.")
    return Written(_USAGE.format(split=split), notes, _front_matter(dataset, tables))


def _query_rows(clips: Iterator[ClipReferences], hashes: list[Hashes]) -> Iterator[dict[str, Any]]:
    """Yield the queries, and collect the hashes of their texts."""
    texts: list[str] = []
    for clip, references, _ in clips:
        if references:
            texts.append(references[0].text)
            yield {"id": f"{clip['video_id']}#{references[0].sen_id}", "text": references[0].text}
        if len(texts) == _BATCH_ROWS:
            hashes.append(hash_ids(texts))
            texts = []
    hashes.append(hash_ids(texts))


def _qrel_rows(query_files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for path in query_files:
        for batch in pq.ParquetFile(path).iter_batches(_BATCH_ROWS, columns=["id"]):
            for query_id in batch.column(0).to_pylist():
                # The id of a clip cannot contain "#".
                yield {"query-id": query_id, "corpus-id": query_id.rpartition("#")[0], "score": 1}


def _corpus_rows(clips: Iterator[ClipReferences]) -> Iterator[dict[str, Any]]:
    for clip, _, repeated in clips:
        if not repeated:
            yield {"id": clip["video_id"]} | {name: clip[name] for name in list(_CORPUS)[1:]}


def _schema(config: str) -> pa.Schema:
    return pa.schema([(column, pa.type_for_alias(dtype)) for column, dtype in _CONFIGS[config].items()])


def _front_matter(dataset: DatasetReader, tables: dict[str, list[SplitFiles]]) -> str:
    content = {
        "pretty_name": dataset.name.partition("/")[2] or dataset.name,
        "tags": ["mteb", "video-text-retrieval", "vttdata"],
        "dataset_info": [
            {
                "config_name": name,
                "features": [{"name": column, "dtype": dtype} for column, dtype in _CONFIGS[name].items()],
                "splits": [{"name": s.split, "num_bytes": s.memory, "num_examples": s.rows} for s in splits],
                "download_size": sum(split.bytes for split in splits),
                "dataset_size": sum(split.memory for split in splits),
            }
            for name, splits in tables.items()
        ],
        "configs": [
            {"config_name": name, "version": dataset.version}
            # As in the datasets of MTEB, the judgments are the default configuration.
            | ({"default": True} if name == "qrels" else {})
            | {"data_files": [{"split": split.split, "path": split.pattern} for split in splits]}
            for name, splits in tables.items()
        ],
    }
    return f"---\n{format_yaml(content, width=10_000)}---\n"


FORMAT = Format(write_mteb, RULES)
