"""Items of one split as documents of a task for evaluation harnesses: what a model is shown, and what is right.

A document has the prompt, so that what models see depends on the export alone. Its answers are scored by
`vttdata.evaluate.harness`.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vttdata.errors import VttdataError, list_choices
from vttdata.export.files import as_json, text_file
from vttdata.export.format import ExportRequest
from vttdata.export.reader import DatasetReader
from vttdata.ids import digest
from vttdata.json_types import JsonObject, Row
from vttdata.records import to_row
from vttdata.text.questions import YES_NO, fold_text, letters

CAPTION_PROMPT = "Provide a brief single-sentence caption for the video. Do not give any reasoning, just the caption."
_LETTER_PROMPT = "Answer with the letter of the right option only."
_YES_NO_PROMPT = "Answer with yes or no only."
_PAIR_QUESTION = "Which of these texts describes the video?"
_MAX_NAME = 200
TASK_FILE, DOCUMENTS_FILE = "task.json", "documents.jsonl"


@dataclass(frozen=True, slots=True)
class HarnessTask:
    """What is asked about the items of a split.

    Fields:
        name: name for harnesses, of letters, digits and ``_``.
        kind: task of `vttdata.evaluate.tasks`: ``captioning``, ``questions`` or ``foils``.
        dataset, version, config, split: where the items are from.
        languages: of the captions, as far as known.
        condition: in which the clips are shown, see `vttdata.conditions.CONDITIONS`; None for their videos.
    """

    name: str
    kind: str
    dataset: str
    version: str
    config: str
    split: str
    languages: list[str] = dataclasses.field(default_factory=list)
    condition: str | None = None

    @property
    def evaluate_options(self) -> str:
        """Options with which ``vttdata evaluate`` scores the same items."""
        return f"--task {self.kind} --config {self.config} --split {self.split}"


@dataclass(frozen=True, slots=True)
class ClipDocument:
    """Clip with its human captions."""

    video_id: str
    video: str | None
    url: str | None
    start: float | None
    end: float | None
    captions: list[str]
    prompt: str = CAPTION_PROMPT

    @property
    def name(self) -> str:
        """Id of the item."""
        return self.video_id


@dataclass(frozen=True, slots=True)
class QuestionDocument:
    """Question with its options and the index of the right one; `start` and `end` are seconds in the clip."""

    question_id: str
    video_id: str
    video: str | None
    url: str | None
    start: float | None
    end: float | None
    kind: str
    question: str
    options: list[str]
    labels: list[str]
    answer: int
    group: str | None
    type: str | None
    blind: float | None
    prompt: str

    @property
    def name(self) -> str:
        """Id of the item."""
        return self.question_id


@dataclass(frozen=True, slots=True)
class PairDocument:
    """True text and foil as the options of a question; `answer` is the index of the true one."""

    foil_id: str
    video_id: str
    video: str | None
    url: str | None
    options: list[str]
    answer: int
    prompt: str

    @property
    def name(self) -> str:
        """Id of the item."""
        return self.foil_id


Document = ClipDocument | QuestionDocument | PairDocument
DOCUMENTS: Mapping[str, type[Document]] = {
    "captioning": ClipDocument,
    "questions": QuestionDocument,
    "foils": PairDocument,
}
"""Kind of a task -> its documents."""


def choose_task(request: ExportRequest) -> HarnessTask:
    """Return the task of an export: that of the configuration, by default foils, questions or clips, as there are.

    Raises:
        VttdataError: if there is no such configuration or split, or its items are none of these.
    """
    dataset = request.dataset
    config = request.config or next((name for name in ("foils", "questions") if name in dataset.configs), "clips")
    table, _, kind = config.partition("/")
    if table == "questions":
        _require_kind(dataset, table, kind)
        task = "questions"
    elif config in ("foils", "paragraphs"):
        task = "foils"
    else:
        dataset.require_captions(config)
        task = "captioning"
    split = dataset.single_split(table if task == "questions" else config, request.split)
    default = config in ("clips", "foils", "questions")
    condition = request.stimuli.condition if request.stimuli is not None else None
    parts = [dataset.name.rpartition("/")[2], *([] if default else [config]), split]
    parts += [] if condition is None else [condition]
    name = "vttdata_" + re.sub(r"\W", "_", "_".join(parts), flags=re.ASCII).lower()
    if len(name) > _MAX_NAME:
        # The name is that of a file too; the digest tells tasks apart whose names begin alike.
        name = f"{name[:_MAX_NAME]}_{digest(parts)[:8]}"
    return HarnessTask(name, task, dataset.name, dataset.version, config, split, condition=condition)


def _require_kind(dataset: DatasetReader, table: str, kind: str) -> None:
    kinds = dict.fromkeys(
        row["kind"] for split in dataset.splits(table) for row in dataset.rows(table, split, ["kind"])
    )
    if kind and kind not in kinds:
        raise VttdataError(
            f"{dataset.folder}: no question is of the kind {kind!a}; choose from {list_choices(kind, kinds)}."
        )


def read_documents(request: ExportRequest, task: HarnessTask) -> Iterator[Document]:
    """Yield the documents of a task in the order of the dataset.

    Clips without a human caption, and clips of which nothing is shown in the condition of the export, have none.

    Raises:
        VttdataError: if nothing is shown of any clip.
    """
    stimuli = request.stimuli
    documents = _read_all(request, task)
    if stimuli is None:
        yield from documents
        return
    shown = False
    for document in documents:
        if document.video_id in stimuli.video_ids:
            shown = True
            yield document
    if not shown:
        raise VttdataError(
            f"Stimuli of '{stimuli.condition}' show no clip of {task.config}/{task.split} of {request.dataset.name}."
        )


def _read_all(request: ExportRequest, task: HarnessTask) -> Iterator[Document]:
    if task.kind == "captioning":
        for clip, references, _ in request.dataset.references(task.config, task.split, request.folder, request.counts):
            if references:
                texts = [reference.text for reference in references]
                yield ClipDocument(clip["video_id"], clip["video"], clip["url"], clip["start"], clip["end"], texts)
        return
    clips = _clips_by_id(request.dataset)
    if task.kind == "foils":
        yield from _pair_documents(request.dataset, task, clips)
    else:
        table, _, kind = task.config.partition("/")
        for row in request.dataset.rows(table, task.split):
            if kind in ("", row["kind"]):
                yield _question_document(row, clips.get(row["video_id"], {}))


def _clips_by_id(dataset: DatasetReader) -> Mapping[str, Row]:
    """Return the file and the address of each clip; nothing where a dataset has no table of clips."""
    columns = ["video_id", "video", "url"]
    splits = dataset.splits("clips") if "clips" in dataset.configs else []
    return {row["video_id"]: row for split in splits for row in dataset.rows("clips", split, columns)}


def _question_document(row: Row, clip: Row) -> QuestionDocument:
    options = row["options"]
    if sorted(map(fold_text, options)) == sorted(YES_NO):
        prompt = f"{row['question']}\n{_YES_NO_PROMPT}"
    else:
        prompt = "\n".join([row["question"], *letter_options(options), _LETTER_PROMPT])
    names = {field.name for field in dataclasses.fields(QuestionDocument)} & row.keys()
    return QuestionDocument(
        **{name: row[name] for name in names}, video=clip.get("video"), url=clip.get("url"), prompt=prompt
    )


def _pair_documents(dataset: DatasetReader, task: HarnessTask, clips: Mapping[str, Row]) -> Iterator[PairDocument]:
    texts = ("caption", "foil") if task.config == "foils" else ("captions", "foils")
    for name, row in dataset.pairs(task.config, task.split):
        true, foil = (" ".join(row[text]) if isinstance(row[text], list) else row[text] for text in texts)
        # Neither place is right more often, whatever the order of the pairs.
        answer = int(digest(["order of a pair", name])[:8], 16) % 2
        options = [foil, true] if answer else [true, foil]
        prompt = "\n".join([_PAIR_QUESTION, *letter_options(options), _LETTER_PROMPT])
        clip = clips.get(row["video_id"], {})
        yield PairDocument(name, row["video_id"], clip.get("video"), clip.get("url"), options, answer, prompt)


def letter_options(options: Sequence[str]) -> list[str]:
    """Return options as lines with their letters, ``A. text``."""
    return [f"{letter}. {text}" for letter, text in zip(letters(len(options)), options, strict=True)]


def write_documents(request: ExportRequest, task: HarnessTask) -> list[Document]:
    """Write documents as JSON lines, and the task beside them.

    Raises:
        VttdataError: if there is nothing to ask.
    """
    documents = list(require_documents(request, task, read_documents(request, task)))
    with text_file(request.folder / DOCUMENTS_FILE) as stream:
        stream.writelines(as_json(to_row(document)) + "\n" for document in documents)
    write_task(request, task)
    return documents


def write_task(request: ExportRequest, task: HarnessTask) -> None:
    """Write what is asked, once the captions that tell the languages were read."""
    languages = [language for language in request.counts.languages if language != "unknown"]
    with text_file(request.folder / TASK_FILE) as stream:
        stream.write(json.dumps(to_row(dataclasses.replace(task, languages=languages)), indent=1) + "\n")


def require_documents(request: ExportRequest, task: HarnessTask, documents: Iterable[Document]) -> Iterator[Document]:
    """Yield documents, of which there must be some.

    Raises:
        VttdataError: if there are none.
    """
    is_empty = True
    for document in documents:
        is_empty = False
        yield document
    if is_empty:
        found = "clip of '{}' has a human caption" if task.kind == "captioning" else "item is in '{}'"
        raise VttdataError(f"{request.dataset.folder}: no {found.format(task.split)}, so nothing can be scored.")


def left_out_notes(request: ExportRequest, task: HarnessTask, documents: int) -> list[str]:
    """Return a sentence on the clips of a split without a human caption."""
    if task.kind != "captioning":
        return []
    ids = {row["video_id"] for row in request.dataset.rows(task.config, task.split, ["video_id"])}
    left_out = len(ids) - documents
    return [f"Clips without a human caption, which are left out: {left_out:,}."] if left_out else []


def load_exported_task(folder: Path) -> HarnessTask:
    """Read the task of an export.

    Raises:
        VttdataError: if its file is missing.
    """
    return HarnessTask(**json.loads(_read(folder, TASK_FILE)))


def load_documents(folder: Path) -> list[JsonObject]:
    """Read what `write_documents` wrote.

    Raises:
        VttdataError: if its file is missing.
    """
    return [json.loads(line) for line in _read(folder, DOCUMENTS_FILE).splitlines()]


def _read(folder: Path, name: str) -> str:
    if not (folder / name).is_file():
        raise VttdataError(f"{folder}: {name} is missing; export the dataset again.")
    return (folder / name).read_text(encoding="utf-8")
