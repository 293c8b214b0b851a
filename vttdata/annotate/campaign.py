"""Make a campaign and read it: a folder with its settings, units, videos and secret, checked whenever it is opened.

Answers are in the database ``answers.sqlite`` of the folder (`vttdata.annotate.store`).
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
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pydantic

from vttdata.annotate.task import Item, Material, Task, Unit, load_task
from vttdata.annotate.videos import PageVideo, prepare_video, presentation_times
from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.reading import file_sha256
from vttdata.files.strict_yaml import parse_yaml
from vttdata.ids import digest
from vttdata.settings import Count, PositiveCount, PositiveSeconds, Strict
from vttdata.validation import describe_problem

CAMPAIGN, UNITS, SECRET, DATABASE, MEDIA = "campaign.json", "units.jsonl", "secret", "answers.sqlite", "media"
FORMAT = 1

DEFAULT_CONSENT = (
    "Your answers, the time each of them takes and the name in your link are stored by the people who sent it to you. "
    "Before anything is published, your name is replaced by a code from which it cannot be found. You can stop at any "
    "time, and have everything you gave deleted by asking them."
)


@dataclass(frozen=True, slots=True)
class CampaignSettings(Strict):
    """Settings of every campaign, whatever its task.

    Fields:
        judgments: how many different workers answer each unit.
        per_worker: most units that a worker gets; 0 for no limit.
        reservation_seconds: how long a unit waits for the worker who has it, from the last answer on.
        control_every: one unit in so many is a control, where the task has units that are controls.
        consent: text of the first page, to which a worker agrees.
        title: of the pages; None for the task's.
    """

    judgments: PositiveCount = 3
    per_worker: Count = 0
    reservation_seconds: PositiveSeconds = 1800.0
    control_every: PositiveCount = 8
    consent: str = DEFAULT_CONSENT
    title: str | None = None


@dataclass(frozen=True)
class Campaign:
    """Campaign as its folder has it.

    `units` are in the order in which equally covered ones are handed out, `videos` by their ids. Links and hashes are
    derived from `secret`; answers belong to `digest`, that of units and settings.
    """

    folder: Path
    task_name: str
    task: Task
    settings: CampaignSettings
    units: Mapping[str, Unit]
    videos: Mapping[str, PageVideo]
    secret: bytes = field(repr=False)
    digest: str

    @property
    def title(self) -> str:
        """Title of the pages."""
        return self.settings.title or self.task.title

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
        return "w" + hmac.new(self.token("salt").encode(), worker.encode(), hashlib.sha256).hexdigest()[:12]

    @cached_property
    def items(self) -> dict[tuple[str, str], Item]:
        """Items by unit and id."""
        return {(unit.unit, item.item): item for unit in self.units.values() for item in unit.items}

    @cached_property
    def video_numbers(self) -> dict[str, int]:
        """Number of each video in addresses, which reveal no id."""
        return {video_id: number for number, video_id in enumerate(self.videos)}


def write_campaign(
    folder: Path,
    task_name: str,
    task: Task,
    settings: CampaignSettings,
    units: Iterable[Unit],
    videos: Iterable[PageVideo],
) -> Campaign:
    """Write the folder of a campaign, and read it back.

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
    }
    with DescribeOSErrors(f"{folder}: the campaign cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / UNITS).write_text(text, encoding="utf-8", newline="\n")
        with open(
            folder / SECRET, "x", encoding="ascii", newline="\n", opener=lambda path, flags: os.open(path, flags, 0o600)
        ) as f:
            f.write(secrets.token_hex(32))
        # Last, so that a folder with this file is complete.
        (folder / CAMPAIGN).write_text(json.dumps(content, indent=1), encoding="utf-8", newline="\n")
    return read_campaign(folder)


def check_new_folder(folder: Path) -> None:
    """Raise VttdataError when a folder holds a campaign or the beginning of one."""
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
        missing = Path(error.filename).name
        raise VttdataError(f"{folder}: not a campaign; it has no {missing} (see 'vttdata campaign make').") from error
    except (OSError, ValueError) as error:
        raise VttdataError(f"{folder}: the campaign cannot be read ({error}).") from error
    try:
        if content["format"] != FORMAT:
            raise VttdataError(f"{folder}: made by another version of vttdata; finish it with that one.")
        if content.get("database") is not None:
            raise VttdataError(
                f"{folder}: its answers are in another database than {DATABASE}; copy them as docs/annotate.md shows."
            )
        if hashlib.sha256(text.encode()).hexdigest() != content["units_sha256"]:
            raise VttdataError(f"{folder / UNITS}: changed since the campaign was made; answers would not fit.")
        task_class = load_task(content["task"])
        task = task_class(task_class.Settings(**content["task_settings"]))
        settings = CampaignSettings(**content["settings"])
        units = [
            Unit(value["unit"], tuple(Item(**item) for item in value["items"]), value["is_control"])
            for value in map(json.loads, text.splitlines())
        ]
        videos = {entry["video_id"]: PageVideo(**entry) for entry in content["videos"]}
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
        digest([content["task"], content["task_settings"], content["units_sha256"]]),
    )


