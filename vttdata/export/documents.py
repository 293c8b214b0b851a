"""Items of one split as documents of a task for evaluation harnesses: what a model is shown, and what is right.

A document has the prompt, so that what models see depends on the export alone.
"""

from __future__ import annotations

import dataclasses
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from vttdata.dataset.questions import StoredQuestion
from vttdata.errors import VttdataError
from vttdata.export.exported_functions import choice_to_text, is_yes_no
from vttdata.export.files import as_json, text_file
from vttdata.export.format import ExportRequest
from vttdata.export.reader import DatasetReader
from vttdata.ids import digest
from vttdata.json_types import JsonObject, Row
from vttdata.records import to_row
from vttdata.text.questions import letters

CAPTION_PROMPT = "Provide a brief single-sentence caption for the video. Do not give any reasoning, just the caption."
LETTER_PROMPT = "Answer with the letter of the right option only."
OPTION_PROMPT = "Please directly give the best option:"
YES_NO_PROMPT = "Answer with yes or no only."
MIXED_PROMPT = "Answer with yes or no, or with the label of the right option where options are listed."
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
    def documents(self) -> type[HarnessDocument]:
        """What is asked about one item."""
        return DOCUMENTS[self.kind]

    @property
    def evaluate_options(self) -> str:
        """Options with which ``vttdata evaluate`` scores the same items."""
        return f"--task {self.kind} --config {self.config} --split {self.split}"


class HarnessDocument(ABC):
    """What is asked about one item, and what is right; its fields are what harnesses read.

    Attributes:
        id_column: field that has the id of the item.
        tables: of a dataset that hold the items; none for those of any other configuration, which has clips.
        nothing: sentence for a split, ``{}``, without items.
    """

    __slots__ = ()

    id_column: ClassVar[str]
    tables: ClassVar[Sequence[str]] = ()
    nothing: ClassVar[str] = "no item is in '{}'"

    video_id: str
    video: str | None
    url: str | None
    prompt: str

    @property
    def name(self) -> str:
        """Id of the item."""
        return str(getattr(self, self.id_column))

    @staticmethod
    @abstractmethod
    def read(request: ExportRequest, task: HarnessTask) -> Iterator[HarnessDocument]:
        """Yield the documents of a task in the order of the dataset."""


@dataclass(frozen=True, slots=True)
class ClipDocument(HarnessDocument):
    """Clip with its human captions."""

    id_column: ClassVar[str] = "video_id"
    nothing: ClassVar[str] = "no clip of '{}' has a human caption"

    video_id: str
    video: str | None
    url: str | None
    start: float | None
    end: float | None
    captions: list[str]
    prompt: str = CAPTION_PROMPT

    @staticmethod
    def read(request: ExportRequest, task: HarnessTask) -> Iterator[ClipDocument]:
        """Yield the clips that have a human caption."""
        counts = request.counts
        for clip, references, repeated in request.dataset.references(task.config, task.split, request.folder, counts):
            counts.left_out += not references and not repeated
            if references:
                texts = [reference.text for reference in references]
                yield ClipDocument(clip["video_id"], clip["video"], clip["url"], clip["start"], clip["end"], texts)


class ChoiceDocument(HarnessDocument):
    """What has options, of which one is right; `answer` is its index."""

    __slots__ = ()

    question: str
    options: Sequence[str]
    labels: Sequence[str]
    answer: int


@dataclass(frozen=True, slots=True)
class QuestionDocument(StoredQuestion, ChoiceDocument):
    """Question with its options and the index of the right one; `start` and `end` are seconds in the clip."""

    id_column: ClassVar[str] = "question_id"
    tables: ClassVar[Sequence[str]] = ("questions",)

    video: str | None = None
    url: str | None = None
    prompt: str = ""

    @staticmethod
    def read(request: ExportRequest, task: HarnessTask) -> Iterator[QuestionDocument]:
        """Yield the questions, of one kind where the configuration names it."""
        clips = _clips_by_id(request.dataset)
        for asked in request.dataset.questions(task.config, task.split)[1]:
            document = QuestionDocument.of_row(to_row(asked) | clips.get(asked.video_id, {}))
            yield dataclasses.replace(document, prompt=_prompt(document))


@dataclass(frozen=True, slots=True)
class PairDocument(ChoiceDocument):
    """True text and foil as the options of a question; `answer` is the index of the true one."""

    id_column: ClassVar[str] = "foil_id"
    tables: ClassVar[Sequence[str]] = ("foils", "paragraphs")

    foil_id: str
    video_id: str
    video: str | None
    url: str | None
    question: str
    options: list[str]
    labels: list[str]
    answer: int
    prompt: str

    @staticmethod
    def read(request: ExportRequest, task: HarnessTask) -> Iterator[PairDocument]:
        """Yield the pairs, whose texts are in an order that is drawn for each."""
        clips = _clips_by_id(request.dataset)
        for pair in request.dataset.pairs(task.config, task.split):
            # Neither place is right more often, whatever the order of the pairs.
            answer = int(digest(["order of a pair", pair.name])[:8], 16) % 2
            texts = [" ".join(pair.true), " ".join(pair.foil)]
            options = texts[::-1] if answer else texts
            clip = clips.get(video_id := pair.row["video_id"], {})
            shown, labels = (clip.get("video"), clip.get("url")), list(letters(len(options)))
            document = PairDocument(pair.name, video_id, *shown, _PAIR_QUESTION, options, labels, answer, "")
            yield dataclasses.replace(document, prompt=_prompt(document))


