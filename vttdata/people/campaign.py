"""Make a campaign and read it: a folder with its settings, units, videos and secret, checked whenever it is opened.

Answers are in the database ``answers.sqlite`` of the folder (`vttdata.people.store`).
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import hmac
import json
import os
import re
import secrets
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.database_path import check_database_path
from vttdata.files.reading import file_sha256
from vttdata.ids import digest, pseudonym
from vttdata.json_types import JsonObject
from vttdata.people.addresses import is_url, quote_address
from vttdata.people.answers.manifest import Manifest, ManifestItem
from vttdata.people.setting_values import read_settings
from vttdata.people.task import Item, Material, Note, Task, Unit, load_task
from vttdata.settings import Count, PositiveCount, PositiveSeconds, Strict

CAMPAIGN, UNITS, SECRET, DATABASE, MEDIA = "campaign.json", "units.jsonl", "secret", "answers.sqlite", "media"
FORMAT = 1
MOST_CONTROL_EVERY = 8

DEFAULT_CONSENT = (
    "Your answers, the time each of them takes and the name in your link are stored by the people who sent it to you. "
    "Before anything is published, your name is replaced by a code from which it cannot be found. You can stop at any "
    "time, and have everything you gave deleted by asking them."
)


@dataclass(frozen=True, slots=True)
class CampaignSettings(Strict):
    """Settings of every campaign, whatever its task.

    Fields:
        judgments: how many different workers answer each unit; by default more than 3 where some of those who are
            invited would else find too little to be judged by.
        per_worker: most units that a worker gets, beside those of the qualification; 0 for no limit.
        reservation_seconds: how long a unit waits for the worker who has it, from the last answer on.
        control_every: one unit in so many is a control, where the task has units that are controls; None for 8, or
            fewer where a worker gets so few units that controls enough to judge by would not be among them.
        consent: text of the first page, to which a worker agrees; `Task.observes` follows it.
        title: of the pages; None for the task's.
    """

    judgments: PositiveCount = 3
    per_worker: Count = 0
    reservation_seconds: PositiveSeconds = 1800.0
    control_every: PositiveCount | None = None
    consent: str = DEFAULT_CONSENT
    title: str | None = None


@dataclass(frozen=True, slots=True)
class PageVideo:
    """Video of a campaign: its original `file`, and what the `page` plays, which may be the same; both absolute paths.

    `bytes` and `sha256` are those of `page`. For a video on another server both are its URL, of which neither is known.
    """

    video_id: str
    file: str
    page: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Campaign:
    """Campaign as its folder has it.

    `units` are in the order in which equally covered ones are handed out, `videos` by their ids. Links and hashes are
    derived from `secret`; answers belong to `digest`, that of units and settings. `notes` say what was left out.
    """

    folder: Path
    task_name: str
    task: Task
    settings: CampaignSettings
    units: Mapping[str, Unit]
    videos: Mapping[str, PageVideo]
    secret: bytes = field(repr=False)
    digest: str
    notes: tuple[Note, ...] = ()

    @property
    def title(self) -> str:
        """Title of the pages."""
        return self.settings.title or self.task.title

    @property
    def consent(self) -> str:
        """Text to which a worker agrees: the requester's, and what the page observes."""
        return f"{self.settings.consent} {self.task.observes}".strip()

    def token(self, *purpose: str) -> str:
        """Return an unguessable text for a purpose, 132 bits: of a worker's link, of the requester's page."""
        mac = hmac.new(self.secret, json.dumps(purpose).encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(mac).decode()[:22]

    def worker_token(self, worker: str) -> str:
        """Return the token in a worker's link."""
        return self.token("worker", worker)

    @cached_property
    def requester_token(self) -> str:
        """Token of the requester's page."""
        return self.token("requester")

    @cached_property
    def join_token(self) -> str:
        """Token of the link for crowd platforms, which name their workers in its query."""
        return self.token("join")

    @cached_property
    def completion_code(self) -> str:
        """Code that a worker is shown at the end, for platforms that ask for one."""
        return re.sub("[^A-Z2-7]", "", base64.b32encode(self.token("completion").encode()).decode())[:8]

    def hash_worker(self, worker: str) -> str:
        """Return the name under which a worker is published: a hash with the campaign's salt."""
        return pseudonym(self.token("salt").encode(), worker)

    @cached_property
    def items(self) -> dict[tuple[str, str], Item]:
        """Items by unit and id."""
        return {(unit.unit, item.item): item for unit in self.units.values() for item in unit.items}

    def manifest(self) -> Manifest:
        """Return what each item of Direct Assessment shows.

        Raises:
            VttdataError: when the task is another one.
        """
        if self.task_name != "rate-slider":
            raise VttdataError(
                f"{self.folder}: this is for the task rate-slider, and the campaign's is {self.task_name}."
            )
        return {
            unit.unit: {
                item.item: ManifestItem(item.video_id, item.facts["system"], item.facts["kind"]) for item in unit.items
            }
            for unit in self.units.values()
        }

    def with_task_settings(self, values: Mapping[str, Any]) -> Campaign:
        """Return the campaign with other settings of its task.

        Raises:
            VttdataError: when the task has no such setting.
        """
        unknown = sorted(values.keys() - {field.name for field in dataclasses.fields(self.task.settings)})
        if unknown:
            raise VttdataError(f"{self.folder}: the task {self.task_name} has no setting {unknown[0]!a}.")
        task = type(self.task)(dataclasses.replace(self.task.settings, **values))
        return dataclasses.replace(self, task=task)

    @cached_property
    def _video_numbers(self) -> dict[str, dict[str, int]]:
        return {}

    def video_numbers(self, worker: str) -> dict[str, int]:
        """Return the number of each video in a worker's addresses of our server, ascending; they reveal nothing."""
        if worker not in self._video_numbers:
            order = sorted(self.videos, key=lambda video_id: self.token("video", worker, video_id))
            self._video_numbers[worker] = {video_id: number for number, video_id in enumerate(order)}
        return self._video_numbers[worker]

    def video_address(self, worker: str, video_id: str) -> int | str:
        """Return where a worker's page finds a video: its number on our server, or its URL."""
        page = self.videos[video_id].page
        return page if is_url(page) else self.video_numbers(worker)[video_id]


def write_campaign(
    folder: Path,
    task_name: str,
    task: Task,
    settings: CampaignSettings,
    units: Iterable[Unit],
    videos: Iterable[PageVideo],
    material: Material,
) -> Campaign:
    """Write the folder of a campaign with the secret and the notes of its material, and read it back.

    Raises:
        VttdataError: when the folder holds a campaign already or cannot be written, or there are no units.
    """
    check_new_folder(folder)
    lines = [json.dumps(dataclasses.asdict(unit), ensure_ascii=False) for unit in units]
    if not lines:
        raise VttdataError("There is nothing to answer, so no campaign was made.")
    text = "".join(f"{line}\n" for line in lines)
    content = {
        "format": FORMAT,
        "task": task_name,
        "settings": dataclasses.asdict(settings),
        "task_settings": dataclasses.asdict(task.settings),
        "units_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "videos": [dataclasses.asdict(video) for video in videos],
        "notes": [note._asdict() for note in material.notes],
        "datasets": list(material.datasets),
    }
    with DescribeOSErrors(f"{folder}: the campaign cannot be written"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The last one last, so that a folder with this file is complete. All say what is a control.
        texts = {UNITS: text, SECRET: material.secret.hex(), CAMPAIGN: json.dumps(content, indent=1)}
        for name, content_of_file in texts.items():
            with open(folder / name, "x", encoding="utf-8", newline="\n", opener=_open_private) as f:
                f.write(content_of_file)
    return read_campaign(folder)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def check_new_folder(folder: Path) -> None:
    """Raise VttdataError when a folder holds a campaign or the beginning of one, or can hold no database."""
    check_database_path(folder)
    if any((folder / name).exists() for name in (CAMPAIGN, UNITS, SECRET, DATABASE)):
        raise VttdataError(f"{folder}: holds a campaign already; choose another folder with --out.")


def read_campaign(folder: Path) -> Campaign:
    """Read the folder of a campaign.

    Raises:
        VttdataError: when there is none, it was changed since it was made, or its task cannot be loaded.
    """
    try:
        content = json.loads((folder / CAMPAIGN).read_text(encoding="utf-8"))
        text = (folder / UNITS).read_text(encoding="utf-8")
        secret = bytes.fromhex((folder / SECRET).read_text(encoding="ascii").strip())
    except FileNotFoundError as error:
        if (folder / "manifest.csv").is_file() and (folder / "crowd.csv").is_file():
            raise VttdataError(
                f"{folder}: holds HITs and not a campaign; their answers are scored with 'vttdata people score FILE... "
                f"--manifest {shlex.quote(str(folder / 'manifest.csv'))} --out DIR'."
            ) from error
        missing = Path(error.filename).name
        raise VttdataError(f"{folder}: not a campaign; it has no {missing} (see 'vttdata people make').") from error
    except (OSError, ValueError) as error:
        raise VttdataError(f"{folder}: the campaign cannot be read ({error}).") from error
    try:
        if content["format"] != FORMAT:
            raise VttdataError(f"{folder}: made by another version of vttdata; finish it with that one.")
        if hashlib.sha256(text.encode()).hexdigest() not in (content["units_sha256"], content.get("next_units_sha256")):
            raise VttdataError(f"{folder / UNITS}: changed since the campaign was made; answers would not fit.")
        task_class = load_task(content["task"])
        task = task_class(task_class.Settings(**content["task_settings"]))
        settings = CampaignSettings(**content["settings"])
        units = [
            Unit(**value | {"items": tuple(Item(**item) for item in value["items"])})
            for value in map(json.loads, text.splitlines())
        ]
        videos = {entry["video_id"]: PageVideo(**entry) for entry in content["videos"]}
        notes = [Note(entry["name"], entry["meaning"], tuple(entry["cases"])) for entry in content["notes"]]
    except (KeyError, TypeError, ValueError) as error:
        raise VttdataError(f"{folder}: the campaign is damaged ({type(error).__name__}: {error}).") from error
    return Campaign(
        folder,
        content["task"],
        task,
        settings,
        {unit.unit: unit for unit in units},
        videos,
        secret,
        campaign_digest(content),
        tuple(notes),
    )


def campaign_digest(content: JsonObject) -> str:
    """Return what the answers of a campaign belong to."""
    return digest([content["task"], content["task_settings"], content["units_sha256"]])


def check_videos(campaign: Campaign) -> None:
    """Check that the video files of a campaign are those with which it was made.

    Raises:
        VttdataError: when a file is missing or has another content; names the first.
    """
    for video in campaign.videos.values():
        if is_url(video.page):
            continue
        path = Path(video.page)
        if not path.is_file():
            raise VttdataError(f"{path}: this video of the campaign is missing.")
        if path.stat().st_size != video.bytes or file_sha256(path) != video.sha256:
            raise VttdataError(f"{path}: this video was changed since the campaign was made; make a new campaign.")


def make_campaign(
    folder: Path,
    task_name: str,
    material: Material,
    overrides: Sequence[str] = (),
    workers: int = 0,
) -> Campaign:
    """Make a campaign.

    Args:
        folder: to write; it must not hold a campaign.
        task_name: name of the task.
        material: what it is made from; gets notes about what was left out.
        overrides: settings ``key=value`` of the task or of the campaign; values are YAML.
        workers: number of workers who are invited at once; 0 if it is not known.

    Raises:
        VttdataError: when the folder holds a campaign, a setting or an input cannot be used, or a video not be shown;
            when the task needs the times of frames and its videos are URLs.
    """
    check_new_folder(folder)
    task_class = load_task(task_name)
    task_settings, settings = read_settings([task_class.Settings, CampaignSettings], overrides)
    task = task_class(task_settings)
    if task.keeps_times and material.address is not None:
        raise VttdataError(f"The task {task_name} reads its videos, so that they must be files; name their folder.")
    material = dataclasses.replace(material, secret=secrets.token_bytes(32))
    units = task.make(material)
    regular = sum(not unit.is_control for unit in units)
    if not any(text.startswith("judgments=") for text in overrides):
        # Each worker gets a unit, and where controls repeat the worker's own units, enough of them.
        least = task.enough_controls() if task.repeats_own and regular < len(units) else 1
        needed = min(workers, -(-workers * least // max(regular, 1)))
        settings = dataclasses.replace(settings, judgments=max(settings.judgments, needed))
    if settings.control_every is None:
        each = regular * settings.judgments // max(workers, settings.judgments)
        every = 1 + each // task.enough_controls() if regular < len(units) else MOST_CONTROL_EVERY
        settings = dataclasses.replace(settings, control_every=min(max(every, 2), MOST_CONTROL_EVERY))
    names = sorted({item.video_id for unit in units for item in unit.items})
    sources = material.videos(names)
    media = folder / MEDIA
    is_new = not media.exists()
    try:
        videos = {name: _prepare(name, sources[name], media, exact=task.keeps_times) for name in names}
        if task.keeps_times:
            units = [_with_times(unit, videos) for unit in units]
        return write_campaign(folder, task_name, task, settings, units, videos.values(), material)
    except BaseException:
        if is_new:
            shutil.rmtree(media, ignore_errors=True)
        raise


def _prepare(video_id: str, file: Path | str, folder: Path, *, exact: bool) -> PageVideo:
    if isinstance(file, str):
        address = quote_address(file)
        return PageVideo(video_id, address, address, 0, "")
    # PyAV is needed for files alone.
    from vttdata.people.videos import prepare_video

    page = prepare_video(video_id, file, folder, exact=exact)
    return PageVideo(video_id, str(file.resolve()), str(page.resolve()), page.stat().st_size, file_sha256(page))


def _with_times(unit: Unit, videos: Mapping[str, PageVideo]) -> Unit:
    """Add the time of every frame of the page's file, and the original's path for the results."""
    from vttdata.people.videos import presentation_times

    items = []
    for item in unit.items:
        video = videos[item.video_id]
        times = presentation_times(Path(video.page), from_start=False)
        shown, facts = dict(item.shown) | {"times": times}, dict(item.facts) | {"file": video.file}
        items.append(dataclasses.replace(item, shown=shown, facts=facts))
    return dataclasses.replace(unit, items=tuple(items))
