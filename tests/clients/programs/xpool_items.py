"""Return the items of X-Pool's own data sets for the options of its train.py, in its checkout.

    python xpool_items.py EXPECTED [OPTION ...]

EXPECTED is JSON, {split: [[video, caption], ...]}; the frames of these videos are printed too. Frames are those before
the crops that training draws.
"""

import functools
import hashlib
import json
import os
import sys
from pathlib import Path

expected = json.loads(Path(sys.argv.pop(1)).read_text())
sys.path.insert(0, os.getcwd())

from config.all_config import AllConfig
from datasets.data_factory import DataFactory
from datasets.video_capture import VideoCapture

config = AllConfig()
# Many pairs are about one video.
VideoCapture.load_frames_from_video = functools.cache(VideoCapture.load_frames_from_video)


def digest(frames):
    return hashlib.sha256(frames.numpy().tobytes()).hexdigest()


def items(split):
    dataset = DataFactory.get_data_loader(config, split).dataset
    dataset.img_transforms = None
    for number in range(len(dataset)):
        item = dataset[number]
        yield [item["video_id"], item["text"], digest(item["video"])]


def wanted(video):
    return digest(VideoCapture.load_frames_from_video(video, config.num_frames, config.video_sample_type)[0])


print(
    json.dumps(
        {
            "items": {split: list(items(split)) for split in ("train", "test")},
            "wanted": {split: [wanted(video) for video, _ in rows] for split, rows in expected.items()},
        }
    )
)
