"""Withdraw videos, or an annotator's captions, from a dataset and from what vttdata made of it on this machine.

The dataset comes first, as a new version with tombstones, which say by hashes what is withdrawn. Everything else
follows from these: the build folder, and the sets, campaigns, stimuli, evaluations, exports and protocols that the user
names, each changed by the code that wrote it. Other files that mention what is withdrawn are reported, never touched.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vttdata.compose.correct import working_on
from vttdata.compose.stimuli import withdraw_from_stimuli
from vttdata.compose.traces import Trace, find_traces
from vttdata.dataset.facts import read_facts
from vttdata.dataset.find_tables import ConfigTables, read_tables
from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.protocol_file import withdraw_from_protocol
from vttdata.dataset.replace_folder import restore_folder
from vttdata.dataset.revise import Changes, replace_revised
from vttdata.dataset.stimuli import MANIFEST as STIMULI
from vttdata.dataset.tombstones import (
    VIDEO,
    Tombstones,
    find_copies,
    read_tombstones,
    withdrawal_journal,
)
from vttdata.errors import VttdataError
from vttdata.evaluate.report import EVALUATIONS, withdraw_from_evaluation
from vttdata.export.files import CHECKSUMS
from vttdata.export.write import withdraw_from_export
from vttdata.files.output_file import write_whole
from vttdata.files.own_folder import FileChanges
from vttdata.files.reading import file_sha256
from vttdata.files.table_formats import counted
from vttdata.ids import find_video_id, source_of
from vttdata.json_types import JsonObject, Row
from vttdata.load.local_builds import ACCOUNT, BuildRegistry, read_account
from vttdata.load.lookup import find_dataset
from vttdata.partial_file import remove_partial_files
from vttdata.people.campaign import CAMPAIGN
from vttdata.people.withdraw import withdraw_from_campaign
from vttdata.pipeline.withdrawn_results import remove_withdrawn_results
from vttdata.publish.version_rule import next_version
from vttdata.records import Fingerprint
from vttdata.report.build_report import remove_report

# Column -> what its value is.
_KINDS = {
    "source_id": "source",
    "video_id": "clip",
    "url": "url",
    "file": "file",
    "sha256": "file",
    **dict.fromkeys(("question_id", "foil_id"), "item"),
}
# Files that an error names, and videos that a report names.
_FILES, _NAMED = 3, 20
_TEXTS = ("caption", "captions", "question", "original", "foil", "foils", "references", "title")


@dataclass(frozen=True, slots=True)
class WithdrawalRequest:
    """What is to be withdrawn, and why.

    Fields:
        reason: for the card.
        ids: of clips or of sources, or names of their files; a source goes with all its clips.
        urls: addresses of sources.
        annotators: whose captions go, while the clips stay; names as in the column `annotator`.
        keep_fingerprints: keep those of withdrawn sources, so that later builds refuse edited copies of them.
        keep_copies: leave sources that are edited copies, by their fingerprints, of those that go; no fingerprint is
            kept then.
        also: sets of foils and other datasets, builds, campaigns, stimuli, evaluations, exports and protocol files that
            were made of the dataset. Everything that was ever withdrawn from it goes from them.
    """

    reason: str = "request"
    ids: Sequence[str] = ()
    urls: Sequence[str] = ()
    annotators: Sequence[str] = ()
    keep_fingerprints: bool = True
    keep_copies: bool = False
    also: Sequence[Path] = ()


@dataclass(slots=True)
class WithdrawalReport:
    """What a withdrawal changed, or would change, and what it leaves to the user.

    Fields:
        dataset: the folder.
        version: of the dataset without what is withdrawn.
        requested, copies, clips, captions: numbers of sources that were named, of sources that are edited copies of
            them, and of clips and captions.
        emptied: splits of which nothing is left.
        changes: files by what becomes of them.
        traces: of what is withdrawn in files that are not changed.
        unreached: what cannot be looked into, a sentence each.
        names: of the files of the sources that go, or else their addresses or ids.
    """

    dataset: Path
    version: str = ""
    requested: int = 0
    copies: int = 0
    clips: int = 0
    captions: int = 0
    emptied: Sequence[str] = ()
    changes: FileChanges = field(default_factory=FileChanges)
    traces: Sequence[Trace] = ()
    unreached: Sequence[str] = ()
    names: Sequence[str] = ()

    def as_text(self) -> str:
        """Return the report: a line for each file, trace and sentence, and one for all tables of a build's stages."""
        is_dry_run = self.changes.is_dry_run
        copies = f"{self.copies:,} edited {'copy' if self.copies == 1 else 'copies'}"
        sources = f"{counted(self.requested, 'source')} and {copies} of {'it' if self.requested == 1 else 'them'}"
        lines = [
            f"{self.dataset}, version {self.version}: {sources}, with {counted(self.clips, 'clip')} and "
            f"{counted(self.captions, 'caption')}, {'would be' if is_dry_run else 'are'} withdrawn."
        ]
        more = [f"and {len(self.names) - _NAMED:,} more; --json lists them"] if len(self.names) > _NAMED else []
        lines += [f"withdrawn: {name}" for name in [*self.names[:_NAMED], *more]]
        lines += [f"nothing is left of {split}" for split in self.emptied]
        of_stages: Counter[tuple[Path, str]] = Counter()
        for path, action in self.changes.files:
            stages = next((each for each in path.parents if each.name == "stages"), None)
            if stages is not None and (stages.parent / ACCOUNT).is_file():
                of_stages[stages, action] += 1
            else:
                lines.append(f"{action}  {path}")
        lines += [f"{action}  {counted(n, 'file')} in {path}" for (path, action), n in sorted(of_stages.items())]
        lines += [f"left     {path}: {reason}" for path, reason in self.changes.left]
        lines += [f"mentions it, and is not changed: {trace}" for trace in self.traces]
        lines += [f"not reached: {sentence}" for sentence in self.unreached]
        return "\n".join([*lines, *(["Nothing was changed."] if is_dry_run else [])])

    def as_json(self) -> JsonObject:
        """Return plain values."""
        names = ("version", "requested", "copies", "clips", "captions", "emptied", "unreached", "names")
        return {
            "dataset": str(self.dataset),
            **{name: getattr(self, name) for name in names},
            "files": [{"file": str(path), "action": action} for path, action in self.changes.files],
            "left": [{"file": str(path), "reason": reason} for path, reason in self.changes.left],
            "mentions": [trace.as_json() for trace in self.traces],
        }


