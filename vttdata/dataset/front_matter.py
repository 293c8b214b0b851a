"""Write and read the YAML front matter of a dataset's README, with which plain `datasets` loads the folder.

Keys and their meaning are those of the Hub's dataset cards (`dataset_info`, `configs`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from vttdata.dataset.metadata import Metadata
from vttdata.dataset.parquet import open_parquet
from vttdata.dataset.row_checks import find_unusable_row
from vttdata.dataset.rows import columns_of, find_wrong_type
from vttdata.dataset.schema import LabelNames, readme_features
from vttdata.dataset.shards import SplitFiles
from vttdata.errors import VttdataError
from vttdata.files.reading import LINKS_OUT, is_inside, links_out, read_description
from vttdata.files.strict_yaml import format_yaml, parse_yaml
from vttdata.json_types import JsonObject

_FRONT_MATTER = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n", re.DOTALL)
# YAML writes half of a surrogate pair as an escape.
_SURROGATE = re.compile(r"\\[uU](?:0000)?[dD][89a-fA-F][0-9a-fA-F]{2}")
_LICENCE_IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9.-]*")
_TAGS = {
    "foils": "foils",
    "questions": "question-answering",
    "judgments": "human-judgments",
    "degraded": "direct-assessment",
    "videos": "video",
}
_MAX_SHOWN = 80
# Keys of a configuration on a card.
_CONFIG_KEYS = frozenset({"config_name", "version", "default", "data_files", "description"})
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True, slots=True)
class Layout:
    """Contents of a dataset folder according to its README: configuration -> split -> files, and the names of labels.

    The names of the category labels, and of the classes of concepts, are in the order of their numbers.
    """

    files: dict[str, dict[str, list[Path]]]
    categories: tuple[str, ...]
    classes: tuple[str, ...] = ()


def format_front_matter(tables: Mapping[str, Sequence[SplitFiles]], labels: LabelNames, metadata: Metadata) -> str:
    """Return the YAML front matter with its ``---`` lines; the arguments are those of `write_description`.

    A licence that is not an identifier of the Hub is given as ``license_name``.
    """
    default = next(iter(tables))
    rows = sum(split.rows for split in tables[default])
    licence = _licence_keys(metadata)
    about = {
        "description": metadata.description,
        "citation": metadata.citation,
        "license": licence.get("license_name", licence["license"]),
    }
    content = {
        **licence,
        **({"language": metadata.languages} if metadata.languages else {}),
        "pretty_name": metadata.name.partition("/")[2],
        "task_categories": ["video-text-to-text"],
        "tags": ["video-captioning", "vttdata", *(_TAGS[config] for config in tables if config in _TAGS)],
        "size_categories": [next((label for limit, label in _SIZES if rows < limit), "n>1M")],
    }
    features = {config: readme_features(columns_of(config, labels), labels) for config in tables}
    known = {key: text for key, text in about.items() if text and text != "unknown"}
    return dump_front_matter(content, tables, features, metadata.version, default, known)


def dump_front_matter(
    content: Mapping[str, object],
    tables: Mapping[str, Sequence[SplitFiles]],
    features: Mapping[str, Sequence[Mapping[str, object]]],
    version: str,
    default: str,
    about: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return YAML front matter with its ``---`` lines: keys and values, then what describes the tables.

    `features` are those of the columns by configuration, where they are to be stated; `default` is the configuration
    that is loaded by default, and `about` (description, citation, licence) goes into the info of each configuration.
    """
    infos = [
        {
            "config_name": config,
            **about,
            **({"features": features[config]} if config in features else {}),
            "splits": [{"name": s.split, "num_bytes": s.memory, "num_examples": s.rows} for s in splits],
            "download_size": sum(split.bytes for split in splits),
            "dataset_size": sum(split.memory for split in splits),
        }
        for config, splits in tables.items()
    ]
    configs: list[JsonObject] = [
        {
            "config_name": config,
            "version": version,
            **({"default": True} if config == default else {}),
            "data_files": [{"split": split.split, "path": split.pattern} for split in splits],
        }
        for config, splits in tables.items()
    ]
    described = {**content, "dataset_info": infos, "configs": configs}
    return f"---\n{format_yaml(described, width=10_000)}---\n"


def _licence_keys(metadata: Metadata) -> JsonObject:
    """Return the Hub's keys for the licences of annotations and captions: one licence, or both by part."""
    parts = {part: metadata.licences[part] or "unknown" for part in ("annotations", "captions")}
    licence = parts["annotations"] if len(set(parts.values())) == 1 else ", ".join(map(": ".join, parts.items()))
    if "unknown" in parts.values() or _LICENCE_IDENTIFIER.fullmatch(licence):
        return {"license": licence if licence in parts.values() else "unknown"}
    return {"license": "other", "license_name": " ".join(licence.split())}


def read_front_matter(dataset: Path) -> JsonObject:
    """Return the YAML front matter of ``README.md``.

    Raises:
        VttdataError: If there is none, or it is not valid YAML.
    """
    path = dataset / "README.md"
    try:
        match = _FRONT_MATTER.match(read_description(dataset, path.name).decode())
        if match and _SURROGATE.search(match[1]):
            raise VttdataError(f"{path}: its front matter contains an unpaired surrogate.")
        content = parse_yaml(match[1], f"{path}: its front matter") if match else None
    except UnicodeDecodeError as error:
        raise VttdataError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}).") from error
    if not isinstance(content, dict):
        raise VttdataError(f"{path}: does not begin with the YAML front matter of a dataset card.")
    return content


def read_version(dataset: Path) -> str | None:
    """Return the version in the README of a dataset folder, or None if it states none.

    Raises:
        VttdataError: If there is no README with front matter.
    """
    return find_version(read_front_matter(dataset))


