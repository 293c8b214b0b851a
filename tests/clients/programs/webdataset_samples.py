"""Read tar shards with WebDataset, shuffled between shards or not, and print the facts and the size of each video."""

import hashlib
import json
import sys
from pathlib import Path

import webdataset

shards = sorted(map(str, Path(sys.argv[1]).glob("*.tar")))
samples = webdataset.WebDataset(shards, shardshuffle=False).decode()
shown = {}
for sample in samples:
    facts = sample["json"]
    video = sample.get(facts["video"]) if facts["video"] else None
    digest = None if video is None else hashlib.sha256(video).hexdigest()
    shown[facts["video_id"]] = [facts["split"], digest, *facts["captions"]]
print(json.dumps(shown))
