"""Tables and tasks of retrieval in both directions, or of questions, for MTEB and plain datasets.

The export is a dataset of its own, which `datasets.load_dataset(folder, "corpus" | "queries" | "qrels")` opens. MTEB's
loader takes no nulls, so there are none. ``task.py`` is `vttdata.export.mteb_task`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.dataset.front_matter import dump_front_matter
from vttdata.dataset.licences import find_licence_address
from vttdata.dataset.shards import SplitFiles, write_split
from vttdata.errors import VttdataError
from vttdata.export.documents import QuestionDocument, choose_task, read_documents
from vttdata.export.files import text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.export.reader import CaptionCounts, ClipReferences, Reference
from vttdata.json_types import JsonObject, Row

RULES = (
    "The corpus is the clips of a split with a human caption. Each has one query, its caption with the lowest "
    "`sen_id`, or with `--every-caption` one for each human caption, and only that clip is relevant to it, as in "
    "published video retrieval: a query that is also the query of another clip is kept, although the wrong clip "
    "answers it as well; the notes count such queries. Query ids are `<video_id>#<sen_id>`, which `vttdata evaluate` "
    "takes. In video-to-text retrieval the clips search the queries; of queries with the same text, which score the "
    "same, MTEB ranks one first, where `vttdata evaluate` takes the mean over all orders. `video` is the name of the "
    "clip's file in the dataset, or `<video_id>.mp4` where it has none; `task.py` looks for it in the folder of "
    "videos, or for `<video_id>` with another ending. With `--config questions` the task is MTEB's `VideoCentricQA` on "
    "one split: a query is a question with its video, and its options, `<question_id>#<index>`, are ranked for it; of "
    "options that score the same MTEB ranks one first, where `vttdata evaluate` shares the answer among them."
)
_USAGE = """\
```sh
pip install 'mteb[audio,image,video]>=2.26'
python FOLDER/task.py MODEL --videos VIDEOS --out scores  # MODEL of the registry of MTEB; both directions
vttdata evaluate {name} scores/t2v.run{options}
```

```python
import mteb
from task import load_tasks  # a model of your own; with FOLDER in sys.path

results = mteb.evaluate(model, load_tasks())  # VTTDATA_VIDEOS names the folder of videos
```