def find_version(front_matter: Mapping[str, object]) -> str | None:
    """Return the version of the first configuration that states one, or None."""
    configs = front_matter.get("configs")
    versions = (
        config.get("version") for config in (configs if isinstance(configs, list) else ()) if isinstance(config, dict)
    )
    return next((str(version) for version in versions if isinstance(version, str | int | float)), None)


def read_infos(dataset: Path) -> JsonObject:
    """Return what the README says of each configuration, as `datasets` understands it.

    Raises:
        VttdataError: If `datasets` cannot read it.
    """
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    try:
        card = DatasetCardData(**read_front_matter(dataset))
        infos: JsonObject = DatasetInfosDict.from_dataset_card_data(card)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise VttdataError(f"{dataset / 'README.md'}: datasets cannot read its front matter ({reason}).") from error
    return infos


def read_layout(dataset: Path, needs: str | None = "clips", *, check_rows: bool = True) -> Layout:
    """Return the files and labels that the README of a dataset folder names.

    Raises:
        VttdataError: If the configuration `needs` is missing, a pattern matches nothing, a file is damaged, a column
            has another type than ours, or with `check_rows`, which reads the columns of ids, times and captions, a row
            cannot be used.
    """
    front_matter = read_front_matter(dataset)
    files = find_files(dataset, front_matter)
    for config, splits in files.items():
        for path in itertools.chain.from_iterable(splits.values()):
            if path.suffix == ".parquet":
                with open_parquet(path) as file:
                    wrong = find_wrong_type(config, file.schema_arrow)
                if wrong is not None:
                    raise VttdataError(f"{path}: {wrong}.")
                unusable = find_unusable_row(config, path) if check_rows else None
                if unusable is not None:
                    raise VttdataError(f"{path}: {unusable}.")
    try:
        infos = front_matter.get("dataset_info", ())
        features = [feature for info in infos for feature in info["features"]]
        categories, classes = (
            next((names for feature in features if feature["name"] == column and (names := label_names(feature))), ())
            for column in ("category", "classes")
        )
    except (TypeError, KeyError, AttributeError, ValueError, RecursionError) as error:
        raise invalid_front_matter(dataset) from error
    if needs is not None and needs not in files:
        raise VttdataError(f"{dataset}: its README has no configuration '{needs}'.")
    return Layout(files, categories, classes)


def find_files(dataset: Path, front_matter: JsonObject) -> dict[str, dict[str, list[Path]]]:
    """Return configuration -> split -> files, as the front matter of a README names them.

    Embedded videos are left out if their folder is missing: they are downloaded from the Hub only on request.

    Raises:
        VttdataError: If it has another layout, a configuration has no files, or a pattern matches nothing or leads out
            of the folder.
    """
    try:
        configs = front_matter.get("configs", ())
        for config in configs:
            # Further keys are arguments of readers in `datasets`, such as data_dir, which may be any folder.
            if unknown := config.keys() - _CONFIG_KEYS:
                raise VttdataError(
                    f"{dataset / 'README.md'}: the key {min(unknown)!a} of a configuration is not known; allowed are "
                    f"{', '.join(sorted(_CONFIG_KEYS))}."
                )
            for pattern in (entry["path"] for entry in config["data_files"]):
                # `datasets` takes addresses for patterns, too.
                if not is_inside(pattern) or "://" in pattern or "::" in pattern:
                    raise VttdataError(f"{dataset}: the pattern {pattern[:_MAX_SHOWN]!a} leads out of the dataset.")
        files = {
            config["config_name"]: {
                entry["split"]: match_files(dataset, entry["path"]) for entry in config["data_files"]
            }
            for config in configs
            if config["config_name"] != "videos" or (dataset / "videos").is_dir()
        }
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise invalid_front_matter(dataset) from error
    if not all(isinstance(name, str) and name for config, splits in files.items() for name in (config, *splits)):
        raise invalid_front_matter(dataset)
    empty = next((config for config, splits in files.items() if not splits), None)
    if empty is not None:
        raise VttdataError(f"{dataset / 'README.md'}: the configuration '{empty}' has no files.")
    return files


def match_files(dataset: Path, pattern: str) -> list[Path]:
    """Return the files of a dataset that a pattern matches; raise VttdataError for none, or for a link out of it."""
    try:
        paths = sorted(path for path in dataset.glob(pattern) if path.is_file())
    except OSError as error:
        raise VttdataError(
            f"{dataset}: the pattern {pattern[:_MAX_SHOWN]!a} cannot be looked for ({error.strerror})."
        ) from error
    if not paths:
        raise VttdataError(f"{dataset}: no file matches {pattern[:_MAX_SHOWN]!a}, which its README names.")
    outside = next((path for path in paths if links_out(dataset, path)), None)
    if outside is not None:
        raise VttdataError(f"{outside}: {LINKS_OUT}.")
    return paths


def label_names(feature: object) -> tuple[str, ...]:
    """Return the names of the class labels in a feature of the README, in the order of their numbers."""
    if not isinstance(feature, dict):
        return ()
    if "class_label" in feature:
        names = feature["class_label"]["names"]
        labels = tuple(names[str(number)] for number in range(len(names)))
        if not all(isinstance(label, str) for label in labels):
            raise TypeError("a label is not a text")
        return labels
    return next((names for value in feature.values() if (names := label_names(value))), ())


def invalid_front_matter(dataset: Path) -> VttdataError:
    """Return the error for a README whose front matter is not that of a dataset card of vttdata."""
    return VttdataError(f"{dataset / 'README.md'}: its front matter is not that of a dataset card of vttdata.")
