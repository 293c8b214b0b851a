"""List the benchmarks that can be loaded or built, and describe them from their cards.

No table is opened, and the network is used only on request.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.load.local_builds import BuildRegistry
from vttdata.load.lookup import find_dataset, find_local
from vttdata.recipe import packaged

# Owner of the datasets that are listed from the Hub.
HUB_OWNER = "vttdata"


@dataclass(frozen=True, slots=True)
class Description:
    """Benchmark as its card describes it.

    Fields:
        name: ``owner/name``, as `load_dataset` takes it.
        version, licence, languages: As far as known; a recipe may leave them open.
        rows: Configuration -> split -> number of rows; the first configuration is the default one.
        about: First paragraph of its card, or the first line of its recipe.
        path: Dataset folder, if there is one on this machine.
        build: Build folder, if the last build in it did not finish, or lacks items whose processing was cut short.
        recipe: Packaged recipe that builds it, if there is one.
        on_hub: True if it was found on the Hub.
        problem: Sentence on why its card cannot be read, if it cannot.
    """

    name: str
    version: str | None = None
    licence: str | None = None
    languages: tuple[str, ...] = ()
    rows: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    about: str = ""
    path: Path | None = None
    build: Path | None = None
    recipe: str | None = None
    on_hub: bool = False
    problem: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values under the names of the fields."""
        folders = {key: str(folder) if folder else None for key, folder in (("path", self.path), ("build", self.build))}
        return asdict(self) | folders | {"languages": list(self.languages)}

    def as_line(self) -> str:
        """Return one line of plain text."""
        if self.problem:
            return f"{self.name}: {self.problem}"
        state = self.version or "not built"
        if self.rows:
            config = next(iter(self.rows))
            state += f", {sum(self.rows[config].values()):,} {config}"
        if self.build:
            state += ", the last build is not finished" if self.path else ", the build is not finished"
        if self.path or self.build:
            return f"{self.name}: {state}; {self.path or self.build}"
        return f"{self.name}: {state}; {'on the Hub' if self.on_hub else packaged.build_command(self.recipe or '')}"

    def as_text(self) -> str:
        """Return some lines of plain text."""
        lines = [self.as_line(), *([self.about] if self.about else [])]
        if self.licence or self.languages:
            lines.append(f"licence {self.licence or 'unknown'}; language {', '.join(self.languages) or 'unknown'}")
        lines += [
            f"  {config}: " + ", ".join(f"{split} {rows:,}" for split, rows in splits.items())
            for config, splits in self.rows.items()
        ]
        return "\n".join(lines)


def list_datasets(*, hub: bool = False) -> list[Description]:
    """Return all known benchmarks: local builds, then those of packaged recipes, then, with `hub`, those on the Hub.

    A benchmark that is known from several of these is listed once: as its local build, else as it is on the Hub, else
    as its recipe; but each of several local builds of a name is listed, the one that the name stands for first.

    Raises:
        VttdataError: If the Hub is asked and does not answer.
    """
    descriptions = {description.name: description for description in _describe_recipes()}
    for description in _describe_hub() if hub else ():
        recipe = descriptions[description.name].recipe if description.name in descriptions else None
        descriptions[description.name] = replace(description, recipe=recipe)
    builds = []
    for build in BuildRegistry().builds():
        if build.dataset is None and build.is_finished:
            continue
        unfinished = None if build.is_finished and not build.is_incomplete else build.folder
        try:
            described = _describe_folder(build.name, build.dataset) if build.dataset else Description(build.name)
        except VttdataError as error:
            described = Description(build.name, path=build.dataset, problem=str(error))
        builds.append(replace(described, build=unfinished))
    built = {build.name for build in builds}
    return [*builds, *(description for name, description in descriptions.items() if name not in built)]


def describe_dataset(name_or_path: str | os.PathLike[str]) -> Description:
    """Return what is known of a benchmark by what `find_dataset` takes, or by the name of a packaged recipe's dataset.

    The Hub is asked only for what is nothing else.

    Raises:
        VttdataError: If there is no such dataset; the message lists what exists.
    """
    from vttdata.dataset.manifest import read_dataset_manifest

    reference = os.fspath(name_or_path)
    recipes = {description.name: description for description in _describe_recipes()}
    if reference in recipes and not BuildRegistry().builds(reference):
        return recipes[reference]
    # A build that was cut short does not go on here.
    folder = find_local(reference, None) or find_dataset(reference)
    return _describe_folder(str(read_dataset_manifest(folder).get("name", reference)), folder)


def _describe_recipes() -> Iterator[Description]:
    for name, recipe in packaged.datasets_of_recipes().items():
        yield Description(name, about=packaged.summary(recipe), recipe=recipe)


def _describe_folder(name: str, folder: Path) -> Description:
    from vttdata.dataset.front_matter import read_front_matter

    front_matter = read_front_matter(folder)
    body = (folder / "README.md").read_text(encoding="utf-8").partition("\n---\n")[2]
    paragraphs = (paragraph.strip() for paragraph in body.split("\n\n"))
    # Bold paragraphs are verdicts on the splits; descriptions have no markup.
    about = next((text for text in paragraphs if text and not text.startswith(("#", "**"))), "")
    return _describe_front_matter(name, front_matter, about=about, path=folder)


def _describe_hub() -> Iterator[Description]:
    import huggingface_hub
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    from vttdata.hub_client import explain_timeout, hub_requests

    try:
        with hub_requests(f"the datasets of {HUB_OWNER}"):
            infos = list(huggingface_hub.HfApi().list_datasets(author=HUB_OWNER, full=True))
        for info in infos:
            card: Any = info.card_data
            yield _describe_front_matter(info.id, card.to_dict() if card is not None else {}, on_hub=True)
    except (HTTPError, OSError) as error:
        reason = explain_timeout(error) or str(error).splitlines()[0]
        raise VttdataError(f"The datasets on the Hub cannot be listed: {reason}.") from error


def _describe_front_matter(name: str, front_matter: Mapping[str, Any], **fields: Any) -> Description:
    """Describe a dataset by the YAML front matter of its card, without the parts that are malformed."""
    from vttdata.dataset.front_matter import find_version

    infos, languages = (front_matter.get(key) for key in ("dataset_info", "language"))
    licence = front_matter.get("license_name") or front_matter.get("license")
    return Description(
        name,
        version=find_version(front_matter),
        licence=licence if isinstance(licence, str) else None,
        languages=tuple(map(str, languages)) if isinstance(languages, list) else (),
        rows={
            str(info.get("config_name", "default")): dict(_count_rows(info.get("splits")))
            for info in (infos if isinstance(infos, list) else [infos])
            if isinstance(info, dict)
        },
        **fields,
    )


def _count_rows(splits: Any) -> Iterator[tuple[str, int]]:
    """Yield the name and the number of rows of each split of ``dataset_info`` that states them."""
    for split in splits if isinstance(splits, list) else ():
        if isinstance(split, dict) and isinstance(split.get("num_examples"), int) and "name" in split:
            yield str(split["name"]), split["num_examples"]
