"""Task of one split (captioning, questions or foils) with its functions, for lmms-eval.

The task's YAML, its functions and the table of documents lie in one folder (as of lmms-eval 0.7.3), so that scores do
not depend on the Hub or on later versions of the dataset. Questions of several kinds are a group with a task a kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

import vttdata.export.exported_functions as code
from vttdata.dataset.front_matter import dump_front_matter
from vttdata.dataset.shards import write_split
from vttdata.export.documents import (
    CAPTION_PROMPT,
    ChoiceDocument,
    HarnessDocument,
    QuestionDocument,
    ask,
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
    "0..1; the names of those of captions begin with that of the dataset. Answers are read as by tasks of lmms-eval: "
    "of yes and no by their beginning, of other options by `extract_mcq_answer`; one that names no option is wrong. "
    "`vttdata evaluate` reads the logged answers by its own rules and adds what lmms-eval has no columns for: what is "
    "reached by chance and blind, and groups of questions. Videos are searched in the folder named by the variable "
    "`VTTDATA_VIDEOS`, else in `videos` beside the YAML, else "
    "where lmms-eval unpacks videos of the Hub for a `cache_dir` of the folder's name, under their file names in the "
    "dataset or as `<video_id>.mp4`."
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
_TEXT = "tag:yaml.org,2002:str"
_TEMPLATE = "_default_template_yaml"
_COCO_COLUMNS = dict(zip(code.METRICS, ("bleu4", "meteor", "rouge_l", "cider"), strict=True))
_HEADER = '''\
"""Functions of the task {name}."""

{imports}
from pathlib import Path
from typing import Any
{constants}

'''
_CHOICE = (
    code.choice_to_text, code.choice_to_target, code.option_lines, code.is_yes_no, code.read_choice, code.find_letter,
    code.process_choice, code.metric_name, code.mean_score,
)  # fmt: skip
_CAPTION = (
    code.caption_to_text, code.caption_to_target, code.process_caption, code.bleu4, code.meteor, code.rouge_l,
    code.cider, code.coco_score,
)  # fmt: skip
_VIDEO: tuple[Callable[..., Any], ...] = (code.doc_to_visual, code.find_video)
_STIMULI = (code.stimuli_to_visual, code.find_shown, code.is_pictures, code.find_video)
# What only vttdata has a use for: models are asked by the prompts of the task, and blind scores are its own.
_DROPPED = {"prompt", "blind", "source_id"}


class _Function(str):
    """Name of a function in ``utils.py``."""


class _TaskDumper(TextDumper):
    """YAML dumper that marks functions for lmms-eval."""


_TaskDumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar(_TEXT, text, style='"' if "\n" in text else None)
)
_TaskDumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", f"utils.{name}"))


def write_lmms_eval(request: ExportRequest) -> Written:
    """Write the task of one split, or a group of tasks of questions of several kinds.

    Raises:
        VttdataError: if there is nothing to ask.
    """
    task = choose_task(request)
    documents = list(read_documents(request, task))
    is_choice, shown, imports = issubclass(task.documents, ChoiceDocument), _VIDEO, ["os", "re"]
    if request.stimuli is not None:
        write_task(request, task)
        shown, imports = _STIMULI, ["json", *imports]
    function = "choice" if is_choice else "caption"
    metrics = {f"{metric_name(task.dataset.rpartition('/')[2])}_{name}": each for name, each in _COCO_COLUMNS.items()}
    with text_file(request.folder / "utils.py") as stream:
        constants = "" if is_choice else f"\nMETRICS = {json.dumps(list(metrics))}\n"
        lines = "\n".join(f"import {name}" for name in imports)
        stream.write(_HEADER.format(name=task.name, imports=lines, constants=constants))
        stream.write(code.sources(*shown, *(_CHOICE if is_choice else _CAPTION)))
    template = {
        "dataset_path": "parquet",
        # Documents are always called "test", whichever split they are from, since lmms-eval scores the test split.
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_visual": _Function(shown[0].__name__),
        "doc_to_text": _Function(f"{function}_to_text"),
        "doc_to_target": _Function(f"{function}_to_target"),
        "process_results": _Function(f"process_{function}"),
        "generation_kwargs": {"max_new_tokens": 64, "temperature": 0, "top_p": 1.0, "num_beams": 1, "do_sample": False},
        # Questions about one video are not independent.
        **({"cluster_key": "video_id"} if is_choice else {}),
        "metadata": {"version": task.version, "dataset": task.dataset},
    }
    _write_yaml(request.folder / _TEMPLATE, template)
    # The logs of a condition are found by the name of its task, which is therefore one.
    kinds = _kinds(documents) if request.stimuli is None else {"": documents}
    tables = {}
    for kind, of_kind in kinds.items():
        name = task.name if len(kinds) == 1 else f"{task.name}_{metric_name(kind)}"
        content = {"task": name, **_describe(of_kind, metrics), "include": _TEMPLATE}
        schema = pa.schema([field for field in arrow_schema(task.documents) if field.name not in _DROPPED])
        rows = ({key: value for key, value in to_row(each).items() if key in schema.names} for each in of_kind)
        config = metric_name(kind) or task.kind
        written = write_split(request.folder, config, "test", schema, rows)
        assert written is not None
        tables[config] = [written]
        files = {"data_files": {"test": [shard.path for shard in written.shards]}}
        _write_yaml(request.folder / f"{name}.yaml", {"dataset_kwargs": files, **content})
    if len(kinds) > 1:
        names = [f"{task.name}_{metric_name(kind)}" for kind in kinds]
        _write_yaml(request.folder / f"{task.name}.yaml", {"group": task.name, "task": names})
    evaluate = (_EVALUATE_TASK if len(kinds) == 1 else _EVALUATE_GROUP).format(dataset=task.dataset, task=task.name)
    needs = "" if is_choice else " pycocoevalcap"
    usage = _USAGE.format(needs=needs, task=task.name, evaluate=evaluate, options=task.evaluate_options)
    return Written(usage, front_matter=dump_front_matter({}, tables, {}, task.version, next(iter(tables))))


def _kinds(documents: Sequence[HarnessDocument]) -> dict[str, list[HarnessDocument]]:
    kinds: dict[str, list[HarnessDocument]] = {}
    for document in documents:
        kinds.setdefault(document.kind if isinstance(document, QuestionDocument) else "", []).append(document)
    return kinds


def _describe(documents: Sequence[HarnessDocument], metrics: Mapping[str, str]) -> dict[str, Any]:
    """Return the metrics, of captions those given with their functions, and the prompts of a task."""
    functions, prompts = dict(metrics), {"prompt": CAPTION_PROMPT}
    choices = [document for document in documents if isinstance(document, ChoiceDocument)]
    if choices:
        questions = [document for document in documents if isinstance(document, QuestionDocument)]
        types = dict.fromkeys(metric_name(document.type) for document in questions if document.type)
        functions = dict.fromkeys(["accuracy", *(f"{name}_accuracy" for name in types)], "mean_score")
        prompts = {"pre_prompt": "", "post_prompt": f"\n{ask(choices)}"}
    return {
        "metric_list": [
            {"metric": metric, "aggregation": _Function(function), "higher_is_better": True}
            for metric, function in functions.items()
        ],
        "lmms_eval_specific_kwargs": {"default": prompts},
    }


def _write_yaml(path: Path, content: dict[str, Any]) -> None:
    with text_file(path) as stream:
        # The width keeps the prompt on one line; PyYAML quotes what has a tag of its own, and lmms-eval does not.
        text = yaml.dump(content, Dumper=_TaskDumper, sort_keys=False, width=10_000)
        stream.write(re.sub(r"!function '(.*)'", r"!function \1", text))


FORMAT = Format(write_lmms_eval, RULES, any_config=True, takes_stimuli=True, shows_videos=LIMITS)
