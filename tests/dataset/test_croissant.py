"""Every kind of dataset has a Croissant description that the reference library validates and loads the rows with."""

from __future__ import annotations

import dataclasses
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest

from tests.dataset.conftest import Material, contents, load, written_foils
from tests.helpers.needs import library
from vttdata.dataset import OfficialLayout, find_damage
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.metadata import AttritionRow
from vttdata.publish.release_checks import missing_properties
from vttdata.records import Concepts, Degraded
from vttdata.settings import ResponsibleUse

REQUIRED = ("@context", "@type", "conformsTo", "name", "description", "license", "url", "creator", "datePublished")
"""By the specification, of every dataset; the validator says nothing when most of them are missing."""

GIVEN = OfficialLayout(
    categories=["music", "sport", "nothing"],
    protocols={"retrieval-1k": {"train": ["video9", "video7"], "test": ["video12"]}},
    concepts=[Concepts("video8", ("a", "dog", "and", "cat"), (0, 1), ("dog", "cat"), (1, 3))],
    classes=("cat", "dog"),
    degraded=[
        Degraded("video7", 700, "x y z", "a b c", 1, 1, "video12", 1201, 2, "video-2018", "1", 5),
        Degraded("video7", 701, None, "a b", None, None, None, None, None, "video-2018", "1", 5, "too_short"),
    ],
)


def rows_of(description: Any, config: str) -> list[dict[str, Any]]:
    """The rows of a configuration as Croissant gives them, texts decoded, by plain column names."""
    return [plain(config, record) for record in description.records(config)]


def plain(config: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key.removeprefix(f"{config}/").rpartition("/")[2]: plain(config, own) for key, own in value.items()}
    if isinstance(value, list):
        return [plain(config, own) for own in value]
    return value.decode() if isinstance(value, bytes) else value


def expected(folder: Path, cache: Path, config: str) -> list[dict[str, Any]]:
    """The same by `datasets`, with the column `split`."""
    loaded = load(folder, cache, config)
    return [{"split": split} | row for split, rows in loaded.items() for row in rows]


