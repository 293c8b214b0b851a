"""Read the captions of a dataset folder through its Croissant file with mlcroissant, and what it warns of."""

import json
import sys

import mlcroissant

dataset = mlcroissant.Dataset(jsonld=f"{sys.argv[1]}/croissant.json", mapping={"repo": sys.argv[1]})
captions = {}
for record in dataset.records(sys.argv[2]):
    row = {name.rpartition("/")[2]: value for name, value in record.items()}
    text = {name: value.decode() if isinstance(value, bytes) else value for name, value in row.items()}
    if text["author"] == "human":
        captions.setdefault(text["video_id"], []).append(text["caption"])
warnings = [str(warning) for warning in dataset.metadata.ctx.issues.warnings]
print(json.dumps({"captions": captions, "warnings": warnings}))
