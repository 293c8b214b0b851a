"""Exports a retrieval task as MTEB's loader reads it: corpus, queries and relevance judgments, as a dataset of its own.

Plain `datasets.load_dataset(folder, "corpus" | "queries" | "qrels")` opens it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from vttdata.dataset.shards import SplitFiles, write_split
from vttdata.errors import VttdataError
from vttdata.export.reader import Source, Tally
from vttdata.export.repeated_ids import hashes, repeated

RULES = (
    "The corpus is all clips of a split. Each clip with a caption by a person has one query, the caption with the "
    "lowest `sen_id`, and only that clip is relevant to it, as in published video retrieval: a query that another clip "
    "has word for word stays, and can be answered rightly with the wrong clip. The notes say how many such there are. "
    "Query ids are `<video_id>#<sen_id>`. `video` is the name of the file, or null where the dataset ships none."
)
READ = """\
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
_ROWS_AT_A_TIME = 2_000


def write_mteb(
    source: Source, folder: Path, config: str, splits: Sequence[str], tally: Tally
) -> tuple[str, str, list[str]]:
    """Write the three configurations.

    Returns:
        The machine-readable head of the README, how the export is read, and what is to be told.

    Raises:
        VttdataError: when a split has no clip with a caption.
    """
    tables: dict[str, list[SplitFiles]] = {name: [] for name in _CONFIGS}
    notes = []
    for split in splits:
        queries = _Queries(source, folder, config, split, tally)
        for name, rows in (("queries", queries.rows()), ("qrels", queries.judged()), ("corpus", queries.corpus())):
            written = write_split(folder, name, split, _schema(name), rows)
            if written is None:
                raise VttdataError(
                    f"{source.folder}: no clip of '{split}' has a caption by a person, so it has no query."
                )
            tables[name].append(written)
            if name == "queries":
                queries.files = [folder / shard.path for shard in written.shards]
        notes += queries.notes()
    return _head(source, tables), READ.format(split=splits[-1]), notes


class _Queries:
    """The queries of a split, what is relevant to them, and the corpus."""

    def __init__(self, source: Source, folder: Path, config: str, split: str, tally: Tally) -> None:
        self._source, self._folder, self._config, self._split, self._tally = source, folder, config, split, tally
        self._hashes: list[Any] = []
        self.files: list[Path] = []

    def rows(self) -> Iterator[dict[str, Any]]:
        batch: list[str] = []
        for clip, sentences, _ in self._source.described(self._config, self._split, self._folder, self._tally):
            if sentences:
                batch.append(sentences[0].text)
                yield {"id": f"{clip['video_id']}#{sentences[0].sen_id}", "text": sentences[0].text}
            if len(batch) == _ROWS_AT_A_TIME:
                self._hashes.append(hashes(batch))
                batch = []
        self._hashes.append(hashes(batch))

    def judged(self) -> Iterator[dict[str, Any]]:
        for path in self.files:
            for batch in pq.ParquetFile(path).iter_batches(_ROWS_AT_A_TIME, columns=["id"]):
                for query in batch.column(0).to_pylist():
                    yield {"query-id": query, "corpus-id": query.rpartition("#")[0], "score": 1}

    def corpus(self) -> Iterator[dict[str, Any]]:
        for clip, _, again in self._source.described(self._config, self._split, self._folder, Tally()):
            if not again:
                yield {"id": clip["video_id"]} | {name: clip[name] for name in list(_CORPUS)[1:]}

    def notes(self) -> list[str]:
        shared = sum(repeated(self._hashes).values())
        total = sum(len(batch) for batch in self._hashes)
        told = f"{self._split}: {total:,} queries, of which another clip has word for word: {shared:,}."
        return [told]


def _schema(name: str) -> pa.Schema:
    return pa.schema([(column, pa.type_for_alias(kind)) for column, kind in _CONFIGS[name].items()])


def _head(source: Source, tables: dict[str, list[SplitFiles]]) -> str:
    head = {
        "pretty_name": source.name.partition("/")[2] or source.name,
        "tags": ["mteb", "video-text-retrieval", "vttdata"],
        "dataset_info": [
            {
                "config_name": name,
                "features": [{"name": column, "dtype": kind} for column, kind in _CONFIGS[name].items()],
                "splits": [{"name": s.split, "num_bytes": s.memory, "num_examples": s.rows} for s in own],
                "download_size": sum(split.bytes for split in own),
                "dataset_size": sum(split.memory for split in own),
            }
            for name, own in tables.items()
        ],
        "configs": [
            {"config_name": name, "version": source.version}
            | ({"default": True} if name == "qrels" else {})
            | {"data_files": [{"split": split.split, "path": split.pattern} for split in own]}
            for name, own in tables.items()
        ],
    }
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=10_000)}---\n"
