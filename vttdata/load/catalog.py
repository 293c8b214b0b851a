"""Lists the benchmarks that can be loaded or built, and says what is in each, from their cards alone.

No table is opened, and no network is used unless it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.load.dataset import find_dataset, local_builds
from vttdata.recipe import packaged

OWNER = "vttdata"
"""Whose datasets on the Hub are listed."""


@dataclass(frozen=True, slots=True)
class Description:
    """A benchmark as its card describes it.

    Fields:
        name: ``owner/name``, as `load_dataset` takes it.
        version, licence, languages: as far as known; a recipe may leave them open.
        rows: configuration -> split -> number of rows; the first configuration is the default one.
        about: what it is, in its card's or recipe's words.
        path: the dataset folder, where there is one on this machine.
        recipe: the packaged recipe that builds it, if one does.
        on_hub: whether it came from a look at the Hub.
    """

    name: str
    version: str | None = None
    licence: str | None = None
    languages: tuple[str, ...] = ()
    rows: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    about: str = ""
    path: Path | None = None
    recipe: str | None = None
    on_hub: bool = False

    def as_json(self) -> dict[str, Any]:
        """Plain values, under the names of the fields."""
        return {
            "name": self.name,
            "version": self.version,
            "licence": self.licence,
            "languages": list(self.languages),
            "rows": {config: dict(splits) for config, splits in self.rows.items()},
            "about": self.about,
            "path": str(self.path) if self.path else None,
            "recipe": self.recipe,
            "on_hub": self.on_hub,
        }

    def as_line(self) -> str:
        """One line of plain text."""
        what = self.version or "not built"
        if self.rows:
            first = next(iter(self.rows))
            what += f", {sum(self.rows[first].values()):,} {first}"
        where = (
            str(self.path) if self.path else "on the Hub" if self.on_hub else packaged.build_command(self.recipe or "")
        )
        return f"{self.name}: {what}; {where}"

    def as_text(self) -> str:
        """Some lines of plain text."""
        lines = [self.as_line(), *([self.about] if self.about else [])]
        if self.licence or self.languages:
            lines.append(f"licence {self.licence or 'unknown'}; language {', '.join(self.languages) or 'unknown'}")
        lines += [
            f"  {config}: " + ", ".join(f"{split} {rows:,}" for split, rows in splits.items())
            for config, splits in self.rows.items()
        ]
        return "\n".join(lines)


def list_datasets(*, hub: bool = False) -> list[Description]:
    """The benchmarks there are: local builds, then what packaged recipes build, then, with `hub`, those on the Hub.

    A benchmark that is there in several ways is listed once: as it is here, else as it is on the Hub, else as a recipe.
    A build whose card cannot be read is left out.

    Raises:
        VttdataError: when the Hub is asked and does not answer.
    """
    found: dict[str, Description] = {}
    for own in (*_built(), *_recipes()):
        found.setdefault(own.name, own)
    for own in _on_hub() if hub else ():
        there = found.get(own.name)
        if there is None or there.path is None:
            found[own.name] = replace(own, recipe=there.recipe if there else None)
    return list(found.values())


def describe_dataset(name_or_path: str | os.PathLike[str]) -> Description:
    """What is in a benchmark: a local build's name, a dataset or build folder, a packaged recipe's dataset, a Hub id.

    The Hub is asked only for what is none of the others.

    Raises:
        VttdataError: when there is no such dataset, saying what there is.
    """
    from vttdata.dataset.manifest import read_manifest

    text = os.fspath(name_or_path)
    known = {own.name: own for own in _recipes()}
    if text in known and text not in local_builds():
        return known[text]
    folder = find_dataset(text)
    return _of_folder(str(read_manifest(folder).get("name", text)), folder)


def _built() -> Iterator[Description]:
    for name, path in local_builds().items():
        try:
            yield _of_folder(name, path)
        except VttdataError:
            continue


def _of_folder(name: str, folder: Path) -> Description:
    from vttdata.dataset.front_matter import read_front_matter

    head = read_front_matter(folder)
    body = (folder / "README.md").read_text(encoding="utf-8").partition("\n---\n")[2]
    paragraphs = [own.strip() for own in body.split("\n\n") if own.strip() and not own.lstrip().startswith("#")]
    return _of_head(name, head, about=paragraphs[0] if paragraphs else "", path=folder)


def _of_head(name: str, head: Mapping[str, Any], **more: Any) -> Description:
    """What the YAML head of a card says; what is not as it should be is left out."""
    infos, configs, languages = (head.get(key) for key in ("dataset_info", "configs", "language"))
    versions = (own.get("version") for own in configs or () if isinstance(own, dict))
    return Description(
        name,
        version=next((str(version) for version in versions if version is not None), None),
        licence=head.get("license_name") or head.get("license"),
        languages=tuple(map(str, languages)) if isinstance(languages, list) else (),
        rows={
            str(info.get("config_name", "default")): {
                str(split["name"]): int(split["num_examples"]) for split in info.get("splits") or ()
            }
            for info in (infos if isinstance(infos, list) else [infos])
            if isinstance(info, dict)
        },
        **more,
    )


def _recipes() -> Iterator[Description]:
    names = packaged.recipes()
    for name, recipe in packaged.datasets_of_recipes().items():
        first = names[recipe].read_text(encoding="utf-8").partition("\n")[0]
        yield Description(name, about=first.removeprefix("#").strip(), recipe=recipe)


def _on_hub() -> Iterator[Description]:
    import huggingface_hub
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    try:
        for info in huggingface_hub.HfApi().list_datasets(author=OWNER, full=True):
            card: Any = info.card_data
            yield _of_head(info.id, card.to_dict() if card is not None else {}, on_hub=True)
    except (HTTPError, OSError) as error:
        raise VttdataError(f"The Hub cannot be asked for its datasets ({str(error).splitlines()[0]}).") from error
