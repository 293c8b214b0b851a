"""Load a dataset folder with plain `datasets`, whole or streaming, and its videos as a ``videofolder``."""

import json
import sys

import datasets

folder, cache, streaming = sys.argv[1], sys.argv[2], sys.argv[3] == "streaming"
datasets.disable_progress_bars()
options = {"streaming": streaming, "cache_dir": cache}
shown = {"clips": {}, "captions": {}, "videos": {}}
for rows in datasets.load_dataset(folder, "clips", **options).values():
    shown["clips"] |= {row["video_id"]: row["captions"] for row in rows}
for rows in datasets.load_dataset(folder, "captions", **options).values():
    for row in rows.filter(lambda row: row["author"] == "human"):
        shown["captions"].setdefault(row["video_id"], []).append(row["caption"])
if sys.argv[4] == "videos":
    for split, rows in datasets.load_dataset("videofolder", data_dir=f"{folder}/videos", **options).items():
        for row in rows.cast_column("video", datasets.Video(decode=False)):
            shown["videos"][row["video_id"]] = [split, row["video"]["path"], *row["captions"]]
print(json.dumps(shown))
