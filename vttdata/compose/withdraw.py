"""Withdraw videos, or an annotator's captions, from a dataset and from everything that was made of it on this machine.

What is to go is written into a journal before anything changes, and every step may be done again; so a withdrawal that
is interrupted at any moment is finished by the same command, and until then nothing is built or published from it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vttdata.compose.correct import working_on
from vttdata.dataset.errata import ERRATA, history_rows
from vttdata.dataset.find_tables import ConfigTables, read_tables
from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.replace_folder import replace_folder
from vttdata.dataset.revise import Changes, link_dataset, revise_dataset
from vttdata.dataset.rows import WithdrawnRow
from vttdata.dataset.tombstones import (
    Tombstones,
    find_copies,
    read_history,
    read_tombstones,
    withdrawal_journal,
)
from vttdata.errors import VttdataError
from vttdata.files.output_file import write_whole
from vttdata.files.scrub import Action, Needles, scrub_folder
from vttdata.ids import find_video_id, source_of
from vttdata.json_types import JsonObject, Row
from vttdata.load.local_builds import ACCOUNT, STAMP, builds_folder, find_build
from vttdata.load.lookup import find_dataset
from vttdata.partial_file import remove_partial_files
from vttdata.people.campaign import CAMPAIGN, mend_campaign
from vttdata.pipeline.stored_results import scrub_part
from vttdata.publish.version_rule import next_version
from vttdata.records import Fingerprint

_ID_COLUMNS = ("video_id", "source_id", "url", "file", "sha256", "hashes")
_TEXT_COLUMNS = ("caption", "captions", "question", "original", "foil", "foils", "references", "title")
_REPORT = "report.html"
_KINDS = {"video_id": "clip", "source_id": "source", "url": "url", "file": "file", "sha256": "file"}


@dataclass(frozen=True, slots=True)
class WithdrawalRequest:
    """What is to be withdrawn, and why.

    Fields:
        ids: of clips or of sources; a source goes with all its clips.
        urls: addresses of sources.
        annotators: whose captions go, while the clips stay; names as in the column `annotator`.
        reason: for the card.
        keep_fingerprints: keep those of withdrawn sources, so that later builds refuse edited copies of them.
        further: folders with what was made of the dataset: builds, sets of foils, campaigns, evaluations, exports.
    """

    reason: str
    ids: Sequence[str] = ()
    urls: Sequence[str] = ()
    annotators: Sequence[str] = ()
    keep_fingerprints: bool = True
    further: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Planned withdrawal, which the journal holds.

    Fields:
        dataset: the folder.
        version: of the dataset without it.
        requested, copies, clips, captions: numbers of sources that were named, of sources that are edited copies of
            them, and of clips and captions.
        names, texts: what is looked for, see `Needles`.
        tombstones: all rows, earlier ones too.
        further: see `WithdrawalRequest`.
    """

    dataset: Path
    version: str
    requested: int
    copies: int
    clips: int
    captions: int
    names: Sequence[str]
    texts: Sequence[str]
    tombstones: Sequence[WithdrawnRow]
    further: Sequence[Path] = ()

    @property
    def needles(self) -> Needles:
        """What is looked for in files."""
        return Needles(frozenset(self.names), frozenset(self.texts))

    def as_text(self) -> str:
        """Return in a sentence what is withdrawn."""
        return (
            f"{self.requested:,} sources and {self.copies:,} edited copies of them, with {self.clips:,} clips; "
            f"{self.captions:,} captions"
        )


@dataclass(slots=True)
class WithdrawalReport:
    """What a withdrawal did: files by what became of them, and what it did not reach, a sentence each."""

    withdrawal: Withdrawal
    files: list[tuple[Path, Action]] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)

    def as_text(self) -> str:
        """Return the report: a line for each folder, and one for each place that was not reached."""
        counts: dict[tuple[str, Action], int] = {}
        for path, action in self.files:
            counts[str(path.parent), action] = counts.get((str(path.parent), action), 0) + 1
        lines = [
            f"Withdrawn: {self.withdrawal.as_text()}. {self.withdrawal.dataset}: version {self.withdrawal.version}."
        ]
        lines += [f"{action:<8} {count:>6,} files  {folder}" for (folder, action), count in sorted(counts.items())]
        return "\n".join([*lines, *(f"not reached: {sentence}" for sentence in self.unreached)])

    def as_json(self) -> JsonObject:
        """Return plain values."""
        numbers = {name: getattr(self.withdrawal, name) for name in ("requested", "copies", "clips", "captions")}
        files = [{"file": str(path), "action": action} for path, action in self.files]
        head = {"dataset": str(self.withdrawal.dataset), "version": self.withdrawal.version}
        return {**head, **numbers, "files": files, "unreached": self.unreached}


