"""Small dataset whose test clips share material with training in every way, and predictions for it."""

from __future__ import annotations

import json
from pathlib import Path

from vttdata.dataset import Metadata, OfficialLayout, write_dataset
from vttdata.records import Caption, Clip, Source

TEST = [f"t{number}" for number in range(6)]
# t0 overlaps in time with a training clip, t1 is of its source only; t3 has a caption of a training clip.
SOURCE_OF = {"r0": "a", "r1": "b", "r2": "c", "t0": "a", "t1": "a", "t2": "d", "t3": "e", "t4": "e", "t5": "f"}
START_OF = {"r0": 0.0, "r1": 0.0, "r2": 0.0, "t0": 5.0, "t1": 50.0, "t2": 0.0, "t3": 0.0, "t4": 20.0, "t5": 0.0}
THINGS = ["a red car", "two dogs", "a small boat", "an old piano", "some tall trees", "the night train"]


def captions_of(clip: str) -> list[str]:
    if clip.startswith("r"):
        return [f"people look at {THINGS[int(clip[1])]}", "a man is talking", f"{THINGS[int(clip[1])]} from afar"]
    thing = THINGS[int(clip[1])]
    texts = [f"somebody films {thing} in the evening", f"{thing} is shown", f"this is about {thing}"]
    return [*texts[:2], "a man is talking"] if clip == "t3" else texts


def write_leaking_dataset(folder: Path, language: str = "en", name: str = "me/small") -> Path:
    """Write a dataset with a protocol ``two``, and return its folder."""
    clips = [
        Clip(
            clip,
            source,
            START_OF[clip],
            START_OF[clip] + 10,
            None,
            None,
            None,
            url=f"https://example.org/{source}",
            category=("music", "sports")[clip in {"t0", "t2", "t4", "r0"}],
            split="train" if clip.startswith("r") else "test",
        )
        for clip, source in SOURCE_OF.items()
    ]
    captions = [
        Caption(clip, number, text, None, language)
        for clip in SOURCE_OF
        for number, text in enumerate(captions_of(clip), 1)
    ]
    captions.append(Caption("t0", 9, "a machine wrote this", author="captioner"))
    write_dataset(
        folder,
        clips=clips,
        captions=captions,
        sources=[Source(source, "", "nowhere", "", 0) for source in dict.fromkeys(SOURCE_OF.values())],
        metadata=Metadata(name, version="2.0.1", licence="cc-by-4.0"),
        media=None,
        official=OfficialLayout(categories=("music", "sports"), protocols={"two": {"test": ["t5", "t2"]}}),
    )
    return folder


def write_predictions(path: Path, **changes: str | None) -> Path:
    """Write COCO results, a third of them right, with changed captions; None leaves a clip out."""
    captions = {clip: captions_of(clip)[0] if int(clip[1]) % 3 == 0 else "something moves" for clip in TEST} | changes
    rows = [{"image_id": clip, "caption": text} for clip, text in captions.items() if text is not None]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path
