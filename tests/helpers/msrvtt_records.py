"""The official MSR-VTT release as records, read from its zip files without the package's own readers."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from vttdata.records import Caption, Clip


def read_msrvtt(shared: Path) -> tuple[list[Clip], list[Caption]]:
    """Read the clips of all splits and their captions."""
    clips, captions = [], []
    for archive in ("train_val_annotation.zip", "test_videodatainfo.json.zip"):
        with zipfile.ZipFile(shared / "data/msrvtt" / archive) as stream:
            name = next(name for name in stream.namelist() if name.endswith("videodatainfo.json") and "__" not in name)
            content = json.loads(stream.read(name))
        for v in content["videos"]:
            span = (v["start time"], v["end time"])
            clips.append(
                Clip(v["video_id"], v["url"], *span, None, None, 1, category=str(v["category"]), split=v["split"])
            )
        captions += [Caption(s["video_id"], s["sen_id"], s["caption"]) for s in content["sentences"]]
    return clips, captions
