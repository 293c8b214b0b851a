"""Exports a captioning task for lmms-eval: the task's YAML, its functions, and the table of documents it reads.

The table lies beside the YAML and is found from there (lmms-eval 0.7.3), so that neither the Hub nor a version of the
dataset that changes meanwhile decides what is scored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from vttdata.dataset.shards import write_split
from vttdata.errors import VttdataError
from vttdata.export.files import text_file
from vttdata.export.reader import Source, Tally

RULES = (
    "One document a clip that has a caption by a person; all of these captions are its references. Videos are looked "
    "for in the folder that the variable `VTTDATA_VIDEOS` names, or in `videos` beside the YAML, under the name of the "
    "file in the dataset or as `<video_id>.mp4`. Scores are coco-caption's over all documents and need Java."
)
READ = """\
```sh
pip install lmms-eval pycocoevalcap
VTTDATA_VIDEOS=VIDEOS python -m lmms_eval --include_path FOLDER --tasks {task} --model MODEL --log_samples \
--output_path scores
```"""
_SCHEMA = pa.schema(
    [
        ("video_id", pa.string()),
        ("video", pa.string()),
        ("url", pa.string()),
        ("start", pa.float64()),
        ("end", pa.float64()),
        ("captions", pa.list_(pa.string())),
    ]
)
_AGGREGATIONS = {"Bleu_4": "bleu4", "METEOR": "meteor", "ROUGE_L": "rouge_l", "CIDEr": "cider"}
_PROMPT = "Provide a brief single-sentence caption for the video. Do not give any reasoning, just the caption."
_HARNESS = Path(__file__).with_name("lmms_eval_utils.py")


class _Function(str):
    """A name that the task's YAML marks as a function of ``utils.py``."""


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", f"utils.{name}"))


def task_name(source: Source, config: str, split: str) -> str:
    """The name under which the harness knows the task: letters, digits and ``_``."""
    parts = [source.name.rpartition("/")[2], *([] if config == "clips" else [config]), split]
    return "vttdata_" + re.sub(r"\W", "_", "_".join(parts), flags=re.ASCII).lower()


def write_lmms_eval(source: Source, folder: Path, config: str, split: str, tally: Tally) -> tuple[str, list[str]]:
    """Write the task of one split.

    Returns:
        How it is run, and what is to be told.

    Raises:
        VttdataError: when no clip of the split has a caption.
    """
    task = task_name(source, config, split)
    bare = [0]
    written = write_split(folder, "documents", split, _SCHEMA, _documents(source, folder, config, split, tally, bare))
    if written is None:
        raise VttdataError(
            f"{source.folder}: no clip of '{split}' has a caption by a person, so nothing can be scored."
        )
    with text_file(folder / f"{task}.yaml") as stream:
        content = _task(source, task, [shard.path for shard in written.shards])
        yaml.dump(content, stream, Dumper=_Dumper, sort_keys=False, width=10_000)
    with text_file(folder / "utils.py") as stream:
        stream.write(_HARNESS.read_text(encoding="utf-8"))
    notes = [f"Clips without a caption by a person, which are left out: {bare[0]:,}."] if bare[0] else []
    return READ.format(task=task), notes


def _documents(
    source: Source, folder: Path, config: str, split: str, tally: Tally, bare: list[int]
) -> Iterator[dict[str, Any]]:
    for clip, sentences, again in source.described(config, split, folder, tally):
        if sentences:
            own = {name: clip[name] for name in ("video_id", "video", "url", "start", "end")}
            yield own | {"captions": [sentence.text for sentence in sentences]}
        else:
            bare[0] += not again


def _task(source: Source, task: str, files: list[str]) -> dict[str, Any]:
    return {
        "dataset_path": "parquet",
        "dataset_kwargs": {"data_files": {"test": files}},
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
        "metadata": {"version": source.version, "dataset": source.name},
    }
