"""Tables and tasks of retrieval in both directions, or of questions, for MTEB and plain datasets.

The export is a dataset of its own, which `datasets.load_dataset(folder, "corpus" | "queries" | "qrels")` opens. MTEB's
loader takes no nulls, so there are none. ``mteb_tasks.py`` has the tasks as MTEB's own are written, and ``task.py``,
which is `vttdata.export.mteb_task`, runs them on these tables.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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
    "videos, or for `<video_id>` with another ending. With `--config questions`, or where a dataset has questions and "
    "no captions, the task is MTEB's `VideoCentricQA` on one split: a query is a question with its video, and its "
    "options, `<question_id>#<index>`, are ranked for it; of options that score the same MTEB ranks one first, where "
    "`vttdata evaluate` shares the answer among them."
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
_T2V, _V2T = "Retrieve the video clip that matches a caption", "Retrieve the caption that describes a video clip"
_PROMPTS = {
    "t2v": (_T2V, "Find the video clip that matches the given caption."),
    "v2t": (_V2T, "Find the caption that best describes the following video."),
}
# Identifiers of licences that MTEB's metadata takes; others are named by their address.
_LICENCES = {
    "mit", "cc-by-2.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-3.0", "cc-by-nc-4.0",
    "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-nc-nd-4.0", "cc-by-nd-4.0", "openrail", "openrail++", "odc-by",
    "afl-3.0", "apache-2.0", "cc-by-nd-2.1-jp", "cc0-1.0", "bsd-3-clause", "gpl-3.0", "lgpl", "lgpl-3.0",
    "cdla-sharing-1.0", "mpl-2.0", "msr-la-nc", "multiple", "gemma", "eupl-1.2",
}  # fmt: skip
# As MTEB names languages.
_LANGUAGES = {
    "ar": "ara-Arab", "de": "deu-Latn", "en": "eng-Latn", "es": "spa-Latn", "fr": "fra-Latn", "hi": "hin-Deva",
    "it": "ita-Latn", "ja": "jpn-Jpan", "ko": "kor-Hang", "pt": "por-Latn", "ru": "rus-Cyrl", "zh": "cmn-Hans",
}  # fmt: skip
_FIELD = re.compile(r"(\w+)\s*=\s*(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|\"([^\"]*)\"|(\w+))")
_MODULE = """\
from __future__ import annotations

from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
"""
_CLASS = """

class {name}(AbsTaskRetrieval):
    metadata = TaskMetadata(
{fields}
    )
