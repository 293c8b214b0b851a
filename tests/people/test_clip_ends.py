"""Ends of clips that are set in the page are the frames that the page shows."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image

from tests.helpers.needs import library

library("starlette")
library("httpx")

from selenium.webdriver import Keys

from tests.helpers.barcode import read_number, write_movies
from tests.people.served import make, served
from tests.people.static_page.site import Assessor
from tests.people.test_pages import enter, press_and_wait, score

# The number of the frame that the video element shows, by its picture.
PICTURE = """
const video = document.getElementById('video'), canvas = document.createElement('canvas');
canvas.width = video.videoWidth; canvas.height = video.videoHeight;
canvas.getContext('2d').drawImage(video, 0, 0);
return canvas.toDataURL('image/png');
"""
SECONDS = 8
# The long form sets both ends of 60 clips; the short one those of one clip of each kind of film.
SPANS = int(os.environ.get("VTTDATA_CHOOSE_SPANS", "1"))


def shown_number(assessor: Assessor) -> int:
    """Read the barcode in the picture."""
    data = base64.b64decode(assessor.js(PICTURE).partition(",")[2])
    return read_number(np.asarray(Image.open(io.BytesIO(data)).convert("L")))


def seek(assessor: Assessor, times: tuple[float, ...], index: int) -> None:
    """Seek to a frame as a worker does who drags the player's bar: anywhere within the frame."""
    target = times[index] + Random(index).uniform(0.1, 0.9) * (times[index + 1] - times[index])
    assessor.browser.execute_async_script(
        "const [time, done] = arguments; const video = document.getElementById('video'); video.pause();"
        "video.requestVideoFrameCallback(() => setTimeout(done)); video.currentTime = time;",
        target,
    )


def test_ends_are_the_frames_that_are_shown(assessor: Assessor, tmp_path: Path) -> None:
    films = tmp_path / "films"
    films.mkdir()
    movies = {movie.path.stem: movie for movie in write_movies(films, SECONDS).values()}
    campaign = make(
        *(tmp_path / "campaign", "choose", films, "--set", "min_seconds=1", "--set", "max_seconds=9"),
        *("--set", "controls=0", "--set", "per_source=1", "--set", f"judgments={SPANS}"),
        workers=",".join(f"w{n}" for n in range(SPANS)),
    )
    set_frames: dict[tuple[str, str], tuple[int, int]] = {}
    with served(campaign) as running:
        for worker in range(SPANS):
            enter(assessor, running, f"w{worker}")
            for number in range(len(movies)):
                assessor.wait(
                    lambda number=number: assessor.is_shown("task") and assessor.text("count") == f"Video {number + 1}"
                )
                state = running.service.state(f"w{worker}")
                video = campaign.items[state["unit"], state["item"]].video_id
                times = tuple(state["shown"]["times"])
                assessor.wait(lambda: assessor.text("frame") != "")
                if not worker and not number:
                    assessor.audit()
                    assert assessor.js("return document.querySelectorAll('.frames button').length") == 8
                draw = Random(f"{video} {worker}")
                numbers = []
                for key, low in (("[", 5), ("]", 100)):
                    seek(assessor, times, low + draw.randrange(40))
                    for _ in range(draw.randrange(3)):
                        before = assessor.text("frame")
                        assessor.press(draw.choice([",", "."]))
                        assessor.wait(lambda before=before: assessor.text("frame") != before)
                    numbers.append(shown_number(assessor))
                    assessor.press(key)
                    assert f"frame {numbers[-1]} " in assessor.text("frame")
                press_and_wait(assessor, running, "k", Keys.ENTER)
                set_frames[video, campaign.hash_worker(f"w{worker}")] = (numbers[0], numbers[1])
        rows = score(running, tmp_path / "scores")
    exact = 0
    for row in rows:
        first, last = set_frames[row["source_id"], row["annotator"]]
        inside = movies[row["source_id"]].inside(float(row["start"]) - 1e-6, float(row["end"]) - 1e-6)
        exact += inside == list(range(first, last + 1))
    assert (exact, len(rows)) == (5 * SPANS, 5 * SPANS)
    clips = (tmp_path / "scores" / "clips.csv").read_text().splitlines()
    assert clips[0] == "path,id,start,end,video_id"
    assert len(clips) == 6
