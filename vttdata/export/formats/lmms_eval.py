"""Task of one split (captioning, questions or foils) with its functions, for lmms-eval.

The task's YAML, its functions and the table of documents lie in one folder (as of lmms-eval 0.7.3), so that scores do
not depend on the Hub or on later versions of the dataset.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import vttdata.export.lmms_eval_utils
from vttdata.dataset.shards import write_split
from vttdata.errors import VttdataError
from vttdata.export.documents import (
    CAPTION_PROMPT,
    DOCUMENTS,
    Document,
    HarnessTask,
    QuestionDocument,
    choose_task,
    left_out_notes,
    read_documents,
    require_documents,
    write_task,
)
from vttdata.export.files import text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.files.strict_yaml import TextDumper
from vttdata.records import arrow_schema, to_row
from vttdata.text.questions import find_shared_types, kind_of

RULES = (
    "Of captioning, each clip with a human caption is a document; all its human captions are its references, and "
    "scores are those of coco-caption over all documents and need Java. Of questions, a document is a question with "
    "its options in lettered lines; of foils, a pair whose two texts are the options, in an order that is drawn for "
    "each. Their scores are computed by vttdata, which must be installed beside lmms-eval, and are those of `vttdata "
    "evaluate`. An answer to a pair that names neither text counts as the foil. Videos are searched in the folder "
    "named by the variable `VTTDATA_VIDEOS`, or in `videos` beside the YAML, under their file names in the dataset or "
    "as `<video_id>.mp4`."
)
LIMITS = "models see none: lmms-eval stops at the first document unless VTTDATA_VIDEOS names a folder"
_USAGE = """\
```sh
pip install lmms-eval 'filelock<4'{needs}
VTTDATA_VIDEOS=$PWD/VIDEOS python -m lmms_eval --include_path FOLDER --tasks {task} --model MODEL --log_samples \
--output_path scores
vttdata evaluate {dataset} "$(find scores -name '*_samples_{task}.jsonl')" {options}
```"""
_COCO_COLUMNS = {"Bleu_4": "bleu4", "METEOR": "meteor", "ROUGE_L": "rouge_l", "CIDEr": "cider"}
_FUNCTIONS = '''\
"""Functions of this task for lmms-eval; scores are those of `vttdata evaluate`."""

from pathlib import Path

from vttdata.evaluate.harness.lmms_eval import TaskFunctions

COLUMNS = {columns!r}
TASK = TaskFunctions(Path(__file__).parent, COLUMNS)

doc_to_visual = TASK.doc_to_visual
doc_to_text = TASK.doc_to_text
doc_to_target = TASK.doc_to_target
process_results = TASK.process_results
{functions}
'''


class _Function(str):
    """Name of a function in ``utils.py``."""


class _TaskDumper(TextDumper):
    """YAML dumper that marks functions for lmms-eval."""


_TaskDumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", f"utils.{name}"))


@dataclass(slots=True)
class _Columns:
    """Columns of scores that the answers to documents have, found while the documents are written."""

    documents: int = 0
    kinds: dict[str, None] = field(default_factory=dict)
    groups: defaultdict[str, list[QuestionDocument]] = field(default_factory=lambda: defaultdict(list))
    yes_no_answers: set[str] = field(default_factory=set)
    has_blind: bool = False

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield documents, having looked at each."""
        for document in documents:
            self.documents += 1
            if isinstance(document, QuestionDocument):
                self.kinds.setdefault(document.kind)
                self.has_blind |= document.blind is not None
                if document.group is not None:
                    self.groups[document.group].append(document)
                if kind_of(document.options) == "yes_no":
                    self.yes_no_answers.add(document.options[document.answer].casefold())
            yield document

    def names(self, task: HarnessTask) -> list[str]:
        """Return the names of the columns, those that say what is right first."""
        if task.kind == "foils":
            return ["accuracy", "accuracy-half"]
        return [
            "accuracy",
            *(f"accuracy/{kind}" for kind in self.kinds if len(self.kinds) > 1),
            *(["balanced-accuracy"] if len(self.yes_no_answers) > 1 else []),
            *(["yes-share"] if self.yes_no_answers else []),
            *self._group_names(),
            "chance",
            *(["blind", "gain-over-blind"] if self.has_blind else []),
        ]

    def _group_names(self) -> list[str]:
        groups = [documents for documents in self.groups.values() if len(documents) > 1]
        if not groups:
            return []
        types = find_shared_types([document.type for document in documents] for documents in groups)
        has_blind = any(all(document.blind is not None for document in documents) for documents in groups)
        return [
            "group-accuracy",
            *(f"group-accuracy/{name}" for name in types),
            "group-prefix",
            *(["group-blind", "group-gain-over-blind"] if has_blind else []),
        ]


def write_lmms_eval(request: ExportRequest) -> Written:
    """Write the task of one split.

    Raises:
        VttdataError: if there is nothing to ask.
    """
    task, columns = choose_task(request), _Columns()
    documents = columns.watch(require_documents(request, task, read_documents(request, task)))
    schema = arrow_schema(DOCUMENTS[task.kind])
    written = write_split(request.folder, "documents", "test", schema, map(to_row, documents))
    if written is None:
        raise VttdataError(f"{request.dataset.folder}: '{task.split}' holds nothing to ask.")
    write_task(request, task)
    is_captioning = task.kind == "captioning"
    with text_file(request.folder / "utils.py") as stream:
        if is_captioning:
            functions = dict(_COCO_COLUMNS)
            stream.write(Path(vttdata.export.lmms_eval_utils.__file__).read_text(encoding="utf-8"))
        else:
            functions = {name: f"column_{number}" for number, name in enumerate(columns.names(task))}
            lines = (f"{function} = TASK.column({name!r})" for name, function in functions.items())
            stream.write(_FUNCTIONS.format(columns=[*functions], functions="\n".join(lines)))
    with text_file(request.folder / f"{task.name}.yaml") as stream:
        content = _task_content(task, [shard.path for shard in written.shards], functions)
        # The width keeps the prompt on one line.
        yaml.dump(content, stream, Dumper=_TaskDumper, sort_keys=False, width=10_000)
    needs = " pycocoevalcap" if is_captioning else " vttdata"
    usage = _USAGE.format(needs=needs, task=task.name, dataset=task.dataset, options=task.evaluate_options)
    return Written(usage, left_out_notes(request, task, columns.documents))


def _task_content(task: HarnessTask, files: list[str], functions: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of a task's YAML; `functions` are the names of metrics and of their functions."""
    prompt = {"prompt": CAPTION_PROMPT} if task.kind == "captioning" else {"pre_prompt": "", "post_prompt": ""}
    # Documents are always called "test", whichever split they are from, since lmms-eval scores a task's test split.
    return {
        "dataset_path": "parquet",
        "dataset_kwargs": {"data_files": {"test": files}},
        "task": task.name,
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_visual": _Function("doc_to_visual"),
        "doc_to_text": _Function("doc_to_text"),
        "doc_to_target": _Function("doc_to_target"),
        "process_results": _Function("process_results"),
        "metric_list": [
            {"metric": metric, "aggregation": _Function(function), "higher_is_better": True}
            for metric, function in functions.items()
        ],
        "generation_kwargs": {"max_new_tokens": 64, "temperature": 0, "top_p": 1.0, "num_beams": 1, "do_sample": False},
        "lmms_eval_specific_kwargs": {"default": prompt},
        "metadata": {"version": task.version, "dataset": task.dataset},
    }


FORMAT = Format(write_lmms_eval, RULES, any_config=True, takes_stimuli=True, shows_videos=LIMITS)