class _Plan(NamedTuple):
    """Sources that are named and copies of them, numbers of clips and captions, tombstones and texts of all that goes.

    The texts are those that no row has that stays; `names` are of files in Unicode's composed form, or of sources.
    """

    requested: int
    copies: int
    clips: int
    captions: int
    tombstones: Tombstones
    texts: Collection[str]
    names: Sequence[str] = ()


def withdraw(dataset: str | os.PathLike[str], request: WithdrawalRequest, *, dry_run: bool = False) -> WithdrawalReport:
    """Withdraw what a request names, or finish a withdrawal that was interrupted; a dry run changes nothing.

    Without ids, addresses and annotators, what was withdrawn before is taken out of `WithdrawalRequest.also`.

    Raises:
        VttdataError: when the dataset is not on this machine, has no such clip, source or annotator, or nothing of it
            would be left, and nothing is changed then; or when files cannot be changed, all of which it names, after
            which the same call goes on.
    """
    folder = _find_folder(dataset)
    also = [path.resolve() for path in request.also]
    is_built = (folder.parent / ACCOUNT).is_file()
    changes, refusals = FileChanges(dry_run), list[str]()
    with working_on(folder):
        earlier, before = read_tombstones(folder), str(read_dataset_manifest(folder)["version"])
        if request.ids or request.urls or request.annotators:
            plan = _plan(folder, request, earlier, next_version(before, "major"))
        else:
            _refuse_unbegun(folder, before)
            plan = _Plan(0, 0, 0, 0, earlier, ())
        if not plan.tombstones.rows:
            raise VttdataError(f"{folder}: nothing was withdrawn from it; name what is to go.")
        is_revised = plan.tombstones.rows == earlier.rows
        # Otherwise, reports were made without what is withdrawn.
        is_begun = withdrawal_journal(folder).exists()
        version = before if is_revised else next_version(before, "major")
        report = WithdrawalReport(folder, version, *plan[:4], changes=changes, names=plan.names)
        with contextlib.nullcontext() if dry_run else _unfinished(folder, version):
            if not is_revised:
                revised = Changes(version, tombstones=plan.tombstones)
                try:
                    report.emptied = replace_revised(folder, revised, changes).emptied
                except VttdataError as error:
                    refusals.append(str(error))
                    # What else is refused is said at once, and nothing is changed.
                    changes.is_dry_run = True
            if is_built:
                _clear_build(folder.parent, plan.tombstones, changes, has_report=is_begun or not is_revised)
            for path in also:
                try:
                    _withdraw_from(path, folder, version, plan.tombstones, changes, is_begun=is_begun)
                except VttdataError as error:
                    refusals.append(str(error))
                except (KeyError, TypeError, ValueError) as error:
                    changes.left.append((path, f"is damaged ({type(error).__name__}: {error})"))
            if refusals:
                raise VttdataError("\n".join(refusals))
            places = [folder.parent if is_built else folder, *also]
            report.traces = list(find_traces(places, plan.tombstones, plan.texts, changes))
    report.unreached = list(_unreached(folder.parent, report.names))
    return report


