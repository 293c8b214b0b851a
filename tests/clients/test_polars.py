from __future__ import annotations

from pathlib import Path

from tests.clients.client import client
from tests.clients.conftest import references

CLIENT = client("polars", "tables")


def test_captions_are_those_that_evaluate_uses(demo: Path, official: Path) -> None:
    for dataset in (demo, official):
        expected = references(dataset)
        assert CLIENT.run("polars_rows.py", dataset) == expected
    captions = sum(map(len, expected.values()))
    CLIENT.showed(
        'polars.scan_parquet("DATASET/captions/*.parquet")',
        f"the {captions} references of {len(expected)} clips, in the order of `evaluate`",
        "captions as `evaluate` reads them",
    )