"""
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

    @property
    def scored_split(self) -> str:
        """``test``, or the first one."""
        splits = [each.split for each in self.written["qrels"]]
        return "test" if "test" in splits else splits[0]

    def rows(self, name: str) -> int:
        """Return the number of rows of the split that is scored."""
        return next(each.rows for each in self.written[name] if each.split == self.scored_split)

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

    def write_task(self, config: str, kinds: Mapping[str, JsonObject]) -> str:
        """Write ``mteb_tasks.py`` and ``task.py``, and return the front matter of the export.

        `kinds` are categories of MTEB and what the metadata says of each apart.
        """
        dataset, folder = self.request.dataset, self.request.folder
        name = dataset.name.rpartition("/")[2] + ("" if config in ("clips", "questions") else f" {config}")
        parts = ["vttdata", *re.split(r"\W+|_", name, flags=re.ASCII)]
        called = "".join(part[:1].upper() + part[1:] for part in parts)
        citation, fields = format_citation(dataset.citation)
        splits_of_clips = dataset.splits("clips") if "clips" in dataset.configs else []
        has_links = any(row["url"] for each in splits_of_clips for row in dataset.rows("clips", each, ["url"]))
        year = re.match(r"\d{4}", fields.get("year", ""))
        licence = dataset.licence if dataset.licence in _LICENCES else find_licence_address(dataset.licence)
        languages = [_LANGUAGES[each] for each in self.request.counts.languages if each in _LANGUAGES]
        with text_file(folder / "mteb_tasks.py") as stream:
            stream.write(_MODULE)
            for category, facts in kinds.items():
                name = f"{called}{facts['suffix']}"
                metadata = {
                    "name": name,
                    "description": facts["description"],
                    "reference": _paper(fields) or f"https://huggingface.co/datasets/{dataset.name}",
                    "dataset": {"path": f"{dataset.name.partition('/')[0]}/{name}", "revision": dataset.version},
                    "type": facts["type"],
                    "category": category,
                    "modalities": facts["modalities"],
                    "eval_splits": [self.scored_split],
                    "eval_langs": languages or ["eng-Latn"],
                    "main_score": facts["main_score"],
                    # Of the paper where there is one, as in other tasks of MTEB.
                    "date": (f"{year[0]}-01-01", f"{year[0]}-12-31") if year else None,
                    "domains": ["Web"] if has_links else [],
                    "task_subtypes": facts["task_subtypes"],
                    "license": licence or "not specified",
                    "annotations_creators": "human-annotated",
                    "dialect": [],
                    "sample_creation": "found",
                    "bibtex_citation": citation,
                    **({"prompt": {"query": facts["prompt"]}} if "prompt" in facts else {}),
                    "is_beta": True,
                }
                lines = "\n".join(f"        {key}={_literal(value)}," for key, value in metadata.items())
                stream.write(_CLASS.format(name=name, fields=lines))
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
    chosen = [request.config.partition("/")[0]] if request.config else [*request.dataset.configs]
    # A set of questions has no captions, which are asked about where there are any.
    if set(chosen) & {*QuestionDocument.tables} and "captions" not in chosen:
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
    of = f"{tables.rows('queries'):,} captions and {tables.rows('corpus'):,} clips"
    kinds = {
        direction: {
            "suffix": f"{direction.upper()}Retrieval",
            "description": f"{does} in {dataset.name} {dataset.version} ({config}): {of} of {tables.scored_split}.",
            "type": "Any2AnyRetrieval",
            "modalities": ["text", "video"] if direction == "t2v" else ["video", "text"],
            "main_score": "ndcg_at_10",
            "task_subtypes": ["Caption Pairing"],
            "prompt": prompt,
        }
        for direction, (does, prompt) in _PROMPTS.items()
    }
    front_matter = tables.write_task(config, kinds)
    options = f" --split {split}" + (f" --config {config}" if config != "clips" else "")
    return Written(_USAGE.format(name=dataset.name, split=split, options=options), notes, front_matter)


def _literal(value: object) -> str:
    """Return a value of the metadata as source."""
    if isinstance(value, dict):
        lines = "".join(f"            {json.dumps(key)}: {json.dumps(each)},\n" for key, each in value.items())
        return f"{{\n{lines}        }}"
    if isinstance(value, str) and value.startswith("@"):
        return f'r"""\n{value}\n"""'
    if isinstance(value, tuple):
        return f"({', '.join(map(json.dumps, value))})"
    return repr(value) if value is None or isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def format_citation(text: str) -> tuple[str, dict[str, str]]:
    """Return BibTeX as MTEB's script ``format_citations.py`` writes it, and the fields of the first entry by name.

    Entries are in the order of their keys, and fields in that of their names; a text without entries stays as it is.
    """
    entries = []
    for match in re.finditer(r"@(\w+)\s*\{\s*([^,\s]+)\s*,(.*?)\n?\}\s*(?=@|\Z)", text.strip(), re.DOTALL):
        found = {name.lower(): " ".join((a or b or c).split()) for name, a, b, c in _FIELD.findall(match[3])}
        entries.append((match[2], match[1].lower(), dict(sorted(found.items()))))
    written = [
        "".join([f"@{kind}{{{key},\n", *(f"  {name} = {{{value}}},\n" for name, value in found.items()), "}"])
        for key, kind, found in sorted(entries, key=lambda entry: entry[0])
    ]
    return "\n\n".join(written) or text.strip(), entries[0][2] if entries else {}


def _paper(fields: Mapping[str, str]) -> str | None:
    """Return the address of the paper that a citation names; None if it has none."""
    arxiv = re.search(r"\d{4}\.\d{4,5}", fields.get("eprint", "") or fields.get("journal", ""))
    doi = f"https://doi.org/{fields['doi']}" if "doi" in fields else None
    return fields.get("url") or doi or (f"https://arxiv.org/abs/{arxiv[0]}" if arxiv else None)


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
    facts = {
        "suffix": "VideoCentricQA",
        "description": f"Choose the right option of a question about a video in {task.dataset} {task.version} "
        f"({task.config}): {len(documents):,} questions of {task.split}.",
        "type": "VideoCentricQA",
        "modalities": ["video", "text"],
        "main_score": "accuracy",
        "task_subtypes": ["Question answering"],
    }
    front_matter = tables.write_task(task.config, {"vt2t": facts})
    usage = _QUESTIONS_USAGE.format(name=task.dataset, options=task.evaluate_options)
    return Written(usage, [f"{task.split}: {len(documents):,} questions."], front_matter)


FORMAT = Format(
    write_mteb,
    RULES,
    any_config=True,
    takes_every_caption=True,
    shows_videos="task.py needs a folder of them (--videos), named by the clips' ids",
)
