"""Put pictures of videos into pages: as addresses that a page holds, or as files of the folder beside it."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.files.reading import is_inside, links_out
from vttdata.load.local_builds import folder_of_videos
from vttdata.media.video_folder import locate_videos
from vttdata.report.thumbnails import Still, make_stills
from vttdata.subprocesses import CallProcess


def read_video_stills(files: Mapping[str, Path]) -> dict[str, str]:
    """Return name -> address of the middle frame of its video, for videos that can be decoded."""
    stills = {name: Still(str(path), path, width=320) for name, path in files.items()}
    with tempfile.TemporaryDirectory() as temporary:
        made = make_stills(stills.values(), Path(temporary))
        return {name: as_data_address(Path(temporary, each.name)) for name, each in stills.items() if each.name in made}


def read_clip_stills(folder: Path, video_ids: Iterable[str], videos: Sequence[Path] = ()) -> dict[str, str]:
    """Return video id -> address of its middle frame, for clips whose file can be decoded.

    Files are those in the dataset, or else in folders of videos, by default the one that its build used. There should
    be at most some dozens of ids.
    """
    tables = [*chain(*read_layout(folder, needs=None).files.get("clips", {}).values())]
    wanted = set(video_ids)
    files = {}
    for row in read_parquet_rows(tables, ("video_id", "video")):
        name = row["video"]
        if row["video_id"] in wanted and name and is_inside(name) and not links_out(folder, folder / name):
            files[row["video_id"]] = folder / name
    beside = folder_of_videos(folder)
    for each in videos or ([beside] if beside is not None and beside.is_dir() else []):
        files = locate_videos(each, wanted - files.keys()) | files
    return read_video_stills(files)


def select_stills(stills: Mapping[str, str], *names: str) -> dict[str, str]:
    """Return name -> address of those of some names that have one."""
    return {name: stills[name] for name in names if name in stills}


def as_data_address(path: Path) -> str:
    """Return a picture as an address that a page can hold."""
    return f"data:image/webp;base64,{base64.b64encode(path.read_bytes()).decode()}"


class PictureFolder:
    """Pictures of a page in the folder beside it, the first ones inside the page too; to be used as a context.

    The page itself may hold `inlined` pictures. Threads, `workers` of them, make the pictures.
    """

    def __init__(self, folder: Path, *, inlined: int, workers: int) -> None:
        self.folder = folder / "stills"
        self._page_path = f"{quote(folder.name, safe='')}/stills"
        self._inlined = inlined
        self._workers = workers
        self._addresses: dict[str, str] = {}
        self._used: set[str] = set()
        self._process = CallProcess()

    def __enter__(self) -> PictureFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def make(self, stills: Iterable[Still]) -> set[str]:
        """Make pictures that the page loads from the folder, and return the names of those that are there."""
        made = make_stills(stills, self.folder, workers=self._workers, process=self._process)
        self._used |= made
        return made

    def inline(self, stills: Iterable[Still | None]) -> None:
        """Make pictures for `address`; None stands for a picture that cannot be made."""
        wanted = {still.name: still for still in stills if still is not None}
        made = self.make(wanted.values())
        for name in wanted:
            if name in made and name not in self._addresses:
                is_inlined = len(self._addresses) < self._inlined
                self._addresses[name] = as_data_address(self.folder / name) if is_inlined else self.page_path(name)

    def page_path(self, name: str) -> str:
        """Return the address of a picture, relative to the page."""
        return f"{self._page_path}/{name}"

    def address(self, still: Still | None) -> str:
        """Return the address of a picture that `inline` made; empty where there is none."""
        return self._addresses.get(still.name, "") if still is not None else ""

    def remove_others(self) -> None:
        """Remove pictures of earlier pages."""
        for path in self.folder.glob("??/*.webp"):
            if path.relative_to(self.folder).as_posix() not in self._used:
                path.unlink()
