"""Write a campaign as a page: progress, quality of workers with its evidence, agreement, times, and disputed items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from vttdata.files.results import Section
from vttdata.files.table_formats import counted
from vttdata.people.addresses import is_url
from vttdata.people.campaign import Campaign
from vttdata.people.results import published_answers
from vttdata.people.service import make_report, report_sections
from vttdata.people.store import Store
from vttdata.people.task import Answered
from vttdata.report import plots
from vttdata.report.page import PageSection, Tile, format_number, render_page
from vttdata.report.page_pictures import read_video_stills, select_stills
from vttdata.report.sections import Example, render_examples, render_sections

_ITEMS_SHOWN, _ANSWERS_SHOWN, _BINS = 24, 20, 30


def campaign_page(campaign: Campaign, store: Store, results: Sequence[Section] = ()) -> str:
    """Return the page of a campaign, in which workers have their hashed names; videos that are there give frames.

    It begins with the sections of `vttdata.people.results.CampaignResults`.
    """
    state = make_report(campaign, store, hash_names=True)
    answers = published_answers(campaign, store)
    failed = sum(not row["keep"] for row in state["workers"])
    progress = plots.stacked_bars(
        {"judgments": [state["collected"], state["wanted"] - state["collected"]]},
        ["collected", "missing"],
        caption=f"Judgments, {state['judgments']:,} for each of {counted(state['units'], 'unit')}",
        heading="number of",
    )
    of_results = [section for section in results if section.title != "Workers"]
    sections = [*render_sections(of_results), PageSection("progress", "Progress", progress)]
    if answers:
        sections += [
            *render_sections(report_sections(state)),
            _times_section(answers),
            _items_section(campaign, answers),
        ]
    seconds = state["seconds"]
    workers_section, idle = "#workers" if answers else "", f"{len(state['idle']):,} without"
    tiles = [
        Tile(f"{state['complete']:,}", "units complete", f"of {state['units']:,}", href="#progress"),
        Tile(f"{state['answers']:,}", "answers"),
        Tile(f"{len(state['workers']):,}", "workers with answers", idle, href=workers_section),
        Tile(f"{failed:,}", "workers do not count", "", "bad" if failed else "good", workers_section),
        Tile("\u2013" if seconds is None else f"{seconds:.1f} s", "an answer", "median"),
    ]
    alerts = []
    if not answers:
        alerts.append(("warn", "Nobody has answered yet: there are no workers, times and items to show."))
    elif state["complete"] < state["units"]:
        lacking = state["units"] - state["complete"]
        alerts.append(("warn", f"{counted(lacking, 'unit')} {'lacks' if lacking == 1 else 'lack'} judgments."))
    else:
        alerts.append(("good", "Every unit has its judgments."))
    return render_page(campaign.title, sections, kicker=f"Campaign: {state['task']}", tiles=tiles, alerts=alerts)


def _times_section(answers: list[Answered]) -> PageSection:
    seconds = np.array([entry.seconds for entry in answers if entry.seconds is not None])
    if not len(seconds):
        return PageSection("times", "Times", Markup("<p>No answer has a time.</p>"))
    # One worker who left the page open for hours would press all others into the first bin.
    top = float(np.quantile(seconds, 0.99)) or 1.0
    counts, edges = np.histogram(seconds.clip(0, top), bins=_BINS, range=(0.0, top))
    note = f"The last bin has those above {format_number(top)} s as well." if seconds.max() > top else ""
    title = "Time of an answer"
    plot = plots.histogram(counts.tolist(), edges.tolist(), title=title, unit="s", note=note)
    return PageSection("times", "Times", plot)


def _items_section(campaign: Campaign, answers: list[Answered]) -> PageSection:
    by_item: dict[tuple[str, str], list[Answered]] = {}
    for entry in answers:
        by_item.setdefault((entry.unit, entry.item.item), []).append(entry)

    def rank(key: tuple[str, str]) -> tuple[float, tuple[str, str]]:
        labels = {campaign.task.label(entry.answer) for entry in by_item[key]}
        return -(len(labels) - 1) / len(by_item[key]), key

    chosen = sorted(by_item, key=rank)[:_ITEMS_SHOWN]
    names = {by_item[key][0].item.video_id for key in chosen}
    pages = {name: campaign.videos[name].page for name in sorted(names & campaign.videos.keys())}
    stills = read_video_stills({name: Path(page) for name, page in pages.items() if not is_url(page)})
    items = []
    for key in chosen:
        entries = sorted(by_item[key], key=lambda entry: entry.worker)
        item, shown = entries[0].item, entries[0].item.shown
        texts = [shown[name] for name in ("sentence", "caption") if name in shown]
        items.append(
            Example(
                item.video_id + (" (control)" if campaign.units[key[0]].is_control else ""),
                strong=[str(text) for text in [*texts, *shown.get("captions", ())]],
                stills=select_stills(stills, item.video_id),
                listed=[f"{entry.worker}: {_format_answer(entry.answer)}" for entry in entries[:_ANSWERS_SHOWN]],
            )
        )
    note = f"{len(items):,} of {len(by_item):,}, those first on which the answers differ most."
    return PageSection("items", "Items", render_examples(items), note)


def _format_answer(answer: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, given in answer.items()
        for name, value in (given.items() if isinstance(given, dict) else [(name, given)])
    )
