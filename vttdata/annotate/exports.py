"""Campaigns for other tools: static pages and crowd CSV of Direct Assessment, Label Studio's tasks, all answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from vttdata.annotate.campaign import Campaign
from vttdata.annotate.da_page import page_writer
from vttdata.annotate.results import published_answers
from vttdata.annotate.store import Store
from vttdata.assess import HitPlan, HitSettings
from vttdata.assess.hits.hit_records import Hit, HitItem
from vttdata.assess.hits.write import write_hits
from vttdata.errors import DescribeOSErrors, VttdataError


def export_campaign(campaign: Campaign, store: Store, form: str, folder: Path, videos: str | None = None) -> list[str]:
    """Write a campaign in another form, one of `FORMS`, and return the names of what was written.

    `videos` is an address with ``{video_id}`` in it; None for the files of the campaign.

    Returns:
        Names of what was written.

    Raises:
        VttdataError: when the task has no such form, or the folder cannot be written.
    """
    if videos is not None and "{video_id}" not in videos:
        raise VttdataError(f"{videos}: an address of videos has {{video_id}} in it.")
    if form == "pages" and campaign.task_name != "rate-slider":
        raise VttdataError(
            f"Static pages are those of the task rate-slider, and this campaign's is {campaign.task_name}."
        )
    addresses = {
        video_id: video.page if videos is None else videos.replace("{video_id}", video_id)
        for video_id, video in campaign.videos.items()
    }
    with DescribeOSErrors(f"{folder}: cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        return FORMS[form](campaign, store, folder, addresses)


def _write_pages(campaign: Campaign, store: Store, folder: Path, videos: Mapping[str, str]) -> list[str]:  # noqa: ARG001
    """Write static pages, the CSV of crowd platforms and the manifest, as ``vttdata hits make`` does."""
    hits = tuple(
        Hit(
            unit.unit,
            tuple(
                HitItem(item.item, item.video_id, item.facts["system"], item.facts["kind"], item.shown["caption"])
                for item in unit.items
            ),
        )
        for unit in campaign.units.values()
    )
    question = next(iter(campaign.units.values())).items[0].shown["question"]
    ours = campaign.task.settings
    settings = HitSettings(ours.system, ours.human, ours.degraded, ours.repeat, ours.assessments, 0)
    pages = folder / "pages"
    relative = {
        name: address
        if address.startswith(("http://", "https://"))
        else Path(os.path.relpath(address, pages.resolve())).as_posix()
        for name, address in videos.items()
    }
    return write_hits(HitPlan(hits, settings, 0), folder, relative, page_writer(relative, question), question)


def _write_label_studio(campaign: Campaign, store: Store, folder: Path, videos: Mapping[str, str]) -> list[str]:
    """Write tasks with their answers as annotations, and a labelling configuration, for an import into Label Studio."""
    kind, config = _LABELLING[campaign.task_name] if campaign.task_name in _LABELLING else _LABELLING["caption"]
    by_item: dict[tuple[str, str], list[Any]] = {}
    for entry in published_answers(campaign, store):
        by_item.setdefault((entry.unit, entry.item.item), []).append(entry)
    tasks = []
    for (unit, name), item in campaign.items.items():
        texts = {key: value for key, value in item.shown.items() if key != "times"}
        annotations = [
            {
                "result": [_label_result(kind, entry.answer)],
                "lead_time": round(entry.seconds, 2),
                "completed_by": {"email": f"{entry.worker}@example.invalid"},
            }
            for entry in by_item.get((unit, name), ())
        ]
        data = {"video": videos[item.video_id], "unit": unit, "item": name, **texts}
        data["text"] = texts.get("caption") or texts.get("sentence") or "\n".join(texts.get("captions", ()))
        tasks.append({"data": data, "annotations": annotations})
    (folder / "tasks.json").write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8", newline="\n")
    shown = '<Text name="text" value="$text"/>' if campaign.task_name not in ("caption", "choose") else ""
    xml = f'<View><Video name="video" value="$video"/>{shown}{config}</View>\n'
    (folder / "labeling_config.xml").write_text(xml, encoding="utf-8", newline="\n")
    return ["tasks.json", "labeling_config.xml"]


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
    with (folder / "answers.jsonl").open("w", encoding="utf-8", newline="\n") as stream:
        for entry in published_answers(campaign, store):
            answer = {
                "annotator": entry.worker,
                "unit": entry.unit,
                "item": entry.item.item,
                "video_id": entry.item.video_id,
                "shown": {key: value for key, value in entry.item.shown.items() if key != "times"},
                "answer": entry.answer,
                "seconds": round(entry.seconds, 2),
            }
            stream.write(json.dumps(answer, ensure_ascii=False) + "\n")
    return ["answers.jsonl"]


Writer = Callable[[Campaign, Store, Path, Mapping[str, str]], list[str]]
FORMS: dict[str, Writer] = {"pages": _write_pages, "label-studio": _write_label_studio, "answers": _write_answers}
"""Forms of export: name -> function that writes it."""
