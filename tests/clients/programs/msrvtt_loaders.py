"""Read the files of the format ``retrieval`` by the layout that the manual of CLIP4Clip and the source of X-Pool state.

    python msrvtt_loaders.py FOLDER

Both programs take these paths in FOLDER, read lists with `pandas.read_csv` and its defaults, and open a clip's video as
VIDEOS/ID.mp4, CLIP4Clip otherwise as VIDEOS/ID.webm.
"""

import json
import sys
from pathlib import Path

import pandas

folder = Path(sys.argv[1])
VIDEOS = folder / "MSRVTT_Videos"


class Clip4ClipTest:
    """Pairs of the test list, one a clip."""

    def __init__(self):
        self.listed = pandas.read_csv(folder / "MSRVTT_JSFUSION_test.csv")

    def __len__(self):
        return len(self.listed)

    def __getitem__(self, number):
        clip, text = (self.listed[column].values[number] for column in ("video_id", "sentence"))
        mp4 = VIDEOS / f"{clip}.mp4"
        return clip, text, str(mp4 if mp4.exists() else mp4.with_suffix(".webm"))


class Clip4ClipTrain(Clip4ClipTest):
    """Pairs of the training list with every sentence, and the clips of each source by the end of its link."""

    def __init__(self):
        self.listed = pandas.read_csv(folder / "MSRVTT_train.9k.csv")
        data = json.loads((folder / "MSRVTT_data.json").read_text())
        listed = set(self.listed["video_id"].values)
        self.pairs = [(row["video_id"], row["caption"]) for row in data["sentences"] if row["video_id"] in listed]
        self.parents = {row["video_id"]: row["url"].split("?v=")[-1] for row in data["videos"]}

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, number):
        clip, text = self.pairs[number]
        return clip, text, str(VIDEOS / f"{clip}.mp4")


def xpool_pairs():
    """Return X-Pool's pairs for training, by the order of its list, and for testing, by rows."""
    sentences = {}
    for row in json.loads((folder / "MSRVTT_data.json").read_text())["sentences"]:
        sentences.setdefault(row["video_id"], []).append(row["caption"])
    listed = pandas.read_csv(folder / "MSRVTT_train.9k.csv")["video_id"].unique()
    test = pandas.read_csv(folder / "MSRVTT_JSFUSION_test.csv")
    training = [[clip, text] for clip in listed for text in sentences[clip]]
    return training, [[row.video_id, row.sentence] for row in test.itertuples()]


train, test = Clip4ClipTrain(), Clip4ClipTest()
training, testing = xpool_pairs()
rows = {"train": [train[number] for number in range(len(train))], "test": [test[number] for number in range(len(test))]}
print(json.dumps({**rows, "parents": train.parents, "xpool_train": training, "xpool_test": testing}))
