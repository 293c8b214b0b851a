"""JSON files of MSR-VTT, for code written for that dataset.

The files follow release 1.0 (Xu et al., CVPR 2016, and its ``readme.txt``). Columns that it does not have are left out:
measures of the video, and the author and language of a caption.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from vttdata.export.files import json_with_two_lists, text_file
from vttdata.export.format import ExportRequest, Format, Written

RULES = (
    "`videos` are in the order of the dataset, with `id` their position in it from 0; `sentences` follow clip by clip, "
    "by ascending `sen_id`. `validation` is called `validate`, as in MSR-VTT. `category` is the number of the label, "
    "and is missing where there is none; `category.txt` has the names. Where no address is known, `url` is the id of "
    "the source video. The names of the two files of MSR-VTT's release are only for the clips of that "
    "release; those of any other dataset, or of a part of it, are in `videodatainfo.json`."
)
_USAGE = """\
```python
import json

data = json.load(open("{name}"))
captions = [(sentence["video_id"], sentence["caption"]) for sentence in data["sentences"]]
```"""
# Numbers of the clips in the files of the release: 6,513 for training, 497 for validation, 2,990 tests (readme.txt).
_OFFICIAL_FILES = {"train_val_videodatainfo.json": range(7_010), "test_videodatainfo.json": range(7_010, 10_000)}
_SINGLE_FILE = "videodatainfo.json"


def write_msrvtt(request: ExportRequest) -> Written:
    """Write the two files of MSR-VTT's release if the clips are those of the release, else a single file."""
    dataset, config, splits = request.dataset, request.clip_config, request.splits()
    parts = [[split for split in splits if split != "test"], [split for split in splits if split == "test"]]
    ids = [{row["video_id"] for split in part for row in dataset.rows(config, split, ["video_id"])} for part in parts]
    is_release = ids == [{f"video{number}" for number in numbers} for numbers in _OFFICIAL_FILES.values()]
    files = dict(zip(_OFFICIAL_FILES, parts, strict=True)) if is_release else {_SINGLE_FILE: splits}
    for name, splits_of_file in files.items():
        write_videodatainfo(request, request.folder / name, config, splits_of_file)
    if request.dataset.categories:
        with text_file(request.folder / "category.txt") as stream:
            for number, name in enumerate(request.dataset.categories):
                stream.write(f"{' '.join(name.split())}\t{number}\n")
    note = f"{_SINGLE_FILE} has all splits; MSR-VTT has two files, for training and for testing."
    return Written(_USAGE.format(name=next(iter(files))), [note] if _SINGLE_FILE in files else [])


def write_videodatainfo(request: ExportRequest, path: Path, config: str, splits: Iterable[str]) -> None:
    """Write the clips and captions of some splits as one JSON file of MSR-VTT."""
    dataset = request.dataset
    # Ids count over all splits, so that a clip has the same id whichever splits are exported.
    first_ids: dict[str, int] = {}
    total = 0
    for split in dataset.splits(config):
        first_ids[split] = total
        total += dataset.count_rows(config, split)
    info = {"contributor": "vttdata", "version": dataset.version, "description": dataset.name}
    with json_with_two_lists(path, {"info": info}, "videos", "sentences") as (videos, sentences):
        for split in splits:
            clips = dataset.references(config, split, path.parent, request.counts)
            for number, (clip, references, _) in enumerate(clips, first_ids[split]):
                category: dict[str, object] = {} if clip["category"] is None else {"category": clip["category"]}
                video = {
                    "url": clip["url"] or clip["source_id"],
                    "video_id": clip["video_id"],
                    "start time": clip["start"],
                    "end time": clip["end"],
                    "split": "validate" if split == "validation" else split,
                    "id": number,
                }
                videos.append(category | video)
                for reference in references:
                    sentence = {"caption": reference.text, "video_id": clip["video_id"], "sen_id": reference.sen_id}
                    sentences.append(sentence)


FORMAT = Format(write_msrvtt, RULES)
