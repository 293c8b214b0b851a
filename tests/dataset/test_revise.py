"""A revised dataset is described by the code that described the first version, from its tables and stored facts."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.compose.test_withdraw import rows_of
from tests.dataset.conftest import Material, contents, written_foils
from tests.dataset.test_card import full_metadata
from tests.helpers.hub.built import build
from vttdata.dataset import Metadata, WriteHooks
from vttdata.dataset.leak_audit import audit_all
from vttdata.dataset.manifest import find_damage, read_dataset_manifest
from vttdata.dataset.metadata import FindingRow, PaperFigure
from vttdata.dataset.provenance import Provenance, write_provenance
from vttdata.dataset.revise import Changes, revise_dataset
from vttdata.dataset.tombstones import Tombstones
from vttdata.errors import VttdataError
from vttdata.settings import ResponsibleUse

RECIPE = "# vttdata/small 1.0.0 with every setting written out\nname: vttdata/small\nversion: 1.0.0\nseed: 0\n"


def every_fact(about: Metadata) -> Metadata:
    return dataclasses.replace(
        full_metadata(about),
        language=["en", "de"],
        allow_leaks="known and kept",
        unprocessed="cut 3",
        findings=[FindingRow("odd_time", "end before start", 3, "video8, video99, video10")],
        collected="Collected from a list.",
        paper={"clips": PaperFigure(6.0), "hours": PaperFigure(1.25, "shots of video9 are counted")},
        counted={"hours": 2.0},
        responsible=ResponsibleUse(biases="Few things.", synthetic=False, derived_from=("https://x.org/a",)),
    )


def tombstones(*names: str) -> Tombstones:
    return Tombstones().add([(name, "clip") for name in names], "request", "2.0.0", {}, "salt")


def add_recipe(dataset: Path) -> None:
    write_provenance(dataset, Provenance(0, recipe=RECIPE))


@pytest.fixture
def everything(with_media: Material, tmp_path: Path) -> Path:
    """A dataset whose card has every section."""
    hooks = WriteHooks(audit_all, add_recipe)
    with_media.write(tmp_path / "d", metadata=every_fact(with_media.metadata), hooks=hooks)
    return tmp_path / "d"


@pytest.mark.parametrize("kind", ["clips", "foils", "unaudited"])
def test_a_revision_that_changes_nothing_writes_the_same_bytes(
    everything: Path, material: Material, tmp_path: Path, kind: str
) -> None:
    dataset = everything
    if kind == "foils":
        dataset = written_foils(tmp_path / "foils", every_fact(material.metadata))
    elif kind == "unaudited":
        material.write(dataset := tmp_path / "unaudited")
    before = contents(dataset)
    revise_dataset(dataset, Changes("1.0.0"))
    assert contents(dataset) == before


def test_a_revised_dataset_is_that_which_never_had_the_rows(
    everything: Path, with_media: Material, tmp_path: Path
) -> None:
    """But for the tombstones; the words that name what is gone are replaced."""
    gone = tombstones("video8", "video9", "source8")
    revise_dataset(everything, Changes("2.0.0", tombstones=gone))
    about = every_fact(with_media.metadata)
    recipe = Provenance(0, recipe=RECIPE.replace("1.0.0", "2.0.0"))
    with_media.write(
        tmp_path / "fresh",
        clips=[clip for clip in with_media.clips if clip.source_id != "source8"],
        captions=[caption for caption in with_media.captions if caption.video_id not in ("video8", "video9")],
        metadata=dataclasses.replace(
            about,
            version="2.0.0",
            findings=[FindingRow("odd_time", "end before start", 3, "(withdrawn), video99, video10")],
            paper=about.paper | {"hours": PaperFigure(1.25, "shots of (withdrawn) are counted")},
        ),
        hooks=WriteHooks(audit_all, lambda dataset: write_provenance(dataset, recipe)),
    )
    revise_dataset(tmp_path / "fresh", Changes("2.0.0", tombstones=gone))
    for name in ("README.md", "croissant.json", "manifest.json", "recipe.yaml", "videos/train/metadata.jsonl"):
        # Parquet tells whether a schema was read from a file.
        revised, fresh = (
            re.sub("[0-9a-f]{12,64}", "", (d / name).read_text()) for d in (everything, tmp_path / "fresh")
        )
        assert revised == fresh
    assert rows_of(everything) == rows_of(tmp_path / "fresh")
    card = (everything / "README.md").read_text()
    assert "| 2.0.0 | clip | 3 | request |" in card.partition("## Corrections\n")[2].partition("## Details\n")[0]
    assert find_damage(everything) == []


def test_splits_that_an_earlier_version_emptied_stay_on_the_card(tmp_path: Path) -> None:
    dataset = build(tmp_path / "d", ["a person waves", "a dog runs", "a child sings", "a cat sleeps"])
    revise_dataset(dataset, Changes("2.0.0", tombstones=tombstones("v3")))
    revise_dataset(dataset, Changes("3.0.0", tombstones=tombstones("v3", "v1")))
    assert "nothing is left, and which are gone: clips/test, captions/test" in (dataset / "README.md").read_text()


def test_a_dataset_without_facts_is_refused(tmp_path: Path) -> None:
    dataset = build(tmp_path / "d", ["a person waves", "a dog runs"])
    manifest = read_dataset_manifest(dataset)
    for facts in ({}, {"metadata": 3}, {**manifest["facts"], "audited": "perhaps"}, []):
        (dataset / "manifest.json").write_text(json.dumps(manifest | {"facts": facts}))
        with pytest.raises(VttdataError, match="does not hold the facts that the card is made of"):
            revise_dataset(dataset, Changes("2.0.0"))


def test_the_dataset_that_is_revised_keeps_its_bytes(everything: Path, tmp_path: Path) -> None:
    """The copy that is revised begins as hard links."""
    before = contents(everything)
    copy = tmp_path / "copy"
    shutil.copytree(everything, copy, copy_function=lambda old, new: Path(new).hardlink_to(old))
    revise_dataset(copy, Changes("2.0.0", tombstones=tombstones("video8")))
    assert contents(everything) == before
    assert contents(copy) != before
