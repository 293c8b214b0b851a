"""VATEX (Wang et al., ICCV 2019): ten-second clips of web videos, with ten English and ten Chinese captions each.

The official description (eric-xw.github.io/vatex-website): each release file is a JSON list of ``{"videoID":
"<youtube id>_<start>_<end>", "enCap": [...], "chCap": [...]}`` with six-digit seconds in the id. Captions 1-5 of a
language are written on their own; captions 6-10 are parallel, the English one and the Chinese one of a number being
translations of each other. The public test set of release 1.1 has English captions only, the private one none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_files
from vttdata.annotations.record_collector import RecordCollector, VideoFacts
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.ids import youtube_url


@dataclass(frozen=True, slots=True)
class VatexVideo(OfficialObject):
    """Captions of a video in both languages, as far as they were released."""

    videoID: str  # noqa: N815
    enCap: list[str] | None = None  # noqa: N815
    chCap: list[str] | None = None  # noqa: N815


_SHAPE: pydantic.TypeAdapter[list[VatexVideo]] = pydantic.TypeAdapter(list[VatexVideo])
_NAME = re.compile(r"([\w-]{11})_(\d{6})_(\d{6})", re.ASCII)
_FILES = {"train": "vatex_training_v1.?.json", "validation": "vatex_validation_v1.?.json"}
_TESTS = {"test": "vatex_public_test*.json", "private_test": "vatex_private_test*.json"}
_LANGUAGES = {"en": ("en",), "zh": ("zh",), "mul": ("en", "zh")}

# The Chinese captions are numbered after the English ones, so that parallel captions are ten numbers apart.
_FIRST_CHINESE = 10


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the official JSON files; the test sets may be missing.

    The language is ``en``, ``zh`` or ``mul`` (both).

    Returns:
        Clips under their official ids in the order of the files; the splits are train, validation, test (the public
        one) and private_test. `sen_id` is 0-9 for English and 10-19 for Chinese; 5-9 and 15-19 are parallel.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape, or no file has captions in the language.
    """
    if language not in _LANGUAGES:
        raise VttdataError(f"{folder}: VATEX has captions in en, zh or mul (both), not in {language[:20]!a}.")
    records = RecordCollector(language)
    captions = 0
    for split, file in choose_files(folder, _FILES, optional=_TESTS).items():
        for index, video in enumerate(records.read_json(file, _SHAPE)):
            location = f"{file}: [{index}]"
            match = _NAME.fullmatch(video.videoID)
            if match is None:
                raise VttdataError(f"{location}: {video.videoID[:80]!a} is not <youtube id>_<start>_<end>.")
            name, start, end = match.groups()
            records.add_clip(
                file,
                video.videoID,
                name,
                float(start),
                float(end),
                split=split,
                video=VideoFacts(youtube_url(name)),
                location=location,
            )
            for code in _LANGUAGES[language]:
                texts = (video.enCap if code == "en" else video.chCap) or ()
                for number, text in enumerate(texts, _FIRST_CHINESE if code == "zh" else 0):
                    records.add_caption(file, video.videoID, text, sen_id=number, language=code)
                    captions += 1
            if video.enCap and video.chCap and len(video.enCap) != len(video.chCap):
                records.findings.add("unequal_parallel_captions", file.name, video.videoID)
    if not captions:
        raise VttdataError(f"{folder}: the files have no captions in {language}.")
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
