"""Task of one split (captioning, questions or foils) for VLMEvalKit: TSV and program that runs it.

``run.py`` registers the dataset with VLMEvalKit, whose own ``run.py`` it then runs with the same options;
`vttdata.evaluate.harness.vlmevalkit` has the class of the dataset.
"""

from __future__ import annotations

import csv

from vttdata.export.documents import choose_task, write_documents
from vttdata.export.files import text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.text.questions import letters

RULES = (
    "The TSV has a row for each clip, question or pair, with the columns of VLMEvalKit: `index`, `video` (the id of "
    "the clip), `question` (the prompt), `A` to `J` or the last option, and `answer` (a letter). Options and texts are "
    "read from `documents.jsonl`, since VLMEvalKit reads a cell such as `None` as missing. Each prompt comes with the "
    "video, or with its frames for models that take pictures. Scores are computed by vttdata, which must be installed "
    "beside VLMEvalKit, and are those of `vttdata evaluate`; an answer to a pair that names neither text counts as the "
    "foil. Videos are searched in the folder named by the variable `VTTDATA_VIDEOS`, or in `videos` beside `run.py`, "
    "under their file names in the dataset or as `<video_id>.mp4`."
)
_LEAST_COLUMNS = 10
LIMITS = "models see none: VLMEvalKit stops before the first row unless VTTDATA_VIDEOS names a folder"
_USAGE = """\
```sh
git clone https://github.com/open-compass/VLMEvalKit
pip install -e VLMEvalKit rouge-score vttdata
VTTDATA_VIDEOS=$PWD/VIDEOS python FOLDER/run.py --model MODEL --work-dir outputs
vttdata evaluate {dataset} outputs/MODEL/MODEL_{task}_answers.jsonl {options}
```

`--frames 8` shows eight frames of a video instead of its file; all other options are those of VLMEvalKit's `run.py`."""
_RUN = '''\
"""Run VLMEvalKit on this export, with the options of its own run.py; scores are those of `vttdata evaluate`."""

from pathlib import Path

from vttdata.evaluate.harness.vlmevalkit import run_export

if __name__ == "__main__":
    run_export(Path(__file__).resolve().parent)
'''


def write_vlmevalkit(request: ExportRequest) -> Written:
    """Write the TSV of one split, and ``run.py``.

    Raises:
        VttdataError: if there is nothing to ask.
    """
    task = choose_task(request)
    documents = write_documents(request, task)
    with text_file(request.folder / f"{task.name}.tsv") as stream:
        rows = csv.writer(stream, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n")
        columns = letters(max(_LEAST_COLUMNS, *(len(document.shown_options) for document in documents)))
        rows.writerow(["index", "id", "video", "question", *columns, "answer"])
        for index, document in enumerate(documents):
            cells = [*document.shown_options, *[""] * (len(columns) - len(document.shown_options))]
            rows.writerow([index, document.name, document.video_id, document.prompt, *cells, document.target])
    with text_file(request.folder / "run.py") as stream:
        stream.write(_RUN)
    usage = _USAGE.format(dataset=task.dataset, task=task.name, options=task.evaluate_options)
    return Written(usage)


FORMAT = Format(write_vlmevalkit, RULES, any_config=True, takes_stimuli=True, shows_videos=LIMITS)
