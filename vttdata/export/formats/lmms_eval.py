"""Task of one split (captioning, questions or foils) with its functions, for lmms-eval.

The task's YAML, its functions and the table of documents lie in one folder (as of lmms-eval 0.7.3), so that scores do
not depend on the Hub or on later versions of the dataset.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import vttdata.export.lmms_eval_utils
from vttdata.dataset.shards import write_split
from vttdata.export.documents import CAPTION_PROMPT, HarnessTask, choose_task, read_documents, write_task
from vttdata.export.files import text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.files.strict_yaml import TextDumper
from vttdata.records import arrow_schema, to_row

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


def write_lmms_eval(request: ExportRequest) -> Written:
    """Write the task of one split.

    Raises:
        VttdataError: if there is nothing to ask.
    """
    task = choose_task(request)
    documents = list(read_documents(request, task))
    columns = task.documents.score_columns(documents)
    written = write_split(request.folder, "documents", "test", arrow_schema(task.documents), map(to_row, documents))
    assert written is not None
    write_task(request, task)
    with text_file(request.folder / "utils.py") as stream:
        if columns:
            prompt = {"pre_prompt": "", "post_prompt": ""}
            functions = {name: f"column_{number}" for number, name in enumerate(columns)}
            lines = (f"{function} = TASK.column({name!r})" for name, function in functions.items())
            stream.write(_FUNCTIONS.format(columns=columns, functions="\n".join(lines)))
        else:
            prompt, functions = {"prompt": CAPTION_PROMPT}, dict(_COCO_COLUMNS)
            stream.write(Path(vttdata.export.lmms_eval_utils.__file__).read_text(encoding="utf-8"))
    with text_file(request.folder / f"{task.name}.yaml") as stream:
        content = _task_content(task, [shard.path for shard in written.shards], functions, prompt)
        # The width keeps the prompt on one line.
        yaml.dump(content, stream, Dumper=_TaskDumper, sort_keys=False, width=10_000)
    needs = " vttdata" if columns else " pycocoevalcap"
    usage = _USAGE.format(needs=needs, task=task.name, dataset=task.dataset, options=task.evaluate_options)
    return Written(usage)


def _task_content(
    task: HarnessTask, files: list[str], functions: Mapping[str, str], prompt: Mapping[str, str]
) -> dict[str, Any]:
    """Return the content of a task's YAML.

    `functions` are the names of metrics and of their functions, and `prompt` is what is asked, or goes around it.
    """
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
        "lmms_eval_specific_kwargs": {"default": dict(prompt)},
        "metadata": {"version": task.version, "dataset": task.dataset},
    }


FORMAT = Format(write_lmms_eval, RULES, any_config=True, takes_stimuli=True, shows_videos=LIMITS)
