"""Exports a dataset folder in a named format: checks what is asked for, writes, and puts the folder in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vttdata.dataset.replace_folder import replacing
from vttdata.errors import VttdataError
from vttdata.export import coco, jsonl, lmms_eval, msrvtt, mteb, retrieval
from vttdata.export.files import CHECKSUMS, readme_text, write_checksums
from vttdata.export.reader import Source, Tally


@dataclass(frozen=True, slots=True)
class Format:
    """A format: what it is, what reads it, and the rules it follows."""

    what: str
    readers: str
    rules: str


FORMATS: dict[str, Format] = {
    "coco": Format("COCO captions, references of each split", "pycocotools, pycocoevalcap, coco-caption", coco.RULES),
    "coco-results": Format(
        "COCO captions, a system's captions of one split", "pycocotools, pycocoevalcap, coco-caption", coco.RULES
    ),
    "msrvtt": Format("the JSON files of MSR-VTT", "code written for MSR-VTT", msrvtt.RULES),
    "retrieval": Format("CSV lists beside MSR-VTT's JSON", "CLIP4Clip and its descendants", retrieval.RULES),
    "mteb": Format("corpus, queries and qrels", "MTEB, datasets", mteb.RULES),
    "lmms-eval": Format("a captioning task of one split", "lmms-eval", lmms_eval.RULES),
    "jsonl": Format("all tables as JSON lines", "anything that reads JSON", jsonl.RULES),
}


@dataclass(frozen=True, slots=True)
class Exported:
    """An export: its folder, its files, and what is to be told about it, a sentence each."""

    folder: Path
    files: tuple[str, ...]
    notes: tuple[str, ...]


def export(
    dataset: Path,
    format: str,  # noqa: A002 - the word of the command line
    out: Path,
    *,
    config: str | None = None,
    split: str | None = None,
    captions: Path | None = None,
) -> Exported:
    """Write a dataset in another format; the same dataset gives the same bytes.

    Args:
        dataset: a dataset folder.
        format: one of `FORMATS`.
        out: becomes the export; what is there must be an earlier export or empty.
        config: `clips` or the name of a protocol; None means `clips`, for ``retrieval`` all of these and for ``jsonl``
            all configurations.
        split: only this one; None means all of them, for ``lmms-eval`` and ``coco-results`` `test` or the only one.
        captions: a system's captions for ``coco-results``: a table with the columns ``video_id`` and ``caption``.

    Raises:
        VttdataError: when the dataset, the format, the configuration or the split cannot be had, the dataset has
            nothing that the format could say, or `out` holds something else. Nothing is left behind.
    """
    if format not in FORMATS:
        raise VttdataError(f"There is no format {format!a}; there is {', '.join(FORMATS)}.")
    if (captions is not None) != (format == "coco-results"):
        told = "needs a system's captions" if captions is None else "takes no system's captions, only coco-results does"
        raise VttdataError(f"The format {format} {told} (--captions TABLE).")
    if out.resolve().is_relative_to(dataset.resolve()):
        raise VttdataError(f"{out}: lies in the dataset itself; choose another folder.")
    source = Source(dataset)
    asked = _Asked(source, config, split, captions)
    if format != "jsonl":
        source.need_captions()
    asked.check(format)
    with replacing(out, marker=CHECKSUMS, what="an export") as partial:
        tally = Tally()
        head, read, notes = _WRITERS[format](asked, partial, tally)
        notes = [*notes, *tally.notes()]
        own = FORMATS[format]
        title = f"{source.name} {source.version}: {own.what}"
        text = readme_text(title, [f"For {own.readers}.", read, own.rules, f"Licence: {source.licence}."], notes)
        (partial / "README.md").write_text(f"{head}\n{text}" if head else text, encoding="utf-8")
        write_checksums(partial)
        files = sorted(path.relative_to(partial).as_posix() for path in partial.rglob("*") if path.is_file())
    return Exported(out, tuple(files), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be exported."""

    source: Source
    config: str | None
    split: str | None
    captions: Path | None

    @property
    def clips(self) -> str:
        return self.config or "clips"

    def all_splits(self) -> list[str]:
        return self.source.splits(self.clips, self.split)

    def one_split(self) -> str:
        return self.source.one_split(self.clips, self.split)

    def check(self, format: str) -> None:  # noqa: A002
        if self.config is None:
            return
        self.source.splits(self.config)
        if format != "jsonl" and self.config not in self.source.clip_configs():
            known = ", ".join(self.source.clip_configs())
            raise VttdataError(f"'{self.config}' has no row a clip; {format} takes {known}, and jsonl takes any.")


_Written = tuple[str, str, list[str]]


def _coco(asked: _Asked, folder: Path, tally: Tally) -> _Written:
    return ("", *coco.write_truth(asked.source, folder, asked.clips, asked.all_splits(), tally))


def _coco_results(asked: _Asked, folder: Path, tally: Tally) -> _Written:
    assert asked.captions is not None
    own = asked.one_split()
    return ("", *coco.write_results(asked.source, folder, asked.clips, own, asked.captions, tally))


def _msrvtt(asked: _Asked, folder: Path, tally: Tally) -> _Written:
    return ("", *msrvtt.write_msrvtt(asked.source, folder, asked.clips, asked.all_splits(), tally))


def _retrieval(asked: _Asked, folder: Path, tally: Tally) -> _Written:
    return ("", *retrieval.write_retrieval(asked.source, folder, asked.config, asked.split, tally))


def _mteb(asked: _Asked, folder: Path, tally: Tally) -> _Written:
    return mteb.write_mteb(asked.source, folder, asked.clips, asked.all_splits(), tally)


def _lmms_eval(asked: _Asked, folder: Path, tally: Tally) -> _Written:
    return ("", *lmms_eval.write_lmms_eval(asked.source, folder, asked.clips, asked.one_split(), tally))


def _jsonl(asked: _Asked, folder: Path, tally: Tally) -> _Written:  # noqa: ARG001 - captions are rows like any other
    return ("", *jsonl.write_jsonl(asked.source, folder, asked.config, asked.split))


_WRITERS: dict[str, Callable[[_Asked, Path, Tally], _Written]] = {
    "coco": _coco,
    "coco-results": _coco_results,
    "msrvtt": _msrvtt,
    "retrieval": _retrieval,
    "mteb": _mteb,
    "lmms-eval": _lmms_eval,
    "jsonl": _jsonl,
}
