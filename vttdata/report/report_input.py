"""Find what a report can be made of: the account, tables and videos of a build, and its dataset."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.files.reading import is_inside, links_out
from vttdata.json_types import JsonObject, Row
from vttdata.load.local_builds import dataset_in, read_account
from vttdata.report.thumbnails import Still, sample_times


class SourceVideo(NamedTuple):
    """File of a source, which may be gone, and its seconds; 0 where they are not known."""

    path: Path
    seconds: float


class ShotSpan(NamedTuple):
    """Span of a source in seconds, and the transition that opens it."""

    start: float
    end: float
    transition: str


@dataclass(frozen=True)
class ReportInput:
    """Build, dataset, or both.

    Fields:
        build: folder; None for a dataset without its build.
        dataset: folder; None while a build has none.
        account: content of ``build.json``; empty without a build.
        files: configuration -> split -> tables of the dataset.
        categories: names of the categories, by their numbers in the tables.
    """

    build: Path | None
    dataset: Path | None
    account: JsonObject
    files: dict[str, dict[str, list[Path]]]
    categories: tuple[str, ...]

    @classmethod
    def open(cls, folder: Path) -> ReportInput:
        """Return what a folder holds, of a build or of a dataset, which may lie in its build.

        Raises:
            VttdataError: if it is neither.
        """
        account, dataset = read_account(folder), dataset_in(folder)
        if account is None and dataset is None:
            raise VttdataError(f"{folder}: is neither a build folder nor a dataset folder.")
        if account is None and dataset is not None:
            account = read_account(dataset.parent)
            folder = dataset.parent if account is not None else folder
        build = folder if account is not None else None
        if dataset is None:
            return cls(build, dataset, account or {}, {}, ())
        layout = read_layout(dataset, needs=None)
        return cls(build, dataset, account or {}, layout.files, tuple(layout.categories))

    def section(self, name: str) -> JsonObject:
        """Return a section of the build's settings, such as ``filter``; empty where there is none."""
        section = self.settings.get(name)
        return section if isinstance(section, dict) else {}

    @property
    def settings(self) -> JsonObject:
        """Settings of the build."""
        settings = self.account.get("settings")
        return settings if isinstance(settings, dict) else {}

    @property
    def stages(self) -> list[JsonObject]:
        """Entries of the stages in ``build.json``."""
        stages = self.account.get("stages")
        return [stage for stage in stages if isinstance(stage, dict)] if isinstance(stages, list) else []

    @cached_property
    def name_and_version(self) -> tuple[str, str]:
        """Name and version of the dataset."""
        if self.account:
            return str(self.account.get("recipe")), str(self.account.get("version") or "")
        manifest = read_dataset_manifest(self.dataset) if self.dataset is not None else {}
        return str(manifest.get("name")), str(manifest.get("version") or "")

    def stage_table(self, stage: str) -> Path | None:
        """Return the table of what a stage kept, if it is there."""
        path = self.build / "stages" / stage / "kept.parquet" if self.build is not None else None
        return path if path is not None and path.is_file() else None

    @cached_property
    def videos(self) -> dict[str, SourceVideo]:
        """Source -> its file and seconds, as far as the build knows them."""
        if self.build is None:
            return {}
        collect = self.section("collect")
        listed = self.build / "media" / "scenes"
        if collect.get("folder"):
            listed = Path(str(collect["folder"]))
        elif collect.get("manifest"):
            listed = Path(str(collect["manifest"])).parent
        folders = {"listed": listed, "fetched": self.build / "media" / "sources"}
        columns = ("file", "stored", "container_seconds", "seconds")
        videos: dict[str, SourceVideo] = {}
        for table in filter(None, map(self.stage_table, ("collect", "probe", "measure"))):
            for row in read_parquet_rows([table], ("source_id",), optional=columns):
                folder, earlier = folders.get(str(row.get("stored"))), videos.get(row["source_id"])
                path = folder / row["file"] if folder is not None and row.get("file") else earlier and earlier.path
                seconds = row.get("seconds") or row.get("container_seconds") or (earlier.seconds if earlier else 0.0)
                if path:
                    videos[row["source_id"]] = SourceVideo(path, seconds)
        return videos

    @cached_property
    def shots(self) -> dict[str, list[ShotSpan]]:
        """Source -> its shots, in order."""
        shots: dict[str, list[ShotSpan]] = {}
        if table := self.stage_table("shots"):
            for row in read_parquet_rows([table], ("source_id", "start", "end", "transition")):
                shots.setdefault(row["source_id"], []).append(ShotSpan(row["start"], row["end"], row["transition"]))
        return shots

    def still_of_source(self, source: str, time: float | None = None) -> Still | None:
        """Return the wanted picture of a source at a time in seconds, or of its whole length; None without its file."""
        video = self.videos.get(source)
        if video is None or not video.path.is_file():
            return None
        times = sample_times(0.0, video.seconds) if time is None else (round(time, 3),)
        return Still(f"source {source}", video.path, times)

    def still_of_clip(self, row: Row) -> Still | None:
        """Return the wanted picture of a clip, a row of its table: from its file, or else from that of its source."""
        start, end, name = row.get("start"), row.get("end"), row.get("video")
        if start is None or end is None:
            return None
        if isinstance(name, str) and self.dataset is not None and is_inside(name):
            path = self.dataset / name
            if path.is_file() and not links_out(self.dataset, path):
                return Still(row.get("sha256") or row["video_id"], path, sample_times(0.0, end - start))
        source = self.videos.get(row.get("source_id") or "")
        if source is not None and source.path.is_file():
            return Still(f"{row['source_id']}", source.path, sample_times(start, end))
        return None
