"""Load the videos of a dataset folder with their captions into FiftyOne, from the list beside them."""

import json
import sys
from pathlib import Path

import fiftyone

samples = []
for videos in Path(sys.argv[1], "videos").iterdir():
    for line in (videos / "metadata.jsonl").read_text().splitlines():
        row = json.loads(line)
        path = str(videos / row.pop("file_name"))
        samples.append(fiftyone.Sample(path, tags=[row.pop("split")], **row))
dataset = fiftyone.Dataset("vttdata-demo", overwrite=True)
dataset.add_samples(samples, progress=False)
print(json.dumps({sample["video_id"]: [sample.media_type, sample.filepath, *sample["captions"]] for sample in dataset}))
