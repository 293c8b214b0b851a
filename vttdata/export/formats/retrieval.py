"""Lists, JSON and videos as CLIP4Clip, X-Pool and their descendants read them.

Such code reads with pandas: the column ``video_id`` of a training list, ``video_id`` and ``sentence`` of a test list;
and all sentences of a training clip from a JSON file in the form of MSR-VTT. Files have none of the names of MSR-VTT's
protocols, such as ``MSRVTT_train.9k.csv``, since these say which clips and sentences are in them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.export.files import text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.export.formats.msrvtt import write_videodatainfo
from vttdata.export.formats.webdataset import EmbeddedVideos, shipped_video
from vttdata.export.reader import CaptionCounts, ClipReferences
from vttdata.files.output_file import link_file

RULES = (
    "The query of a clip is its caption with the lowest `sen_id`; where a protocol was published with its own list of "
    "sentences, as MSR-VTT's 1k-A was, scores on these queries are not comparable with scores on that list. Lists are "
    "called `<split>.csv`, those of a protocol `<protocol>.<split>.csv`. `train` lists have only ids, since training "
    "uses all captions of `data.json`; the other lists have a query for each clip. Clips without a human caption are "
    "in no list. `videos` has the clips' files as `<video_id>.mp4`, the only name beside `.webm` that such code looks "
    "for."
)
_PROGRAMS = """\
With FOLDER for the absolute path of this folder, in a checkout of https://github.com/ArrowLuo/CLIP4Clip:

```sh
python -m torch.distributed.launch --nproc_per_node=1 main_task_retrieval.py --do_train --datatype msrvtt \
  --data_path FOLDER/data.json --train_csv FOLDER/{train} --val_csv FOLDER/{test} --features_path FOLDER/videos \
  --expand_msrvtt_sentences --output_dir outputs
```

In a checkout of https://github.com/layer6ai-labs/xpool, whose paths of lists are in its code:

```sh
sed -i.bak -e 's#data/MSRVTT/MSRVTT_data.json#FOLDER/data.json#' \
  -e 's#data/MSRVTT/MSRVTT_train.9k.csv#FOLDER/{train}#' \
  -e 's#data/MSRVTT/MSRVTT_JSFUSION_test.csv#FOLDER/{test}#' datasets/msrvtt_dataset.py
python train.py --exp_name NAME --dataset_name MSRVTT --msrvtt_train_file 9k --videos_dir FOLDER/videos
```

