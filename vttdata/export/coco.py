"""Exports what coco-caption (pycocotools, pycocoevalcap) reads: references of a split, and a system's captions.

The format is that of COCO captions (Chen et al., arXiv:1504.00325, section 3); image ids are strings here, the ids of
the clips. Metrics are not computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.export.files import JsonObject, as_json, one_line, text_file
from vttdata.export.reader import Source, Tally
from vttdata.files.tables import read_table

READ = """\
```python
from pycocotools.coco import COCO
from pycocoevalcap.eval import COCOEvalCap

truth = COCO("{truth}")
scores = COCOEvalCap(truth, truth.loadRes("{results}"))
scores.evaluate()  # needs Java for the tokenizer, METEOR and SPICE
```"""
RULES = (
    "Image ids are the ids of the clips; annotation ids count from 1 in the order of the file. Clips without captions "
    "by people are left out. Line breaks within a caption are one space: the tokenizer is given a caption a line, and "
    "a break would shift all that follow."
)


def file_name(config: str, split: str) -> str:
    """``captions_<split>.json``, or ``captions_<protocol>.<split>.json``: no split has a dot, so no two are alike."""
    return f"captions_{split}.json" if config == "clips" else f"captions_{config}.{split}.json"


def write_truth(source: Source, folder: Path, config: str, splits: list[str], tally: Tally) -> tuple[str, list[str]]:
    """Write one ground truth file a split.

    Returns:
        How it is read, and what is to be told.

    Raises:
        VttdataError: when a split has no clip with a caption.
    """
    bare = broken = 0
    for split in splits:
        with text_file(folder / file_name(config, split)) as stream:
            head = {
                "info": {"description": source.name, "version": source.version},
                "licenses": [{"id": 1, "name": source.licence, "url": ""}],
                "type": "captions",
            }
            file = JsonObject(stream, head, "images", "annotations")
            number = 0
            for clip, sentences, again in source.described(config, split, folder, tally):
                bare += not sentences and not again
                if sentences:
                    file.add_first({"id": clip["video_id"]})
                for sentence in sentences:
                    number += 1
                    text = one_line(sentence.text)
                    broken += text != sentence.text
                    file.add_second({"image_id": clip["video_id"], "id": number, "caption": text})
            images, _ = file.close()
        if not images:
            raise VttdataError(
                f"{source.folder}: no clip of '{split}' has a caption by a person, so nothing can be scored."
            )
    notes = [f"Clips without a caption by a person, which are left out: {bare:,}."] if bare else []
    notes += [f"Captions whose line breaks became spaces: {broken:,}."] if broken else []
    return READ.format(truth=file_name(config, splits[-1]), results="results.json"), notes


def write_results(
    source: Source, folder: Path, config: str, split: str, captions: Path, tally: Tally
) -> tuple[str, list[str]]:
    """Write a system's captions as a result file: one for each clip of the split that has references.

    Args:
        source: the dataset.
        folder: where to write.
        config: `clips`, or a protocol.
        split: whose clips were captioned.
        captions: a table with the columns ``video_id`` and ``caption``.
        tally: learns of the references.

    Raises:
        VttdataError: when a clip has no caption or several, or a caption is about no clip of the split.
    """
    told = _read(captions)
    wanted = dict.fromkeys(_scored(source, folder, config, split, tally))
    missing = [video_id for video_id in wanted if video_id not in told]
    unknown = [video_id for video_id in told if video_id not in wanted]
    if missing or unknown:
        of = f"the {len(wanted):,} clips of '{split}' that have references"
        parts = [f"{len(missing):,} of {of} have no caption (first {missing[0]})"] if missing else []
        parts += [f"{len(unknown):,} captions are about none of {of} (first {unknown[0]!a})"] if unknown else []
        raise VttdataError(f"{captions}: {' and '.join(parts)}; scores need exactly one each.")
    name = file_name(config, split).replace(".json", "_results.json")
    with text_file(folder / name) as stream:
        for place, video_id in enumerate(wanted):
            row = {"image_id": video_id, "caption": one_line(told[video_id])}
            stream.write(f"{',' if place else '['}\n{as_json(row)}")
        stream.write("\n]\n")
    return READ.format(truth=file_name(config, split), results=name), []


def _scored(source: Source, folder: Path, config: str, split: str, tally: Tally) -> Iterator[str]:
    described = source.described(config, split, folder, tally)
    return (clip["video_id"] for clip, sentences, _ in described if sentences)


def _read(path: Path) -> dict[str, str]:
    told: dict[str, str] = {}
    for line, row in read_table(path):
        lacking = [name for name in ("video_id", "caption") if name not in row]
        if lacking:
            raise VttdataError(f"{path}: has no column '{lacking[0]}'; video_id and caption are needed.")
        video_id, caption = row["video_id"], row["caption"]
        if not isinstance(video_id, str) or not isinstance(caption, str) or not caption.strip():
            raise VttdataError(f"{path}:{line}: a video_id and a caption that says something are needed.")
        if video_id in told:
            raise VttdataError(f"{path}:{line}: a second caption of {video_id!a}; scores need exactly one each.")
        told[video_id] = caption
    return told
