"""Captioning task of one split with its functions, for lmms-eval.

The task's YAML, its functions and the table of documents lie in one folder (as of lmms-eval 0.7.3), so that scores do
not depend on the Hub or on later versions of the dataset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

import vttdata.export.lmms_eval_utils
from vttdata.dataset.shards import write_split
from vttdata.errors import VttdataError
from vttdata.export.files import text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.files.strict_yaml import TextDumper
from vttdata.ids import digest
from vttdata.records import arrow_schema, to_row

RULES = (
    "Each clip with a human caption is a document; all its human captions are its references. Videos are searched in "
    "the folder named by the variable `VTTDATA_VIDEOS`, or in `videos` beside the YAML, under their file names in the "
    "dataset or as `<video_id>.mp4`. Scores are those of coco-caption over all documents and need Java."
)
_USAGE = """\
```sh
pip install lmms-eval pycocoevalcap
VTTDATA_VIDEOS=VIDEOS python -m lmms_eval --include_path FOLDER --tasks {task} --model MODEL --log_samples \
--output_path scores
```"""
_MAX_TASK = 200
_AGGREGATIONS = {"Bleu_4": "bleu4", "METEOR": "meteor", "ROUGE_L": "rouge_l", "CIDEr": "cider"}
_PROMPT = "Provide a brief single-sentence caption for the video. Do not give any reasoning, just the caption."


@dataclass(frozen=True, slots=True)
class TaskDocument:
    """Row of the table of documents: a clip with its human captions."""

    video_id: str
    video: str | None
    url: str | None
    start: float | None
    end: float | None
    captions: list[str]


class _Function(str):
    """Name of a function in ``utils.py``."""


class _TaskDumper(TextDumper):
    """YAML dumper that marks functions for lmms-eval."""


_TaskDumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", f"utils.{name}"))


def write_lmms_eval(request: ExportRequest) -> Written:
    """Write the task of one split.

    Raises:
        VttdataError: if no clip of the split has a human caption.
    """
    dataset, config, split = request.dataset, request.clip_config, request.single_split()
    clips_left_out = 0

    def documents() -> Iterator[TaskDocument]:
        nonlocal clips_left_out
        for clip, references, repeated in dataset.references(config, split, request.folder, request.counts):
            if references:
                texts = [reference.text for reference in references]
                yield TaskDocument(clip["video_id"], clip["video"], clip["url"], clip["start"], clip["end"], texts)
            else:
                clips_left_out += not repeated

    written = write_split(request.folder, "documents", split, arrow_schema(TaskDocument), map(to_row, documents()))
    if written is None:
        raise VttdataError(f"{dataset.folder}: no clip of '{split}' has a human caption, so nothing can be scored.")
    parts = [dataset.name.rpartition("/")[2], *([] if config == "clips" else [config]), split]
    task = "vttdata_" + re.sub(r"\W", "_", "_".join(parts), flags=re.ASCII).lower()
    if len(task) > _MAX_TASK:
        # The name is that of a file too; the digest tells tasks apart whose names begin alike.
        task = f"{task[:_MAX_TASK]}_{digest(parts)[:8]}"
    # Documents are always called "test", whichever split they are from, since lmms-eval scores a task's test split.
    content = {
        "dataset_path": "parquet",
        "dataset_kwargs": {"data_files": {"test": [shard.path for shard in written.shards]}},
        "task": task,
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_visual": _Function("doc_to_visual"),
        "doc_to_text": _Function("doc_to_text"),
        "doc_to_target": _Function("doc_to_target"),
        "process_results": _Function("process_results"),
        "metric_list": [
            {"metric": metric, "aggregation": _Function(function), "higher_is_better": True}
            for metric, function in _AGGREGATIONS.items()
        ],
        "generation_kwargs": {"max_new_tokens": 64, "temperature": 0, "top_p": 1.0, "num_beams": 1, "do_sample": False},
        "lmms_eval_specific_kwargs": {"default": {"prompt": _PROMPT}},
        "metadata": {"version": dataset.version, "dataset": dataset.name},
    }
    with text_file(request.folder / f"{task}.yaml") as stream:
        # The width keeps the prompt on one line.
        yaml.dump(content, stream, Dumper=_TaskDumper, sort_keys=False, width=10_000)
    with text_file(request.folder / "utils.py") as stream:
        stream.write(Path(vttdata.export.lmms_eval_utils.__file__).read_text(encoding="utf-8"))
    notes = [f"Clips without a human caption, which are left out: {clips_left_out:,}."] if clips_left_out else []
    return Written(_USAGE.format(task=task), notes)


FORMAT = Format(write_lmms_eval, RULES)
