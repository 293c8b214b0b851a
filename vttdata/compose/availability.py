"""Check which videos of a dataset are still there, in a folder or online, and fix the outcome as a dated protocol.

Every answer is a row of a table that is written as it comes, so an interrupted check goes on where it stopped.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vttdata.collect.reachability import Address, addresses, any_answers
from vttdata.collect.settings import CollectSettings
from vttdata.collect.ytdlp import BREAKER_REASONS, TRANSIENT_REASONS, UNREACHABLE, FetchError, retry_download, run_ytdlp
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.protocol_file import Protocol
from vttdata.errors import DescribeOSErrors, HaltError, MediaError, VttdataError
from vttdata.files.csv_safety import escape_formula, unescape_formula
from vttdata.files.id_lists import read_ids
from vttdata.files.output_file import make_output_folder, write_whole
from vttdata.files.results import ResultTable, Section
from vttdata.files.tables import Columns, read_table
from vttdata.ids import VIDEO_EXTENSIONS

TABLE, PROTOCOL = "availability.csv", "protocol.json"

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# Answers that say nothing about the video itself; the next check asks again.
_INCONCLUSIVE = TRANSIENT_REASONS | BREAKER_REASONS | {"not_yet"}


class Availability(NamedTuple):
    """Outcome for one source: ``yes``, ``no``, or ``unknown`` where an answer was not about the video."""

    source_id: str
    url: str
    available: str
    reason: str
    date: str


@dataclass(frozen=True, slots=True)
class DatasetVideos:
    """Clips of a dataset by split, with their sources: (video_id, source_id), and the address of each source."""

    name: str
    version: str
    splits: Mapping[str, list[tuple[str, str]]]
    urls: Mapping[str, str]


def read_videos(folder: Path) -> DatasetVideos:
    """Read which sources the clips of a dataset need.

    Raises:
        VttdataError: when it is no dataset of clips.
    """
    manifest = read_dataset_manifest(folder)
    splits: dict[str, list[tuple[str, str]]] = {}
    urls: dict[str, str] = {}
    for split, paths in read_layout(folder, needs="clips").files["clips"].items():
        for row in read_parquet_rows(paths, ("video_id",), optional=("source_id", "url")):
            source = row.get("source_id") or row["video_id"]
            splits.setdefault(split, []).append((row["video_id"], source))
            urls.setdefault(source, row.get("url") or "")
    return DatasetVideos(str(manifest.get("name")), str(manifest.get("version")), splits, urls)


def check_local_availability(videos: DatasetVideos, place: Path, date: str) -> Iterator[Availability]:
    """Yield each source: available if there is a file named after it, or after every one of its clips.

    Args:
        videos: those of a dataset.
        place: folder of files, which are checked as a build checks them before it decodes, or a list of ids, as of
            `vttdata.files.id_lists.read_ids`, in which a file's name counts as its id.
        date: of the check.

    Raises:
        VttdataError: when the folder or the list cannot be read.
    """
    if place.is_file():
        problems = {name: "" for listed in read_ids(place) for name in (listed, PurePosixPath(listed).stem)}
    else:
        with DescribeOSErrors(f"{place}: cannot be read"):
            files = [path for path in place.iterdir() if path.suffix.lower() in VIDEO_EXTENSIONS and path.is_file()]
        wanted = {name for clips in videos.splits.values() for pair in clips for name in pair}
        problems = {path.stem: _problem(path) for path in sorted(files) if path.stem in wanted}
    clips: dict[str, set[str]] = {}
    for video_id, source in chain.from_iterable(videos.splits.values()):
        clips.setdefault(source, set()).add(video_id)
    for source, url in videos.urls.items():
        found = [problems.get(name, "missing_file") for name in sorted(clips[source])]
        problem = min(
            problems.get(source, "missing_file"), max(found), key=lambda text: (text != "", text == "missing_file")
        )
        yield Availability(source, url, "no" if problem else "yes", problem or "file", date)


def _problem(path: Path) -> str:
    """Return why a build would refuse a file, such as ``file_empty``; empty for a video."""
    from vttdata.media.probe import probe

    try:
        probe(path)
    except MediaError as error:
        return f"file_{error.reason}"
    return ""


def check_online(
    sources: Iterable[tuple[str, str]],
    settings: CollectSettings,
    today: Callable[[], str],
    hosts: frozenset[Address] = frozenset(),
) -> Iterator[Availability]:
    """Ask yt-dlp about each address without downloading, with a pause before each; see `CollectSettings`.

    `sources` are ids with addresses, and `today` returns the date of an answer. `hosts` are those of the whole list;
    while one of them answers, others that do not are gone.

    Raises:
        HaltError: when the site refuses this client several times in a row, or no host can be reached; what was
            answered is kept.
    """
    failed: list[str] = []
    for source, url in sources:
        if not url:
            yield Availability(source, url, "unknown", "no_url", today())
            continue
        time.sleep(settings.sleep_seconds)
        try:
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch)
                retry_download(
                    lambda seconds, url=url, folder=folder: run_ytdlp(  # type: ignore[misc]
                        ["--simulate", "--no-playlist"], url, folder=folder, settings=settings, seconds=seconds
                    ),
                    settings,
                )
        except FetchError as error:
            yield Availability(source, url, "unknown" if error.reason in _INCONCLUSIVE else "no", error.reason, today())
            failed = [*failed, url] if error.reason in BREAKER_REASONS | {UNREACHABLE} else []
            if len(failed) < settings.breaker:
                continue
            if error.reason in BREAKER_REASONS:
                problem = f"{len(failed)} answers in a row were refusals of this client ({error.reason})"
            elif any_answers(hosts - addresses(failed), proxy=settings.proxy):
                continue
            else:
                problem = f"{len(failed)} addresses in a row could not be reached, nor could others of the list"
            raise HaltError(
                f"{problem}; what is known is in the table, run the same command later to go on."
            ) from error
        else:
            failed = []
            yield Availability(source, url, "yes", "", today())


def read_table_of(folder: Path) -> dict[str, Availability]:
    """Return what an earlier check found about each source; nothing without one.

    Raises:
        VttdataError: when the table is damaged.
    """
    path = folder / TABLE
    if not path.is_file():
        return {}
    known: dict[str, Availability] = {}
    for line, row in read_table(path, Columns(fields := Availability._fields, [(name,) for name in fields])):
        values = [unescape_formula(row[name] or "") for name in Availability._fields]
        if values[2] not in ("yes", "no", "unknown") or not _DATE.fullmatch(values[4]):
            raise VttdataError(f"{path}:{line}: 'available' is yes, no or unknown, and 'date' a day as 2026-11-22.")
        known[values[0]] = Availability(*values)
    return known


def answered_online(known: Mapping[str, Availability]) -> dict[str, Availability]:
    """Return the answers that sites gave: neither those that files gave nor those that say nothing."""
    return {
        source: answer
        for source, answer in known.items()
        if answer.available != "unknown" and not answer.reason.startswith(("file", "missing_file"))
    }


def write_answers(folder: Path, known: Mapping[str, Availability], answers: Iterable[Availability]) -> None:
    """Write the table: what is known, then each answer as it comes."""
    make_output_folder(folder)
    # What is known is never lost: the table is replaced as a whole, and then grows.
    text = io.StringIO()
    csv.writer(text).writerows([Availability._fields, *(map(escape_formula, answer) for answer in known.values())])
    write_whole(folder / TABLE, text.getvalue())
    with (folder / TABLE).open("a", newline="", encoding="utf-8") as stream:
        for answer in answers:
            csv.writer(stream).writerow(map(escape_formula, answer))
            stream.flush()


def available_protocol(videos: DatasetVideos, answers: Mapping[str, Availability], date: str) -> Protocol:
    """Return the clips whose source is available as a protocol named after the day."""
    available_sources = {source for source, answer in answers.items() if answer.available == "yes"}
    splits = {
        split: list(dict.fromkeys(video_id for video_id, source in clips if source in available_sources))
        for split, clips in videos.splits.items()
    }
    about = {
        "description": f"Clips whose source video was available on {date}.",
        "dataset": videos.name,
        "version": videos.version,
        "date": date,
    }
    return Protocol(f"available-{date}", {split: ids for split, ids in splits.items() if ids}, about)


def availability_section(videos: DatasetVideos, answers: Mapping[str, Availability]) -> Section:
    """Return the counts of clips and sources by split and by reason."""
    rows = []
    for status in ("yes", "no", "unknown"):
        rows.append([f"clips, available: {status}"])
        for clips in videos.splits.values():
            number = sum(source in answers and answers[source].available == status for _, source in clips)
            rows[-1].append(f"{number:,} ({number / len(clips):.1%})")
    unanswered = sum(source not in answers for source in videos.urls)
    reasons = Counter(answer.reason for answer in answers.values() if answer.reason)
    found = ", ".join(f"{reason} {number:,}" for reason, number in reasons.most_common())
    sentence = f"Sources: {len(videos.urls):,}, not asked {unanswered:,}{f'; {found}' if found else ''}."
    return Section("", [sentence], table=ResultTable(("", *videos.splits), rows))
