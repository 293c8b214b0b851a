"""Lists, JSON and videos in the layout of MSR-VTT, for CLIP4Clip, X-Pool and their descendants.

Such code expects the file names of MSR-VTT whatever the data: CLIP4Clip's manual and X-Pool's source have
``MSRVTT_data.json``, ``MSRVTT_train.9k.csv``, ``MSRVTT_train.7k.csv`` and ``MSRVTT_JSFUSION_test.csv``. It reads with
pandas: the column ``video_id`` of a training list, ``video_id`` and ``sentence`` of a test list, and all sentences of a
training clip from the JSON.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.export.files import text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.export.formats.msrvtt import write_videodatainfo
from vttdata.export.formats.webdataset import EmbeddedVideos, shipped_video
from vttdata.export.reader import CaptionCounts, ClipReferences
from vttdata.files.csv_safety import escape_formula
from vttdata.files.output_file import link_file

RULES = (
    "The query of a clip is its caption with the lowest `sen_id`; where a protocol was published with its own list of "
    "sentences, as MSR-VTT's 1k-A was, scores on these queries are not comparable with scores on that list. `train` "
    "lists have only ids, since training uses all captions of the JSON; the other lists have a query for each clip. "
    "Clips without a human caption are in no list. A query or id that a spreadsheet would run as a formula has a ' "
    "before it; ids of letters, digits, - and _ stay as they are. `MSRVTT_train.9k.csv` and `MSRVTT_JSFUSION_test.csv` "
    "are the lists of the protocol `1k-A` where there is one, else those of `clips` (or of the protocol that was asked "
    "for), and `MSRVTT_train.7k.csv` is that of `7k`. `MSRVTT_Videos` has the clips' files as `<video_id>.mp4`, the "
    "only name beside `.webm` that such code looks for."
)
_USAGE = """\
```sh
python main_task_retrieval.py --datatype msrvtt --data_path FOLDER/MSRVTT_data.json \
  --train_csv FOLDER/MSRVTT_train.9k.csv --val_csv FOLDER/MSRVTT_JSFUSION_test.csv \
  --features_path FOLDER/MSRVTT_Videos --do_train --expand_msrvtt_sentences ...    # CLIP4Clip
ln -s FOLDER data/MSRVTT && python train.py --videos_dir data/MSRVTT/MSRVTT_Videos --msrvtt_train_file 9k ...  # X-Pool
```

```python
import json
import pandas

data = json.load(open("MSRVTT_data.json"))  # "videos" and "sentences", all splits
listed = pandas.read_csv("{name}")
ids = listed["video_id"].values{queries}
```"""
_USAGE_OF_QUERIES = '\nqueries = listed["sentence"].values'
_DATA_FILE = "MSRVTT_data.json"
_VIDEOS = "MSRVTT_Videos"
_PLAIN_ID = re.compile(r"[\w-]+", re.ASCII)
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
    usage: list[tuple[str, str]] = []
    for config in configs:
        for split in dataset.splits(config):
            if request.split not in (None, split):
                continue
            name = _list_name(config, split)
            clips = dataset.references(config, split, folder, CaptionCounts())
            notes += write_list(folder / name, clips, queries=split != "train")
            usage.append((name, "" if split == "train" else _USAGE_OF_QUERIES))
    names = {name for name, _ in usage}
    standard = request.config or ("1k-A" if "1k-A" in dataset.configs else "clips")
    for config, split, expected in (
        (standard, "train", "MSRVTT_train.9k.csv"),
        (standard, "test", "MSRVTT_JSFUSION_test.csv"),
        ("7k", "train", "MSRVTT_train.7k.csv"),
    ):
        if (name := _list_name(config, split)) in names:
            shutil.copyfile(folder / name, folder / expected)
    notes += _add_videos(request)
    name, queries = next((entry for entry in usage if entry[1]), usage[0])
    return Written(_USAGE.format(name=name, queries=queries), notes)


def _list_name(config: str, split: str) -> str:
    return f"MSRVTT_{split}.csv" if config == "clips" else f"MSRVTT_{config}.{split}.csv"


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
            other += ending not in (".mp4", ".webm")
    return [f"Videos that are neither .mp4 nor .webm, which CLIP4Clip does not find: {other:,}."] if other else []


def write_list(path: Path, clips: Iterable[ClipReferences], *, queries: bool) -> list[str]:
    """Write a list of clips, with or without their queries, and return notes on it.

    Raises:
        VttdataError: if no clip has a human caption.
    """
    listed = left_out = missing_ids = numeric_ids = missing_queries = escaped = 0
    with text_file(path) as stream:
        rows = csv.writer(stream, quoting=csv.QUOTE_ALL if queries else csv.QUOTE_MINIMAL, lineterminator="\n")
        rows.writerow(["key", "vid_key", "video_id", "sentence"] if queries else ["video_id"])
        for clip, references, repeated in clips:
            if not references:
                left_out += not repeated
                continue
            video_id, query = clip["video_id"], references[0].text
            # Files are named by ids such as -uwY3sjqYX0, which run nothing.
            safe_id = video_id if _PLAIN_ID.fullmatch(video_id) else escape_formula(video_id)
            safe_query = escape_formula(query)
            rows.writerow([f"ret{listed}", safe_id, safe_id, safe_query] if queries else [safe_id])
            escaped += safe_id != video_id or (queries and safe_query != query)
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
        f"rows with a ' before an id or a query that a spreadsheet would run as a formula: {escaped:,}": escaped,
    }
    return [f"{path.name}: {note}." for note, applies in notes.items() if applies]


FORMAT = Format(
    write_retrieval,
    RULES,
    takes_videos=True,
    shows_videos="CLIP4Clip and X-Pool need a folder of them, with the names <video_id>.mp4",
)
