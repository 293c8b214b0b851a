"""References of each split as COCO captions, for pycocotools and pycocoevalcap.

The files follow COCO captions (Chen et al., arXiv:1504.00325, section 3), except that image ids are strings, the ids of
the clips. No metric is computed.
"""

from __future__ import annotations

from vttdata.dataset.licences import find_licence_address
from vttdata.errors import VttdataError
from vttdata.export.files import json_with_two_lists, one_line
from vttdata.export.format import ExportRequest, Format, Written

USAGE = """\
```python
from pycocotools.coco import COCO
from pycocoevalcap.eval import COCOEvalCap

truth = COCO("{truth}")
scores = COCOEvalCap(truth, truth.loadRes("{results}"))
scores.evaluate()  # needs Java for the tokenizer, METEOR and SPICE
```"""
RULES = (
    "Image ids are the ids of the clips, and `file_name` is the video in the dataset, where it has one; annotation ids "
    "count from 1 in the order of the file. Clips without human captions are left out. Line breaks in a caption are "
    "replaced by a space: the tokenizer reads one caption per line, and a line break would shift all captions after it."
)


def file_name(config: str, split: str) -> str:
    """Return ``captions_<split>.json``, or ``captions_<protocol>.<split>.json``.

    Names are unique, since split names have no dots.
    """
    return f"captions_{split}.json" if config == "clips" else f"captions_{config}.{split}.json"


def write_references(request: ExportRequest) -> Written:
    """Write the ground truth of each split.

    Raises:
        VttdataError: if a split has no clip with a human caption.
    """
    dataset, config = request.dataset, request.clip_config
    head = {
        "info": {"description": dataset.name, "version": dataset.version},
        "licenses": [{"id": 1, "name": dataset.licence, "url": find_licence_address(dataset.licence) or ""}],
        "type": "captions",
    }
    broken_lines = 0
    for split in request.splits():
        path = request.folder / file_name(config, split)
        with json_with_two_lists(path, head, "images", "annotations") as (images, annotations):
            for clip, references, repeated in dataset.references(config, split, request.folder, request.counts):
                request.counts.left_out += not references and not repeated
                if references:
                    file = {} if clip["video"] is None else {"file_name": clip["video"]}
                    images.append({"id": clip["video_id"], **file})
                for reference in references:
                    text = one_line(reference.text)
                    broken_lines += text != reference.text
                    annotations.append({"image_id": clip["video_id"], "id": annotations.length + 1, "caption": text})
        if not images.length:
            raise VttdataError(f"{dataset.folder}: no clip of '{split}' has a human caption, so nothing can be scored.")
    notes = [f"Captions whose line breaks became spaces: {broken_lines:,}."] if broken_lines else []
    return Written(USAGE.format(truth=file_name(config, split), results="results.json"), notes)


FORMAT = Format(write_references, RULES)