def plan_withdrawal(dataset: str | os.PathLike[str], request: WithdrawalRequest) -> Withdrawal:
    """Find everything that a request is about; nothing is changed.

    Raises:
        VttdataError: when the dataset is not on this machine, or it has no such clip, source or annotator.
    """
    folder = find_dataset(os.fspath(dataset)).resolve()
    if folder.parent.name == "snapshots":
        raise VttdataError(f"'{os.fspath(dataset)}' is on the Hub; build or download it as a folder first.")
    tables = read_tables(folder)
    earlier = read_tombstones(folder)
    sources, copies = _choose_sources(folder, tables, request)
    version = next_version(str(read_dataset_manifest(folder)["version"]), "major")
    values, fingerprints = _collect_values(tables, sources | copies)
    annotators = set(request.annotators)
    captions, texts, unknown = _collect_texts(tables, set(values), annotators)
    if unknown:
        raise VttdataError(f"{folder}: no caption is by {min(unknown)!a}; the column 'annotator' names its authors.")
    names = {value: kind for value, kind in values.items() if kind in _KINDS.values()}
    tombstones = earlier.with_values(
        names | dict.fromkeys(annotators, "annotator"),
        request.reason,
        version,
        fingerprints if request.keep_fingerprints else {},
    )
    return Withdrawal(
        folder,
        version,
        len(sources),
        len(copies),
        sum(kind == "clip" for kind in values.values()),
        captions,
        sorted({*values, *annotators}),
        sorted(texts),
        tombstones.rows,
        [path.resolve() for path in request.further],
    )


def _rows(tables: Mapping[str, ConfigTables], config: str, columns: Collection[str]) -> Iterator[Row]:
    """Yield the rows of a configuration with those of the columns that it has."""
    found = tables.get(config)
    for path in found.paths if found is not None else ():
        yield from read_parquet_rows([path], (), optional=tuple(columns))


def _sources_by_id(tables: Mapping[str, ConfigTables]) -> dict[str, str]:
    """Return the source of each clip and of each source; a clip without one is its own, as in a set of foils."""
    found: dict[str, str] = {}
    alone: dict[str, str] = {}
    for config in tables:
        for row in _rows(tables, config, ("video_id", "source_id")):
            clip, source = row.get("video_id"), row.get("source_id")
            if source is not None:
                found |= {source: source, clip or source: source}
            elif clip is not None:
                alone[clip] = clip
    return alone | found


def _choose_sources(
    folder: Path, tables: Mapping[str, ConfigTables], request: WithdrawalRequest
) -> tuple[set[str], set[str]]:
    """Return the sources that a request names, and those that are edited copies of them."""
    source_of_id = _sources_by_id(tables)
    source_of_url = {
        row["url"]: source_of_id[row.get("source_id") or row["video_id"]]
        for config in tables
        for row in _rows(tables, config, ("video_id", "source_id", "url"))
        if row.get("url")
    }
    of_file: dict[str, set[str]] = defaultdict(set)
    for row in _rows(tables, "sources", ("source_id", "file")):
        of_file[row.get("file") or ""].add(row["source_id"])
    chosen: set[str] = set()
    for name in request.ids:
        known = find_video_id(name, source_of_id)
        if known is None and len(of_file.get(name, ())) == 1:
            (known,) = of_file[name]
        if known is None:
            raise VttdataError(f"{folder}: has neither a clip nor a source {name[:80]!a}; nothing was changed.")
        chosen.add(source_of_id[known])
    for url in request.urls:
        source = source_of_url.get(url, source_of_id.get(source_of(url)))
        if source is None:
            raise VttdataError(f"{folder}: no source has the address {url[:120]!a}; nothing was changed.")
        chosen.add(source)
    sha256_of = {row["source_id"]: row["sha256"] for row in _rows(tables, "sources", ("source_id", "sha256"))}
    contents = {sha256_of.get(name) for name in chosen} - {None}
    copies = {name for name, sha256 in sha256_of.items() if sha256 in contents}
    prints = {
        row["source_id"]: Fingerprint(row["hash_scheme"], row["hashes"])
        for row in _rows(tables, "sources", ("source_id", "hash_scheme", "hashes"))
        if row.get("hashes")
    }
    originals = {name: prints[name] for name in chosen if name in prints}
    copies |= find_copies(prints.items(), originals) if originals else set()
    return chosen, copies - chosen


