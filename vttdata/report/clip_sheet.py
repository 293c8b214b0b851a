"""Write the contact sheet of a report: clips as files that the page loads when they are needed, the first ones in it.

Browsers refuse to fetch files beside a page that was opened from disk, but run scripts from there: each file is one
call with a JSON text. The first clips, as far as the budget of the main page allows, are in the page, so that it shows
something without its folder. Clips are read and written in batches.
"""

from __future__ import annotations

import base64
import json
import shutil
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup
from pydantic_core import to_json

from vttdata.dataset.parquet import open_parquet, without_nan
from vttdata.files.own_folder import FolderKind
from vttdata.json_types import JsonObject, Row
from vttdata.report.page import replace_controls
from vttdata.report.page_pictures import PictureFolder, as_data_address
from vttdata.report.report_input import ReportInput

CHUNK = 500
_MARKER = ".vttdata-page"
PAGE_FOLDER = FolderKind(
    "the files of a page",
    _MARKER,
    lambda folder: {_MARKER, "index.js", "stills", *(path.name for path in folder.glob("clips-[0-9]*.js"))},
)
# Bytes of clips, and of clips with their pictures, in the main page.
_TEXT_BUDGET = 500_000
_PICTURE_BUDGET = 1_000_000
_MAX_CAPTIONS = 200
_COLUMNS = ("video_id", "source_id", "start", "end", "category", "video", "sha256", "captions", "file")
# Columns of all clips, by which the page selects and sorts them.
_INDEX = np.dtype([("split", "<i2"), ("category", "<i2"), ("seconds", "<f4"), ("captions", "<u2"), ("words", "<u2")])
_MOST = 65_535


