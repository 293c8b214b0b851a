"""Export a dataset folder in a named format: check the options, write the files, replace an earlier export."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vttdata.conditions import CONDITIONS
from vttdata.dataset.replace_folder import replace_folder
from vttdata.dataset.stimuli import read_conditions, read_stimuli
from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.export.files import CHECKSUMS, EXPORT, as_json, read_checksums, readme_text, text_file, write_checksums
from vttdata.export.format import ExportRequest, Format, ShownClips, load_format
from vttdata.export.formats import export_formats
from vttdata.export.reader import CaptionCounts, DatasetReader
from vttdata.files.output_file import link_file
from vttdata.files.own_folder import FileChanges, check_own
from vttdata.records import to_row


@dataclass(frozen=True, slots=True)
class ExportResult:
    """Finished export: its folder, the relative paths of its files, and notes, a sentence each."""

    folder: Path
    files: tuple[str, ...]
    notes: tuple[str, ...]


def export(
    dataset: Path,
    format: str,  # noqa: A002 - the name of the option
    out: Path,
    *,
    config: str | None = None,
    split: str | None = None,
    captions: Path | None = None,
    every_caption: bool = False,
    stimuli: Path | None = None,
    warn: Callable[[str], None] | None = None,
) -> ExportResult:
    """Write a dataset in another format; the same dataset gives the same bytes.

    Args:
        dataset: dataset folder.
        format: name of a format, see `export_formats`.
        out: folder to write; must be missing, empty or an earlier export, which is replaced.
        config: `clips` or the name of a protocol; None means `clips`, for ``retrieval`` all of these and for ``jsonl``
            all configurations. Tasks of harnesses and ``evaluation`` also take ``foils``, ``paragraphs``, ``questions``
            and ``questions/KIND``, by default the first of ``foils``, ``questions`` and `clips` that there is.
        split: name of a split; None means all, for ``evaluation``, ``coco-results`` and tasks of harnesses `test` or
            the only one.
        captions: a system's captions for ``coco-results``: a table with the columns ``video_id`` and ``caption``.
        every_caption: for ``mteb``: every human caption is a query, not only the first of each clip.
        stimuli: folder of stimuli, see `vttdata.compose.stimuli`: a task of each condition is written into a folder of
            its name, with what is shown under ``videos`` and a table of it, ``shown.jsonl``; for ``evaluation`` and
            tasks of harnesses.
        warn: called before anything is written, with each sentence on what will not work with the export.

    Raises:
        VttdataError: if the dataset cannot be read, the format, configuration or split does not exist, the dataset
            has nothing to write in this format, or `out` holds other files. `out` is then left as it was.
    """
    chosen = load_format(format)
    _check_options(format, chosen, captions, every_caption, stimuli)
    # Files inside the dataset would be published with it and fail its verification.
    if out.resolve().is_relative_to(dataset.resolve()):
        raise VttdataError(f"{out}: is inside the dataset; choose another folder.")
    reader = DatasetReader(dataset)
    if not chosen.any_config:
        reader.require_captions(config)
    elif config is not None:
        reader.splits("questions" if config.startswith("questions/") else config)
    limits = []
    if chosen.shows_videos and stimuli is None and not reader.has_videos():
        limits.append(f"The dataset holds no videos, so {chosen.shows_videos}.")
    if warn is not None:
        for limit in limits:
            warn(limit)
    with replace_folder(out, EXPORT) as partial:
        request, about = (
            ExportRequest(reader, partial, config, split, captions, every_caption),
            export_formats()[format],
        )
        if stimuli is None:
            notes = _write_task(chosen, request, about, limits)
        else:
            notes = _write_conditions(chosen, request, about, stimuli)
        options = {"format": format, "config": config, "split": split, "every_caption": every_caption}
        inputs = {"captions": captions is not None, "stimuli": stimuli is not None}
        write_checksums(partial, {"dataset": reader.name, "version": reader.version, **options, **inputs})
        files = sorted(path.relative_to(partial).as_posix() for path in partial.rglob("*") if path.is_file())
    return ExportResult(out, tuple(files), tuple(dict.fromkeys(notes)))


def withdraw_from_export(folder: Path, dataset: Path, version: str, changes: FileChanges) -> None:
    """Write an export of a dataset again that is of another version than the dataset has, or will have.

    One that was made with further files, whose places it does not know, is removed, as far as it is as it was written.

    Raises:
        VttdataError: if the folder holds other files, or cannot be written.
    """
    about, files = read_checksums(folder)
    if about.get("dataset") != (name := DatasetReader(dataset).name):
        changes.left.append((folder, f"does not say that it is an export of {name}"))
    elif about["version"] == version:
        return
    elif about["captions"] or about["stimuli"]:
        for name, sha256 in files.items():
            changes.remove(folder, name, sha256)
        is_kept = any((folder / name).exists() for name in files) and not changes.is_dry_run
        if not is_kept and changes.note(folder / CHECKSUMS, "removed"):
            # Only empty folders can be removed so. The list goes after them: without it nobody knows them as ours.
            for parent in sorted({parent for name in files for parent in Path(name).parents[:-1]}, reverse=True):
                with contextlib.suppress(OSError):
                    (folder / parent).rmdir()
            (folder / CHECKSUMS).unlink()
            with contextlib.suppress(OSError):
                folder.rmdir()
        changes.left.append((folder, f"was made with further files; vttdata export with --format {about['format']}"))
    else:
        check_own(folder, EXPORT)
        options = {key: about[key] for key in ("config", "split", "every_caption")}
        if changes.note(folder, "changed"):
            export(dataset, about["format"], folder, **options)


def _check_options(name: str, chosen: Format, captions: Path | None, every_caption: bool, stimuli: Path | None) -> None:
    if captions is None and chosen.takes_captions:
        raise VttdataError(f"The format {name} needs a system's captions (--captions TABLE).")
    if captions is not None and not chosen.takes_captions:
        raise VttdataError(f"The format {name} takes no captions of a system; leave out --captions.")
    if every_caption and not chosen.takes_every_caption:
        raise VttdataError(f"The format {name} has no choice of queries; leave out --every-caption.")
    if stimuli is not None and not chosen.takes_stimuli:
        raise VttdataError(f"The format {name} shows no stimuli; leave out --stimuli.")


def _write_task(chosen: Format, request: ExportRequest, title: str, limits: Sequence[str]) -> list[str]:
    """Write the files of an export and their README, and return the notes."""
    written, reader = chosen.write(request), request.dataset
    notes = [*written.notes, *request.counts.notes()]
    paragraphs = [written.usage, chosen.rules, f"Licence: {reader.licence}."]
    readme = readme_text(f"{reader.name} {reader.version}: {title}", paragraphs, [*limits, *notes])
    front_matter = f"{written.front_matter}\n" if written.front_matter else ""
    (request.folder / "README.md").write_text(front_matter + readme, encoding="utf-8", newline="\n")
    return notes


def _write_conditions(chosen: Format, request: ExportRequest, title: str, stimuli: Path) -> list[str]:
    """Write a task of each condition with what it shows, and return the notes."""
    notes = []
    for shown in _read_shown(stimuli):
        folder = request.folder / shown.condition
        folder.mkdir()
        _link_shown(stimuli, shown.condition, folder)
        of_condition = replace(request, folder=folder, stimuli=shown, counts=CaptionCounts())
        notes += _write_task(chosen, of_condition, f"{title} Shown is: {CONDITIONS[shown.condition]}.", ())
    return notes


def _read_shown(stimuli: Path) -> list[ShownClips]:
    """Return the clips of which something is shown in each condition that has any."""
    ids: dict[str, set[str]] = {condition: set() for condition in read_conditions(stimuli)}
    for stimulus in read_stimuli(stimuli):
        ids[stimulus.condition].add(stimulus.video_id)
    return [ShownClips(condition, frozenset(names)) for condition, names in ids.items() if names]


def _link_shown(stimuli: Path, condition: str, folder: Path) -> None:
    """Put what is shown in a condition into ``videos`` of an export, and write a table of it."""
    with text_file(folder / "shown.jsonl") as stream:
        for stimulus in read_stimuli(stimuli, [condition]):
            names = [f"videos/{name.partition('/')[2]}" for name in stimulus.files]
            for file, name in zip(stimulus.files, names, strict=True):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with DescribeOSErrors(f"{stimuli / file}: cannot be read, or is missing"):
                    link_file(stimuli / file, folder / name)
            stream.write(as_json(to_row(replace(stimulus, files=tuple(names)))) + "\n")
