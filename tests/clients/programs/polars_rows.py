"""Read the captions of a dataset folder with polars: rows and captions of each clip, lazily, by a glob."""

import json
import sys

import polars

captions = polars.scan_parquet(f"{sys.argv[1]}/captions/*.parquet")
human = captions.filter(polars.col("author") == "human").sort("video_id", "sen_id")
clips = human.group_by("video_id", maintain_order=True).agg("caption").collect()
print(json.dumps(dict(zip(*clips.to_dict(as_series=False).values(), strict=True))))
