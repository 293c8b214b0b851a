"""Write scores by condition as a page: gains with intervals, and what is shown of items where conditions disagree."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
from PIL import Image

from vttdata.conditions import CONDITIONS, Stimulus
from vttdata.dataset.stimuli import read_stimuli
from vttdata.errors import MediaError
from vttdata.evaluate.conditions import ConditionsReport
from vttdata.ids import digest
from vttdata.media.pictures import sample_frames
from vttdata.report.page import PageSection, Tile, format_number, render_page
from vttdata.report.sections import Example, render_examples, render_sections

_ITEMS_SHOWN, _TEXTS_SHOWN, _FRAMES_SHOWN, _INDICES_SHOWN = 16, 6, 4, 12
_WIDTH, _HEIGHT = 120, 68


def conditions_page(report: ConditionsReport, stimuli: Path | None) -> str:
    """Return the page of scores by condition; pictures come from the stimuli."""
    return render_page(
        f"{report.dataset} {report.version}",
        [*render_sections(report.sections()), _disagreeing_items(report, stimuli)],
        kicker="Evaluation by condition",
        lead=f"{report.task} on {report.config}/{report.split}, {report.metric}",
        tiles=[
            Tile(f"{len(report.items.ids):,}", "items", f"of {len(report.items.source_ids):,} sources"),
            *(
                Tile(f"{len(found.splits[report.split]):,}", name.replace("-", " "), found.label)
                for name, found in report.filters.items()
            ),
        ],
    )


def _disagreeing_items(report: ConditionsReport, stimuli: Path | None) -> PageSection:
    """Return the section of the items on which the scores of conditions differ most, by a hash among equals."""
    items, values = report.items, _values_by_item(report)
    spread = {
        index: max(float(np.ptp(list(of_model.values()))) for of_model in found.values())
        for index, found in values.items()
    }
    disagreeing = [index for index, difference in spread.items() if difference > 0]
    shown = sorted(disagreeing, key=lambda index: (-spread[index], digest(items.ids[index])))[:_ITEMS_SHOWN]
    texts = {items.ids[index]: items.texts_of(index) for index in shown}
    clips = {items.clip_ids[index] for index in shown}
    seen: dict[tuple[str, str], Stimulus] = {}
    if stimuli is not None:
        seen = {(each.video_id, each.condition): each for each in read_stimuli(stimuli) if each.video_id in clips}
    examples = []
    for index in shown:
        examples.append(Example(items.ids[index], listed=texts[items.ids[index]].texts[:_TEXTS_SHOWN]))
        for condition in CONDITIONS:
            given = {name: found[condition] for name, found in values[index].items() if condition in found}
            if not given:
                continue
            stimulus = seen.get((items.clip_ids[index], condition))
            scores = ", ".join(f"{name} {format_number(value)}" for name, value in given.items())
            still = draw_stimulus(stimuli, stimulus) if stimuli is not None and stimulus else ""
            text = "; frames ".join(filter(None, [f"{condition}: {scores}", _indices(stimulus)]))
            examples.append(Example(text=text, stills={condition: still} if still else {}))
    note = f"{len(disagreeing):,} of {len(items.ids):,} items; shown are {len(shown):,}."
    return PageSection("items", "Items where conditions disagree", render_examples(examples), note=note)


def _values_by_item(report: ConditionsReport) -> dict[int, dict[str, dict[str, float]]]:
    """Return item -> model -> condition -> mean value of its rows."""
    found: dict[int, dict[str, dict[str, float]]] = {}
    for name, columns in report.columns.items():
        for condition, column in columns.items():
            sums = np.bincount(column.items, column.scores.items, len(report.items.ids))
            rows = np.bincount(column.items, minlength=len(report.items.ids))
            for index in np.flatnonzero(rows).tolist():
                found.setdefault(index, {}).setdefault(name, {})[condition] = float(sums[index] / rows[index])
    return found


def _indices(stimulus: Stimulus | None) -> str:
    if stimulus is None or not stimulus.indices:
        return ""
    listed = ", ".join(map(str, stimulus.indices[:_INDICES_SHOWN]))
    more = ", ..." if len(stimulus.indices) > _INDICES_SHOWN else ""
    of_other = f" of {stimulus.shows}" if stimulus.shows != stimulus.video_id else ""
    return f"{listed}{more} of {stimulus.frames}{of_other}"


def draw_stimulus(folder: Path, stimulus: Stimulus) -> str:
    """Return the address of a picture with up to four frames of a stimulus side by side; empty where there are none."""
    try:
        if stimulus.seconds is None:
            files = [folder / name for name in stimulus.files]
            count = min(len(files), _FRAMES_SHOWN)
            chosen = [files[k * (len(files) - 1) // max(count - 1, 1)] for k in range(count)]
            frames = [Image.open(file).convert("RGB") for file in chosen]
        else:
            found = sample_frames(folder / stimulus.files[0], _FRAMES_SHOWN)
            frames = [Image.fromarray(np.ascontiguousarray(frame.picture)) for frame in found]
    except (MediaError, OSError):
        return ""
    if not frames:
        return ""
    strip = Image.new("RGB", (_WIDTH * len(frames), _HEIGHT))
    for number, frame in enumerate(frames):
        frame.thumbnail((_WIDTH, _HEIGHT))
        strip.paste(frame, (number * _WIDTH + (_WIDTH - frame.width) // 2, (_HEIGHT - frame.height) // 2))
    data = io.BytesIO()
    strip.save(data, "WEBP", quality=55, method=2)
    return f"data:image/webp;base64,{base64.b64encode(data.getvalue()).decode()}"
