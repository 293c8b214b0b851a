"""Export a dataset folder in a named format: check the options, write the files, replace an earlier export."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vttdata.dataset.replace_folder import replace_folder
from vttdata.errors import VttdataError
from vttdata.export.files import EXPORT, readme_text, write_checksums
from vttdata.export.format import ExportRequest, load_format
from vttdata.export.formats import export_formats
from vttdata.export.reader import DatasetReader


@dataclass(frozen=True, slots=True)
class Exported:
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
    warn: Callable[[str], None] | None = None,
) -> Exported:
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
        warn: called before anything is written, with each sentence on what will not work with the export.

    Raises:
        VttdataError: if the dataset cannot be read, the format, configuration or split does not exist, the dataset
            has nothing to write in this format, or `out` holds other files. `out` is then left as it was.
    """
    chosen = load_format(format)
    if captions is None and chosen.takes_captions:
        raise VttdataError(f"The format {format} needs a system's captions (--captions TABLE).")
    if captions is not None and not chosen.takes_captions:
        raise VttdataError(f"The format {format} takes no captions of a system; leave out --captions.")
    if every_caption and not chosen.takes_every_caption:
        raise VttdataError(f"The format {format} has no choice of queries; leave out --every-caption.")
    # Files inside the dataset would be published with it and fail its verification.
    if out.resolve().is_relative_to(dataset.resolve()):
        raise VttdataError(f"{out}: is inside the dataset; choose another folder.")
    reader = DatasetReader(dataset)
    if not chosen.any_config:
        reader.require_captions(config)
    elif config is not None:
        reader.splits("questions" if config.startswith("questions/") else config)
    limits = []
    if chosen.shows_videos and not reader.has_videos():
        limits.append(f"The dataset holds no videos, so {chosen.shows_videos}.")
    if warn is not None:
        for limit in limits:
            warn(limit)
    with replace_folder(out, EXPORT) as partial:
        request = ExportRequest(reader, partial, config, split, captions, every_caption)
        written = chosen.write(request)
        notes = [*written.notes, *request.counts.notes()]
        title = f"{reader.name} {reader.version}: {export_formats()[format]}"
        readme = readme_text(title, [written.usage, chosen.rules, f"Licence: {reader.licence}."], [*limits, *notes])
        front_matter = f"{written.front_matter}\n" if written.front_matter else ""
        (partial / "README.md").write_text(front_matter + readme, encoding="utf-8", newline="\n")
        write_checksums(partial)
        files = sorted(path.relative_to(partial).as_posix() for path in partial.rglob("*") if path.is_file())
    return Exported(out, tuple(files), tuple(notes))
