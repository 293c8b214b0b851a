"""MSVD (Chen and Dolan, ACL 2011): 1,970 short YouTube clips with about 40 sentences each.

The files are one with the sentences and a list of ids for each split. Clips are ``<youtube id>_<start>_<end>``; a
YouTube id may contain ``_`` and ``-``, so the times, in seconds, are taken from the end of the name. The sentences come
in four public layouts: the corpus of the authors (``MSR Video Description Corpus.csv``, in many languages),
``AllVideoDescriptions.txt`` with an id and a sentence a line, JSON from ids to sentences, and ``raw-captions.pkl`` of
CLIP4Clip, with tokenized sentences. In place of the lists, ``youtube_mapping.txt`` (Venugopalan et al., NAACL 2015)
numbers the clips: 1 to 1200 are train, to 1300 validation, to 1970 test.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pydantic

from vttdata.annotations.files import SHAPE, OfficialFile, key_path, list_files, read_json, read_text
from vttdata.annotations.findings import Findings
from vttdata.annotations.model import SPLITS, Annotations, check_captions, check_spans, checked_id, sources_of
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.files.id_lists import ids_in
from vttdata.files.tables import Columns, parse_delimited
from vttdata.ids import youtube_url
from vttdata.records import Caption, Clip
from vttdata.text.language import LANGUAGE_NAMES

_NAME = re.compile(r"([A-Za-z0-9_-]+)_(\d{1,6}(?:\.\d+)?)_(\d{1,6}(?:\.\d+)?)", re.ASCII)
_LIST = re.compile(r"(?:msvd_)?(train|val|validate|validation|test)(?:_list|_ids|_videos)?\.(?:txt|csv|json)", re.I)
_LAYOUT = re.compile(r".*\.json|.*corpus.*\.csv|allvideodescriptions\.txt|.*captions.*\.pkl", re.I)
_MAPPING = "youtube_mapping.txt"
_NUMBERED = re.compile(r"(\S+)\s+(?:vid)?(\d{1,9})", re.ASCII)
_LAST_NUMBERS = (("train", 1200), ("validation", 1300), ("test", 1970))
_UNLISTED = "unlisted"
_CORPUS = Columns(
    ("videoid", "start", "end", "language", "description", "workerid"),
    (("videoid",), ("start",), ("end",), ("language",), ("description",)),
)
# Names of languages in the corpus; others are given by their name there.
LANGUAGES = LANGUAGE_NAMES | {"sl": "Slovene"}

_SHAPE: pydantic.TypeAdapter[dict[str, list[str]]] = pydantic.TypeAdapter(dict[str, list[str]], config=SHAPE)


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the JSON file of sentences and the lists of ids.

    The sentences are JSON under any name, or in another layout; the lists are ``train``, ``val`` and ``test`` (or
    ``train_list`` and so on) as ``.txt`` (an id per line), ``.csv`` (column `video_id`) or ``.json`` (list), or
    ``youtube_mapping.txt``. Of the corpus, which has many languages, sentences in one are read.

    Returns:
        Clips under their official ids in the order of the lists; those on no list come last, in the split `unlisted`.
        `sen_id` counts the sentences of a clip from 0.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape.
    """
    findings = Findings()
    checksums: dict[str, str] = {}
    sentences_file, lists = _choose(folder)
    sentences = read_sentences(sentences_file, language, checksums)
    for name in sentences:
        _clip(checked_id(name, f"{sentences_file}"), "train", f"{sentences_file}: {key_path((name,))}")
    if list(lists) == [_MAPPING]:
        ids = read_numbered_splits(lists[_MAPPING], checksums)
        lists = dict.fromkeys(ids, lists[_MAPPING])
    else:
        ids = {
            split: ids_in(read_text(file, checksums), str(file), PurePosixPath(file.name).suffix)
            for split, file in lists.items()
        }
    clips = list(_clips(ids, lists, sentences, findings, sentences_file))
    known = {clip.video_id for clip in clips}
    captions = [
        Caption(video_id, number, text, annotator, language)
        for video_id, texts in sentences.items()
        if video_id in known
        for number, (text, annotator) in enumerate(texts)
    ]
    for clip in clips:
        check_spans(findings, sentences_file.name, clip)
        if not sentences.get(clip.video_id):
            findings.add("no_caption", sentences_file.name, clip.video_id)
    check_captions(findings, sentences_file.name, captions)
    return Annotations(sources_of(clips), tuple(clips), tuple(captions), findings.result(), checksums)


Recipe = OfficialRecipe
build = official_builder(read)


def _choose(folder: Path) -> tuple[OfficialFile, dict[str, OfficialFile]]:
    """Return the file of sentences, and the list of each split, or the mapping alone."""
    available = list_files(folder, {".json", ".txt", ".csv", ".pkl"})
    lists: dict[str, OfficialFile] = {}
    for file in available:
        match = _LIST.fullmatch(file.name)
        split = SPLITS[match[1].lower()] if match else None
        if split in lists:
            raise VttdataError(f"{folder}: both {lists[split]} and {file} list the ids of {split}; keep one of them.")
        if split is not None:
            lists[split] = file
    mapping = next((file for file in available if file.name.lower() == _MAPPING), None)
    sentence_files = [file for file in available if file not in lists.values() and _LAYOUT.fullmatch(file.name)]
    if len(sentence_files) != 1:
        names = ", ".join(file.name for file in sentence_files[:5]) or "none"
        raise VttdataError(
            f"{folder}: one file with the sentences (JSON, AllVideoDescriptions.txt, the corpus as CSV, or .pkl) is "
            f"expected beside the lists; found {names}."
        )
    if not lists and mapping is not None:
        return sentence_files[0], {_MAPPING: mapping}
    lacking = [split for split in ("train", "validation", "test") if split not in lists]
    if lacking:
        raise VttdataError(
            f"{folder}: the list of ids of {lacking[0]} is missing; train.txt, val.txt and test.txt are looked for, or "
            "youtube_mapping.txt without any list."
        )
    return sentence_files[0], {split: lists[split] for split in ("train", "validation", "test")}