@dataclass(slots=True)
class ClipFigures:
    """Figures of clips.

    Fields:
        pictures: number of clips with a picture.
        splits, categories: split, and category -> split, -> number of clips, in the order of their numbers in `index`.
        index: a row for each clip: numbers of its split and category (-1 for none), seconds (NaN where unknown), number
            of captions and words a caption.
        video_ids, source_ids: of each clip.
    """

    pictures: int = 0
    splits: dict[str, int] = field(default_factory=dict)
    categories: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    index: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, _INDEX))
    video_ids: pa.ChunkedArray = field(default_factory=lambda: pa.chunked_array([], pa.string()))
    source_ids: pa.ChunkedArray = field(default_factory=lambda: pa.chunked_array([], pa.string()))

    @property
    def clips(self) -> int:
        """Number of clips."""
        return len(self.index)

    @property
    def seconds(self) -> npt.NDArray[np.float32]:
        """Seconds of the clips whose span is known."""
        seconds: npt.NDArray[np.float32] = self.index["seconds"]
        return seconds[np.isfinite(seconds)]

    def rows_of(self, ids: pa.ChunkedArray, wanted: Sequence[str]) -> dict[str, list[int]]:
        """Return id -> numbers of the clips that have it, of some wanted `video_ids` or `source_ids`."""
        matches = pc.fill_null(pc.index_in(ids, pa.array(wanted, ids.type)), -1).to_numpy()
        rows: dict[str, list[int]] = {}
        for row in np.flatnonzero(matches >= 0).tolist():
            rows.setdefault(wanted[matches[row]], []).append(row)
        return rows

    def splits_of(self, rows: Sequence[int]) -> list[str]:
        """Return the splits of some clips, in the order of the dataset."""
        numbers = set(self.index["split"][list(rows)].tolist())
        return [split for number, split in enumerate(self.splits) if number in numbers]

    def sample_categories(self, number: int) -> dict[str, str]:
        """Return video id -> category of at most so many clips, evenly spread, of those that have one."""
        names = list(self.categories)
        step = -(-self.clips // number) or 1
        ids, labels = self.video_ids.take(np.arange(0, self.clips, step)), self.index["category"][::step]
        return {name: names[label] for name, label in zip(ids.to_pylist(), labels.tolist(), strict=True) if label >= 0}


def read_clip_rows(report: ReportInput, numbers: Iterable[int]) -> dict[int, Row]:
    """Return number -> row of some clips, with their ``split``; only the row groups that hold them are read."""
    wanted = sorted(set(numbers))
    found: dict[int, JsonObject] = {}
    first = 0
    for split, paths in report.files.get("clips", {}).items():
        for path in paths:
            with open_parquet(path, "video_id") as file:
                names = [name for name in _COLUMNS if name in file.schema_arrow.names]
                for group in range(file.num_row_groups):
                    end = first + file.metadata.row_group(group).num_rows
                    inside = wanted[bisect_left(wanted, first) : bisect_left(wanted, end)]
                    if inside:
                        table = file.read_row_group(group, names).take(pa.array([number - first for number in inside]))
                        rows = table.to_pylist()
                        found |= {number: {**row, "split": split} for number, row in zip(inside, rows, strict=True)}
                    first = end
    return found


def write_clips(report: ReportInput, folder: Path, pictures: PictureFolder) -> tuple[Markup, ClipFigures]:
    """Write the files of all clips of a dataset; return the element of the page with the first ones, and figures."""
    figures, pages = ClipFigures(), _ClipPages(folder)
    index: list[npt.NDArray[Any]] = []
    numbers: dict[str, int] = {}
    video_ids: list[pa.Array] = []
    source_ids: list[pa.Array] = []
    for split_number, (split, paths) in enumerate(report.files.get("clips", {}).items()):
        figures.splits[split] = 0
        for batch in _read_batches(paths):
            rows = batch.to_pylist()
            stills = {row["video_id"]: still for row in rows if (still := report.still_of_clip(row))}
            made = pictures.make(stills.values())
            entries = []
            for row in rows:
                label, start, end = row.get("category"), row.get("start"), row.get("end")
                if isinstance(label, int):
                    label = report.categories[label] if 0 <= label < len(report.categories) else str(label)
                still = stills.get(row["video_id"])
                name = still.name if still is not None and still.name in made else ""
                has_span = start is not None and end is not None
                texts = [*filter(None, row.get("captions") or ())]
                words = (" ".join(texts).count(" ") + 1) // len(texts) if texts else 0
                category = -1 if label is None else numbers.setdefault(label, len(numbers))
                seconds = end - start if has_span else np.nan
                entries.append((split_number, category, seconds, min(len(texts), _MOST), min(words, _MOST)))
                if label is not None:
                    figures.categories[label][split] += 1
                figures.pictures += bool(name)
                source = row.get("source_id") or ""
                shots = report.shots.get(source, ()) if has_span else ()
                pages.add(
                    [
                        row["video_id"],
                        source,
                        split,
                        label or "",
                        start,
                        end,
                        pictures.page_path(name) if name else "",
                        texts[:_MAX_CAPTIONS],
                        [round(shot.start, 3) for shot in shots if start < shot.start < end],
                        row.get("video") or "",
                        row.get("file") or "",
                    ],
                    pictures.folder / name if name else None,
                )
            figures.splits[split] += len(rows)
            index.append(np.array(entries, _INDEX))
            video_ids.append(batch["video_id"].cast(pa.string()))
            if "source_id" in batch.schema.names:
                source_ids.append(batch["source_id"].cast(pa.string()))
    figures.index = np.concatenate(index) if index else figures.index
    figures.video_ids = pa.chunked_array(video_ids, pa.string())
    figures.source_ids = pa.chunked_array(source_ids, pa.string())
    return pages.finish(figures) if figures.clips else Markup(), figures


def _read_batches(paths: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    """Yield the clips of a split in batches, with those of the columns of the contact sheet that a file has."""
    for path in paths:
        with open_parquet(path, "video_id") as file:
            names = [name for name in _COLUMNS if name in file.schema_arrow.names]
            yield from map(without_nan, file.iter_batches(CHUNK, columns=names))


class _ClipPages:
    """Collects clips in order and writes them in files of `CHUNK`.

    Rows of the files are lists: id, source, split, category, start, end, picture, captions, times of shots, video,
    file of the source.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows: list[list[Any]] = []
        self._inline: list[list[Any]] = []
        self._inline_bytes = self._picture_bytes = self._number = 0
        folder.mkdir(parents=True, exist_ok=True)
        text = "vttdata writes and removes the files in this folder.\n"
        (folder / _MARKER).write_text(text, encoding="utf-8", newline="\n")

    def add(self, row: list[Any], picture: Path | None) -> None:
        """Add a clip with the file of its picture."""
        if len(self._inline) == self._number and self._inline_bytes < _TEXT_BUDGET:
            shown = list(row)
            self._inline_bytes += len(to_json(row))
            if picture is not None and self._picture_bytes < _PICTURE_BUDGET:
                shown[6] = as_data_address(picture)
                self._picture_bytes += len(shown[6])
            self._inline.append(shown)
        self._rows.append(row)
        self._number += 1
        if len(self._rows) == CHUNK:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            file = (self._number - 1) // CHUNK
            path = self._folder / f"clips-{file:05d}.js"
            path.write_text(f"vttdataReport.chunk({file}, {_json(self._rows)});\n", encoding="utf-8", newline="\n")
            self._rows = []

    def finish(self, figures: ClipFigures) -> Markup:
        """Write the rest, and return the element of the page with the first clips."""
        if len(self._inline) == self._number:
            # The page has everything but pictures.
            clear_clip_files(self._folder)
        else:
            self._flush()
            columns = {name: base64.b64encode(figures.index[name].tobytes()).decode() for name in _INDEX.names or ()}
            (self._folder / "index.js").write_text(
                f"vttdataReport.index({json.dumps(columns)});\n", encoding="utf-8", newline="\n"
            )
        values = {
            "total": self._number,
            "pictures": figures.pictures,
            "captions": int(figures.index["captions"].max()),
            "chunk": CHUNK,
            "folder": replace_controls(self._folder.name),
            "splits": list(map(replace_controls, figures.splits)),
            "categories": list(map(replace_controls, figures.categories)),
            "rows": self._inline,
        }
        return Markup(f'<script type="application/json" id="clips-data">{_json(values)}</script>')  # noqa: S704


def clear_clip_files(folder: Path) -> None:
    """Remove the files of an earlier report, except for its pictures."""
    for path in [*folder.glob("clips-[0-9]*.js"), *folder.glob("index.js")]:
        path.unlink()


def remove_folder_if_empty(folder: Path) -> None:
    """Remove a folder without files; a report whose page holds everything needs none."""
    if folder.is_dir() and not any(path.is_file() for path in folder.rglob("*") if path.name != _MARKER):
        shutil.rmtree(folder)


def _json(value: Any) -> str:
    """Return JSON that is inert in a script element: no ``<``, no ``&``, and no characters that hide or reorder."""
    text = to_json(value).decode()
    if not text.isascii() or "\x7f" in text:
        # JSON has escaped the other control characters of ASCII.
        text = str(replace_controls(text))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