def by_content(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def reference_library() -> Any:
    """Return mlcroissant, which takes half a second to import; skip the test where it is not installed."""
    return library("mlcroissant")


def opened(folder: Path) -> Any:
    """The description; what is invalid in it raises."""
    return reference_library().Dataset(str(folder / "croissant.json"), mapping={"repo": str(folder)})


def test_croissant_rows_equal_those_of_datasets(material: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "d", official=GIVEN)
    configs = datasets.get_dataset_config_names(str(tmp_path / "d"))
    assert set(configs) == {"clips", "captions", "sources", "concepts", "degraded", "retrieval-1k"}
    description = opened(tmp_path / "d")
    for config in configs:
        found, wanted = rows_of(description, config), expected(tmp_path / "d", tmp_path / "cache", config)
        assert by_content(found) == by_content(wanted), config


def test_foils_load_with_croissant(tmp_path: Path) -> None:
    folder = written_foils(tmp_path / "foils")
    description = opened(folder)
    for config in ("foils", "paragraphs"):
        found, wanted = rows_of(description, config), expected(folder, tmp_path / "cache", config)
        assert by_content(found) == by_content(wanted)
    assert find_damage(folder) == []


def test_embedded_videos_load_as_bytes_and_path(with_media: Material, tmp_path: Path) -> None:
    with_media.write(tmp_path / "d", mode="embedded")
    rows = rows_of(opened(tmp_path / "d"), "videos")
    assert {row["video_id"]: row["video"] for row in rows} == {
        clip.video_id: {"bytes": f"film of {clip.video_id}", "path": f"{clip.video_id}.mp4"}
        for clip in with_media.clips[:-1]
    }


def test_validator_passes_with_licence_and_date(
    material: Material, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reference_library()
    about = dataclasses.replace(material.metadata, licence="cc-by-4.0", date="2026-11-21", citation="@misc{x}")
    material.write(tmp_path / "d", metadata=about)
    content = json.loads((tmp_path / "d/croissant.json").read_text())
    assert all(content[key] for key in REQUIRED)
    command = [str(Path(sys.executable).with_name("mlcroissant")), "validate", "--jsonld"]
    done = subprocess.run([*command, str(tmp_path / "d/croissant.json")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Done" in done.stderr
    assert "warning" not in done.stderr.lower(), done.stderr
    with caplog.at_level(logging.WARNING):
        rows_of(opened(tmp_path / "d"), "clips")
    assert not caplog.records


RESPONSIBLE = ResponsibleUse(
    limitations="It shows drawings only.",
    biases="Circles are as frequent as squares.",
    sensitive="None: nobody is shown.",
    uses="Made for tests of captioning.",
    social_impact="None is known.",
    derived_from=("https://example.org/drawings", "a folder of drawings"),
)


def test_complete_recipe_gives_what_venues_ask_for(material: Material, tmp_path: Path) -> None:
    reference_library()
    sources = [dataclasses.replace(source, synthetic=True) for source in material.sources]
    about = dataclasses.replace(
        material.metadata,
        licence="cc-by-4.0",
        date="2026-11-21",
        citation="@misc{x}",
        attrition=[AttritionRow("probe", "sources", 5, 4, "1 empty")],
        inputs={"captions.csv": "0" * 64},
        responsible=RESPONSIBLE,
    )
    material.write(tmp_path / "d", metadata=about, sources=sources)
    content = json.loads((tmp_path / "d/croissant.json").read_text())
    assert missing_properties(tmp_path / "d") == []
    assert content["@context"]["prov"] == "http://www.w3.org/ns/prov#"
    assert content["rai:dataBiases"] == RESPONSIBLE.biases
    assert content["rai:personalSensitiveInformation"] == RESPONSIBLE.sensitive
    assert content["rai:dataUseCases"] == RESPONSIBLE.uses
    assert content["rai:dataSocialImpact"] == RESPONSIBLE.social_impact
    assert content["rai:hasSyntheticData"] is True
    assert RESPONSIBLE.limitations in content["rai:dataLimitations"]
    assert content["prov:wasDerivedFrom"] == [
        {"@id": "https://example.org/drawings"},
        {"prov:label": "a folder of drawings"},
        {"@id": f"urn:sha256:{'0' * 64}", "prov:label": "captions.csv"},
    ]
    (activity,) = content["prov:wasGeneratedBy"]
    assert (activity["@type"], activity["prov:label"]) == ("prov:Activity", "probe")
    issues = opened(tmp_path / "d").metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    assert "**Biases:** Circles are as frequent" in (tmp_path / "d/README.md").read_text()


def test_synthetic_is_never_guessed(material: Material, tmp_path: Path) -> None:
    def stated(folder: str, *values: bool | None, says: bool | None = None) -> object:
        sources = [
            dataclasses.replace(source, synthetic=values[number % len(values)])
            for number, source in enumerate(material.sources)
        ]
        about = dataclasses.replace(material.metadata, responsible=ResponsibleUse(synthetic=says))
        material.write(tmp_path / folder, sources=sources, metadata=about)
        return json.loads((tmp_path / folder / "croissant.json").read_text()).get("rai:hasSyntheticData", "unknown")

    captions = [dataclasses.replace(caption, author="human") for caption in material.captions]
    material = dataclasses.replace(material, captions=captions)
    assert stated("a", None) == "unknown"
    assert stated("b", False) is False
    assert stated("c", False, True) is True
    assert stated("d", False, None) == "unknown"
    assert stated("e", None, says=False) is False
    assert stated("f", True, says=False) is True
    assert "rai:hasSyntheticData (set responsible.synthetic in the recipe)" in missing_properties(tmp_path / "a")


def test_missing_licence_and_date_are_left_out(material: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "d")
    content = json.loads((tmp_path / "d/croissant.json").read_text())
    assert set(REQUIRED) - content.keys() == {"license", "datePublished"}
    issues = opened(tmp_path / "d").metadata.ctx.issues
    assert not issues.errors
    assert len(issues.warnings) == 2
    assert all(any(key in warning for warning in map(str, issues.warnings)) for key in ("license", "datePublished"))


def test_checksums_are_those_of_the_files(material: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "d")
    content = json.loads((tmp_path / "d/croissant.json").read_text())
    listed = {node["@id"]: node["sha256"] for node in content["distribution"] if node["@id"].endswith(".parquet")}
    files = read_dataset_manifest(tmp_path / "d")["files"]
    assert listed == {name: facts["sha256"] for name, facts in files.items() if name.endswith(".parquet")}
    assert "croissant.json" in files


def test_known_limitations_are_listed(material: Material, tmp_path: Path) -> None:
    about = dataclasses.replace(
        material.metadata,
        collected="Drawn by hand.",
        attrition=[("probe", "sources", 5, 4, "1 empty")],
        findings=[("duplicate_caption", "one clip has a text twice", 3, "video7")],
    )
    material.write(tmp_path / "d", metadata=about)
    content = json.loads((tmp_path / "d/croissant.json").read_text())
    assert content["rai:dataCollection"] == "Drawn by hand."
    assert content["rai:dataPreprocessingProtocol"] == ["probe (sources): 5 in, 4 kept; 1 empty"]
    assert content["rai:dataLimitations"] == [
        "In the official files, unchanged here: one clip has a text twice (3).",
        "The video files of 6 of 6 clips are not included.",
    ]


def test_same_records_give_the_same_croissant_bytes(material: Material, tmp_path: Path) -> None:
    for name in ("a", "b"):
        material.write(tmp_path / name, official=GIVEN)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(written_foils(tmp_path / "c")) == contents(written_foils(tmp_path / "d"))
