"""Corpus, queries and relevance judgments of retrieval, for MTEB and plain datasets.

The export is a dataset of its own, which `datasets.load_dataset(folder, "corpus" | "queries" | "qrels")` opens.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.dataset.front_matter import dump_front_matter
from vttdata.dataset.shards import SplitFiles, write_split
from vttdata.errors import VttdataError
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.export.reader import CaptionCounts

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


def write_mteb(request: ExportRequest) -> Written:
    """Write the configurations corpus, queries and qrels.

    Raises:
        VttdataError: if a split has no clip with a human caption.
    """
    dataset, folder, config = request.dataset, request.folder, request.clip_config
    tables: dict[str, list[SplitFiles]] = {name: [] for name in _CONFIGS}

    def write(name: str, split: str, rows: Iterable[dict[str, object]]) -> SplitFiles:
        schema = pa.schema([(column, pa.type_for_alias(dtype)) for column, dtype in _CONFIGS[name].items()])
        written = write_split(folder, name, split, schema, rows)
        if written is None:
            raise VttdataError(f"{dataset.folder}: no clip of '{split}' has a human caption, so there are no queries.")
        tables[name].append(written)
        return written

    notes = []
    for split in request.splits():
        clips = dataset.references(config, split, folder, request.counts)
        rows = ((clip["video_id"], references[0]) for clip, references, _ in clips if references)
        queries = write(
            "queries", split, ({"id": f"{video_id}#{query.sen_id}", "text": query.text} for video_id, query in rows)
        )
        written = pa.concat_tables(pq.read_table(folder / shard.path) for shard in queries.shards)
        # The id of a clip cannot contain "#".
        pairs = ((query_id, query_id.rpartition("#")[0]) for query_id in written["id"].to_pylist())
        write("qrels", split, ({"query-id": query, "corpus-id": clip, "score": 1} for query, clip in pairs))
        # Captions are counted once, with the queries.
        clips = dataset.references(config, split, folder, CaptionCounts())
        unique = ({"id": clip["video_id"], **clip} for clip, _, repeated in clips if not repeated)
        write("corpus", split, ({name: clip[name] for name in _CORPUS} for clip in unique))
        shared = written["text"].to_pandas().duplicated(keep=False).sum()
        notes.append(f"{split}: {queries.rows:,} queries; {shared:,} of them are the query of another clip as well.")
    content = {
        "pretty_name": dataset.name.partition("/")[2] or dataset.name,
        "tags": ["mteb", "video-text-retrieval", "vttdata"],
    }
    features = {
        config: [{"name": column, "dtype": dtype} for column, dtype in columns.items()]
        for config, columns in _CONFIGS.items()
    }
    # As in the datasets of MTEB, the judgments are the default configuration.
    front_matter = dump_front_matter(content, tables, features, dataset.version, "qrels")
    return Written(_USAGE.format(split=split), notes, front_matter)


FORMAT = Format(write_mteb, RULES)
