"""Read a dataset folder in batches with PyTorch's DataLoader and two worker processes, as the manual shows."""

import json
import sys

import datasets
import torch

datasets.disable_progress_bars()
folder, large, cache = sys.argv[1:]


def batches(rows, **options):
    return list(torch.utils.data.DataLoader(rows, batch_size=4, num_workers=2, **options))


def pixels(rows):
    """Return for each clip its number of frames and the mean of its first and last frame."""
    return {
        row["video_id"]: [len(row["video"]), *(float(row["video"][at].float().mean()) for at in (0, -1))]
        for row in rows
    }


captions = datasets.load_dataset(folder, "captions", split="train", cache_dir=cache)
texts = batches(captions.select_columns(["video_id", "sen_id", "caption"]))
clips = datasets.load_dataset(folder, "clips", split="train", cache_dir=cache)
lists = batches(clips, collate_fn=list)
ids = batches(clips.select_columns(["video_id", "source_id"]))
stream = datasets.load_dataset(large, "captions", split="train", streaming=True)
resharded = stream.reshard().select_columns(["video_id", "sen_id", "caption"])
whole = datasets.load_dataset(large, "captions", split="train", cache_dir=cache)
cut = whole.to_iterable_dataset(num_shards=4).select_columns(["video_id", "sen_id", "caption"])
videos = datasets.load_dataset("videofolder", data_dir=f"{folder}/videos", split="train", cache_dir=cache)
print(
    json.dumps(
        {
            "captions": [text for batch in texts for text in batch["caption"]],
            "numbers": [int(number) for batch in texts for number in batch["sen_id"]],
            "clips": {row["video_id"]: row["captions"] for batch in lists for row in batch},
            "ids": [name for batch in ids for name in batch["video_id"]],
            "shards": [stream.num_shards, resharded.num_shards, cut.num_shards],
            "streamed": sorted(text for batch in batches(resharded) for text in batch["caption"]),
            "cut": sorted(text for batch in batches(cut) for text in batch["caption"]),
            "pixels": pixels(videos),
        }
    )
)
