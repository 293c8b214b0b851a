"""MSVD (Chen and Dolan, ACL 2011): 1,970 short YouTube clips with about 40 sentences each.

The files are one JSON file, which maps ``<youtube id>_<start>_<end>`` to sentences, and a list of ids for each split. A
YouTube id may contain ``_`` and ``-``, so the times, in seconds, are taken from the end of the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pydantic

from vttdata.annotations.files import SHAPE, OfficialFile, key_path, list_files, read_json, read_text
from vttdata.annotations.findings import Findings
from vttdata.annotations.model import SPLITS, Annotations, check_captions, check_spans, checked_id, sources_of
from vttdata.compose.official_benchmark import OfficialRecipe, build_official
from vttdata.errors import VttdataError
from vttdata.files.id_lists import ids_in
from vttdata.ids import youtube_url
from vttdata.pipeline.build_folder import Build
from vttdata.records import Caption, Clip


class Recipe(OfficialRecipe):
    """Recipe for the files of MSVD."""


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    build_official(recipe, run, read(Path(recipe.annotations), language=recipe.language))


_NAME = re.compile(r"([A-Za-z0-9_-]+)_(\d{1,6}(?:\.\d+)?)_(\d{1,6}(?:\.\d+)?)", re.ASCII)
_LIST = re.compile(r"(?:msvd_)?(train|val|validate|validation|test)(?:_list|_ids|_videos)?\.(?:txt|csv|json)", re.I)
_UNLISTED = "unlisted"

_SHAPE: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(dict[str, list[str]], config=SHAPE)


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the JSON file of sentences and the lists of ids.

    Args:
        folder: holds one JSON file of sentences under any name, and ``train``, ``val`` and ``test`` (or
            ``train_list`` and so on) as ``.txt`` (an id per line), ``.csv`` (column `video_id`) or ``.json`` (list).
        language: of the sentences.

    Returns:
        Clips under their official ids in the order of the lists; those on no list come last, in the split `unlisted`.
        `sen_id` counts the sentences of a clip from 0.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape.
    """
    findings = Findings()
    checksums: dict[str, str] = {}
    sentences_file, lists = _choose(folder)
    sentences: dict[str, list[str]] = read_json(sentences_file, _SHAPE, checksums)
    for name in sentences:
        _clip(checked_id(name, f"{sentences_file}"), "train", f"{sentences_file}: {key_path((name,))}")
    ids = {
        split: ids_in(read_text(file, checksums), str(file), PurePosixPath(file.name).suffix)
        for split, file in lists.items()
    }
    clips = list(_clips(ids, lists, sentences, findings, sentences_file))
    known = {clip.video_id for clip in clips}
    captions = [
        Caption(video_id, number, text, language=language)
        for video_id, texts in sentences.items()
        if video_id in known
        for number, text in enumerate(texts)
    ]
    for clip in clips:
        check_spans(findings, sentences_file.name, clip)
        if not sentences.get(clip.video_id):
            findings.add("no_caption", sentences_file.name, clip.video_id)
    check_captions(findings, sentences_file.name, captions)
    return Annotations(sources_of(clips), tuple(clips), tuple(captions), findings.result(), checksums)


def _choose(folder: Path) -> tuple[OfficialFile, dict[str, OfficialFile]]:
    """Return the file of sentences, and the list of each split."""
    available = list_files(folder, {".json", ".txt", ".csv"})
    lists: dict[str, OfficialFile] = {}
    for file in available:
        match = _LIST.fullmatch(file.name)
        split = SPLITS[match[1].lower()] if match else None
        if split in lists:
            raise VttdataError(f"{folder}: both {lists[split]} and {file} list the ids of {split}; keep one of them.")
        if split is not None:
            lists[split] = file
    sentence_files = [file for file in available if file.name.lower().endswith(".json") and file not in lists.values()]
    if len(sentence_files) != 1:
        names = ", ".join(file.name for file in sentence_files[:5]) or "none"
        raise VttdataError(f"{folder}: one JSON file with the sentences is expected beside the lists; found {names}.")
    lacking = [split for split in ("train", "validation", "test") if split not in lists]
    if lacking:
        raise VttdataError(
            f"{folder}: the list of ids of {lacking[0]} is missing; train.txt, val.txt and test.txt are looked for."
        )
    return sentence_files[0], {split: lists[split] for split in ("train", "validation", "test")}


def _clips(
    ids: Mapping[str, list[str]],
    lists: Mapping[str, OfficialFile],
    sentences: Mapping[str, list[str]],
    findings: Findings,
    sentences_file: OfficialFile,
) -> Iterator[Clip]:
    splits: dict[str, list[str]] = {}
    for split, names in ids.items():
        for name in names:
            splits.setdefault(name, []).append(split)
            if not _NAME.fullmatch(name):
                findings.add("unknown_id", lists[split].name, name)
                continue
            yield _clip(checked_id(name, str(lists[split])), split, str(lists[split]))
    for name, listed in splits.items():
        if len(listed) > len(set(listed)):
            findings.add("doubled_video", lists[listed[0]].name, name)
        if len(set(listed)) > 1:
            findings.add("several_splits", lists[listed[0]].name, name)
    for name in sentences:
        if name not in splits:
            findings.add("no_split", sentences_file.name, name)
            yield _clip(name, _UNLISTED, "")


def _clip(video_id: str, split: str, place: str) -> Clip:
    match = _NAME.fullmatch(video_id)
    if match is None:
        raise VttdataError(f"{place}: {video_id!a} is not <youtube id>_<start>_<end>.")
    start, end = float(match[2]), float(match[3])
    return Clip(video_id, match[1], start, end, None, None, None, youtube_url(match[1]), split=split)