def _collect_values(
    tables: Mapping[str, ConfigTables], sources: set[str]
) -> tuple[dict[str, str], dict[str, Fingerprint]]:
    """Return what names these sources and their clips -> what it is, and the fingerprints of the sources."""
    values = dict.fromkeys(sources, "source")
    fingerprints = {}
    source_of_id = _sources_by_id(tables)
    for config in tables:
        for row in _rows(tables, config, (*_ID_COLUMNS, "hash_scheme")):
            if source_of_id.get(row.get("source_id") or row.get("video_id") or "") not in sources:
                continue
            values |= {row[name]: kind for name, kind in _KINDS.items() if row.get(name) and row[name] not in values}
            if row.get("hashes"):
                fingerprints[row["source_id"]] = Fingerprint(row["hash_scheme"], row["hashes"])
                values[row["hashes"]] = "hashes"
    return values, fingerprints


def _collect_texts(
    tables: Mapping[str, ConfigTables], names: Collection[str], annotators: set[str]
) -> tuple[int, set[str], set[str]]:
    """Return the number of captions that go, the texts that only rows that go have, and annotators without captions."""
    gone: set[str] = set()
    kept: set[str] = set()
    captions, found = 0, set[str]()
    for config in tables:
        for row in _rows(tables, config, ("video_id", "source_id", "donor_video_id", "annotator", *_TEXT_COLUMNS)):
            ids = (row.get("video_id"), row.get("source_id"), row.get("donor_video_id"))
            is_gone = row.get("annotator") in annotators or any(name in names for name in ids)
            if config == "captions":
                captions += is_gone
                found |= {row["annotator"]} & annotators
            elif annotators and "captions" in row and not is_gone:
                # It has the annotator's captions too, until it is revised.
                continue
            texts = (row.get(name) for name in _TEXT_COLUMNS)
            for text in texts:
                (gone if is_gone else kept).update([text] if isinstance(text, str) else text or ())
    return captions, gone - kept, annotators - found


def withdraw(withdrawal: Withdrawal) -> WithdrawalReport:
    """Carry a planned withdrawal out, or finish it.

    Raises:
        VttdataError: when a split would be left empty, and nothing is changed then; or a file cannot be changed, after
            which the same call goes on.
    """
    report = WithdrawalReport(withdrawal)
    dataset, build = withdrawal.dataset, withdrawal.dataset.parent
    journal = withdrawal_journal(dataset)
    with working_on(dataset):
        if not journal.exists():
            _write_journal(journal, withdrawal)
        # Parts of a journal name what is withdrawn, too.
        remove_partial_files(journal)
        try:
            _revise(dataset, withdrawal, report)
        except VttdataError:
            if not _is_withdrawn(dataset, withdrawal):
                # The dataset is as it was, and so is everything else.
                journal.unlink()
            raise
        if (build / ACCOUNT).is_file():
            (build / STAMP).unlink(missing_ok=True)
            _scrub_build(build, withdrawal, report)
        for folder in withdrawal.further:
            _scrub_further(folder, withdrawal, report)
        report.files += scrub_folder(builds_folder() / ".metrics", withdrawal.needles)
        _clear_loaded(withdrawal, report)
        report.unreached += _unreached(build, report.files)
        journal.unlink()
    return report


def find_unfinished(dataset: str | os.PathLike[str]) -> Withdrawal | None:
    """Return the withdrawal from a dataset that was interrupted; None if there is none."""
    path = Path(dataset)
    folder = path if path.exists() or path.parent.joinpath(withdrawal_journal(path).name).exists() else None
    folder = folder or find_build(os.fspath(dataset)) or path
    for place in (folder, folder / "dataset"):
        journal = withdrawal_journal(place.resolve())
        if journal.is_file():
            content: JsonObject = json.loads(journal.read_text(encoding="utf-8"))
            rows = [WithdrawnRow(**row) for row in content.pop("tombstones")]
            further = [Path(name) for name in content.pop("further")]
            return Withdrawal(**(content | {"dataset": Path(content["dataset"])}), tombstones=rows, further=further)
    return None