DOCUMENTS: Mapping[str, type[HarnessDocument]] = {
    "foils": PairDocument,
    "questions": QuestionDocument,
    "captioning": ClipDocument,
}
"""Kind of a task -> its documents; by default those of the first kind whose table a dataset has."""


def choose_task(request: ExportRequest) -> HarnessTask:
    """Return the task of an export: that of the configuration, by default foils, questions or clips, as there are.

    Raises:
        VttdataError: if there is no such configuration or split, or its items are none of these.
    """
    dataset = request.dataset
    defaults = [*(each.tables[0] for each in DOCUMENTS.values() if each.tables), "clips"]
    config = request.config or next(name for name in defaults if name in dataset.configs or name == defaults[-1])
    table = config.partition("/")[0]
    kind, documents = next((kind, each) for kind, each in DOCUMENTS.items() if table in each.tables or not each.tables)
    if not documents.tables:
        dataset.require_captions(config)
    split = dataset.single_split(table if documents.tables else config, request.split)
    condition = request.stimuli.condition if request.stimuli is not None else None
    parts = [dataset.name.rpartition("/")[2], *([] if config in defaults else [config]), split]
    parts += [] if condition is None else [condition]
    name = "vttdata_" + re.sub(r"\W", "_", "_".join(parts), flags=re.ASCII).lower()
    if len(name) > _MAX_NAME:
        # The name is that of a file too; the digest tells tasks apart whose names begin alike.
        name = f"{name[:_MAX_NAME]}_{digest(parts)[:8]}"
    return HarnessTask(name, kind, dataset.name, dataset.version, config, split, condition=condition)


def read_documents(request: ExportRequest, task: HarnessTask) -> Iterator[HarnessDocument]:
    """Yield the documents of a task in the order of the dataset.

    Clips without a human caption, and clips of which nothing is shown in the condition of the export, have none.

    Raises:
        VttdataError: if there are none, or nothing is shown of any clip.
    """
    stimuli, is_empty, shown = request.stimuli, True, False
    for document in task.documents.read(request, task):
        is_empty = False
        if stimuli is None or document.video_id in stimuli.video_ids:
            shown = True
            yield document
    if stimuli is not None and not shown:
        raise VttdataError(
            f"Stimuli of '{stimuli.condition}' show no clip of {task.config}/{task.split} of {request.dataset.name}."
        )
    if is_empty:
        nothing = task.documents.nothing.format(task.split)
        raise VttdataError(f"{request.dataset.folder}: {nothing}, so nothing can be scored.")


def _clips_by_id(dataset: DatasetReader) -> Mapping[str, Row]:
    """Return the file and the address of each clip; nothing where a dataset has no table of clips."""
    columns = ["video_id", "video", "url"]
    splits = dataset.splits("clips") if "clips" in dataset.configs else []
    return {row["video_id"]: row for split in splits for row in dataset.rows("clips", split, columns)}


def ask(documents: Iterable[ChoiceDocument]) -> str:
    """Return the words that ask for an answer, the same for all of some documents: a letter where all labels are."""
    asked = {
        YES_NO_PROMPT
        if is_yes_no({"options": document.options})
        else LETTER_PROMPT
        if all(len(label) == 1 and label.isalpha() for label in document.labels)
        else OPTION_PROMPT
        for document in documents
    }
    return asked.pop() if len(asked) == 1 else MIXED_PROMPT if YES_NO_PROMPT in asked else OPTION_PROMPT


def _prompt(document: ChoiceDocument) -> str:
    return choice_to_text(to_row(document), {"post_prompt": f"\n{ask([document])}"})


def write_documents(request: ExportRequest, task: HarnessTask) -> list[HarnessDocument]:
    """Write documents as JSON lines, and the task beside them.

    Raises:
        VttdataError: if there is nothing to ask.
    """
    documents = list(read_documents(request, task))
    with text_file(request.folder / DOCUMENTS_FILE) as stream:
        stream.writelines(as_json(to_row(document)) + "\n" for document in documents)
    write_task(request, task)
    return documents


def write_task(request: ExportRequest, task: HarnessTask) -> None:
    """Write what is asked, once the captions that tell the languages were read."""
    languages = [language for language in request.counts.languages if language != "unknown"]
    with text_file(request.folder / TASK_FILE) as stream:
        stream.write(json.dumps(to_row(dataclasses.replace(task, languages=languages)), indent=1) + "\n")


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
