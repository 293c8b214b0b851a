from __future__ import annotations

from pathlib import Path

from tests.clients.client import client
from tests.clients.conftest import references

CLIENT = client("mlcroissant", "tables")


def test_records_are_the_captions_that_evaluate_uses(demo: Path, official: Path) -> None:
    warnings = {}
    for dataset in (demo, official):
        expected = references(dataset)
        shown = CLIENT.run("croissant_records.py", dataset, "captions")
        assert shown["captions"] == expected
        warnings[dataset] = shown["warnings"]
    # A recipe states the day of publication, and that of the demo does not.
    assert warnings[official] == []
    assert [warning for warning in warnings[demo] if "datePublished" not in warning] == []
    CLIENT.showed(
        'mlcroissant.Dataset("DATASET/croissant.json", mapping={"repo": "DATASET"}).records("captions")',
        f"the {sum(map(len, expected.values()))} references of {len(expected)} clips",
        "captions as `evaluate` reads them",
    )
