"""Make the pictures of the README and the manuals: ``python docs/pictures.py``, or ``make pictures``.

A build of the recipe `demo` goes to a temporary folder, and campaigns about its clips are served and exported there.
The same tools give the same pictures. Chromium and its driver are needed.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import io
import shutil
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.support.ui import WebDriverWait

from vttdata import Messages, build, load_dataset
from vttdata.dataset.videos import PREVIEW
from vttdata.media.video_folder import locate_videos
from vttdata.people import make_campaign
from vttdata.people.campaign import Campaign
from vttdata.people.exports import export_campaign
from vttdata.people.server import bind, opened_campaign, run_server
from vttdata.people.task import Material
from vttdata.records import Caption
from vttdata.report.build_report import REPORT

DOCS = Path(__file__).resolve().parent
PICTURES = DOCS / "pictures"
_DESKTOP, _PHONE = (880, 820), (360, 820)
_CRITERIA = "criteria={fit: How well does it fit?, language: How well is it written?}"
_HIT = ["system=8", "human=2", "degraded=2", "repeat=2", "min_pairs=2"]
# Page of a task: settings of its campaign, and the keys that are pressed before the picture is taken.
_TASKS: dict[str, tuple[list[str], list[str]]] = {
    "choose": (["min_seconds=3", "controls=0"], ["."]),
    "caption": (["qualification=false", "questions=0"], ["A yellow fish swims among green plants."]),
    "rate-slider": (_HIT, [Keys.PAGE_UP] * 3),
    "rate-scale": ([_CRITERIA, "controls=0"], ["4"]),
    "relevance": (["videos=2", "captions=5"], ["1", "3"]),
    "foil-review": (["controls=0"], ["1"]),
}


class Browser:
    """Chromium without a window, which takes pictures of pages."""

    def __init__(self, profile: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
        for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={profile}"):
            options.add_argument(flag)
        self.chrome = webdriver.Chrome(service=Driver(shutil.which("chromedriver")), options=options)

    def begin(self, url: str) -> None:
        """Open a worker's page and wait until the first video shows."""
        self.chrome.get(url)
        wait = WebDriverWait(self.chrome, 30)
        wait.until(lambda chrome: chrome.find_element("id", "begin").is_displayed())
        self.chrome.find_element("id", "begin").click()
        wait.until(lambda chrome: chrome.execute_script("return document.getElementById('video').readyState > 1"))

    def press(self, *keys: str) -> None:
        """Press keys one after another."""
        ActionChains(self.chrome, duration=0).send_keys(*keys).pause(0.5).perform()

    def shoot(self, size: tuple[int, int], scheme: str = "light", *, whole: bool = False) -> Image.Image:
        """Return a picture of what a window of some size shows, or of the whole page in this width."""
        width, height = size
        self.chrome.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        if whole:
            height = self.chrome.execute_script("return Math.ceil(document.querySelector('main').offsetHeight)")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        options = {"captureBeyondViewport": True, "format": "png", "clip": clip}
        data = self.chrome.execute_cdp_cmd("Page.captureScreenshot", options)["data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def save(path: Path, *pictures: Image.Image) -> None:
    """Save pictures side by side, on the ground of the pages; a palette makes the file a third as large."""
    size = sum(picture.width for picture in pictures), max(picture.height for picture in pictures)
    sheet = Image.new("RGB", size, pictures[0].getpixel((0, 0)))
    left = 0
    for picture in pictures:
        sheet.paste(picture, (left, 0))
        left += picture.width
    sheet.quantize(256).save(path, optimize=True)


def write_inputs(folder: Path, dataset: Path) -> tuple[Material, dict[str, list[str]]]:
    """Write tables about six clips of the demo; return the material of campaigns, and the inputs of each task."""
    captions: dict[str, list[str]] = defaultdict(list)
    for row in load_dataset(str(dataset), "captions")["train"]:
        captions[row["video_id"]].append(row["caption"])
    names = sorted(captions)[:6]
    clips = folder / "clips"
    clips.mkdir()
    for name, path in locate_videos(dataset, names).items():
        shutil.copyfile(path, clips / f"{name}.mp4")

    def write(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([columns, *rows])
        return str(folder / name)

    systems = []
    for shift, system in enumerate(("ours", "theirs")):
        # The second system says what is true of the clip before.
        rows = [(v, captions[names[n - shift]][shift]) for n, v in enumerate(names)]
        systems.append(write(f"{system}.csv", ("video_id", "caption"), rows))
    pairs = [(v, f"{v}-{n}", captions[w][2], "") for v in names[:2] for n, w in enumerate(names)]
    foils = [(f"f{n}", v, captions[v][1], captions[v][1].replace(" a ", " no ", 1)) for n, v in enumerate(names)]
    foils = [row for row in foils if row[2] != row[3]]
    human = [Caption(v, n, text) for v in names for n, text in enumerate(captions[v][3:5])]
    inputs = {
        "choose": [str(clips)],
        "caption": [str(clips)],
        "rate-slider": systems,
        "rate-scale": systems,
        "relevance": [write("pairs.csv", ("video_id", "caption_id", "caption", "expected"), pairs)],
        "foil-review": [write("foils.csv", ("foil_id", "video_id", "caption", "foil"), foils)],
    }
    return Material([], lambda wanted: locate_videos(clips, wanted), human), inputs


def show_campaign(browser: Browser, campaign: Campaign, keys: Sequence[str]) -> None:
    """Take pictures of the page of a campaign's task, and for one task of the exported and of the requester's page."""
    with opened_campaign(campaign) as service, bind("127.0.0.1", 0) as listener:
        threading.Thread(target=run_server, args=(campaign, service, listener), daemon=True).start()
        root = f"http://127.0.0.1:{listener.getsockname()[1]}"
        service.store.add_worker("ann")
        browser.begin(f"{root}/w/{campaign.worker_token('ann')}")
        if campaign.task_name == "caption":
            browser.chrome.find_element("id", "written").click()
        browser.press(*keys)
        shots = (browser.shoot((570, 700), whole=True), browser.shoot((282, 700), whole=True))
        save(DOCS / f"people-{campaign.task_name}.png", *shots)
        if campaign.task_name == "foil-review":
            _answer(service, ("bob", "cem", "dora"))
            browser.chrome.get(f"{root}/r/{campaign.requester_token}")
            WebDriverWait(browser.chrome, 30).until(lambda chrome: chrome.find_elements("css selector", "#workers td"))
            save(DOCS / "people-requester.png", browser.shoot((825, 590), whole=True))
        if campaign.task_name == "rate-slider":
            export_campaign(campaign, service.store, "pages", campaign.folder / "exported")
            page = min((campaign.folder / "exported" / "pages").glob("*.html"))
            browser.begin(f"{page.as_uri()}?worker=ann")
            browser.press(*keys)
            save(DOCS / "assessment-page.png", browser.shoot(_DESKTOP), browser.shoot(_PHONE, "dark"))


def _answer(service: Any, workers: Sequence[str]) -> None:
    """Have workers review every foil."""
    for number, worker in enumerate(workers):
        service.store.add_worker(worker)
        service.worker_of(service.campaign.worker_token(worker))
        state = service.agree(worker)
        while state["stage"] == "item":
            names = (f"{worker} {state['done']}", state["unit"], state["item"])
            verdict = "odd" if number == state["done"] else "sound"
            state = service.answer(worker, *names, {"verdict": verdict}, None, 8.0 + number)


def main() -> None:
    """Build the demo and replace the pictures."""
    if not shutil.which("chromedriver"):
        sys.exit("The pictures need Chromium and its driver, chromedriver; none was changed.")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        run = build("demo", out=folder / "demo", messages=Messages(quiet=True))
        shutil.copyfile(run.dataset / PREVIEW, PICTURES / "demo.jpg")
        browser = Browser(folder / "profile")
        stack.callback(browser.chrome.quit)
        browser.chrome.get((run.folder / REPORT).as_uri())
        save(PICTURES / "report.png", browser.shoot((1200, 1000)))
        material, inputs = write_inputs(folder, run.dataset)
        for task, (settings, keys) in _TASKS.items():
            about = Material(inputs[task], material.files, material.human if task == "rate-slider" else ())
            campaign = make_campaign(folder / task, task, about, settings)
            show_campaign(browser, campaign, keys)


if __name__ == "__main__":
    main()
