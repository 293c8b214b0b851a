"""Task of one split (captioning, questions or foils) with its functions, for lmms-eval.

The task's YAML, its functions and the table of documents lie in one folder (as of lmms-eval 0.7.3), so that scores do
not depend on the Hub or on later versions of the dataset. Questions of several kinds are a group with a task a kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

import vttdata.export.exported_functions
from vttdata.dataset.shards import write_split
from vttdata.export.documents import (
    CAPTION_PROMPT,
    LETTER_PROMPT,
    YES_NO_PROMPT,
    ChoiceDocument,
    HarnessDocument,
    QuestionDocument,
    choose_task,
    read_documents,
    write_task,
)
from vttdata.export.exported_functions import metric_name
from vttdata.export.files import text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.files.strict_yaml import TextDumper
from vttdata.records import arrow_schema, to_row

RULES = (
    "Of captioning, each clip with a human caption is a document; all its human captions are its references, and "
    "scores are those of coco-caption over all documents and need Java. Of questions, a document is a question with "
    "its options in lines, under the labels that the dataset has; of foils, a pair whose two texts are the options, in "
    "an order that is drawn for each. Their metrics are `accuracy`, and `TYPE_accuracy` of the questions of each type, "
    "0..1. Answers are read as by tasks of lmms-eval: of yes and no by their beginning, of other options by "
    "`extract_mcq_answer`; one that names no option is wrong. `vttdata evaluate` reads the logged answers by its own "
    "rules and adds what lmms-eval has no columns for: what is reached by chance and blind, and groups of questions. "
    "Videos are searched in the folder named by the variable `VTTDATA_VIDEOS`, or in `videos` beside the YAML, under "
    "their file names in the dataset or as `<video_id>.mp4`."
)
LIMITS = "models see none: lmms-eval stops at the first document unless VTTDATA_VIDEOS names a folder"
_USAGE = """\
```sh
pip install lmms-eval 'filelock<4'{needs}
VTTDATA_VIDEOS=$PWD/VIDEOS python -m lmms_eval --include_path FOLDER --tasks {task} --model MODEL --log_samples \
--output_path scores
{evaluate} {options}
```"""
_EVALUATE_TASK = """vttdata evaluate {dataset} "$(find scores -name '*_samples_{task}.jsonl')\""""
_EVALUATE_GROUP = """\
mkdir samples && find scores -name '*_samples_{task}_*.jsonl' -exec cp {{}} samples ';'
vttdata evaluate {dataset} samples"""
_MIXED_PROMPT = "Answer with yes or no, or with the letter of the right option where there are lettered options."
_TEMPLATE = "_default_template_yaml"
_COCO_COLUMNS = {"Bleu_4": "bleu4", "METEOR": "meteor", "ROUGE_L": "rouge_l", "CIDEr": "cider"}


class _Function(str):
    """Name of a function in ``utils.py``."""


class _TaskDumper(TextDumper):
    """YAML dumper that marks functions for lmms-eval."""


_TaskDumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", f"utils.{name}"))


def write_lmms_eval(request: ExportRequest) -> Written:
    """Write the task of one split, or a group of tasks of questions of several kinds.

    Raises:
        VttdataError: if there is nothing to ask.
    """
    task = choose_task(request)
    documents = list(read_documents(request, task))
    write_task(request, task)
    with text_file(request.folder / "utils.py") as stream:
        stream.write(Path(vttdata.export.exported_functions.__file__).read_text(encoding="utf-8"))
    is_choice = issubclass(task.documents, ChoiceDocument)
    function = "choice" if is_choice else "caption"
    template = {
        "dataset_path": "parquet",
        # Documents are always called "test", whichever split they are from, since lmms-eval scores the test split.
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_visual": _Function("doc_to_visual"),
        "doc_to_text": _Function(f"{function}_to_text"),
        "doc_to_target": _Function(f"{function}_to_target"),
        "process_results": _Function(f"process_{function}"),
        "generation_kwargs": {"max_new_tokens": 64, "temperature": 0, "top_p": 1.0, "num_beams": 1, "do_sample": False},
        "metadata": {"version": task.version, "dataset": task.dataset},
    }
    _write_yaml(request.folder / _TEMPLATE, template)
    # The logs of a condition are found by the name of its task, which is therefore one.
    kinds = _kinds(documents) if request.stimuli is None else {"": documents}
    for kind, of_kind in kinds.items():
        name = task.name if len(kinds) == 1 else f"{task.name}_{metric_name(kind)}"
        content = {"task": name, **_describe(of_kind), "include": _TEMPLATE}
        schema = arrow_schema(task.documents)
        if is_choice:
            # The prompts are those of the task.
            schema = schema.remove(schema.get_field_index("prompt"))
        rows = ({key: value for key, value in to_row(each).items() if key in schema.names} for each in of_kind)
        written = write_split(request.folder, "documents", metric_name(kind) or "test", schema, rows)
        assert written is not None
        files = {"data_files": {"test": [shard.path for shard in written.shards]}}
        _write_yaml(request.folder / f"{name}.yaml", {"dataset_kwargs": files, **content})
    if len(kinds) > 1:
        names = [f"{task.name}_{metric_name(kind)}" for kind in kinds]
        _write_yaml(request.folder / f"{task.name}.yaml", {"group": task.name, "task": names})
    evaluate = (_EVALUATE_TASK if len(kinds) == 1 else _EVALUATE_GROUP).format(dataset=task.dataset, task=task.name)
    needs = "" if is_choice else " pycocoevalcap"
    return Written(_USAGE.format(needs=needs, task=task.name, evaluate=evaluate, options=task.evaluate_options))


def _kinds(documents: Sequence[HarnessDocument]) -> dict[str, list[HarnessDocument]]:
    kinds: dict[str, list[HarnessDocument]] = {}
    for document in documents:
        kinds.setdefault(document.kind if isinstance(document, QuestionDocument) else "", []).append(document)
    return kinds


def _describe(documents: Sequence[HarnessDocument]) -> dict[str, Any]:
    """Return the metrics and the prompts of a task."""
    functions, prompts = dict(_COCO_COLUMNS), {"prompt": CAPTION_PROMPT}
    if all(isinstance(document, ChoiceDocument) for document in documents):
        questions = [document for document in documents if isinstance(document, QuestionDocument)]
        types = dict.fromkeys(metric_name(document.type) for document in questions if document.type)
        functions = dict.fromkeys(["accuracy", *(f"{name}_accuracy" for name in types)], "mean_score")
        asked = {document.is_yes_no for document in questions}
        prompt = _MIXED_PROMPT if len(asked) > 1 else YES_NO_PROMPT if True in asked else LETTER_PROMPT
        prompts = {"pre_prompt": "", "post_prompt": f"\n{prompt}"}
    return {
        "metric_list": [
            {"metric": metric, "aggregation": _Function(function), "higher_is_better": True}
            for metric, function in functions.items()
        ],
        "lmms_eval_specific_kwargs": {"default": prompts},
    }


def _write_yaml(path: Path, content: dict[str, Any]) -> None:
    with text_file(path) as stream:
        # The width keeps the prompt on one line.
        yaml.dump(content, stream, Dumper=_TaskDumper, sort_keys=False, width=10_000)


FORMAT = Format(write_lmms_eval, RULES, any_config=True, takes_stimuli=True, shows_videos=LIMITS)