```python
import datasets

corpus = datasets.load_dataset("FOLDER", "corpus", split="{split}")
queries = datasets.load_dataset("FOLDER", "queries", split="{split}")
qrels = datasets.load_dataset("FOLDER", "qrels", split="{split}")
corpus = corpus.map(lambda row: {{"video": f"VIDEOS/{{row['video']}}"}}).cast_column("video", datasets.Video())
```"""
_QUESTIONS_USAGE = """\
```sh
pip install 'mteb[audio,image,video]>=2.26'
python FOLDER/task.py MODEL --videos VIDEOS --out scores  # MODEL of the registry of MTEB
vttdata evaluate {name} scores/answers.jsonl {options}
```"""
_CORPUS = {"id": "string", "video": "string"}
_QUERIES = {"id": "string", "text": "string"}
_QRELS = {"query-id": "string", "corpus-id": "string", "score": "int64"}
_PROMPTS = {
    "t2v": "Find the video that a caption matches.",
    "v2t": "Find the caption that a video matches.",
}
# Identifiers of licences that MTEB's metadata takes; others are named by their address.
_LICENCES = (
    "apache-2.0",
    "bsd-3-clause",
    "cc-by-4.0",
    "cc-by-nc-4.0",
    "cc-by-nc-nd-4.0",
    "cc-by-nc-sa-4.0",
    "cc-by-sa-4.0",
    "cc0-1.0",
    "gpl-3.0",
    "mit",
    "odc-by",
)
_TASK = Path(__file__).parents[1] / "mteb_task.py"
_CONFIGS = {"corpus": _CORPUS, "queries": _QUERIES, "qrels": _QRELS}
_QUESTION_CONFIGS = {"corpus": _QUERIES, "queries": {**_QUERIES, "video": "string"}, "qrels": _QRELS}
_Columns = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class _Tables:
    """Tables of an export by configuration, each with the types of its columns, and where they are written."""

    request: ExportRequest
    configs: _Columns
    written: dict[str, list[SplitFiles]] = field(default_factory=lambda: defaultdict(list))

    def write(self, name: str, split: str, rows: Iterable[dict[str, object]]) -> SplitFiles:
        """Write the rows of a split.

        Raises:
            VttdataError: if there are none.
        """
        schema = pa.schema([(column, pa.type_for_alias(dtype)) for column, dtype in self.configs[name].items()])
        written = write_split(self.request.folder, name, split, schema, rows)
        if written is None:
            folder = self.request.dataset.folder
            raise VttdataError(f"{folder}: no clip of '{split}' has a human caption, so there are no queries.")
        self.written[name].append(written)
        return written

    def write_task(self, config: str, description: str, splits: Sequence[str], kinds: Mapping[str, JsonObject]) -> str:
        """Write ``task.json`` and ``task.py``, and return the front matter of the export.

        `kinds` are categories of MTEB and what the metadata says of each apart.
        """
        dataset, folder = self.request.dataset, self.request.folder
        name = dataset.name.rpartition("/")[2] + ("" if config in ("clips", "questions") else f" {config}")
        parts = ["vttdata", *re.split(r"\W+|_", name, flags=re.ASCII)]
        called = "".join(part[:1].upper() + part[1:] for part in parts)
        citation = dataset.citation.strip()
        year = re.search(r"\byear\s*=\s*\W*(\d{4})", citation)
        address = find_licence_address(dataset.licence)
        splits_of_clips = dataset.splits("clips") if "clips" in dataset.configs else []
        has_links = any(row["url"] for each in splits_of_clips for row in dataset.rows("clips", each, ["url"]))
        common = {
            "description": description,
            "reference": f"https://huggingface.co/datasets/{dataset.name}",
            "dataset": {"path": f"{dataset.name}-mteb", "revision": dataset.version},
            "eval_splits": list(splits),
            "eval_langs": ["eng-Latn"],
            # Of the paper where there is one, as in other tasks of MTEB.
            "date": [f"{year[1]}-01-01", f"{year[1]}-12-31"] if year else None,
            "domains": ["Web"] if has_links else [],
            "license": dataset.licence if dataset.licence in _LICENCES else address or "not specified",
            "annotations_creators": "human-annotated",
            "dialect": [],
            "sample_creation": "found",
            "bibtex_citation": citation,
        }
        task = {kind: {"name": f"{called}{facts['suffix']}"} | common | facts for kind, facts in kinds.items()}
        for facts in task.values():
            del facts["suffix"]
        with text_file(folder / "task.json") as stream:
            stream.write(json.dumps(task, indent=1) + "\n")
        with text_file(folder / "task.py") as stream:
            stream.write(_TASK.read_text(encoding="utf-8"))
        content = {
            "pretty_name": dataset.name.partition("/")[2] or dataset.name,
            "tags": ["mteb", "video-text-retrieval", "vttdata"],
        }
        features = {
            config: [{"name": column, "dtype": dtype} for column, dtype in columns.items()]
            for config, columns in self.configs.items()
        }
        # As in the datasets of MTEB, the judgments are the default configuration.
        return dump_front_matter(content, self.written, features, dataset.version, "qrels")


def write_mteb(request: ExportRequest) -> Written:
    """Write the configurations corpus, queries and qrels, and the tasks.

    Raises:
        VttdataError: if a split has no clip with a human caption, or no question.
    """
    if request.clip_config.partition("/")[0] in QuestionDocument.tables:
        return _write_questions(request)
    dataset, folder, config = request.dataset, request.folder, request.clip_config
    dataset.require_captions(config)
    tables = _Tables(request, _CONFIGS)

    def references() -> Iterator[ClipReferences]:
        yield from dataset.references(config, split, folder, counts.pop() if counts else CaptionCounts())

    def queries() -> Iterator[tuple[str, Reference]]:
        for clip, texts, _ in references():
            yield from ((clip["video_id"], text) for text in texts[: None if request.every_caption else 1])

    notes = []
    for split in request.splits():
        # Captions are counted once, with the first table.
        counts = [request.counts]
        clips = (clip for clip, texts, _ in references() if texts)
        corpus = tables.write(
            "corpus",
            split,
            ({"id": clip["video_id"], "video": clip["video"] or f"{clip['video_id']}.mp4"} for clip in clips),
        )
        tables.write("queries", split, ({"id": f"{clip}#{number}", "text": text} for clip, (number, text) in queries()))
        tables.write(
            "qrels",
            split,
            ({"query-id": f"{clip}#{number}", "corpus-id": clip, "score": 1} for clip, (number, _) in queries()),
        )
        texts = pa.concat_tables(pq.read_table(folder / shard.path) for shard in tables.written["queries"][-1].shards)[
            "text"
        ]
        shared = texts.to_pandas().duplicated(keep=False).sum()
        left_out = len({row["video_id"] for row in dataset.rows(config, split, ["video_id"])}) - corpus.rows
        notes.append(f"{split}: {len(texts):,} queries; {shared:,} of them are the query of another clip as well.")
        notes += [f"{split}: clips without a human caption, which are left out: {left_out:,}."] if left_out else []
    description = f"Retrieval between videos and their captions in {dataset.name} {dataset.version} ({config})."
    kinds = {
        direction: {
            "suffix": f"{direction.upper()}Retrieval",
            "type": "Any2AnyRetrieval",
            "category": direction,
            "modalities": ["text", "video"] if direction == "t2v" else ["video", "text"],
            "main_score": "ndcg_at_10",
            "task_subtypes": ["Caption Pairing"],
            "prompt": {"query": prompt},
        }
        for direction, prompt in _PROMPTS.items()
    }
    front_matter = tables.write_task(config, description, request.splits(), kinds)
    options = f" --split {split}" + (f" --config {config}" if config != "clips" else "")
    return Written(_USAGE.format(name=dataset.name, split=split, options=options), notes, front_matter)


def _write_questions(request: ExportRequest) -> Written:
    task, tables = choose_task(request), _Tables(request, _QUESTION_CONFIGS)
    documents = [document for document in read_documents(request, task) if isinstance(document, QuestionDocument)]
    options, asked, answers = list[Row](), list[Row](), list[Row]()
    for document in documents:
        name, video = document.question_id, document.video or f"{document.video_id}.mp4"
        asked.append({"id": name, "text": document.question, "video": video})
        options += [{"id": f"{name}#{index}", "text": text} for index, text in enumerate(document.options)]
        answers.append({"query-id": name, "corpus-id": f"{name}#{document.answer}", "score": 1})
    tables.write("corpus", task.split, options)
    tables.write("queries", task.split, asked)
    tables.write("qrels", task.split, answers)
    description = f"Questions about the videos of {task.dataset} {task.version} ({task.config})."
    facts = {
        "suffix": "VideoCentricQA",
        "type": "VideoCentricQA",
        "category": "vt2t",
        "modalities": ["video", "text"],
        "main_score": "accuracy",
        "task_subtypes": ["Question answering"],
    }
    front_matter = tables.write_task(task.config, description, [task.split], {"vt2t": facts})
    usage = _QUESTIONS_USAGE.format(name=task.dataset, options=task.evaluate_options)
    return Written(usage, [f"{task.split}: {len(documents):,} questions."], front_matter)


FORMAT = Format(
    write_mteb,
    RULES,
    any_config=True,
    takes_every_caption=True,
    shows_videos="task.py needs a folder of them (--videos), named by the clips' ids",
)
