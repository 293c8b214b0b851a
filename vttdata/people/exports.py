"""Campaigns for other tools: static pages and crowd CSV of Direct Assessment, Label Studio's tasks, all answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.output_file import write_files
from vttdata.files.own_folder import replace_own_files
from vttdata.people.addresses import video_address
from vttdata.people.campaign import Campaign
from vttdata.people.hits.hit_records import Hit, HitItem, HitPlan, HitSettings
from vttdata.people.hits.write import write_hits
from vttdata.people.results import published_answers
from vttdata.people.static_page import page_writer
from vttdata.people.store import Store
from vttdata.people.task import Item
from vttdata.records import Degraded


def export_campaign(campaign: Campaign, store: Store, form: str, folder: Path, videos: str | None = None) -> list[str]:
    """Write a campaign in another form, one of `FORMS`, and return the names of what was written.

    `videos` is a URL with ``{video_id}`` in it, where ids are percent-encoded, or a path relative to the pages; None
    for the videos of the campaign, its files or their URLs.

    Returns:
        Names of what was written.

    Raises:
        VttdataError: when the task has no such form, or the folder cannot be written or has files that are not of
            vttdata and would be replaced.
    """
    if videos is not None and "{video_id}" not in videos:
        raise VttdataError(f"{videos}: an address of videos has {{video_id}} in it.")
    if form in ("pages", "csv") and campaign.task_name != "rate-slider":
        raise VttdataError(
            f"Pages and CSV for a crowd are those of the task rate-slider, and this campaign's is {campaign.task_name}."
        )
    addresses = {
        video_id: video.page if videos is None else video_address(videos, video_id)
        for video_id, video in campaign.videos.items()
    }
    with DescribeOSErrors(f"{folder}: cannot be written"):
        return FORMS[form](campaign, store, folder, addresses)


def _write_pages(campaign: Campaign, store: Store, folder: Path, videos: Mapping[str, str]) -> list[str]:  # noqa: ARG001
    """Write a page for each HIT that needs no server, and what `_write_tables` writes."""
    relative, ours = _from_pages(folder, videos), campaign.task.settings
    writer = page_writer(
        relative,
        ours.question,
        (ours.low, ours.high),
        title=campaign.title,
        instructions=tuple(campaign.task.instructions()),
        consent=campaign.consent,
        min_shown=ours.min_shown,
    )
    return write_hits(_hit_plan(campaign), folder, relative, writer, ours.question, campaign.notes)


def _write_tables(campaign: Campaign, store: Store, folder: Path, videos: Mapping[str, str]) -> list[str]:  # noqa: ARG001
    """Write the table of a crowd platform, the HITs as lines of JSON, the manifest and the notes."""
    relative = _from_pages(folder, videos)
    return write_hits(_hit_plan(campaign), folder, relative, None, campaign.task.settings.question, campaign.notes)


def _from_pages(folder: Path, videos: Mapping[str, str]) -> dict[str, str]:
    """Return addresses as the pages name them: files of the campaign, which are absolute, by relative paths."""
    pages = (folder / "pages").resolve()
    return {
        name: Path(os.path.relpath(address, pages)).as_posix() if Path(address).is_absolute() else address
        for name, address in videos.items()
    }


def _hit_plan(campaign: Campaign) -> HitPlan:
    ours = campaign.task.settings
    settings = HitSettings(ours.system, ours.human, ours.degraded, ours.repeat, ours.assessments, 0)
    hits = tuple(Hit(unit.unit, tuple(_hit_item(item) for item in unit.items)) for unit in campaign.units.values())
    return HitPlan(hits, settings, 0)


def _hit_item(item: Item) -> HitItem:
    facts = item.facts
    origin = Degraded(**facts["degraded"]) if "degraded" in facts else None
    return HitItem(item.item, item.video_id, facts["system"], facts["kind"], item.shown["caption"], origin)


def _write_label_studio(campaign: Campaign, store: Store, folder: Path, videos: Mapping[str, str]) -> list[str]:
    """Write tasks with their answers as annotations, and a labelling configuration, for an import into Label Studio."""
    kind, config = _LABELLING[campaign.task_name] if campaign.task_name in _LABELLING else _LABELLING["caption"]
    by_item: dict[tuple[str, str], list[Any]] = {}
    for entry in published_answers(campaign, store):
        by_item.setdefault((entry.unit, entry.item.item), []).append(entry)
    tasks = []
    for (unit, name), item in campaign.items.items():
        if campaign.units[unit].qualifies:
            continue
        texts = {key: value for key, value in item.shown.items() if key != "times"}
        annotations = [
            {
                "result": [_label_result(kind, entry.answer)],
                "lead_time": entry.rounded_seconds(2),
                "completed_by": {"email": f"{entry.worker}@example.invalid"},
            }
            for entry in by_item.get((unit, name), ())
        ]
        data = {"video": videos[item.video_id], "unit": unit, "item": name, **texts}
        data["text"] = texts.get("caption") or texts.get("sentence") or "\n".join(texts.get("captions", ()))
        tasks.append({"data": data, "annotations": annotations})
    shown = '<Text name="text" value="$text"/>' if campaign.task_name not in ("caption", "choose") else ""
    xml = f'<View><Video name="video" value="$video"/>{shown}{config}</View>\n'
    files = {"tasks.json": json.dumps(tasks, ensure_ascii=False, indent=1), "labeling_config.xml": xml}
    write_files(folder, files)
    return [*files]


def _choices(*names: str, many: bool = False) -> str:
    choices = "".join(f'<Choice value="{escape(name)}"/>' for name in names)
    return f'<Choices name="answer" toName="video" choice="{"multiple" if many else "single"}">{choices}</Choices>'


_VERDICTS = ("sound", "odd", "implausible", "present", "alike", "ungrammatical")
# Type of Label Studio's result, and its control.
_LABELLING = {
    "caption": ("textarea", '<TextArea name="answer" toName="video" rows="3" maxSubmissions="1"/>'),
    "rate-slider": ("number", '<Number name="answer" toName="video" min="0" max="100" slider="true"/>'),
    "rate-scale": ("textarea", '<TextArea name="answer" toName="video" rows="1" maxSubmissions="1"/>'),
    "relevance": ("choices", _choices(*map(str, range(1, 11)), many=True)),
    "foil-review": ("choices", _choices(*_VERDICTS)),
    "choose": ("choices", _choices("keep", "trim", "reject")),
}


def _label_result(kind: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    if kind == "number":
        value: dict[str, Any] = {"number": answer["score"]}
    elif kind == "choices" and "relevant" in answer:
        value = {"choices": [str(number) for number, chosen in enumerate(answer["relevant"], 1) if chosen]}
    elif kind == "choices":
        value = {"choices": [answer.get("verdict") or answer.get("decision")]}
    else:
        value = {"text": [answer.get("caption") or json.dumps(dict(answer), ensure_ascii=False)]}
    return {"from_name": "answer", "to_name": "video", "type": kind, "value": value}


def _write_answers(campaign: Campaign, store: Store, folder: Path, videos: Mapping[str, str]) -> list[str]:  # noqa: ARG001
    """Write every answer under hashed workers, a line of JSON each."""
    with (
        replace_own_files(folder, ["answers.jsonl"]),
        (folder / "answers.jsonl").open("w", encoding="utf-8", newline="\n") as stream,
    ):
        for entry in published_answers(campaign, store):
            answer = {
                "annotator": entry.worker,
                "unit": entry.unit,
                "item": entry.item.item,
                "video_id": entry.item.video_id,
                "shown": {key: value for key, value in entry.item.shown.items() if key not in ("times", "choices")},
                "answer": entry.answer,
                "control_passed": campaign.task.control_passed(entry.item, entry.answer),
                "seconds": entry.rounded_seconds(2),
                "observed": None if entry.observed is None else entry.observed._asdict(),
            }
            stream.write(json.dumps(answer, ensure_ascii=False) + "\n")
    return ["answers.jsonl"]


Writer = Callable[[Campaign, Store, Path, Mapping[str, str]], list[str]]
FORMS: dict[str, Writer] = {
    "pages": _write_pages,
    "csv": _write_tables,
    "label-studio": _write_label_studio,
    "answers": _write_answers,
}
"""Forms of export: name -> function that writes it."""