def read_sentences(
    file: OfficialFile, language: str, checksums: dict[str, str]
) -> dict[str, list[tuple[str, str | None]]]:
    """Return the sentences of each clip with the worker who wrote them, where the layout says who."""
    suffix = PurePosixPath(file.name).suffix.lower()
    if suffix in (".json", ".pkl"):
        texts: dict[str, list[str]]
        texts = read_json(file, _SHAPE, checksums) if suffix == ".json" else unpickle_sentences(file, checksums)
        return {name: [(text, None) for text in sentences] for name, sentences in texts.items()}
    content = read_text(file, checksums)
    found: dict[str, list[tuple[str, str | None]]] = {}
    if suffix == ".txt":
        for number, line in enumerate(content.replace("\r\n", "\n").split("\n"), 1):
            name, space, text = line.partition(" ")
            if line.strip() and not line.startswith("#"):
                if not space:
                    raise VttdataError(f"{file}:{number}: an id, a space and a sentence are expected.")
                found.setdefault(name, []).append((text, None))
        return found
    return read_corpus(file, content, language)


def read_corpus(file: OfficialFile, content: str, language: str) -> dict[str, list[tuple[str, str | None]]]:
    """Return the sentences of each clip in a language of the authors' corpus, with their workers."""
    found: dict[str, list[tuple[str, str | None]]] = {}
    for number, row in parse_delimited(str(file), io.StringIO(content, newline=""), ",", _CORPUS):
        if (row["language"] or "").casefold() == LANGUAGES.get(language, language).casefold():
            name = f"{row['videoid']}_{row['start']}_{row['end']}"
            if None in (row["videoid"], row["start"], row["end"]):
                raise VttdataError(f"{file}:{number}: VideoID, Start or End is empty.")
            found.setdefault(name, []).append((row["description"] or "", row.get("workerid")))
    if not found:
        raise VttdataError(f"{file}: has no sentence in the language {language[:20]!a}.")
    return found


class PlainUnpickler(pickle.Unpickler):
    """Reads dictionaries, lists, texts and numbers, and refuses to import anything."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse any object of a class."""
        raise pickle.UnpicklingError(f"it holds objects of {module}.{name}")


def unpickle_sentences(file: OfficialFile, checksums: dict[str, str]) -> dict[str, list[str]]:
    """Return the sentences of CLIP4Clip's pickle, with a space between tokens; no code in it is run."""
    raw = file.read()
    checksums[file.name] = hashlib.sha256(raw).hexdigest()
    try:
        content = pydantic.TypeAdapter(dict[str, list[list[str]]]).validate_python(
            PlainUnpickler(io.BytesIO(raw)).load(), strict=True
        )
    except pydantic.ValidationError as error:
        location = key_path(error.errors(include_url=False)[0]["loc"])
        raise VttdataError(f"{file}: {location}: lists of tokens by id are expected.") from error
    except (pickle.UnpicklingError, EOFError, ValueError, AttributeError, IndexError, KeyError, TypeError) as error:
        raise VttdataError(f"{file}: damaged, or no pickle of plain lists ({error}).") from error
    return {name: [" ".join(tokens) for tokens in sentences] for name, sentences in content.items()}


def read_numbered_splits(file: OfficialFile, checksums: dict[str, str]) -> dict[str, list[str]]:
    """Return the ids of each split by the numbers of the mapping, in their order."""
    numbered: dict[int, str] = {}
    for line, text in enumerate(read_text(file, checksums).splitlines(), 1):
        match = _NUMBERED.fullmatch(text.strip())
        if match is None and text.strip():
            raise VttdataError(f"{file}:{line}: an id, a space and a number such as vid1 are expected.")
        if match is not None and numbered.setdefault(int(match[2]), match[1]) != match[1]:
            raise VttdataError(f"{file}:{line}: the number {match[2]} is duplicated.")
    splits: dict[str, list[str]] = {split: [] for split, _ in _LAST_NUMBERS}
    for number, name in sorted(numbered.items()):
        splits[next((split for split, last in _LAST_NUMBERS if number <= last), "test")].append(name)
    return splits


def _clips(
    ids: Mapping[str, list[str]],
    lists: Mapping[str, OfficialFile],
    sentences: Mapping[str, object],
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


def _clip(video_id: str, split: str, location: str) -> Clip:
    match = _NAME.fullmatch(video_id)
    if match is None:
        raise VttdataError(f"{location}: {video_id!a} is not <youtube id>_<start>_<end>.")
    start, end = float(match[2]), float(match[3])
    return Clip(video_id, match[1], start, end, None, None, None, youtube_url(match[1]), split=split)
