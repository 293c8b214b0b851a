"""Return the items of CLIP4Clip's own data loaders for the options of its main_task_retrieval.py, in its checkout.

    python clip4clip_items.py EXPECTED [OPTION ...]

EXPECTED is JSON, {split: [[video, caption], ...]}, of which the tokens and frames are printed too, as its tokenizer and
its extractor of frames have them. The group of processes is one process without a GPU.
"""

import functools
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

import torch

expected = json.loads(Path(sys.argv.pop(1)).read_text())
start = torch.distributed.init_process_group
store = tempfile.mkdtemp()
torch.distributed.init_process_group = lambda backend: start("gloo", f"file://{store}/store", world_size=1, rank=0)
sys.path.insert(0, os.getcwd())

import main_task_retrieval as program

options = program.get_args()
tokenizer = program.ClipTokenizer()
loaders = program.DATALOADER_DICT[options.datatype]
datasets = {
    "train": loaders["train"](options, tokenizer)[0].dataset,
    "test": loaders["val"](options, tokenizer)[0].dataset,
}
for dataset in datasets.values():
    # Many pairs are about one video.
    dataset.rawVideoExtractor.get_video_data = functools.cache(dataset.rawVideoExtractor.get_video_data)


def digest(frames):
    return hashlib.sha256(frames.astype("float32").tobytes()).hexdigest()


def items(dataset):
    for number in range(len(dataset)):
        tokens, _, _, video, mask = dataset[number]
        yield [[int(token) for token in tokens[0] if token], digest(video[0][: int(mask.sum())])]


def wanted(dataset, video, caption):
    words = [dataset.SPECIAL_TOKEN["CLS_TOKEN"], *tokenizer.tokenize(caption)[: options.max_words - 2]]
    frames = dataset.rawVideoExtractor.get_video_data(video)["video"]
    tokens = tokenizer.convert_tokens_to_ids([*words, dataset.SPECIAL_TOKEN["SEP_TOKEN"]])
    return [tokens, digest(dataset.rawVideoExtractor.process_raw_data(frames)[: options.max_frames].numpy())]


print(
    json.dumps(
        {
            "train": list(datasets["train"].sentences_dict.values()),
            "test": datasets["test"].data[["video_id", "sentence"]].values.tolist(),
            "items": {split: list(items(dataset)) for split, dataset in datasets.items()},
            "wanted": {split: [wanted(datasets[split], *row) for row in rows] for split, rows in expected.items()},
        }
    )
)