def _write_journal(path: Path, withdrawal: Withdrawal) -> None:
    content = dataclasses.asdict(withdrawal)
    content |= {"dataset": str(withdrawal.dataset), "further": [str(folder) for folder in withdrawal.further]}
    write_whole(path, json.dumps(content))


def _revise(dataset: Path, withdrawal: Withdrawal, report: WithdrawalReport) -> None:
    """Put a dataset without what is withdrawn into the place of another, unless that is done."""
    with replace_folder(dataset) as partial:
        link_dataset(dataset, partial)
        before = read_dataset_manifest(partial)
        is_main = dataset == withdrawal.dataset
        is_done = _is_withdrawn(partial, withdrawal)
        version = withdrawal.version if is_main else next_version(str(before["version"]), "major")
        if not is_done:
            earlier = history_rows(read_history(partial, ERRATA))
            tombstones = Tombstones(withdrawal.tombstones)
            revise_dataset(partial, Changes(version, (), earlier, tombstones, withdrawal.needles))
    after = read_dataset_manifest(dataset)["files"]
    for name, entry in before["files"].items():
        if after.get(name) != entry:
            report.files.append((dataset / name, "changed" if name in after else "removed"))


def _is_withdrawn(dataset: Path, withdrawal: Withdrawal) -> bool:
    own = {row.digest for row in read_tombstones(dataset).rows}
    return {row.digest for row in withdrawal.tombstones} <= own


def _scrub_build(build: Path, withdrawal: Withdrawal, report: WithdrawalReport) -> None:
    """Take what is withdrawn out of a build folder beside its dataset; a report that shows it goes as a whole."""
    needles = withdrawal.needles
    for part in sorted(build.glob("stages/*/parts/*.jsonl")):
        if scrub_part(part, needles.in_line):
            report.files.append((part, "changed"))
    report.files += scrub_folder(build, needles, skipped=("dataset", withdrawal_journal(build / "dataset").name))
    if any(path.name.startswith(_REPORT) or f"{_REPORT}.files" in path.parts for path, _ in report.files):
        (build / _REPORT).unlink(missing_ok=True)
        shutil.rmtree(build / f"{_REPORT}.files", ignore_errors=True)
    # The tables of a stage are written again where its results changed.
    for state in build.glob("stages/*/stage.json"):
        if any(path.parent == state.parent for path, _ in report.files):
            state.unlink()


def _scrub_further(folder: Path, withdrawal: Withdrawal, report: WithdrawalReport) -> None:
    dataset = folder / "dataset" if (folder / "dataset" / MANIFEST).is_file() else folder
    if (dataset / MANIFEST).is_file() and (dataset / "README.md").is_file():
        _revise(dataset, withdrawal, report)
        if dataset != folder:
            _scrub_build(folder, withdrawal, report)
        return
    report.files += scrub_folder(folder, withdrawal.needles)
    if (folder / CAMPAIGN).is_file():
        mend_campaign(folder)


def _clear_loaded(withdrawal: Withdrawal, report: WithdrawalReport) -> None:
    """Remove the tables that `datasets` prepared from withdrawn rows; it prepares them again."""
    from datasets import config

    needles = withdrawal.needles
    for path in sorted(Path(config.HF_DATASETS_CACHE).rglob("*.arrow")):
        if path.exists() and needles.in_bytes(path):
            shutil.rmtree(path.parent)
            report.files.append((path, "removed"))


def _unreached(build: Path, files: Sequence[tuple[Path, Action]]) -> Iterator[str]:
    """Yield what a withdrawal cannot reach."""
    packed = Counter(path.parent for path, action in files if action == "unread")
    yield from (f"{count:,} packed files in {folder} were not looked into." for folder, count in packed.items())
    account = build / ACCOUNT
    if account.is_file():
        settings = json.loads(account.read_text(encoding="utf-8")).get("settings", {})
        for value in _texts(settings):
            if os.path.isabs(value) and os.path.exists(value) and not Path(value).resolve().is_relative_to(build):
                yield f"{value} is an input of the build and stays; later builds leave out what is withdrawn."
    yield "Versions on the Hub: 'vttdata publish' replaces the newest, and with --erase-history all earlier ones too."
    yield "Copies that others made, and caches of their machines."


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    parts: Iterable[object] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _texts(part)
