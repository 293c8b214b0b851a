"""Revise a dataset folder: put errata into its rows, leave out what was withdrawn, and describe the new version.

The folder is changed in place, so it must be one that nobody loads yet: the copy that takes the place of the dataset,
or the new dataset of a build. Files without a changed row stay as they are, to the byte.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from vttdata.dataset.description_files import write_description
from vttdata.dataset.errata import CORRECTABLE, as_rows, correct_row, history_rows, row_id
from vttdata.dataset.facts import parse_facts, read_facts
from vttdata.dataset.foils.write import SWAP, swap_rows, withdraw_paragraphs
from vttdata.dataset.front_matter import invalid_front_matter, match_files, read_front_matter, read_layout
from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.dataset.parquet import open_parquet, read_parquet_rows
from vttdata.dataset.provenance import PROVENANCE, RECIPE, read_provenance, write_provenance
from vttdata.dataset.replace_folder import replace_folder
from vttdata.dataset.rows import ERRATA, ErratumRow, columns_of, is_protocol
from vttdata.dataset.schema import LabelNames, Role, table_schema
from vttdata.dataset.shards import Shard, SplitFiles, write_split
from vttdata.dataset.tombstones import IDENTIFIERS, ITEM, VIDEO, WITHDRAWN, Tombstones, read_history, read_tombstones
from vttdata.dataset.videos import PREVIEW, write_video_lists
from vttdata.errors import VttdataError
from vttdata.files.output_file import link_file
from vttdata.files.own_folder import FileChanges
from vttdata.files.reading import is_inside, links_out
from vttdata.json_types import Row
from vttdata.records import to_row


@dataclass(frozen=True, slots=True)
class Changes:
    """What a revision puts into a dataset.

    Fields:
        version: of the revised dataset.
        errata: corrections that the rows do not have yet.
        tombstones: of everything that was ever withdrawn; None for those of the dataset.
        strict: refuse errata that fit no row; else leave them out.
    """

    version: str
    errata: Sequence[ErratumRow] = ()
    tombstones: Tombstones | None = None
    strict: bool = True


@dataclass(slots=True)
class Revision:
    """What a revision changed.

    Fields:
        removed, corrected: numbers of rows by configuration.
        unfit: errata that fit no row.
        emptied: splits of which no row is left, ``CONFIG/SPLIT``.
    """

    removed: Counter[str] = field(default_factory=Counter)
    corrected: Counter[str] = field(default_factory=Counter)
    unfit: list[ErratumRow] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)


def replace_revised(
    dataset: Path, changes: Changes, files: FileChanges | None = None, *, target: Path | None = None
) -> Revision:
    """Put a revised dataset into the place of a folder, by default that of the dataset itself.

    What becomes of each file is noted in `files`; if that is a dry run, nothing is replaced.

    Raises:
        VttdataError: If the manifest names a file that is missing, or outside of the dataset; or as `revise_dataset`.
    """
    noted = files if files is not None else FileChanges()
    before = read_dataset_manifest(dataset)["files"]
    with contextlib.suppress(_DryRunError), replace_folder(target or dataset) as partial:
        for name in [MANIFEST, *before]:
            if not is_inside(name) or links_out(dataset, dataset / name) or not (dataset / name).is_file():
                raise VttdataError(f"{dataset}: {name} is missing or leads out of the dataset; restore it.")
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            # A file of the Hub's cache is a link.
            link_file((dataset / name).resolve(), partial / name)
        revision = revise_dataset(partial, changes)
        after = read_dataset_manifest(partial)["files"]
        if noted.is_dry_run:
            raise _DryRunError
    for name in sorted({MANIFEST, *before, *after}):
        if name == MANIFEST or after.get(name) != before.get(name):
            noted.note(dataset / name, "changed" if name in (*after, MANIFEST) else "removed")
    return revision


class _DryRunError(Exception):
    """Ends the work on a folder that is not to take the place of another."""


def revise_dataset(dataset: Path, changes: Changes) -> Revision:
    """Revise a dataset folder in place.

    Raises:
        VttdataError: If it is not a dataset of vttdata, an erratum fits no row, or no row would be left.
    """
    return _Reviser(dataset, changes).run()


class _Reviser:
    def __init__(self, dataset: Path, changes: Changes) -> None:
        self.dataset, self.changes, self.result = dataset, changes, Revision()
        self.tombstones = changes.tombstones if changes.tombstones is not None else read_tombstones(dataset)
        self.manifest, self.facts = read_dataset_manifest(dataset), read_facts(dataset)
        layout = read_layout(dataset, needs=None, check_rows=False)
        self.labels: LabelNames = {Role.CATEGORY: layout.categories, Role.CLASS: layout.classes}
        self.tables = self._read_tables()
        self.errata: dict[str, dict[str, list[ErratumRow]]] = defaultdict(lambda: defaultdict(list))
        self._wanted = list(changes.errata if changes.strict else self._follow_captions(changes.errata))
        for erratum in self._wanted:
            self.errata[erratum.field.partition(".")[0]][erratum.id].append(erratum)
        self._applied: set[tuple[str, str]] = set()
        # Clip -> all its captions, where these change.
        self._captions: dict[str, list[str]] = {}
        # Ids of rows that go, by the table whose errata name them.
        self._gone: set[tuple[str, str]] = set()

    def run(self) -> Revision:
        main = next(iter(self.tables))
        earlier = history_rows(read_history(self.dataset, ERRATA))
        self._captions = self._changed_captions()
        for config in [name for name in self.tables if name not in (ERRATA, WITHDRAWN)]:
            self.tables[config] = [new for split in self.tables[config] for new in self._revise_split(config, split)]
        if self.result.removed["foils"]:
            self._recount_swaps()
            withdraw_paragraphs(self.dataset, self.tombstones)
        self.tables = {config: splits for config, splits in self.tables.items() if splits}
        if main not in self.tables:
            raise VttdataError(f"{self.dataset}: nothing would be left; delete the dataset as a whole.")
        self.result.unfit = [e for e in self._wanted if (e.field, e.id) not in self._applied]
        if self.result.unfit and self.changes.strict:
            erratum = self.result.unfit[0]
            raise VttdataError(
                f"The erratum of '{erratum.field}' names '{erratum.id}', which the dataset does not have "
                f"({len(self.result.unfit)} such errata); nothing was changed."
            )
        applied = [erratum for erratum in self._wanted if erratum not in self.result.unfit]
        kept = [erratum for erratum in earlier if not self._is_withdrawn(erratum)]
        self._write_history(ERRATA, as_rows([*kept, *applied]))
        self._write_history(WITHDRAWN, [dataclasses.asdict(row) for row in self.tombstones.rows])
        self._revise_videos()
        self._revise_recipe()
        self._describe()
        return self.result

    def _follow_captions(self, errata: Sequence[ErratumRow]) -> Iterator[ErratumRow]:
        """Yield errata, those of captions that have another id now, as with a renamed annotator, with that id."""
        first = {erratum.id: erratum for erratum in reversed(errata) if erratum.field == "captions.caption"}
        clips, ids = {name.rpartition("#")[0] for name in first}, set()
        places: dict[tuple[str, str], list[str]] = defaultdict(list)
        paths = [path for paths in self._paths("captions").values() for path in paths] if first else []
        for row in read_parquet_rows(paths, ("video_id", "sen_id", "caption")):
            if row["video_id"] in clips:
                ids.add(row_id("captions", row))
                places[row["video_id"], row["caption"]].append(row_id("captions", row))
        moved: dict[str, str] = {}
        for name in first.keys() - ids:
            found = places[name.rpartition("#")[0], first[name].old]
            # A caption with errata of its own is another one.
            if len(found) == 1 and found[0] not in first and found[0] not in moved.values():
                moved[name] = found[0]
        for erratum in errata:
            yield dataclasses.replace(erratum, id=moved.get(erratum.id, erratum.id))

    def _read_tables(self) -> dict[str, list[SplitFiles]]:
        front_matter = read_front_matter(self.dataset)
        try:
            memory = {
                (info["config_name"], split["name"]): split["num_bytes"]
                for info in front_matter["dataset_info"]
                for split in info["splits"]
            }
            return {
                config["config_name"]: [
                    SplitFiles(
                        entry["split"],
                        tuple(self._shard(path) for path in match_files(self.dataset, entry["path"])),
                        entry["path"],
                        memory[config["config_name"], entry["split"]],
                    )
                    for entry in config["data_files"]
                ]
                for config in front_matter["configs"]
            }
        except (KeyError, TypeError) as error:
            raise invalid_front_matter(self.dataset) from error

    def _shard(self, path: Path) -> Shard:
        name = path.relative_to(self.dataset).as_posix()
        entry = self.manifest["files"][name]
        return Shard(name, entry["rows"], entry["bytes"], entry["sha256"])

    def _paths(self, config: str) -> dict[str, list[Path]]:
        return {
            split.split: [self.dataset / shard.path for shard in split.shards] for split in self.tables.get(config, ())
        }

    def _changed_captions(self) -> dict[str, list[str]]:
        """Return the captions, after the revision, of each clip of which one changes or goes while the clip stays."""
        changed: set[str] = set()
        paths = [path for paths in self._paths("captions").values() for path in paths]
        rows = list(read_parquet_rows(paths, ("video_id", "sen_id", "annotator")))
        errata = self.errata["captions"]
        for row in rows:
            if row_id("captions", row) in errata or self.tombstones.covers(row["annotator"], ("annotator",)):
                changed.add(row["video_id"])
        if not changed:
            return {}
        texts: dict[str, list[str]] = {video_id: [] for video_id in changed}
        for path in paths:
            with open_parquet(path) as file:
                names = file.schema_arrow.names
            for row in read_parquet_rows([path], names):
                if row["video_id"] in changed and not self.tombstones.cover_row(row):
                    texts[row["video_id"]].append(self._correct("captions", row)["caption"])
        return texts

    def _revise_split(self, config: str, split: SplitFiles) -> list[SplitFiles]:
        """Write the rows of a split anew, unless none of them changes; return nothing if none is left."""
        paths = [self.dataset / shard.path for shard in split.shards]
        if not any(self._is_touched(config, path) for path in paths):
            return [split]
        with open_parquet(paths[0]) as file:
            schema = file.schema_arrow.remove_metadata()
        written = self._replace(config, split.split, [split], schema, self._rows(config, paths, schema))
        if not written:
            self.result.emptied.append(f"{config}/{split.split}")
        return written

    def _replace(
        self, config: str, split: str, old: Sequence[SplitFiles], schema: pa.Schema, rows: Iterable[Row]
    ) -> list[SplitFiles]:
        """Write rows as a split in the place of old files; return nothing if there are no rows."""
        written = write_split(self.dataset, config, split, schema, rows)
        kept = {shard.path for shard in written.shards} if written is not None else set()
        for shard in (shard for files in old for shard in files.shards):
            if shard.path not in kept:
                (self.dataset / shard.path).unlink()
        return [written] if written is not None else []

    def _is_touched(self, config: str, path: Path) -> bool:
        table = self._table_of(config)
        with open_parquet(path) as file:
            names = set(file.schema_arrow.names)
        columns = [name for name in (*IDENTIFIERS, "sen_id", "question_id") if name in names]
        errata = self.errata[table]
        return any(
            self.tombstones.cover_row(row)
            or ("captions" in names and row.get("video_id") in self._captions)
            or (errata and row_id(table, row) in errata)
            for row in read_parquet_rows([path], columns, batch_rows=20_000)
        )

    def _table_of(self, config: str) -> str:
        """Return the table by whose errata a configuration is corrected: that of protocols is `clips`."""
        return "clips" if is_protocol(config) else config

    def _rows(self, config: str, paths: Sequence[Path], schema: pa.Schema) -> Iterator[Row]:
        table = self._table_of(config)
        for row in read_parquet_rows(paths, schema.names):
            if self.tombstones.cover_row(row):
                self.result.removed[config] += 1
                if table in CORRECTABLE:
                    self._gone.add((table, row_id(table, row)))
                continue
            corrected = self._correct(table, row)
            if table == "clips" and row["video_id"] in self._captions:
                corrected = {**corrected, "captions": self._captions[row["video_id"]]}
            self.result.corrected[config] += corrected != row
            yield corrected

    def _correct(self, table: str, row: Row) -> Row:
        if not self.errata[table]:
            return row
        errata = self.errata[table].get(row_id(table, row), ())
        try:
            corrected = correct_row(table, row, errata, self.labels[Role.CATEGORY])
        except VttdataError:
            if self.changes.strict:
                raise
            return row
        self._applied.update((erratum.field, erratum.id) for erratum in errata)
        return corrected

    def _recount_swaps(self) -> None:
        """Count the swaps again, where pairs went."""
        schema = table_schema(columns_of("swaps"))
        recounted: list[SplitFiles] = []
        for split in self.tables.get("swaps", ()):
            pairs = read_parquet_rows(self._paths("foils").get(split.split, ()), SWAP)
            swaps = map(to_row, swap_rows((pair[SWAP[0]], pair[SWAP[1]], pair[SWAP[2]]) for pair in pairs))
            recounted += self._replace("swaps", split.split, [split], schema, swaps)
        self.tables["swaps"] = recounted

    def _is_withdrawn(self, erratum: ErratumRow) -> bool:
        """Return whether the row of an erratum is withdrawn, now or before."""
        name = erratum.id.rpartition("#")[0] or erratum.id
        is_gone = (erratum.field.partition(".")[0], erratum.id) in self._gone
        return is_gone or self.tombstones.covers(name, (*VIDEO, *ITEM))

    def _write_history(self, config: str, rows: Sequence[Row]) -> None:
        """Write the table `errata` or `withdrawn`, which has one split."""
        schema = table_schema(columns_of(config))
        if written := self._replace(config, "train", self.tables.pop(config, ()), schema, rows):
            self.tables[config] = written

    def _revise_videos(self) -> None:
        """Remove the files of clips that are gone, and write the lists beside the others again."""
        clips = self._paths("clips")
        shipped = {row["video"] for paths in clips.values() for row in read_parquet_rows(paths, ("video",))}
        for name, entry in self.manifest["files"].items():
            if name.startswith("videos/") and "rows" not in entry and name not in shipped:
                (self.dataset / name).unlink()
        write_video_lists(self.dataset, clips)
        if self.result.removed:
            # It shows clips; the next build draws it again.
            (self.dataset / PREVIEW).unlink(missing_ok=True)

    def _revise_recipe(self) -> None:
        """State the version in the recipe of the dataset."""
        if not (self.dataset / RECIPE).is_file():
            return
        provenance = read_provenance(self.dataset)
        stated = rf"(?m)^(# {re.escape(self.manifest['name'])} |version: ){re.escape(self.manifest['version'])}(?= |$)"
        recipe = re.sub(stated, rf"\g<1>{self.changes.version}", provenance.recipe)
        for name in (RECIPE, PROVENANCE):
            # It is a link to the one of the dataset that is revised.
            (self.dataset / name).unlink()
        write_provenance(self.dataset, dataclasses.replace(provenance, recipe=recipe))

    def _describe(self) -> None:
        """Write README, Croissant and manifest from the tables and from the facts without withdrawn names."""
        content = self.tombstones.redact(self.facts.as_json())
        facts = parse_facts(content, self.manifest["name"], self.changes.version)
        facts = dataclasses.replace(facts, emptied=[*dict.fromkeys([*facts.emptied, *self.result.emptied])])
        videos = {
            name: entry
            for name, entry in self.manifest["files"].items()
            if name.startswith("videos/") and name.endswith(".mp4") and (self.dataset / name).is_file()
        }
        write_description(self.dataset, facts, self.tables, labels=self.labels, known_files=videos)
