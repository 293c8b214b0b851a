"""Read Direct Assessment results as WMT publishes them: z-scores, and each worker's mean and standard deviation.

The table is separated by white space, and texts may be quoted, as R writes them. The moments are an R print-out; they
turn z-scores back into raw scores.

`rid` is an item only where segments were judged one by one. In WMT21 and most of WMT22 it is a document as one HIT
showed it, with a row for each segment, and in some files `NA`. So an item is what `rid`, `sid`, `type` and `sys_id` say
together. Systems with the same translation share a judgment, which has a row for each of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.tables import number_or_nan, open_text
from vttdata.people.answers.intake import Intake
from vttdata.people.answers.manifest import ManifestItem, parse_kind
from vttdata.people.scoring.scores import Moments

HEADER = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"
"""First line of a file of judgments."""

_R_VALUE = re.compile(r'\[1\] (?:"([^"]*)"|(\S+))')
_CELL = re.compile(r'"([^"]*)"|(\S+)')
# Segments of one test set are numbered through. Numbers that start again in each document give several segments of a
# HIT the same system, kind and number; a document that is shown twice in a HIT does so to a few.
_MAX_REPEATED_SEGMENTS = 0.1
# Moments are printed to seven digits, so a recovered score may differ from the whole number it was by this much.
_ROUNDING_ERROR = 1e-3


def take_wmt(file: Path, intake: Intake, moments: Mapping[str, Moments] | None = None) -> None:
    """Pass the answers of a file such as ``ad-lven-good-stnd-redup.csv`` of WMT22 to an intake, with raw scores.

    `sid` becomes `video_id`, or `rid/sid` where segments are numbered anew in each document. `rid` becomes `item`, and
    `seconds` is the time of a HIT divided by its number of items.

    Args:
        file: table of twelve columns, see `HEADER`; `score` is a z-score if moments are given, else a score of 0..100.
        intake: collector of answers.
        moments: worker -> mean and standard deviation, see `read_moments`; other workers are unknown.

    Raises:
        VttdataError: if the file cannot be read or has another layout, or its scores are standardised and no moments
            are given.
    """
    columns = HEADER.split()
    rows = []
    with open_text(file) as stream:
        for line, cells in enumerate(map(split_cells, stream), 1):
            if line == 1 and cells != columns:
                raise VttdataError(f"{file}: the first line is not '{HEADER}'.")
            if cells and len(cells) != len(columns):
                raise VttdataError(f"{file}:{line}: {len(cells)} cells under {len(columns)} column names.")
            if cells and line > 1:
                rows.append((line, cells))
    # WMT records the time of a whole HIT.
    items_of_hit = Counter((cells[0], cells[1]) for _, cells in rows)
    counts: Counter[tuple[str, str]] = Counter()
    keys = {
        (hit, worker, system, kind, segment, item) for _, (hit, worker, *_, system, item, kind, segment, _, _) in rows
    }
    # Segments may be numbered anew in each document.
    numbers_restart = len(keys) - len({key[:-1] for key in keys}) > _MAX_REPEATED_SEGMENTS * len(keys)
    for line, (hit, worker, *_, system, item, kind, segment, score, time) in rows:
        position, counts[hit, worker] = counts[hit, worker], counts[hit, worker] + 1
        video_id = f"{item}/{segment}" if numbers_restart else segment
        shown = ManifestItem(video_id, system, parse_kind(kind, f"{file}:{line}"))
        if moments is not None and worker not in moments:
            intake.note("unknown_worker", hit, worker, item)
            continue
        value = number_or_nan(score)
        if moments is None and value < 0:
            raise VttdataError(
                f"{file}:{line}: the score {score[:40]} is negative, so scores are standardised; pass the workers' "
                "means and deviations as well (--moments)."
            )
        raw = value if moments is None else _raw_score(value, moments[worker])
        seconds = number_or_nan(time) / items_of_hit[hit, worker]
        intake.take(hit, worker, item, raw, shown=shown, position=position, seconds=seconds)


def split_cells(line: str) -> list[str]:
    """Return the cells of a line, without quotes around them."""
    return [bare or quoted for quoted, bare in _CELL.findall(line)]


def _raw_score(z: float, moments: Moments) -> float:
    score = z * moments.sd + moments.mean
    whole = float(round(score)) if abs(score) < 1e6 else score
    return whole if abs(score - whole) < _ROUNDING_ERROR else score


def read_moments(file: Path) -> dict[str, Moments]:
    """Read each worker's mean and standard deviation from a file such as ``ad-lven-trk-mean-sd.txt``.

    A worker has three lines: name, mean, standard deviation.

    Raises:
        VttdataError: if it cannot be read or has another layout.
    """
    values = []
    with open_text(file) as stream:
        for line, text in enumerate(map(str.strip, stream), 1):
            match = _R_VALUE.fullmatch(text)
            if match is not None:
                values.append(match[1] if match[1] is not None else match[2])
            elif text:
                raise VttdataError(f"{file}:{line}: {text[:40]!a} is not [1] and a value, as R prints it.")
    if len(values) % 3:
        raise VttdataError(f"{file}: the last worker is incomplete; each has three lines: name, mean, deviation.")
    triples = zip(values[::3], values[1::3], values[2::3], strict=True)
    moments = {worker: Moments(number_or_nan(mean), number_or_nan(sd)) for worker, mean, sd in triples}
    if len(moments) * 3 < len(values):
        raise VttdataError(f"{file}: a worker is duplicated.")
    return moments
