"""Revise a dataset folder: put errata into its rows, leave out what was withdrawn, and describe the new version.

The folder is changed in place, so it must be one that nobody loads yet: the copy that takes the place of the dataset,
or the new dataset of a build. Files without a changed row stay as they are, to the byte.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from vttdata.dataset.card.card import derived_sections
from vttdata.dataset.card.sections import escape, format_table, structure_sections
from vttdata.dataset.description_files import CROISSANT, describe_tables
from vttdata.dataset.errata import CORRECTABLE, ERRATA, as_rows, correct_row, row_id
from vttdata.dataset.front_matter import invalid_front_matter, match_files, read_front_matter, read_layout
from vttdata.dataset.leak_audit import audit_all
from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest, write_manifest
from vttdata.dataset.parquet import open_parquet, read_parquet_rows
from vttdata.dataset.provenance import PROVENANCE, RECIPE, read_provenance, write_provenance
from vttdata.dataset.rows import ErratumRow, columns_of, is_protocol
from vttdata.dataset.schema import LabelNames, Role, readme_features, table_schema
from vttdata.dataset.shards import Shard, SplitFiles, write_split
from vttdata.dataset.statistics import count_files
from vttdata.dataset.tombstones import IDENTIFIERS, ITEM, VIDEO, WITHDRAWN, Tombstones
from vttdata.dataset.videos import PREVIEW, VIDEO_LIST
from vttdata.errors import VttdataError
from vttdata.files.output_file import link_file, write_whole
from vttdata.files.reading import file_sha256, is_inside, links_out
from vttdata.files.strict_yaml import format_yaml
from vttdata.json_types import JsonObject, Row

HEADING = "## Corrections"
"""Heading under which a card lists its errata and withdrawals."""

_SHOWN_ERRATA = 20
# Shorter names, and numbers, are in every text.
_MIN_LETTERS, _MIN_DIGITS = 4, 7
_DETAILS = "\n## Details\n"
_WRITTEN_ANEW = frozenset({"README.md", CROISSANT, MANIFEST, PROVENANCE, RECIPE, PREVIEW})


@dataclass(frozen=True, slots=True)
class Changes:
    """What a revision puts into a dataset.

    Fields:
        version: of the revised dataset.
        errata: corrections that the rows do not have yet.
        earlier: those that they have.
        tombstones: of everything that was ever withdrawn.
        strict: refuse errata that fit no row; else leave them out.
    """

    version: str
    errata: Sequence[ErratumRow] = ()
    earlier: Sequence[ErratumRow] = ()
    tombstones: Tombstones = field(default_factory=Tombstones)
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


def link_dataset(dataset: Path, folder: Path) -> None:
    """Give every file of a dataset a second name in an empty folder, in which `revise_dataset` may work.

    Raises:
        VttdataError: If the manifest names a file that is missing, or outside of the dataset.
    """
    for name in [MANIFEST, *read_dataset_manifest(dataset)["files"]]:
        if not is_inside(name) or links_out(dataset, dataset / name) or not (dataset / name).is_file():
            raise VttdataError(f"{dataset}: {name} is missing or leads out of the dataset; restore it.")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        # A file of the Hub's cache is a link.
        link_file((dataset / name).resolve(), folder / name)


def revise_dataset(dataset: Path, changes: Changes) -> Revision:
    """Revise a dataset folder in place.

    Raises:
        VttdataError: If it is not a dataset of vttdata, an erratum fits no row, or no row would be left.
    """
    return _Reviser(dataset, changes).run()


class _Reviser:
    def __init__(self, dataset: Path, changes: Changes) -> None:
        self.dataset, self.changes, self.result = dataset, changes, Revision()
        self.manifest = read_dataset_manifest(dataset)
        self.front_matter = read_front_matter(dataset)
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
        # Of rows that go: ids by the table whose errata name them, and what names their videos.
        self._gone: set[tuple[str, str]] = set()
        self._gone_names: set[str] = set()

    def run(self) -> Revision:
        before, main = self._sections(), next(iter(self.tables))
        self._captions = self._changed_captions()
        for config in [name for name in self.tables if name not in (ERRATA, WITHDRAWN)]:
            splits = [self._revise_split(config, split) for split in self.tables[config]]
            self.tables[config] = [split for split in splits if split is not None]
        self._recount_swaps()
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
        self._write_history(ERRATA, as_rows([*self._kept_errata(), *applied]))
        self._write_history(WITHDRAWN, [dataclasses.asdict(row) for row in self.changes.tombstones.rows])
        self._revise_videos()
        self._prune_files()
        self._describe(before)
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
        try:
            memory = {
                (info["config_name"], split["name"]): split["num_bytes"]
                for info in self.front_matter["dataset_info"]
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
                for config in self.front_matter["configs"]
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

    def _sections(self) -> list[str]:
        """Return the parts of the card that follow from the tables."""
        if "clips" not in self.tables:
            return structure_sections(self.tables)
        files = {config: self._paths(config) for config in self.tables}
        statistics = count_files(files, self.labels[Role.CATEGORY], self.labels[Role.CLASS])
        return derived_sections(statistics, self.tables, audit_all(files))

    def _changed_captions(self) -> dict[str, list[str]]:
        """Return the captions, after the revision, of each clip of which one changes or goes while the clip stays."""
        changed: set[str] = set()
        paths = [path for paths in self._paths("captions").values() for path in paths]
        rows = list(read_parquet_rows(paths, ("video_id", "sen_id", "annotator")))
        errata = self.errata["captions"]
        for row in rows:
            if row_id("captions", row) in errata or self.changes.tombstones.covers(row["annotator"], ("annotator",)):
                changed.add(row["video_id"])
        if not changed:
            return {}
        texts: dict[str, list[str]] = {video_id: [] for video_id in changed}
        for path in paths:
            with open_parquet(path) as file:
                names = file.schema_arrow.names
            for row in read_parquet_rows([path], names):
                if row["video_id"] in changed and not self.changes.tombstones.cover_row(row):
                    texts[row["video_id"]].append(self._correct("captions", row)["caption"])
        return texts

    def _revise_split(self, config: str, split: SplitFiles) -> SplitFiles | None:
        """Write the rows of a split anew, unless none of them changes; None if none is left."""
        paths = [self.dataset / shard.path for shard in split.shards]
        if not any(self._is_touched(config, path) for path in paths):
            return split
        with open_parquet(paths[0]) as file:
            schema = file.schema_arrow.remove_metadata()
        written = write_split(self.dataset, config, split.split, schema, self._rows(config, paths, schema))
        if written is None:
            self.result.emptied.append(f"{config}/{split.split}")
        kept = {shard.path for shard in written.shards} if written is not None else set()
        for shard in split.shards:
            if shard.path not in kept:
                (self.dataset / shard.path).unlink()
        return written

    def _is_touched(self, config: str, path: Path) -> bool:
        table = self._table_of(config)
        with open_parquet(path) as file:
            names = set(file.schema_arrow.names)
        columns = [name for name in (*IDENTIFIERS, "sen_id", "question_id") if name in names]
        errata = self.errata[table]
        return any(
            self.changes.tombstones.cover_row(row)
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
            if self.changes.tombstones.cover_row(row):
                self.result.removed[config] += 1
                if table in CORRECTABLE:
                    self._gone.add((table, row_id(table, row)))
                self._gone_names.update(
                    name
                    for column in ("video_id", "source_id", "url", "file", "question_id", "foil_id")
                    if isinstance(name := row.get(column), str) and self.changes.tombstones.mention(name)
                )
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
        """Count the swaps of pairs again where pairs went."""
        if not self.result.removed["foils"] or "swaps" not in self.tables:
            return
        columns = ("concept", "foil_concept", "supercategory")
        recounted = []
        for split in self.tables["swaps"]:
            rows = read_parquet_rows(self._paths("foils").get(split.split, ()), columns)
            counts = Counter(tuple(row[name] for name in columns) for row in rows)
            ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            for shard in split.shards:
                (self.dataset / shard.path).unlink()
            swaps = (dict(zip(columns, swap, strict=True)) | {"pairs": pairs} for swap, pairs in ranked)
            recounted.append(write_split(self.dataset, "swaps", split.split, table_schema(columns_of("swaps")), swaps))
        self.tables["swaps"] = [split for split in recounted if split is not None]

    def _kept_errata(self) -> list[ErratumRow]:
        """Return the earlier errata but those of rows that are withdrawn."""
        covers = self.changes.tombstones.covers
        return [
            erratum
            for erratum in self.changes.earlier
            if (erratum.field.partition(".")[0], erratum.id) not in self._gone
            and not covers(erratum.id.rpartition("#")[0] or erratum.id, (*VIDEO, *ITEM))
        ]

    def _write_history(self, config: str, rows: Sequence[Row]) -> None:
        """Write the table `errata` or `withdrawn`, which has one split."""
        for paths in self._paths(config).values():
            for path in paths:
                path.unlink()
        written = write_split(self.dataset, config, "train", table_schema(columns_of(config)), rows)
        self.tables.pop(config, None)
        if written is not None:
            self.tables[config] = [written]

    def _revise_videos(self) -> None:
        """Remove the files of withdrawn clips, and revise the lists beside the others."""
        for path in self.dataset.glob(f"videos/*/{VIDEO_LIST}"):
            lines = []
            for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
                video: JsonObject = json.loads(line)
                name = f"videos/{path.parent.name}/{video['file_name']}"
                if name not in self.manifest["files"]:
                    raise VttdataError(f"{path}: names {video['file_name'][:80]!a}, which the manifest does not list.")
                if self.changes.tombstones.cover_row({**video, "sha256": self.manifest["files"][name]["sha256"]}):
                    (self.dataset / name).unlink()
                elif (captions := self._captions.get(video["video_id"])) is not None:
                    lines.append(json.dumps(video | {"captions": captions}) + "\n")
                else:
                    lines.append(line)
            if lines:
                write_whole(path, "".join(lines))
            else:
                path.unlink()

    def _prune_files(self) -> None:
        """Take entries of what is withdrawn out of JSON files, such as the paragraphs of a set of foils."""
        if not any(self.result.removed.values()):
            return
        # It shows clips; the next build draws it again.
        (self.dataset / PREVIEW).unlink(missing_ok=True)
        for path in sorted(self.dataset.rglob("*.json")):
            if path.relative_to(self.dataset).as_posix() not in _WRITTEN_ANEW:
                with contextlib.suppress(ValueError):
                    content = json.loads(path.read_text(encoding="utf-8"))
                    if (pruned := self._prune(content)) != content:
                        write_whole(path, json.dumps(pruned, indent=1, ensure_ascii=False) + "\n")

    def _prune(self, value: Any) -> Any:
        """Return a value of JSON without entries under a withdrawn id; what they leave empty stays."""
        tombstones = self.changes.tombstones
        if isinstance(value, dict):
            return {key: self._prune(item) for key, item in value.items() if not tombstones.covers(key)}
        if isinstance(value, list):
            gone = [tombstones.cover_row(item) if isinstance(item, dict) else tombstones.covers(item) for item in value]
            return [self._prune(item) for item, is_gone in zip(value, gone, strict=True) if not is_gone]
        return value

    def _describe(self, before: Sequence[str]) -> None:
        """Write README, Croissant, recipe, provenance and manifest anew."""
        old_version, version = str(self.manifest["version"]), self.changes.version
        name = str(self.manifest["name"])
        recipe = self._revise_recipe(version)
        text = (self.dataset / "README.md").read_text(encoding="utf-8")
        body = text.partition("\n---\n")[2]
        renewed = [*zip(before, self._sections(), strict=False), *recipe]
        renewed += zip(_version_texts(name, old_version), _version_texts(name, version), strict=True)
        for old, new in renewed:
            body = body.replace(old, new) if old else body
        if not (self.dataset / PREVIEW).is_file():
            body = re.sub(r"!\[[^\]]*\]\(" + re.escape(PREVIEW) + r"\)\n\n", "", body)
        body = self._with_corrections(body)
        for gone in sorted(self._gone_names, key=len, reverse=True):
            if len(gone) >= (_MIN_DIGITS if gone.isdecimal() else _MIN_LETTERS) and gone in body:
                body = re.sub(rf"(?<![\w-]){re.escape(gone)}(?![\w-])", "(withdrawn)", body)
        write_whole(self.dataset / "README.md", f"---\n{format_yaml(self._front_matter(), width=10_000)}---\n{body}")
        self._revise_croissant(name, renewed)
        files: dict[str, Mapping[str, object]] = {
            shard.path: {"sha256": shard.sha256, "bytes": shard.bytes, "rows": shard.rows}
            for splits in self.tables.values()
            for split in splits
            for shard in split.shards
        }
        for path in self.dataset.rglob("*"):
            path_name = path.relative_to(self.dataset).as_posix()
            if path.is_file() and path_name not in files and path_name != MANIFEST:
                known = self.manifest["files"].get(path_name)
                is_known = known is not None and path.suffix == ".mp4"
                files[path_name] = known if is_known else {"sha256": file_sha256(path), "bytes": path.stat().st_size}
        (self.dataset / MANIFEST).unlink()
        write_manifest(self.dataset, name=name, version=version, files=files)

    def _revise_recipe(self, version: str) -> list[tuple[str, str]]:
        """State the version in the recipe of the dataset, and return its old and its new checksum."""
        if not (self.dataset / RECIPE).is_file():
            return []
        provenance = read_provenance(self.dataset)
        recipe, found = re.subn(r"(?m)^version: .*$", f"version: {version}", provenance.recipe)
        recipe = recipe if found else f"{recipe.rstrip()}\nversion: {version}\n"
        head = f"# {self.manifest['name']} "
        recipe = recipe.replace(f"{head}{self.manifest['version']} ", f"{head}{version} ", 1)
        old = file_sha256(self.dataset / RECIPE)
        for name in (RECIPE, PROVENANCE):
            (self.dataset / name).unlink()
        write_provenance(self.dataset, dataclasses.replace(provenance, recipe=recipe))
        return [(old, file_sha256(self.dataset / RECIPE))]

    def _front_matter(self) -> JsonObject:
        infos = {info["config_name"]: info for info in self.front_matter["dataset_info"]}
        configs_before: list[JsonObject] = self.front_matter["configs"]
        default = next((config["config_name"] for config in configs_before if config.get("default")), None)
        about = {key: value for key, value in next(iter(infos.values())).items() if key in _ABOUT}
        described: list[JsonObject] = []
        configs: list[JsonObject] = []
        for config, splits in self.tables.items():
            info = infos.get(config, about | {"features": readme_features(columns_of(config), {})})
            described.append(
                {"config_name": config}
                | info
                | {
                    "splits": [{"name": s.split, "num_bytes": s.memory, "num_examples": s.rows} for s in splits],
                    "download_size": sum(split.bytes for split in splits),
                    "dataset_size": sum(split.memory for split in splits),
                }
            )
            is_default = {"default": True} if config == default else {}
            files = [{"split": split.split, "path": split.pattern} for split in splits]
            configs.append(
                {"config_name": config, "version": self.changes.version} | is_default | {"data_files": files}
            )
        return {**self.front_matter, "dataset_info": described, "configs": configs}

    def _with_corrections(self, body: str) -> str:
        """Return the body of a card with its section on errata and withdrawals."""
        parts = []
        errata = list(read_parquet_rows([p for paths in self._paths(ERRATA).values() for p in paths], _ERRATUM))
        if errata:
            rows = [tuple(escape(row[name][:80]) for name in _ERRATUM) for row in errata[-_SHOWN_ERRATA:]]
            parts += [
                f"Values corrected since the first version: {len(errata):,}; the configuration `{ERRATA}` has all, "
                "with the old value and the reason. The latest:",
                format_table([_ERRATUM, *rows]),
            ]
        counts = Counter((row.version, row.what, row.reason) for row in self.changes.tombstones.rows)
        shown = [
            (version, what, f"{count:,}", escape(reason))
            for (version, what, reason), count in sorted(counts.items())
            if what in ("source", "clip", "annotator")
        ]
        if shown:
            parts += [
                f"Withdrawn, and left out by every later build; the configuration `{WITHDRAWN}` has salted hashes:",
                format_table([("version", "what", "number", "reason"), *shown]),
                "Figures under Details of how it was made are those from before.",
            ]
        if self.result.emptied:
            parts.append(f"Splits of which nothing is left, and which are gone: {', '.join(self.result.emptied)}.")
        head, _, rest = body.partition(f"\n{HEADING}\n")
        body = head.rstrip("\n") + "\n" + _DETAILS + rest.partition(_DETAILS)[2] if rest else body
        if not parts:
            return body
        section = "\n\n".join([HEADING, *parts])
        at, mark, details = body.partition(_DETAILS)
        return f"{at.rstrip()}\n\n{section}\n{mark}{details}" if mark else f"{body.rstrip()}\n\n{section}\n"

    def _revise_croissant(self, name: str, renewed: Sequence[tuple[str, str]]) -> None:
        path = self.dataset / CROISSANT
        with contextlib.suppress(FileNotFoundError):
            content: JsonObject = json.loads(path.read_text(encoding="utf-8"))
            kept = {records["@id"]: records for records in content.get("recordSet", ())}
            described = describe_tables(name, self.tables, self.labels)
            described["recordSet"] = [kept.get(each["@id"], each) for each in described["recordSet"]]
            content |= {"version": self.changes.version, **described}
            for old, new in renewed:
                content["citeAs"] = str(content.get("citeAs", "")).replace(old, new) if old else content.get("citeAs")
            write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


_ABOUT = frozenset({"description", "citation", "license"})
_ERRATUM = ("id", "field", "old", "new", "reason", "date", "version")


def _version_texts(name: str, version: str) -> list[str]:
    """Return the texts on a card that state the version of a dataset."""
    return [
        f"# {name.partition('/')[2]} {version}\n",
        f"**Version:** {version}",
        f'revision="v{version}"',
        f"{{{name}, version {version}}}",
        f"{{{name.replace('/', '-')}-{version},",
    ]