"""
_USAGE = """\
```python
import json
import pandas

data = json.load(open("data.json"))  # "videos" and "sentences", all splits
listed = pandas.read_csv("{name}")
ids = listed["video_id"].values{queries}
```"""
_USAGE_OF_QUERIES = '\nqueries = listed["sentence"].values'
_DATA_FILE = "data.json"
_VIDEOS = "videos"
# Texts that pandas reads as missing values by default (documentation of `read_csv`, `na_values`).
_PANDAS_MISSING = {
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null"),
}
_PANDAS_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


def write_retrieval(request: ExportRequest) -> Written:
    """Write the JSON of the whole dataset, and a list for each requested configuration and split, by default all.

    Raises:
        VttdataError: if the split does not exist, or a list would be empty.
    """
    dataset, folder = request.dataset, request.folder
    write_videodatainfo(request, folder / _DATA_FILE, "clips", dataset.splits("clips"))
    configs = [request.config] if request.config else dataset.clip_configs()
    if not any(request.split in (None, split) for config in configs for split in dataset.splits(config)):
        dataset.splits(configs[0], request.split)
    notes: list[str] = []
    lists = [
        (config, split) for config in configs for split in dataset.splits(config) if request.split in (None, split)
    ]
    for config, split in lists:
        clips = dataset.references(config, split, folder, CaptionCounts())
        notes += write_list(folder / _list_name(config, split), clips, queries=split != "train")
    notes += _add_videos(request)
    # The lists that the README shows are those of one configuration.
    config, only = lists[0]
    tests = [split for of, split in lists if of == config and split != "train"]
    test = "test" if "test" in tests else next(iter(tests), None)
    queries = _USAGE_OF_QUERIES if test else ""
    usage = _USAGE.format(name=_list_name(config, test or only), queries=queries)
    if test and (config, "train") in lists:
        names = {"train": _list_name(config, "train"), "test": _list_name(config, test)}
        usage = _PROGRAMS.format(**names) + usage
    else:
        notes.append("CLIP4Clip and X-Pool need a list for training and one for testing.")
    return Written(usage, notes)


def _list_name(config: str, split: str) -> str:
    return f"{split}.csv" if config == "clips" else f"{config}.{split}.csv"


def _add_videos(request: ExportRequest) -> list[str]:
    """Link, or write, the videos of all clips into one folder, and return notes on them.

    Raises:
        VttdataError: if a video is missing or leads out of the dataset.
    """
    dataset, folder = request.dataset, request.folder / _VIDEOS
    if not dataset.has_videos():
        return []
    folder.mkdir()
    written: set[str] = set()
    other = 0
    for split in dataset.splits("clips"):
        embedded = EmbeddedVideos(dataset, "clips", split) if "videos" in dataset.configs else None
        for clip, _, repeated in dataset.references("clips", split, request.folder, CaptionCounts()):
            if repeated or clip["video_id"] in written:
                continue
            written.add(clip["video_id"])
            if embedded is not None:
                if (video := embedded.take(clip)) is None:
                    continue
                ending = f".{video.extension}"
                (folder / f"{clip['video_id']}{ending}").write_bytes(video.content)
            elif (path := shipped_video(dataset, clip)) is not None:
                ending = path.suffix
                with DescribeOSErrors(f"{path}: cannot be read"):
                    link_file(path, folder / f"{clip['video_id']}{ending}")
            else:
                continue
            other += ending != ".mp4"
    note = "Videos that are not .mp4, which X-Pool does not find, and CLIP4Clip only as .webm"
    return [f"{note}: {other:,}."] if other else []


def write_list(path: Path, clips: Iterable[ClipReferences], *, queries: bool) -> list[str]:
    """Write a list of clips, with or without their queries, and return notes on it.

    Raises:
        VttdataError: if no clip has a human caption.
    """
    listed = left_out = missing_ids = numeric_ids = missing_queries = 0
    with text_file(path) as stream:
        rows = csv.writer(stream, quoting=csv.QUOTE_ALL if queries else csv.QUOTE_MINIMAL, lineterminator="\n")
        rows.writerow(["key", "vid_key", "video_id", "sentence"] if queries else ["video_id"])
        for clip, references, repeated in clips:
            if not references:
                left_out += not repeated
                continue
            video_id, query = clip["video_id"], references[0].text
            rows.writerow([f"ret{listed}", video_id, video_id, query] if queries else [video_id])
            listed += 1
            missing_ids += video_id in _PANDAS_MISSING
            numeric_ids += _PANDAS_NUMBER.fullmatch(video_id) is not None
            missing_queries += queries and query in _PANDAS_MISSING
    if not listed:
        raise VttdataError(f"No clip has a human caption, so {path.name} would be empty; choose other splits.")
    advice = "; read the list with dtype=str and keep_default_na=False"
    notes = {
        f"clips without a human caption, which are left out: {left_out:,}": left_out,
        # pandas converts a column to numbers only if all its cells are numbers.
        f"pandas reads ids as numbers or as missing values{advice}": numeric_ids == listed or missing_ids,
        "queries that pandas reads as missing values; read the list with keep_default_na=False: "
        f"{missing_queries:,}": missing_queries,
    }
    return [f"{path.name}: {note}." for note, applies in notes.items() if applies]


FORMAT = Format(
    write_retrieval,
    RULES,
    takes_videos=True,
    shows_videos="CLIP4Clip and X-Pool need a folder of them, with the names <video_id>.mp4",
)
