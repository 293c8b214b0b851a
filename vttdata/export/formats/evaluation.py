"""Items, queries, relevance and a template of predictions of one split, for `vttdata evaluate`.

Harnesses read from it what to predict for, without any knowledge of the dataset's layout.
"""

from __future__ import annotations

from vttdata.errors import VttdataError
from vttdata.export.files import JsonList, as_json, text_file
from vttdata.export.format import ExportRequest, Format, Written

RULES = (
    "`items.jsonl` has a line for each clip with human captions: its id, its file in the dataset where one is shipped, "
    "its span and its references. `queries.jsonl` has a line for each caption; `query_id` is the clip's id and the "
    "number of the caption. `relevance.trec` says which clip each query was written about. `captions.json` is a "
    "template of COCO results with empty captions, in the order of the items."
)
_USAGE = """\
```python
import json

items = [json.loads(line) for line in open("items.jsonl")]
predictions = [{{"image_id": item["video_id"], "caption": describe(item)}} for item in items]
json.dump(predictions, open("captions.json", "w"))
```

```console
$ vttdata evaluate {name} captions.json{options}
```"""


def write_evaluation(request: ExportRequest) -> Written:
    """Write the four files.

    Raises:
        VttdataError: if no clip of the split has a human caption.
    """
    dataset, config, split = request.dataset, request.clip_config, request.single_split()
    folder, left_out, number = request.folder, 0, 0
    with (
        text_file(folder / "items.jsonl") as items,
        text_file(folder / "queries.jsonl") as queries,
        text_file(folder / "relevance.trec") as relevance,
        text_file(folder / "captions.json") as captions,
    ):
        captions.write("[")
        template = JsonList(captions)
        for clip, references, repeated in dataset.references(config, split, folder, request.counts):
            left_out += not references and not repeated
            if not references:
                continue
            number += 1
            video_id = clip["video_id"]
            facts = {name: clip[name] for name in ("source_id", "url", "start", "end", "video")}
            texts = [reference.text for reference in references]
            items.write(as_json({"video_id": video_id, **facts, "references": texts}) + "\n")
            for reference in references:
                query = f"{video_id}#{reference.sen_id}"
                queries.write(as_json({"query_id": query, "video_id": video_id, "query": reference.text}) + "\n")
                relevance.write(f"{query} 0 {video_id} 1\n")
            template.append({"image_id": video_id, "caption": ""})
        captions.write("\n]\n")
    if not number:
        raise VttdataError(f"{dataset.folder}: no clip of '{split}' has a human caption, so nothing can be scored.")
    options = f" --split {split}" + (f" --config {config}" if config != "clips" else "")
    notes = [f"Clips without a human caption, which are left out: {left_out:,}."] if left_out else []
    return Written(_USAGE.format(name=dataset.name, options=options), notes)


FORMAT = Format(write_evaluation, RULES)
