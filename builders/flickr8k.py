"""Flickr8k (Hodosh, Young and Hockenmaier, JAIR 2013): 8,092 images with five captions each, as text.

The release ``Flickr8k_text`` is ``Flickr8k.token.txt``, with ``<image>#<number>``, a tab and a caption a line, and
``Flickr_8k.trainImages.txt``, ``devImages.txt`` and ``testImages.txt`` with an image a line. The human judgments beside
them, ``ExpertAnnotations.txt`` and ``CrowdFlowerAnnotations.txt``, are read by `vttdata.evaluate.meta.judgments`.
"""

from __future__ import annotations

import re
from pathlib import Path

from vttdata.annotations import Annotations
from vttdata.annotations.files import choose_files
from vttdata.annotations.record_collector import RecordCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError

_CAPTIONS = {"captions": "flickr8k.token.txt"}
_LISTS = {
    "train": "flickr_8k.trainimages.txt",
    "validation": "flickr_8k.devimages.txt",
    "test": "flickr_8k.testimages.txt",
}
_LINE = re.compile(r"([^\t#]+)#(\d{1,3})\t(.*)", re.ASCII | re.DOTALL)


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the captions and the lists of images.

    Returns:
        One clip without length for each image, under the name of its file without ``.jpg``, in the order of the lists;
        those on no list come last, in the split `unlisted`. `sen_id` is the official number of a caption.

    Raises:
        VttdataError: when a file is missing, or a line of captions is not what it should be.
    """
    records = RecordCollector(language)
    files = choose_files(folder, _CAPTIONS | _LISTS)
    captions_file = files.pop("captions")
    captions: dict[str, list[tuple[int, str]]] = {}
    for location, line in records.read_lines(captions_file):
        match = _LINE.fullmatch(line)
        if match is None:
            raise VttdataError(f"{location}: {line[:60]!a} is not <image>#<number>, a tab and a caption.")
        captions.setdefault(match[1].removesuffix(".jpg"), []).append((int(match[2]), match[3]))
    listed: set[str] = set()
    for split, file in files.items():
        for location, line in records.read_lines(file):
            image = line.strip().removesuffix(".jpg")
            listed.add(image)
            records.add_clip(file, image, image, 0, None, split=split, location=location)
    for image, texts in captions.items():
        if image not in listed:
            records.findings.add("no_split", captions_file.name, image)
            records.add_clip(captions_file, image, image, 0, None, split="unlisted")
        for number, text in texts:
            records.add_caption(captions_file, image, text, sen_id=number)
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
