"""NExT-QA (Xiao et al., CVPR 2021): multiple-choice questions about causal and temporal actions in everyday videos.

The release (github.com/doc-doc/NExT-QA, ``dataset/nextqa``) is ``train.csv``, ``val.csv`` and ``test.csv`` with
``video,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4``: the answer is an index from 0, and the first
letter of the type says whether a question is causal (``CW``, ``CH``), temporal (``TN``, ``TC``, ``TP``) or descriptive
(``DC``, ``DL``, ``DO``).

IntentQA (Li et al., ICCV 2023; github.com/JoseponLee/IntentQA, ``datasets/IntentQA``) has the same tables, in which
the video is called ``video_id`` and further columns follow.
"""

from __future__ import annotations

import io
from pathlib import Path

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialFile, choose_present_files, read_text
from vttdata.annotations.question_collector import OfficialQuestion, QuestionCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.files.tables import Columns, parse_delimited

_FILES = {"train": "train.csv", "validation": "val.csv", "test": "test.csv"}
_OPTIONS = ("a0", "a1", "a2", "a3", "a4")
_TEXTS = ("question", "answer", "qid", "type")
_VIDEO = ("video", "video_id")
_COLUMNS = Columns((*_VIDEO, *_TEXTS, *_OPTIONS), (_VIDEO, *((name,) for name in (*_TEXTS, *_OPTIONS))))


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with one to three of the official tables.

    Returns:
        One clip for each video of each split, and its questions in the order of the tables, under ``<video>_<qid>``.
        Clips start and end at 0, since the files state frames without their rate.

    Raises:
        VttdataError: when there is no table, a row is damaged, or an answer is no index from 0 to 4.
    """
    records = QuestionCollector(language)
    for split, file in choose_present_files(folder, _FILES, "NExT-QA").items():
        _read_split(records, split, file)
    return records.result()


def _read_split(records: QuestionCollector, split: str, file: OfficialFile) -> None:
    text = read_text(file, records.checksums)
    for line, row in parse_delimited(str(file), io.StringIO(text), ",", _COLUMNS):
        location = f"{file}:{line}"
        video = row.get("video") or row.get("video_id")
        if video is None:
            raise VttdataError(f"{location}: the row names no video.")
        empty = next((name for name in (*_TEXTS, *_OPTIONS) if row[name] is None and name != "question"), None)
        if empty is not None:
            raise VttdataError(f"{location}: the column '{empty}' is empty.")
        if row["answer"] not in tuple(str(index) for index in range(len(_OPTIONS))):
            raise VttdataError(f"{location}: the answer {row['answer'][:40]!a} is no index from 0 to 4.")
        asked = OfficialQuestion(
            f"{video}_{row['qid']}",
            video,
            row["question"] or "",
            [row[name] for name in _OPTIONS],
            int(row["answer"]),
            type=row["type"],
            split=split,
        )
        records.ask(file, asked, location=location)


Recipe = OfficialRecipe
build = official_builder(read)
