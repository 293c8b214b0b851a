"""The machine-readable head of a dataset's README: written so that plain `datasets` needs nothing else, and read back.

Keys and their meaning are those of the Hub's dataset cards (`dataset_info`, `configs`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from vttdata.dataset.columns import columns_of, features
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.shards import SplitFiles
from vttdata.errors import VttdataError

_HEAD = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n", re.DOTALL)
_LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*")
_TAGS = {"foils": "foils", "judgments": "human-judgments", "degraded": "direct-assessment", "videos": "video"}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True, slots=True)
class Layout:
    """What a README says of its folder: configuration -> split -> files, the names of categories and of concepts."""

    files: dict[str, dict[str, list[Path]]]
    categories: tuple[str, ...]
    classes: tuple[str, ...] = ()


def front_matter(
    tables: Mapping[str, Sequence[SplitFiles]], categories: Sequence[str], about: Metadata, classes: Sequence[str] = ()
) -> str:
    """The YAML between the two ``---`` lines, these included.

    Args:
        tables: configuration -> its splits; the first one is the default.
        categories: the names of the category labels, in the order of their numbers.
        about: the dataset; licences that are no identifier of the Hub's kind are named under ``license_name``.
        classes: the names of the classes of concepts, in the order of their numbers.
    """
    clips = sum(split.rows for split in next(iter(tables.values())))
    head = _licence(about) | {
        "language": [about.language],
        "pretty_name": about.name.partition("/")[2],
        "task_categories": ["video-text-to-text"],
        "tags": ["video-captioning", "vttdata", *(_TAGS[config] for config in tables if config in _TAGS)],
        "size_categories": [next((label for limit, label in _SIZES if clips < limit), "n>1M")],
        "dataset_info": [_info(config, splits, categories, classes) for config, splits in tables.items()],
        "configs": [
            _config(config, splits, about.version, default=config == next(iter(tables)))
            for config, splits in tables.items()
        ],
    }
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=10_000)}---\n"


def _licence(about: Metadata) -> dict[str, Any]:
    """One licence for annotations and captions; where they differ, both by name."""
    parts = {part: about.licences[part] or "unknown" for part in ("annotations", "captions")}
    licence = parts["annotations"] if len(set(parts.values())) == 1 else ", ".join(map(": ".join, parts.items()))
    if "unknown" in parts.values() or _LICENCE.fullmatch(licence):
        return {"license": licence if licence in parts.values() else "unknown"}
    return {"license": "other", "license_name": " ".join(licence.split())}


def _info(
    config: str, splits: Sequence[SplitFiles], categories: Sequence[str], classes: Sequence[str]
) -> dict[str, Any]:
    return {
        "config_name": config,
        "features": features(columns_of(config), categories, classes),
        "splits": [{"name": s.split, "num_bytes": s.memory, "num_examples": s.rows} for s in splits],
        "download_size": sum(split.bytes for split in splits),
        "dataset_size": sum(split.memory for split in splits),
    }


def _config(config: str, splits: Sequence[SplitFiles], version: str, *, default: bool) -> dict[str, Any]:
    files = [{"split": split.split, "path": split.pattern} for split in splits]
    return {"config_name": config, "version": version} | ({"default": True} if default else {}) | {"data_files": files}


def read_front_matter(dataset: Path) -> dict[str, Any]:
    """The mapping at the head of ``README.md``.

    Raises:
        VttdataError: when there is none.
    """
    path = dataset / "README.md"
    try:
        found = _HEAD.match(path.read_text(encoding="utf-8"))
        head = yaml.safe_load(found[1]) if found else None
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise VttdataError(f"{path}: its head is not valid YAML ({' '.join(str(error).split())}).") from error
    if not isinstance(head, dict):
        raise VttdataError(f"{path}: does not begin with the YAML head of a dataset card.")
    return head


def read_version(dataset: Path) -> str | None:
    """The version that the README of a dataset folder states, if it does.

    Raises:
        VttdataError: when there is no such README.
    """
    configs = read_front_matter(dataset).get("configs")
    found = (config.get("version") for config in configs or () if isinstance(config, dict))
    return next((str(version) for version in found if version is not None), None)


def read_layout(dataset: Path, needs: str | None = "clips") -> Layout:
    """Find the files that the README of a dataset folder names.

    Raises:
        VttdataError: when it does not name the configuration that is needed, or a pattern matches nothing.
    """
    head = read_front_matter(dataset)
    files = named_files(dataset, head)
    try:
        infos = head.get("dataset_info", ())
        categories = next((names for info in infos if (names := _label_names(info, "category"))), ())
        classes = next((names for info in infos if (names := _label_names(info, "classes"))), ())
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise foreign_head(dataset) from error
    if needs is not None and needs not in files:
        raise VttdataError(f"{dataset}: its README names no configuration '{needs}'.")
    return Layout(files, categories, classes)


def named_files(dataset: Path, head: Mapping[str, Any]) -> dict[str, dict[str, list[Path]]]:
    """Configuration -> split -> files, as the head of a README names them.

    Embedded videos are left out where their folder is not there: they are not fetched from the Hub unless asked for.

    Raises:
        VttdataError: when the head is laid out otherwise, or a pattern matches nothing or leads out of the folder.
    """
    try:
        patterns = {
            config["config_name"]: {entry["split"]: entry["path"] for entry in config.get("data_files", ())}
            for config in head.get("configs", ())
            if config["config_name"] != "videos" or (dataset / "videos").is_dir()
        }
        return {
            config: {split: _glob(dataset, path) for split, path in splits.items()}
            for config, splits in patterns.items()
        }
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise foreign_head(dataset) from error


def foreign_head(dataset: Path) -> VttdataError:
    """What to say of a README whose head is that of something else."""
    return VttdataError(f"{dataset / 'README.md'}: its head is not laid out as a dataset card of vttdata.")


def _glob(dataset: Path, pattern: str) -> list[Path]:
    if ".." in Path(pattern).parts or Path(pattern).is_absolute():
        raise VttdataError(f"{dataset}: the pattern '{pattern}' leads out of the dataset.")
    found = sorted(dataset.glob(pattern))
    if not found:
        raise VttdataError(f"{dataset}: no file matches '{pattern}', which its README names.")
    return found


def _label_names(info: Mapping[str, Any], column: str) -> tuple[str, ...]:
    feature: Mapping[str, Any] = next((feature for feature in info["features"] if feature["name"] == column), {})
    dtype = feature.get("dtype", feature.get("list"))
    names = dtype["class_label"]["names"] if isinstance(dtype, dict) else {}
    return tuple(names[key] for key in sorted(names, key=int))
