"""Items, queries, relevance and templates of predictions of one split, for `vttdata evaluate`.

Harnesses read from it what to predict for, without any knowledge of the dataset's layout.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from vttdata.errors import VttdataError
from vttdata.export.documents import choose_task, read_documents
from vttdata.export.evaluation_tables import item_of, queries_of
from vttdata.export.files import JsonList, as_json, text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.records import to_row

RULES = (
    "`items.jsonl` has a line for each clip with human captions: its id, its file in the dataset where one is shipped, "
    "its span and its references. `queries.jsonl` has a line for each caption; `query_id` is the clip's id and the "
    "number of the caption. `relevance.trec` says which clip each query was written about. `captions.json` is a "
    "template of COCO results with empty captions, in the order of the items, and `similarity.npz` one of similarities "
    "of all queries and clips, with their ids and without the matrix. Of a set of foils, `items.jsonl` has a line for "
    "each pair, and `scores.jsonl` is a template of the scores of its two texts. Of questions, it has a line for each "
    "question with its options and a prompt in which they have letters, and `answers.jsonl` is a template of answers "
    "in a model's own words. Of moments, it has a line for each query, and `windows.jsonl` is a template of predicted "
    "windows (start, end, score) and of the saliency of each part of 2 s."
)
_USAGE_OF_CLIPS = """\
```python
import json
import numpy

items = [json.loads(line) for line in open("items.jsonl")]
predictions = [{{"image_id": item["video_id"], "caption": describe(item)}} for item in items]
json.dump(predictions, open("filled.json", "w"))

queries = [json.loads(line) for line in open("queries.jsonl")]
matrix = similarity([row["query"] for row in queries], items)  # queries x items
numpy.savez("filled.npz", similarity=matrix, **numpy.load("similarity.npz"))
```

```console
$ vttdata evaluate {name} filled.json{options}
$ vttdata evaluate {name} filled.npz{options}
```"""
_USAGE_OF_PAIRS = """\
```python
import json

with open("filled.jsonl", "w") as stream:
    for pair in (json.loads(line) for line in open("items.jsonl")):
        scores = {{"true_score": score(pair, pair["true"]), "foil_score": score(pair, pair["foil"])}}
        print(json.dumps({{"foil_id": pair["foil_id"], **scores}}), file=stream)
```

```console
$ vttdata evaluate {name} filled.jsonl{options}
```"""

_USAGE_OF_QUESTIONS = """\
```python
import json

with open("filled.jsonl", "w") as stream:
    for item in (json.loads(line) for line in open("items.jsonl")):
        text = answer(item, item["prompt"])
        print(json.dumps({{"question_id": item["question_id"], "free_text": text}}), file=stream)
```

```console
$ vttdata evaluate {name} filled.jsonl --task questions{options}
```"""
_USAGE_OF_MOMENTS = """\
```python
import json

with open("filled.jsonl", "w") as stream:
    for item in (json.loads(line) for line in open("items.jsonl")):
        windows = find(item, item["query"])  # [[start, end, score], ...], the best first
        print(json.dumps({{"qid": item["qid"], "pred_relevant_windows": windows}}), file=stream)
```

