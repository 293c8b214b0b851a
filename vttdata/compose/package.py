"""Turn the finished tables of a build into its dataset folder, with a card and provenance."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

from vttdata.annotations import Finding
from vttdata.compose.keep_corrections import keep_corrections
from vttdata.dataset.leak_audit import Files, audit_all
from vttdata.dataset.metadata import FindingRow, Metadata, OfficialLayout, PaperFigure
from vttdata.dataset.provenance import (
    InputFile,
    Provenance,
    find_files_named,
    input_file,
    library_versions,
    write_provenance,
)
from vttdata.dataset.videos import MediaFiles, add_preview
from vttdata.dataset.write import WriteHooks, write_dataset
from vttdata.errors import LeakError
from vttdata.load.lookup import caption_input_files
from vttdata.pipeline.attrition import attrition_rows
from vttdata.pipeline.build_folder import Build
from vttdata.recipe import packaged
from vttdata.recipe.load import given_paths
from vttdata.recipe.published import recipe_text
from vttdata.records import Caption, Clip, Source
from vttdata.split import Audit, SplitSettings
from vttdata.split.audit.leaks import leak_sentence
from vttdata.version import __version__

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the records of a dataset come from.

    Fields:
        official: row order, labels and protocols of official files; see `OfficialLayout`.
        findings: irregularities in official files.
        paper: figures in the benchmark's paper.
        files: name of each official file -> its SHA-256.
        collected: origin of the material; see `Metadata`.
    """

    official: OfficialLayout | None = None
    findings: Iterable[Finding] = ()
    paper: Mapping[str, PaperFigure] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    collected: str = ""


def package(
    run: Build,
    clips: Iterable[Clip],
    captions: Iterable[Caption],
    sources: Iterable[Source],
    *,
    split: SplitSettings | None = None,
    media: MediaFiles | None = None,
    origin: Origin = Origin(),
) -> None:
    """Replace the dataset of a build.

    Args:
        run: the build; its recipe and its stages' counts go into the card.
        clips: with their splits.
        captions: of these clips and of others, which are left out.
        sources: at least those of the clips.
        split: settings by which the splits were assigned; None for official splits.
        media: files of the clips; None leaves them out.
        origin: where the records come from.

    Raises:
        VttdataError: when no clip is left.
        LeakError: when an audit of the splits, or of those of a protocol, finds leaks and the recipe has no
            `allow_leaks`. An earlier dataset stays.
    """
    recipe = run.loaded.recipe
    metadata = dataclasses.replace(
        metadata_of_build(run, origin.files, origin.collected),
        split_ratios=split.ratios if split else {},
        together=tuple(tie for tie in split.together if tie not in split.cut_ties) if split else (),
        allow_leaks=recipe.allow_leaks,
        findings=_count_findings(origin.findings),
        paper=origin.paper,
        counted=origin.official.counted if origin.official is not None else {},
    )
    clips = list(clips)
    video_ids = {clip.video_id for clip in clips}
    captions = (caption for caption in captions if caption.video_id in video_ids)

    def audit_files(files: Files) -> dict[str, Audit]:
        audits = audit_all(files)
        protocols = {name: audit.as_json() for name, audit in audits.items() if name != "clips"}
        run.audit = audits["clips"].as_json() | ({"protocols": protocols} if protocols else {})
        leaks = [
            leak_sentence(audit) if name == "clips" else f"protocol {name}: {leak_sentence(audit)}"
            for name, audit in audits.items()
            if not audit.ok
        ]
        if leaks and recipe.allow_leaks is None:
            together = ", 'split.together' keeps clips together" if split else ""
            raise LeakError(
                f"The splits leak, so no dataset was packaged: {'; '.join(leaks)}; {run.folder / 'build.json'} "
                f"holds the worst under 'audit'{together}, and 'allow_leaks: REASON' packages them anyway."
            )
        return audits

    provenance = provenance_of_build(run, origin.files)

    def add_files(folder: Path) -> None:
        write_provenance(folder, provenance)
        if media is not None:
            add_preview(folder, media.folder, clips)

    with run.engine.progress(run.step("package")):
        write_dataset(
            run.dataset,
            clips=clips,
            captions=captions,
            sources=sources,
            metadata=metadata,
            media=media,
            official=origin.official,
            hooks=WriteHooks(audit_files, add_files, partial(keep_corrections, run)),
        )


def metadata_of_build(run: Build, files: Mapping[str, str], collected: str = "") -> Metadata:
    """Return the metadata that a recipe and its finished stages give; `files` and `collected` are as of `Origin`."""
    recipe = run.loaded.recipe
    names = ", ".join(sorted(files))
    return Metadata(
        name=recipe.name,
        version=recipe.version,
        licence=recipe.licence,
        language=recipe.language or run.languages,
        seed=recipe.seed,
        description=recipe.description,
        citation=recipe.citation,
        date=recipe.date,
        collected=collected or (f"Read from the official annotation files: {names}." if names else ""),
        attrition=attrition_rows([table.tally.as_json() for table in run.tables]),
        unprocessed=run.unprocessed(),
        tools={"vttdata": __version__, **run.tools},
        inputs=files,
        responsible=recipe.responsible,
        required_paths={given.key: given.kind for given in given_paths(recipe.model_dump(), recipe.paths)},
    )


def provenance_of_build(
    run: Build, files: Mapping[str, str], libraries: Iterable[str] = (), models: Iterable[InputFile] = ()
) -> Provenance:
    """Return the provenance of a build's dataset.

    `files` are the official files that were read with their SHA-256, `libraries` further ones that decide the content,
    and `models` files of language models that are on this machine.
    """
    recipe = run.loaded.recipe
    settings = recipe.public()
    builder = Path(run.loaded.builder.__file__ or "")
    inputs = [*models] if builder.parent == packaged.folder("builders") else [*models, input_file("builder", builder)]
    for given in given_paths(settings, recipe.paths):
        path = Path(given.value)
        if given.kind == "input":
            inputs += caption_input_files(given.value)
        elif given.kind == "file":
            inputs.append(input_file(given.key, path))
        else:
            # Those official files that are in the folder, under the names that their reader gives them.
            sizes = find_files_named(path, {PurePosixPath(name).name for name in files})
            for official_name, sha256 in files.items():
                size = sizes.get(PurePosixPath(official_name).name, {}).get(sha256)
                if size is not None:
                    inputs.append(InputFile(given.key, official_name, sha256, size))
    tools = {**run.tools, **library_versions(libraries)}
    return Provenance(recipe.seed, recipe_text(recipe), inputs, tools)


def _count_findings(findings: Iterable[Finding]) -> list[FindingRow]:
    """Return a row with a few ids for each kind; the build's table of findings has all ids."""
    rows: dict[str, FindingRow] = {}
    for finding in findings:
        row = rows.get(finding.kind, FindingRow(finding.kind, finding.meaning, 0, ""))
        examples = row.examples or ", ".join(finding.ids[:_EXAMPLES])
        rows[finding.kind] = row._replace(number=row.number + finding.count, examples=examples)
    return list(rows.values())
