"""Build a dataset with four mistakes, which its report shows: ``python -m tests.helpers.planted_mistakes FOLDER``.

- The threshold ``filter.max_dark`` is 0.09 instead of 0.9, and three good films with a short dark scene are lost.
- A film is in both splits, once smaller and with less contrast.
- A clip whose captions describe cooking has the category sports.
- One annotator has pasted one caption everywhere.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from tests.helpers.films import edit, encode, write_film
from vttdata.compose.build import Messages, build

FILMS, DARK = 24, 3
ORIGINAL, COPY = "film-00.mp4", "film-copy.mp4"
MISLABELLED = "film-07.mp4"
PASTER, PASTED = "w3", "this video shows something that is happening"
_ACTIONS = {
    "cooking": ["fries onions in a pan", "cuts tomatoes with a knife", "stirs soup in a pot", "bakes bread in an oven"],
    "sports": ["kicks a ball into the goal", "runs on the track", "throws a ball to the team", "swims to the wall"],
    "music": ["plays a guitar on stage", "sings a song into a microphone", "plays drums in a band", "tunes a piano"],
}
_PEOPLE = ["a man", "a woman", "a girl", "somebody", "an old man"]


def build_with_mistakes(folder: Path) -> Path:
    """Build the dataset, and return the build folder."""
    films = folder / "films"
    films.mkdir(parents=True)
    categories: dict[str, str] = {}
    topics: dict[str, str] = {}
    for number in range(FILMS):
        name = f"film-{number:02}.mp4"
        write_film(films / name, number, 8 if name == ORIGINAL else 2)
        categories[name] = topics[name] = [*_ACTIONS][number % 3]
    categories[MISLABELLED], topics[MISLABELLED] = "sports", "cooking"
    edit(films / ORIGINAL, films / COPY, "scale=128:72,eq=contrast=0.9")
    categories[COPY] = topics[COPY] = categories[ORIGINAL]
    rng = np.random.default_rng(0)
    for number in range(DARK):
        frames = np.kron(rng.integers(60, 200, (25, 9, 16, 3)), np.ones((1, 10, 10, 1)))
        frames[:5] = 0
        encode(films / f"dark-{number}.mp4", frames)
    with (folder / "videos.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["path", "id", "category"])
        names = [path.name for path in sorted(films.iterdir())]
        rows.writerows([f"films/{name}", Path(name).stem, categories.get(name, "music")] for name in names)
    with (folder / "captions.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["source", "caption", "annotator"])
        for number, (name, topic) in enumerate(topics.items()):
            for worker in range(4):
                person, action = _PEOPLE[(number + worker) % 5], _ACTIONS[topic][(number // 3 + worker) % 4]
                text = PASTED if f"w{worker}" == PASTER else f"{person} {action} {('slowly', 'again', '')[number % 3]}"
                rows.writerow([name, text.strip(), f"w{worker}"])
    settings = {
        "name": "me/mistakes",
        "collect.manifest": folder / "videos.csv",
        "captions.file": folder / "captions.csv",
        "captions.per_clip": 3,
        "clips.whole": True,
        "media.keep": "none",
        "filter.min_seconds": 1,
        "filter.min_height": 0,
        "filter.max_dark": 0.09,
        "filter.max_frozen": None,
        "split.together": ["source"],
        "split.method": "balanced",
        "split.ratios": {"train": 0.7, "test": 0.3},
        "allow_leaks": "planted",
    }
    return build("own-folder", out=folder / "build", settings=settings, messages=Messages(quiet=True)).folder


if __name__ == "__main__":
    print(build_with_mistakes(Path(sys.argv[1])) / "report.html")
