"""Exports the lists that text-to-video retrieval code in the manner of CLIP4Clip reads, beside MSR-VTT's JSON.

Such code reads with pandas: the column ``video_id`` of a list for training, ``video_id`` and ``sentence`` of one for
testing, and all sentences of a training clip from the JSON.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.export.files import text_file
from vttdata.export.msrvtt import write_info
from vttdata.export.reader import Described, Source, Tally

RULES = (
    "The query of a clip is its caption with the lowest `sen_id`; where a protocol was published with a list of "
    "sentences of its own, as MSR-VTT's 1k-A was, scores on these queries are not comparable with scores on that. "
    "`train` lists have only ids, since training uses all captions of the JSON; the other lists have a query for each "
    "clip. A clip without a caption by a person is in no list. Cells are quoted and stay as they are, also where a "
    "caption begins like a formula."
)
READ = """\
```python
import json
import pandas

data = json.load(open("MSRVTT_data.json"))  # "videos" and "sentences", all splits
listed = pandas.read_csv("{name}")
ids = listed["video_id"].values{queries}
```"""
_QUERIES = '\nqueries = listed["sentence"].values'
_DATA = "MSRVTT_data.json"
_MISSING = {
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null"),
}
"""What pandas reads as a missing value unless told otherwise (documentation of ``read_csv``, ``na_values``)."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


def write_retrieval(
    source: Source, folder: Path, config: str | None, split: str | None, tally: Tally
) -> tuple[str, list[str]]:
    """Write ``MSRVTT_data.json`` of the whole dataset and a list for each split that is asked for.

    Args:
        source: the dataset.
        folder: where to write.
        config: `clips` or a protocol; None means all of them.
        split: one split; None means all.
        tally: learns of the captions.

    Returns:
        How it is read, and what is to be told.

    Raises:
        VttdataError: when there is no such split, or no clip with a caption in any.
    """
    write_info(source, folder / _DATA, "clips", source.splits("clips"), tally)
    configs = [config] if config else source.clip_configs()
    wanted = [(own, name) for own in configs for name in source.splits(own) if split in (None, name)]
    if not wanted:
        source.splits(configs[0], split)
    notes: list[str] = []
    names: dict[str, bool] = {}
    for own, name in wanted:
        file = f"MSRVTT_{name}.csv" if own == "clips" else f"MSRVTT_{own}.{name}.csv"
        names[file] = name != "train"
        described = source.described(own, name, folder, Tally())
        notes += (write_ids if name == "train" else write_queries)(folder / file, described)
    told = next(((file, _QUERIES) for file, has_queries in names.items() if has_queries), (next(iter(names)), ""))
    return READ.format(name=told[0], queries=told[1]), notes


def write_ids(path: Path, described: Iterator[Described]) -> list[str]:
    """Write a list of ids; return what is to be told."""
    counted = _Ids(path)
    with text_file(path) as stream:
        stream.write("video_id\n")
        for clip, sentences, again in described:
            if counted.takes(clip["video_id"], bool(sentences), again):
                stream.write(f"{clip['video_id']}\n")
    return counted.notes()


def write_queries(path: Path, described: Iterator[Described]) -> list[str]:
    """Write a list of clips with their queries; return what is to be told."""
    counted = _Ids(path)
    lost = 0
    with text_file(path) as stream:
        rows = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
        rows.writerow(["key", "vid_key", "video_id", "sentence"])
        for clip, sentences, again in described:
            video_id = clip["video_id"]
            if counted.takes(video_id, bool(sentences), again):
                rows.writerow([f"ret{counted.taken - 1}", video_id, video_id, sentences[0].text])
                lost += sentences[0].text in _MISSING
    told = f"{path.name}: queries that pandas reads as missing, so read it with keep_default_na=False: {lost:,}."
    return counted.notes() + ([told] if lost else [])


class _Ids:
    """Which clips a list takes, and what is to be told of them."""

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self.taken = self._bare = self._missing = self._numbers = 0

    def takes(self, video_id: str, has_query: bool, again: bool) -> bool:
        if not has_query:
            self._bare += not again
            return False
        self.taken += 1
        self._missing += video_id in _MISSING
        self._numbers += _NUMBER.fullmatch(video_id) is not None
        return True

    def notes(self) -> list[str]:
        if not self.taken:
            raise VttdataError(
                f"No clip has a caption by a person, so {self._name} would be empty; leave that split out."
            )
        told = (
            [f"{self._name}: clips without a caption by a person, which are left out: {self._bare:,}."]
            if self._bare
            else []
        )
        if self._numbers == self.taken or self._missing:
            told.append(
                f"{self._name}: pandas takes ids for numbers or for missing; read it with dtype=str and "
                "keep_default_na=False."
            )
        return told
