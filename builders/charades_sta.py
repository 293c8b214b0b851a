"""Charades-STA (Gao et al., ICCV 2017): sentences about segments of home videos, for temporal grounding.

The release (github.com/jiyanggao/TALL) is ``charades_sta_train.txt`` and ``charades_sta_test.txt`` with lines ``<video>
<start> <end>##<sentence>`` in seconds. Durations come from the tables of Charades, ``Charades_v1_train.csv`` and
``Charades_v1_test.csv`` with the columns `id` and `length`, where they are there.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path

from vttdata.annotations import Annotations
from vttdata.annotations.files import choose_files, read_text
from vttdata.annotations.record_collector import RecordCollector, VideoFacts
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.files.tables import Columns, parse_delimited, parse_seconds

_FILES = {"train": "charades_sta_train.txt", "test": "charades_sta_test.txt"}
_LENGTHS = {"lengths of train": "charades_v1_train.csv", "lengths of test": "charades_v1_test.csv"}
_LINE = re.compile(r"(\w+) +(\d{1,6}(?:\.\d+)?) +(\d{1,6}(?:\.\d+)?) *##(.*)", re.ASCII | re.DOTALL)


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the two lists, and the tables of Charades where they are there.

    Returns:
        One clip for each sentence in the order of the lists, under ``<video>_<number of the sentence in its video>``.

    Raises:
        VttdataError: when a list is missing, or a line or a length is not what it should be.
    """
    records = RecordCollector(language)
    files = choose_files(folder, _FILES, optional=_LENGTHS)
    seconds: dict[str, float] = {}
    for role in _LENGTHS:
        if role in files:
            text = read_text(files[role], records.checksums)
            rows = parse_delimited(
                str(files[role]), io.StringIO(text), ",", Columns(("id", "length"), (("id",), ("length",)))
            )
            for number, row in rows:
                seconds[row["id"]] = parse_seconds(row.get("length"))
                if not 0 < seconds[row["id"]] < float("inf"):
                    raise VttdataError(f"{files[role]}:{number}: {row.get('length')!a} is not a length in seconds.")
    numbers: Counter[str] = Counter()
    for split in _FILES:
        for location, line in records.read_lines(files[split]):
            match = _LINE.fullmatch(line)
            if match is None:
                raise VttdataError(f"{location}: {line[:60]!a} is not <video> <start> <end>##<sentence>.")
            video, start, end, sentence = match.groups()
            clip = records.add_clip(
                files[split],
                f"{video}_{numbers[video]}",
                video,
                float(start),
                float(end),
                split=split,
                video=VideoFacts(seconds=seconds.get(video)),
                location=location,
            )
            numbers[video] += 1
            records.add_caption(files[split], clip.video_id, sentence)
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read, files_by="source_id")
