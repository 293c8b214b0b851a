"""Write the clips of a report as files that the page loads when they are needed, and as a part of the page itself.

Browsers refuse to fetch files beside a page that was opened from disk, but run scripts from there: each file is one
call with a JSON text. The first clips, as far as the budget of the main page allows, are in the page, so that it shows
something without its folder.
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from vttdata.dataset.parquet import open_parquet
from vttdata.report.page import replace_controls

CHUNK = 500
# Bytes of clips, and of clips with their pictures, in the main page.
_TEXT_BUDGET = 500_000
_PICTURE_BUDGET = 1_000_000
_MAX_CAPTIONS = 200

_COLUMNS = ("video_id", "source_id", "start", "end", "category", "shots", "video", "sha256", "captions", "url")

ClipRow = dict[str, Any]


def read_clip_batches(paths: Sequence[Path], columns: Sequence[str] = _COLUMNS) -> Iterator[list[ClipRow]]:
    """Yield the clips of a split in batches; columns that a file lacks are None."""
    for path in paths:
        with open_parquet(path, "video_id") as file:
            names = [name for name in columns if name in file.schema_arrow.names]
            for batch in file.iter_batches(CHUNK, columns=names):
                yield batch.to_pylist()


class ClipPages:
    """Collects clips in order and writes them in files of `CHUNK`.

    Rows of the files are lists: id, source, split, category, start, end, picture, captions, times of shots, video.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.number = 0
        self._rows: list[list[Any]] = []
        self._inline: list[list[Any]] = []
        self._inline_bytes = 0
        self._picture_bytes = 0
        self._files = 0
        self._columns: list[tuple[int, int, float, int, int]] = []
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, row: list[Any], picture: Path | None, label: tuple[int, int]) -> None:
        """Add a clip with the file of its picture, and the numbers of its split and category (-1 for none)."""
        captions = row[7]
        seconds = (row[5] - row[4]) if row[4] is not None and row[5] is not None else float("nan")
        words = sum(text.count(" ") + 1 for text in captions) // max(len(captions), 1)
        self._columns.append((label[0], label[1], seconds, len(captions), words))
        if len(captions) > _MAX_CAPTIONS:
            row[7] = captions[:_MAX_CAPTIONS]
        if len(self._inline) == self.number and self._inline_bytes < _TEXT_BUDGET:
            shown = list(row)
            self._inline_bytes += len(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
            if picture is not None and self._picture_bytes < _PICTURE_BUDGET:
                data = base64.b64encode(picture.read_bytes()).decode()
                self._picture_bytes += len(data)
                shown[6] = f"data:image/webp;base64,{data}"
            self._inline.append(shown)
        self._rows.append(row)
        self.number += 1
        if len(self._rows) == CHUNK:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            text = _json(self._rows)
            path = self.folder / f"clips-{self._files:05d}.js"
            path.write_text(f"vttdataReport.chunk({self._files}, {text});\n", encoding="utf-8")
            self._files += 1
            self._rows = []

    def finish(self, labels: Mapping[str, Sequence[str]]) -> Markup:
        """Write the rest, and return the element of the page with the first clips.

        Args:
            labels: ``splits`` and ``categories``, names in the order of their numbers.
        """
        if len(self._inline) == self.number:
            # The page has everything but pictures.
            for path in self.folder.glob("clips-*.js"):
                path.unlink()
        else:
            self._flush()
            table = np.array(self._columns, dtype=np.float32)
            types = {"split": "<i2", "category": "<i2", "seconds": "<f4", "captions": "<u2", "words": "<u2"}
            columns = {
                name: base64.b64encode(table[:, number].astype(kind).tobytes()).decode()
                for number, (name, kind) in enumerate(types.items())
            }
            text = json.dumps(columns)
            (self.folder / "index.js").write_text(f"vttdataReport.index({text});\n", encoding="utf-8")
        values = {
            "total": self.number,
            "chunk": CHUNK,
            "folder": self.name,
            **{name: list(map(replace_controls, names)) for name, names in labels.items()},
            "rows": self._inline,
        }
        return Markup(f'<script type="application/json" id="clips-data">{_json(values)}</script>')  # noqa: S704


def clear_clip_files(folder: Path) -> None:
    """Remove the files of an earlier report, except for its pictures."""
    for path in [*folder.glob("clips-*.js"), *folder.glob("index.js")]:
        path.unlink()


def remove_folder_if_empty(folder: Path) -> None:
    """Remove a folder without files; a report whose page holds everything needs none."""
    if folder.is_dir() and not any(path.is_file() for path in folder.rglob("*")):
        shutil.rmtree(folder)


def _json(value: Any) -> str:
    """Return JSON that is inert in a script element: no ``<``, no ``&``, and no characters that hide or reorder."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = str(replace_controls(text))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
