from __future__ import annotations

from pathlib import Path

from tests.clients.client import client
from tests.clients.conftest import references

CLIENT = client("mlcroissant", "tables")


def test_records_are_the_captions_that_evaluate_uses(demo: Path, official: Path) -> None:
    for dataset in (demo, official):
        expected = references(dataset)
        assert CLIENT.run("croissant_records.py", dataset, "captions") == expected
    CLIENT.showed(
        'mlcroissant.Dataset("DATASET/croissant.json", mapping={"repo": "DATASET"}).records("captions")',
        f"the {sum(map(len, expected.values()))} references of {len(expected)} clips",
    )