def check_videos(campaign: Campaign) -> None:
    """Check that the videos of a campaign are those with which it was made.

    Raises:
        VttdataError: when a file is missing or has another content; names the first.
    """
    for video in campaign.videos.values():
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
) -> Campaign:
    """Make a campaign.

    Args:
        folder: to write; it must not hold a campaign.
        task_name: name of the task.
        material: what it is made from; gets notes about what was left out.
        overrides: settings ``key=value`` of the task or of the campaign; values are YAML.

    Raises:
        VttdataError: when the folder holds a campaign, a setting or an input cannot be used, or a video not be shown.
    """
    check_new_folder(folder)
    task_class = load_task(task_name)
    task_settings, settings = read_settings(task_class, overrides)
    task = task_class(task_settings)
    units = task.make(material)
    names = sorted({item.video_id for unit in units for item in unit.items})
    files = material.videos(names)
    media = folder / MEDIA
    is_new = not media.exists()
    try:
        videos = {name: prepare_video(name, files[name], media, exact=task.keeps_times) for name in names}
        if task.keeps_times:
            units = [_with_times(unit, videos) for unit in units]
        return write_campaign(folder, task_name, task, settings, units, videos.values())
    except BaseException:
        if is_new:
            shutil.rmtree(media, ignore_errors=True)
        raise


def read_settings(task_class: type[Task], overrides: Sequence[str]) -> tuple[Any, CampaignSettings]:
    """Return the settings of a task and of its campaign from ``key=value``, where values are YAML.

    Raises:
        VttdataError: naming the key, what was found, and what there is.
    """
    ours = {field.name for field in dataclasses.fields(CampaignSettings)}
    tasks = {field.name for field in dataclasses.fields(task_class.Settings)}
    values: dict[str, dict[str, Any]] = {"campaign": {}, "task": {}}
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or key not in ours | tasks:
            raise VttdataError(f"--set {text[:80]!a}: settings are {', '.join(sorted(ours | tasks))}, as KEY=VALUE.")
        values["task" if key in tasks else "campaign"][key] = parse_yaml(value, f"--set {key}")
    return _validate(task_class.Settings, values["task"]), _validate(CampaignSettings, values["campaign"])


def _validate(settings: type, values: Mapping[str, Any]) -> Any:
    try:
        return pydantic.TypeAdapter(settings).validate_json(json.dumps(dict(values)))
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"]) or "the settings"
        raise VttdataError(f"--set {key}: {describe_problem(first)}.") from error


def _with_times(unit: Unit, videos: Mapping[str, PageVideo]) -> Unit:
    """Add the time of every frame of the page's file, and the original's path for the results."""
    items = []
    for item in unit.items:
        video = videos[item.video_id]
        times = presentation_times(Path(video.page), from_start=False)
        shown, facts = dict(item.shown) | {"times": times}, dict(item.facts) | {"file": video.file}
        items.append(Item(item.item, item.video_id, shown, facts))
    return Unit(unit.unit, tuple(items), unit.is_control)
