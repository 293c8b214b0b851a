"""Task of one split (captioning, questions or foils) for inspect_ai.

``task.py`` finds the documents beside it; `vttdata.evaluate.harness.inspect_ai` makes the task of them.
"""

from __future__ import annotations

from vttdata.export.documents import choose_task, write_documents
from vttdata.export.files import text_file
from vttdata.export.format import ExportRequest, Format, Written

RULES = (
    "`documents.jsonl` has a sample a line: a clip with its human captions, a question with its options, or a pair "
    "whose texts are the options, in an order that is drawn for each. A sample shows the video and the `prompt`, "
    "whose options have the labels of the dataset; its target is that of the right one. Scores are computed by "
    "vttdata, which must be installed beside inspect_ai, and are those of `vttdata evaluate`; an answer to a pair that "
    "names neither text counts as the foil. Videos are searched in the folder named by the variable `VTTDATA_VIDEOS`, "
    "or in `videos` beside `task.py`, under their file names in the dataset or as `<video_id>.mp4`. With `--epochs` "
    "scores are means over epochs, and the variance between epochs is a score too. Without the name of the task after "
    "`@`, inspect_ai finds a file by a relative path only."
)
LIMITS = "models see none: inspect_ai stops before the first sample unless VTTDATA_VIDEOS names a folder"
_USAGE = """\
```sh
pip install inspect-ai  # into the environment that vttdata is installed in, from a checkout
VTTDATA_VIDEOS=$PWD/VIDEOS inspect eval FOLDER/task.py@{task} --model MODEL --log-dir logs
vttdata evaluate {dataset} logs/*.eval {options}
```"""
_TASK = '''\
"""Task for inspect_ai; scores are those of `vttdata evaluate`."""

from pathlib import Path

from inspect_ai import Task, task

from vttdata.evaluate.harness.inspect_ai import make_task


@task
def {name}() -> Task:
    return make_task(Path(__file__).resolve().parent)
'''


def write_inspect_ai(request: ExportRequest) -> Written:
    """Write the task of one split.

    Raises:
        VttdataError: if there is nothing to ask.
    """
    task = choose_task(request)
    write_documents(request, task)
    with text_file(request.folder / "task.py") as stream:
        stream.write(_TASK.format(name=task.name))
    usage = _USAGE.format(task=task.name, dataset=task.dataset, options=task.evaluate_options)
    return Written(usage)


FORMAT = Format(write_inspect_ai, RULES, any_config=True, takes_stimuli=True, shows_videos=LIMITS)