```console
$ vttdata evaluate {name} filled.jsonl --task moments{options}
```"""


def write_evaluation(request: ExportRequest) -> Written:
    """Write the items of one split and the templates.

    Raises:
        VttdataError: if no clip of the split has a human caption, or the configuration has no items.
    """
    dataset = request.dataset
    config = request.config or next((name for name in _WRITERS if name in dataset.configs), "clips")
    table = config.partition("/")[0]
    write, usage = _WRITERS.get(table, (_write_clips, _USAGE_OF_CLIPS))
    if write is _write_clips:
        dataset.require_captions(config)
    split = dataset.single_split(table, request.split)
    write(request, config, split)
    options = f" --split {split}" + (f" --config {config}" if config not in _DEFAULTS else "")
    return Written(usage.format(name=dataset.name, options=options))


def _write_pairs(request: ExportRequest, config: str, split: str) -> None:
    with (
        text_file(request.folder / "items.jsonl") as items,
        text_file(request.folder / "scores.jsonl") as scores,
    ):
        for pair in request.dataset.pairs(config, split):
            texts = {"true": pair.row[pair.true_column], "foil": pair.row[pair.foil_column]}
            items.write(as_json({"foil_id": pair.name, "video_id": pair.row["video_id"], **texts}) + "\n")
            scores.write(as_json({"foil_id": pair.name, "true_score": None, "foil_score": None}) + "\n")


def _write_clips(request: ExportRequest, config: str, split: str) -> None:
    folder = request.folder
    video_ids: list[str] = []
    query_ids: list[str] = []
    with (
        text_file(folder / "items.jsonl") as items,
        text_file(folder / "queries.jsonl") as queries,
        text_file(folder / "relevance.trec") as relevance,
        text_file(folder / "captions.json") as captions,
    ):
        captions.write("[")
        template = JsonList(captions)
        for clip in request.dataset.references(config, split, folder, request.counts):
            request.counts.left_out += not clip.references and not clip.repeated
            item = item_of(clip)
            if item is not None:
                items.write(as_json(to_row(item)) + "\n")
                template.append({"image_id": item.video_id, "caption": ""})
                video_ids.append(item.video_id)
            for query in queries_of(clip):
                queries.write(as_json(to_row(query)) + "\n")
                relevance.write(f"{query.query_id} 0 {query.video_id} 1\n")
                query_ids.append(query.query_id)
        captions.write("\n]\n")
    if not video_ids:
        raise VttdataError(
            f"{request.dataset.folder}: no clip of '{split}' has a human caption, so nothing can be scored."
        )
    np.savez(folder / "similarity.npz", query_ids=np.array(query_ids), video_ids=np.array(video_ids))


def _write_questions(request: ExportRequest, config: str, split: str) -> None:
    # Items say what is right, as those of clips and pairs do.
    task = choose_task(dataclasses.replace(request, config=config, split=split))
    with (
        text_file(request.folder / "items.jsonl") as items,
        text_file(request.folder / "answers.jsonl") as answers,
    ):
        for document in read_documents(request, task):
            items.write(as_json(to_row(document)) + "\n")
            answers.write(as_json({"question_id": document.name, "free_text": None}) + "\n")


def _write_moments(request: ExportRequest, config: str, split: str) -> None:
    dataset = request.dataset
    clips = {row["video_id"]: row for row in dataset.rows("clips", split, ["video_id", "url", "duration", "video"])}
    queries = {
        (row["video_id"], row["sen_id"]): row["caption"]
        for row in dataset.rows("captions", split, ["video_id", "sen_id", "caption"])
    }
    with (
        text_file(request.folder / "items.jsonl") as items,
        text_file(request.folder / "windows.jsonl") as windows,
    ):
        for row in dataset.rows(config, split):
            name, number = row["video_id"], row["sen_id"]
            facts = {"qid": number, "query": queries.get((name, number))} | (clips.get(name) or {"video_id": name})
            true = {"windows": list(zip(row["starts"], row["ends"], strict=True))}
            items.write(as_json(facts | true) + "\n")
            windows.write(as_json({"qid": number, "pred_relevant_windows": [], "pred_saliency_scores": []}) + "\n")


_WRITERS: Mapping[str, tuple[Callable[[ExportRequest, str, str], None], str]] = {
    "foils": (_write_pairs, _USAGE_OF_PAIRS),
    "paragraphs": (_write_pairs, _USAGE_OF_PAIRS),
    "moments": (_write_moments, _USAGE_OF_MOMENTS),
    "questions": (_write_questions, _USAGE_OF_QUESTIONS),
}
_DEFAULTS = ("clips", "foils", "questions", "moments")
FORMAT = Format(write_evaluation, RULES, any_config=True, takes_stimuli=True)