def _refuse_unbegun(folder: Path, version: str) -> None:
    """Raise VttdataError if a withdrawal was interrupted before the dataset changed, so that nobody knows its items."""
    journal = withdrawal_journal(folder)
    if journal.is_file() and json.dumps({"version": version}) != journal.read_text(encoding="utf-8", errors="replace"):
        raise VttdataError(
            f"{folder}: a withdrawal was interrupted before it changed anything; run the same command again, or delete "
            f"{journal}."
        )


@contextlib.contextmanager
def _unfinished(folder: Path, version: str) -> Iterator[None]:
    """Mark a dataset as being withdrawn from until the block ends; after an error, the mark stays if it changed."""
    journal = withdrawal_journal(folder)
    remove_partial_files(journal)
    is_begun = journal.exists()
    write_whole(journal, json.dumps({"version": version}))
    try:
        yield
    except VttdataError:
        if not is_begun and read_dataset_manifest(folder)["version"] != version:
            # Nothing was changed.
            journal.unlink()
        raise
    journal.unlink()


def _find_folder(dataset: str | os.PathLike[str]) -> Path:
    """Return the folder of a dataset, which is missing for a moment while another one takes its place."""
    build = None if Path(dataset).exists() else BuildRegistry().find(os.fspath(dataset))
    folder = Path(dataset) if build is None else build.folder
    for place in (folder, folder / "dataset"):
        restore_folder(place)
    folder = find_dataset(os.fspath(dataset)).resolve()
    if folder.parent.name == "snapshots":
        raise VttdataError(f"'{os.fspath(dataset)}' is on the Hub; build or download it as a folder first.")
    return folder


def _plan(folder: Path, request: WithdrawalRequest, earlier: Tombstones, version: str) -> _Plan:
    tables = read_tables(folder)
    names = _index_sources(folder, tables)
    chosen = _choose_sources(folder, names, request, earlier)
    copies = _find_copies(tables, chosen, edited=not request.keep_copies)
    gone, annotators = chosen | copies, set(request.annotators)
    clips, authors, captions = set[str](), set[str](), 0
    fingerprints: dict[str, Fingerprint] = {}
    # What rows name, and their texts, by whether they go.
    values: dict[bool, set[tuple[str, str]]] = {True: set(), False: set()}
    texts: dict[bool, set[str]] = {True: set(), False: set()}
    for config in tables:
        for row in _rows(tables, config, (*_KINDS, "donor_video_id", "annotator", "hash_scheme", "hashes", *_TEXTS)):
            is_gone = names.by_id.get(row.get("source_id") or row.get("video_id") or "") in gone
            is_by_them = row.get("annotator") in annotators or names.by_id.get(row.get("donor_video_id") or "") in gone
            values[is_gone].update((value, kind) for column, kind in _KINDS.items() if (value := row.get(column)))
            if is_gone and row.get("video_id"):
                clips.add(row["video_id"])
            if is_gone and row.get("hashes"):
                fingerprints[row["source_id"]] = Fingerprint(row["hash_scheme"], row["hashes"])
            if config == "captions":
                captions += is_gone or is_by_them
                authors.add(row["annotator"])
            # The list of a clip that stays has the annotator's captions too, until it is revised.
            if is_gone or not (annotators and "captions" in row):
                cells = [row[name] for name in _TEXTS if row.get(name)]
                texts[is_gone or is_by_them].update(
                    text for cell in cells for text in ([cell] if isinstance(cell, str) else cell)
                )
    unknown = {name for name in annotators - authors if not earlier.covers(name, ("annotator",))}
    if unknown:
        raise VttdataError(f"{folder}: no caption is by {min(unknown)!r}; the column 'annotator' names its authors.")
    values[True].update((file, "file") for file, sources in names.by_file.items() if sources <= gone)
    values[True].update((url, "url") for url, source in names.by_url.items() if source in gone)
    # What names something that stays, too, such as an address of several sources, is no name of what goes.
    withdrawn = values[True] - values[False]
    withdrawn |= {(name, "annotator") for name in annotators} | {(name, "source") for name in gone}
    is_kept = request.keep_fingerprints and not request.keep_copies
    salt = file_sha256(folder / MANIFEST)[:32]
    tombstones = earlier.add(withdrawn, request.reason, version, fingerprints if is_kept else {}, salt)
    files = {file: source for file, sources in names.by_file.items() for source in sources & gone}
    urls = {source: url for url, source in names.by_url.items()}
    named = [*sorted(files), *sorted(urls.get(source, source) for source in gone - set(files.values()))]
    return _Plan(len(chosen), len(copies), len(clips), captions, tombstones, texts[True] - texts[False], named)


