"""TGIF (Li et al., CVPR 2016): about 100,000 animated GIFs with a sentence each, three in the test split.

The release (github.com/raingo/TGIF-Release, ``data``): ``tgif-v1.0.tsv`` without a head, an address and a sentence on
each line with a tab between them, and ``splits/train.txt``, ``val.txt`` and ``test.txt`` with an address a line. A GIF
is named by the file in its address. Files do not state how long a GIF is.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from vttdata.annotations import Annotations
from vttdata.annotations.files import choose_files
from vttdata.annotations.model import checked_id
from vttdata.annotations.record_collector import RecordCollector, VideoFacts
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError

_SENTENCES = {"sentences": "tgif-v1.?.tsv"}
_LISTS = {"train": "train.txt", "validation": "val.txt", "test": "test.txt"}


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the table of sentences and the lists of addresses.

    Returns:
        One clip for each GIF in the order of the lists, under the name of its file; those on no list come last, in the
        split `unlisted`. Clips start and end at 0, since their length is not known.

    Raises:
        VttdataError: when a file is missing, or a line is not an address, or not an address and a sentence.
    """
    records = RecordCollector(language)
    files = choose_files(folder, _SENTENCES | _LISTS)
    sentences_file = files.pop("sentences")
    sentences: dict[str, list[str]] = {}
    urls: dict[str, str] = {}
    for location, line in records.read_lines(sentences_file):
        url, tab, text = line.partition("\t")
        if not tab:
            raise VttdataError(f"{location}: an address, a tab and a sentence are expected, not {line[:60]!a}.")
        video_id = _name(url, location)
        # The same file behind two addresses would be one clip with the captions of both.
        if urls.setdefault(video_id, url) != url:
            records.findings.add("differing_url", sentences_file.name, video_id)
        if "\t" in text:
            records.findings.add("tab_in_sentence", sentences_file.name, video_id)
        sentences.setdefault(video_id, []).append(text)
    listed: set[str] = set()
    for split, file in files.items():
        for location, line in records.read_lines(file):
            video_id = _name(line, location)
            listed.add(video_id)
            facts = VideoFacts(line.strip())
            records.add_clip(file, video_id, video_id, 0, None, split=split, video=facts, location=location)
    for video_id, texts in sentences.items():
        if video_id not in listed:
            records.findings.add("no_split", sentences_file.name, video_id)
            facts = VideoFacts(urls[video_id])
            records.add_clip(sentences_file, video_id, video_id, 0, None, split="unlisted", video=facts)
        for text in texts:
            records.add_caption(sentences_file, video_id, text)
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)


def _name(url: str, location: str) -> str:
    """Return the name of the file in an address, without its extension."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.endswith("/"):
        raise VttdataError(f"{location}: {url[:60]!a} is not the address of a GIF.")
    return checked_id(PurePosixPath(parts.path).stem, location)
