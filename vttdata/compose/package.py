"""Turns the finished tables of a build into its dataset folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from vttdata.annotations import Finding
from vttdata.dataset.audit import Files, audit_all
from vttdata.dataset.metadata import Figure, Metadata, OfficialLayout, PaperFigure
from vttdata.dataset.provenance import (
    InputFile,
    Provenance,
    find_files_named,
    input_file,
    library_versions,
    write_provenance,
)
from vttdata.dataset.videos import MediaMode
from vttdata.dataset.write import write_dataset
from vttdata.errors import LeakError
from vttdata.load.dataset import caption_input_files
from vttdata.pipeline.attrition import attrition_rows
from vttdata.pipeline.build import Build
from vttdata.recipe import packaged
from vttdata.recipe.dump import recipe_text
from vttdata.recipe.paths import given_paths
from vttdata.records import Caption, Clip, Source
from vttdata.split import Audit, SplitSettings
from vttdata.split.audit.text import leak_sentence
from vttdata.version import __version__

_EXAMPLES = 3


def package(
    run: Build,
    clips: Iterable[Clip],
    captions: Iterable[Caption],
    sources: Iterable[Source],
    split: SplitSettings | None,
    media: Path | None,
    *,
    official: OfficialLayout | None = None,
    findings: Iterable[Finding] = (),
    paper: Mapping[Figure, PaperFigure] | None = None,
    files: Mapping[str, str] | None = None,
    mode: MediaMode = "files",
    collected: str = "",
) -> None:
    """Replace the build's dataset by one of these records.

    Args:
        run: the build; its recipe and its stages' counts go into the card.
        clips: with their splits.
        captions: of these clips and of others, which are left out.
        sources: at least those of the clips.
        split: what was asked of the splits, or None where they were given.
        media: the folder of the clips' files, or None when the clips have none.
        official: what official files decide; see `OfficialLayout`.
        findings: what is odd in official files.
        paper: what the benchmark's paper states.
        files: name of each official file -> its SHA-256.
        mode: how the clips' files go into the dataset.
        collected: how the material came together; see `Metadata`.

    Raises:
        VttdataError: when no clip is left.
        LeakError: when an audit of the splits, or of those of a protocol, finds leaks and the recipe has no
            `allow_leaks`. The dataset that was there before stays.
    """
    recipe = run.loaded.recipe
    about = dataclasses.replace(
        about_build(run, files or {}, collected),
        split_ratios=split.ratios if split else {},
        together=split.together if split else (),
        allow_leaks=recipe.allow_leaks,
        findings=_summed(findings),
        paper=paper or {},
    )
    clips = list(clips)
    wanted = {clip.video_id for clip in clips}
    kept = (caption for caption in captions if caption.video_id in wanted)

    def judge(files: Files) -> dict[str, Audit]:
        found = audit_all(files)
        protocols = {name: audit.as_json() for name, audit in found.items() if name != "clips"}
        run.audit = found["clips"].as_json() | ({"protocols": protocols} if protocols else {})
        leaks = [
            leak_sentence(audit) if name == "clips" else f"protocol {name}: {leak_sentence(audit)}"
            for name, audit in found.items()
            if not audit.ok
        ]
        if leaks and recipe.allow_leaks is None:
            together = ", 'split.together' keeps clips together" if split else ""
            raise LeakError(
                f"The splits leak, so no dataset was packaged: {'; '.join(leaks)}; {run.folder / 'build.json'} "
                f"holds the worst under 'audit'{together}, and 'allow_leaks: REASON' packages them all the same."
            )
        return found

    made = provenance_of_build(run, files or {})
    write_dataset(
        run.dataset,
        clips=clips,
        captions=kept,
        sources=sources,
        metadata=about,
        media=media,
        mode=mode,
        official=official,
        audit=judge,
        add_files=lambda folder: write_provenance(folder, made),
    )


def about_build(run: Build, files: Mapping[str, str], collected: str = "") -> Metadata:
    """What a recipe and its finished stages say of a dataset of any kind; the arguments are those of `package`."""
    recipe = run.loaded.recipe
    names = ", ".join(sorted(files))
    return Metadata(
        name=recipe.name,
        version=recipe.version,
        licence=recipe.licence,
        language=recipe.language,
        seed=recipe.seed,
        description=recipe.description,
        citation=recipe.citation,
        date=recipe.date,
        collected=collected or (f"Read from the official annotation files: {names}." if names else ""),
        attrition=attrition_rows([table.tally.as_json() for table in run.tables]),
        tools={"vttdata": __version__, **run.tools},
        inputs=files,
        required_paths={key: kind for key, kind, _, _ in given_paths(recipe.model_dump(), recipe.paths)},
    )


def provenance_of_build(
    run: Build, files: Mapping[str, str], libraries: Iterable[str] = (), models: Iterable[InputFile] = ()
) -> Provenance:
    """The provenance of a build's dataset.

    Args:
        run: the build.
        files: name of each official file that was read -> its SHA-256.
        libraries: further libraries that decide what comes out.
        models: files of language models that lie on this machine.
    """
    recipe = run.loaded.recipe
    settings = recipe.public()
    builder = Path(run.loaded.builder.__file__ or "")
    inputs = [*models] if builder in packaged.builders().values() else [*models, input_file("builder", builder)]
    for key, kind, holder, name in given_paths(settings, recipe.paths):
        path = Path(holder[name])
        if kind == "input":
            inputs += caption_input_files(holder[name])
        else:
            inputs += [input_file(key, path)] if kind == "file" else list(_official(key, path, files))
    tools = {**run.tools, **library_versions(libraries)}
    return Provenance("build", recipe.seed, inputs, recipe=recipe_text(recipe), tools=tools)


def _official(key: str, folder: Path, files: Mapping[str, str]) -> Iterator[InputFile]:
    """Those official files that lie in a folder, under the names that their reader gives them."""
    there = find_files_named(folder, {PurePosixPath(name).name for name in files})
    for name, sha256 in files.items():
        size = there.get(PurePosixPath(name).name, {}).get(sha256)
        if size is not None:
            yield InputFile(key, name, sha256, size)


def _summed(findings: Iterable[Finding]) -> list[tuple[str, str, int, str]]:
    """One row a kind of finding, with a few ids; the build's table of findings has them all."""
    rows: dict[str, tuple[str, str, int, str]] = {}
    for own in findings:
        *_, count, examples = rows.get(own.kind, (own.kind, own.meaning, 0, ""))
        rows[own.kind] = (own.kind, own.meaning, count + own.count, examples or ", ".join(own.ids[:_EXAMPLES]))
    return list(rows.values())