def _rows(tables: Mapping[str, ConfigTables], config: str, columns: Collection[str]) -> Iterator[Row]:
    """Yield the rows of a configuration with those of the columns that it has."""
    found = tables.get(config)
    for path in found.paths if found is not None else ():
        yield from read_parquet_rows([path], (), optional=tuple(columns))


class _Names(NamedTuple):
    """Sources by their ids and those of their clips, by their addresses, and by names of files, which several may have.

    A clip without a source is its own, as in a set of foils. Names of files are in Unicode's composed form; those of
    files that a build left out, since they equal that of a source, name this source.
    """

    by_id: Mapping[str, str]
    by_url: Mapping[str, str]
    by_file: Mapping[str, set[str]]


def _index_sources(folder: Path, tables: Mapping[str, ConfigTables]) -> _Names:
    by_id: dict[str, str] = {}
    by_url: dict[str, str] = {}
    by_file: dict[str, set[str]] = defaultdict(set)
    clips: set[str] = set()
    for row in (row for config in tables for row in _rows(tables, config, ("video_id", "source_id", "url", "file"))):
        clip, source = row.get("video_id"), row.get("source_id")
        clips |= {clip} if clip is not None else set()
        if source is not None:
            by_id |= {source: source, clip or source: source}
            if row.get("url"):
                by_url[row["url"]] = source
            if row.get("file"):
                by_file[unicodedata.normalize("NFC", row["file"])].add(source)
    kept = {row.get("sha256"): row["source_id"] for row in _rows(tables, "sources", ("source_id", "sha256"))}
    probed = folder.parent / "stages/probe/kept.parquet"
    for row in read_parquet_rows([probed] if probed.is_file() else [], ("file", "url", "sha256")):
        source = kept.get(row["sha256"])
        if source is not None:
            by_file[unicodedata.normalize("NFC", row["file"])].add(source)
        if source is not None and row["url"]:
            by_url.setdefault(row["url"], source)
    return _Names({clip: clip for clip in clips} | by_id, by_url, by_file)


def _choose_sources(folder: Path, names: _Names, request: WithdrawalRequest, earlier: Tombstones) -> set[str]:
    """Return the sources that a request names; what is withdrawn already needs no source."""
    chosen: set[str] = set()
    for name in request.ids:
        known = find_video_id(name, names.by_id)
        file = unicodedata.normalize("NFC", name)
        found = {names.by_id[known]} if known is not None else names.by_file.get(file, set())
        if len(found) != 1 and not earlier.covers(name, (*VIDEO, "file")):
            alike = [each for each in sorted(names.by_file) if PurePosixPath(each).name == file]
            files = f"; write the whole name of its file: {', '.join(map(repr, alike[:_FILES]))}" if alike else ""
            raise VttdataError(f"{folder}: has neither a clip nor a source {name[:80]!r}{files}; nothing was changed.")
        chosen |= found
    for url in request.urls:
        source = names.by_url.get(url, names.by_id.get(source_of(url) or ""))
        if source is None and not earlier.covers(url, ("url",)):
            raise VttdataError(f"{folder}: no source has the address {url[:120]!r}; nothing was changed.")
        chosen |= {source} if source is not None else set()
    return chosen


