"""Reads Direct Assessment as WMT publishes it: standardised scores, and each worker's mean and standard deviation.

The table is separated by white space; the moments are a print-out of R, and turn z scores back into what was given.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from vttdata.assess.answers.intake import Described, Intake, kind_of, number
from vttdata.assess.scores import Moments
from vttdata.errors import VttdataError

HEAD = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"
"""The first line of a file of judgments."""

_MOMENT = re.compile(r'\[1\] (?:"([^"]*)"|(\S+))')
_ROUND = 1e-3
"""How far a score may be from a whole number and still be one: means are printed to seven digits."""


def take_wmt(file: Path, intake: Intake, moments: Mapping[str, Moments] | None = None) -> None:
    """Take the answers of a file such as ``ad-lven-good-stnd-redup.csv`` of WMT22.

    Segment ids become `video_id`, and `seconds` is the time of a HIT divided by its items.

    Args:
        file: twelve columns, see `HEAD`; `score` is a z score if moments are given, else one of 0..100.
        intake: gets the answers, with raw scores.
        moments: worker -> mean and standard deviation, see `read_moments`; others are unknown workers.

    Raises:
        VttdataError: when the file cannot be read, has another layout, or has standardised scores and there are no
            moments.
    """
    width = len(HEAD.split())
    rows = []
    for line, text in _lines(file):
        cells = text.split()
        if line == 1 and cells != HEAD.split():
            raise VttdataError(f"{file}: the first line is not '{HEAD}'.")
        if cells and len(cells) != width:
            raise VttdataError(f"{file}:{line}: {len(cells)} cells under {width} column names.")
        if cells and line > 1:
            rows.append((line, cells))
    sizes = Counter((cells[0], cells[1]) for _, cells in rows)
    places: Counter[tuple[str, str]] = Counter()
    for line, (hit, worker, *_, system, item, kind, segment, score, time) in rows:
        place, places[hit, worker] = places[hit, worker], places[hit, worker] + 1
        shown = Described(segment, system, kind_of(kind, f"{file}:{line}"))
        if moments is not None and worker not in moments:
            intake.note("unknown_worker", hit, worker, item)
            continue
        if moments is None and number(score) < 0:
            raise VttdataError(
                f"{file}:{line}: found the score {score[:40]}; scores that are standardised need the workers' means "
                "and deviations as well (--moments)."
            )
        raw = number(score) if moments is None else _given(number(score), moments[worker])
        seconds = number(time) / sizes[hit, worker]
        intake.take(hit, worker, item, raw, shown=shown, position=place, seconds=seconds)


def _given(z: float, moments: Moments) -> float:
    """The score on the slider: whole numbers, as far as the digits of the moments allow to say."""
    score = z * moments.sd + moments.mean
    whole = float(round(score)) if abs(score) < 1e6 else score
    return whole if abs(score - whole) < _ROUND else score


def read_moments(file: Path) -> dict[str, Moments]:
    """Each worker's mean and standard deviation from a file such as ``ad-lven-trk-mean-sd.txt``: three lines a worker.

    Raises:
        VttdataError: when it cannot be read or has another layout.
    """
    values = list(_printed(file))
    if len(values) % 3:
        raise VttdataError(f"{file}: ends within a worker; each has three lines: name, mean, standard deviation.")
    triples = zip(values[::3], values[1::3], values[2::3], strict=True)
    moments = {worker: Moments(number(mean), number(sd)) for worker, mean, sd in triples}
    if len(moments) * 3 < len(values):
        raise VttdataError(f"{file}: a worker stands twice in it.")
    return moments


def _printed(file: Path) -> Iterator[str]:
    for line, text in _lines(file):
        found = _MOMENT.fullmatch(text.strip())
        if found is None and text.strip():
            raise VttdataError(f"{file}:{line}: found {text[:40]!a}; [1] and a value are expected, as R prints it.")
        if found is not None:
            yield found[1] if found[1] is not None else found[2]


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        with file.open(encoding="utf-8-sig") as stream:
            yield from enumerate(stream, 1)
    except UnicodeDecodeError as error:
        raise VttdataError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except OSError as error:
        raise VttdataError(f"{file}: cannot be read ({error.strerror or error}).") from error
