"""Make a campaign: units of the task, videos that browsers play, and the folder with both."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pydantic

from vttdata.annotate.campaign import MEDIA, Campaign, CampaignSettings, check_new_folder, write_campaign
from vttdata.annotate.task import Item, Material, Task, Unit, load_task
from vttdata.annotate.videos import PageVideo, prepare_video, presentation_times
from vttdata.errors import VttdataError
from vttdata.files.strict_yaml import parse_yaml


def make_campaign(
    folder: Path,
    task_name: str,
    material: Material,
    overrides: Sequence[str] = (),
    database: str | None = None,
) -> Campaign:
    """Make a campaign.

    Args:
        folder: to write; it must not hold a campaign.
        task_name: name of the task.
        material: what it is made from; gets notes about what was left out.
        overrides: settings ``key=value`` of the task or of the campaign; values are YAML.
        database: SQLAlchemy URL; None for SQLite in the folder.

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
        return write_campaign(folder, task_name, task, settings, units, videos.values(), database)
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
        found = repr(first.get("input"))[:80] if first["loc"] else ""
        message = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
        raise VttdataError(f"--set {key}{'=' if found else ''}{found}: {message}.") from error


def _with_times(unit: Unit, videos: Mapping[str, PageVideo]) -> Unit:
    """Add the time of every frame of the page's file, and the original's path for the results."""
    items = []
    for item in unit.items:
        video = videos[item.video_id]
        times = presentation_times(Path(video.page), from_start=False)
        shown, facts = dict(item.shown) | {"times": times}, dict(item.facts) | {"file": video.file}
        items.append(Item(item.item, item.video_id, shown, facts))
    return Unit(unit.unit, tuple(items), unit.is_control)
