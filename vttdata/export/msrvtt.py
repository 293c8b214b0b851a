"""Exports any dataset in the shape of MSR-VTT's own JSON (Xu et al., CVPR 2016, release 1.0 and its ``readme.txt``).

What the shape has no place for is left out: measures of the video, who wrote a caption, and its language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from vttdata.export.files import JsonObject, text_file
from vttdata.export.reader import Source, Tally

RULES = (
    "`videos` are in the order of the dataset with `id` their place in it from 0, `sentences` follow clip by clip in "
    "the order of `sen_id`. `validation` is called `validate`, as MSR-VTT does. `category` is the number of the label "
    "and is missing where there is none; `category.txt` has the names. Where no address is known, the id of the "
    "original video stands in `url`."
)
READ = """\
```python
import json

data = json.load(open("{name}"))
captions = [(sentence["video_id"], sentence["caption"]) for sentence in data["sentences"]]
```"""
_OFFICIAL = ("train_val_videodatainfo.json", "test_videodatainfo.json")
_ALL = "videodatainfo.json"


def write_msrvtt(source: Source, folder: Path, config: str, splits: list[str], tally: Tally) -> tuple[str, list[str]]:
    """Write the two files of MSR-VTT's release, or one where there is no test split beside others.

    Returns:
        How it is read, and what is to be told.
    """
    tests = [split for split in splits if split == "test"]
    others = [split for split in splits if split != "test"]
    files = dict(zip(_OFFICIAL, (others, tests), strict=True)) if tests and others else {_ALL: splits}
    for name, own in files.items():
        write_info(source, folder / name, config, own, tally)
    if source.categories:
        _write_categories(source, folder)
    notes = [f"{_ALL} holds all splits; MSR-VTT has two files, for training and for testing."] if _ALL in files else []
    return READ.format(name=next(iter(files))), notes


def write_info(source: Source, path: Path, config: str, splits: Iterable[str], tally: Tally) -> None:
    """Write one such JSON of some splits."""
    places = _first_places(source, config)
    info = {"contributor": "vttdata", "version": source.version, "description": source.name}
    with text_file(path) as stream:
        file = JsonObject(stream, {"info": info}, "videos", "sentences")
        for split in splits:
            described = source.described(config, split, path.parent, tally)
            for place, (clip, sentences, _) in enumerate(described, places[split]):
                file.add_first(_video(clip, split, place))
                for sentence in sentences:
                    own = {"caption": sentence.text, "video_id": clip["video_id"], "sen_id": sentence.sen_id}
                    file.add_second(own)
        file.close()


def _first_places(source: Source, config: str) -> dict[str, int]:
    places, place = {}, 0
    for split in source.splits(config):
        places[split] = place
        place += source.number_of_rows(config, split)
    return places


def _video(clip: Mapping[str, Any], split: str, place: int) -> dict[str, Any]:
    category = {} if clip["category"] is None else {"category": clip["category"]}
    return category | {
        "url": clip["url"] or clip["source_id"],
        "video_id": clip["video_id"],
        "start time": clip["start"],
        "end time": clip["end"],
        "split": "validate" if split == "validation" else split,
        "id": place,
    }


def _write_categories(source: Source, folder: Path) -> None:
    with text_file(folder / "category.txt") as stream:
        for number, name in enumerate(source.categories):
            stream.write(f"{' '.join(name.split())}\t{number}\n")