def _find_copies(tables: Mapping[str, ConfigTables], chosen: set[str], *, edited: bool) -> set[str]:
    """Return sources with the content of chosen ones, and with `edited` those that are edited copies of them."""
    rows = list(_rows(tables, "sources", ("source_id", "sha256", "hash_scheme", "hashes")))
    contents = {row["sha256"] for row in rows if row["source_id"] in chosen and row.get("sha256")}
    copies = {row["source_id"] for row in rows if row.get("sha256") in contents}
    prints = {row["source_id"]: Fingerprint(row["hash_scheme"], row["hashes"]) for row in rows if row.get("hashes")}
    originals = {name: prints[name] for name in chosen if name in prints}
    if originals and edited:
        copies |= find_copies(prints.items(), originals)
    return copies - chosen


def _clear_build(build: Path, tombstones: Tombstones, changes: FileChanges, *, has_report: bool) -> None:
    remove_withdrawn_results(build, tombstones, changes)
    if has_report:
        remove_report(build, changes)


def _withdraw_from(
    path: Path, dataset: Path, version: str, tombstones: Tombstones, changes: FileChanges, *, is_begun: bool
) -> None:
    """Take what is withdrawn from a dataset out of what was made of it, by the code that wrote that.

    What states that it was made of another dataset is left; what states nothing, such as a campaign that was made from
    a table, counts as made of this one, since the user says so.
    """
    name = str(read_dataset_manifest(dataset)["name"])
    own = path / "dataset" if (path / "dataset" / MANIFEST).is_file() else path
    if (own / MANIFEST).is_file() and (own / "README.md").is_file():
        if own == dataset:
            return
        made_of = read_facts(own).made_of.get("dataset", name)
        if made_of != name:
            changes.left.append((own, f"is made of {made_of}"))
            return
        with working_on(own):
            restore_folder(own)
            before = read_tombstones(own)
            united = _with_items(own, before.united(tombstones))
            if united.rows != before.rows:
                version = next_version(str(read_dataset_manifest(own)["version"]), "major")
                replace_revised(own, Changes(version, tombstones=united), changes)
            if own != path:
                _clear_build(path, united, changes, has_report=is_begun or united.rows != before.rows)
        return
    kinds = {STIMULI: withdraw_from_stimuli, CAMPAIGN: withdraw_from_campaign}
    kinds |= dict.fromkeys(EVALUATIONS, withdraw_from_evaluation)
    marker = next((marker for marker in kinds if (path / marker).is_file()), None)
    if marker is not None:
        kinds[marker](path, name, tombstones, changes)
    elif (path / CHECKSUMS).is_file():
        withdraw_from_export(path, dataset, version, changes)
    elif path.is_file() and path.suffix == ".json":
        withdraw_from_protocol(path, name, tombstones, changes)
    else:
        changes.left.append((path, "is nothing that vttdata made of a dataset"))


def _with_items(dataset: Path, tombstones: Tombstones) -> Tombstones:
    """Return tombstones with those of the questions and pairs of a dataset that go with their videos."""
    tables = read_tables(dataset)
    items = {
        (row[column], "item")
        for config in tables
        for row in _rows(tables, config, ("video_id", "source_id", "donor_video_id", "question_id", "foil_id"))
        if tombstones.cover_row(row)
        for column in ("question_id", "foil_id")
        if row.get(column)
    }
    newest = max(tombstones.rows, key=lambda row: [int(part) for part in row.version.split(".")])
    return tombstones.add(items, newest.reason, newest.version, {}, newest.salt)


def _unreached(build: Path, names: Sequence[str]) -> Iterator[str]:
    """Yield what a withdrawal cannot reach."""
    account = read_account(build) or {}
    values = re.findall(r'"(/[^"]*)"', json.dumps(account.get("settings", {}), ensure_ascii=False))
    for value in dict.fromkeys(values):
        if os.path.exists(value) and not Path(value).resolve().is_relative_to(build):
            yield f"{value} is an input of the build and stays; later builds leave out what is withdrawn."
            folder = Path(value) if os.path.isdir(value) else Path(value).parent
            paths = (folder / unicodedata.normalize(form, name) for name in names for form in ("NFC", "NFD"))
            yield from (f"{path} is a withdrawn video and stays." for path in dict.fromkeys(paths) if path.is_file())
    yield "Versions on the Hub: 'vttdata publish' replaces the newest, and with --erase-history all earlier ones too."
    yield "Copies that others made, and caches of their machines."
