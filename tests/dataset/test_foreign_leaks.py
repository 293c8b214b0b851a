"""Audits of datasets that vttdata did not write: each planted leak is found, and nothing where nothing leaks.

`VTTDATA_FOREIGN_DATASETS` is the number of datasets of each sort, by default a sample; 2,000 take some minutes.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.helpers.foreign_datasets import HARMLESS, LEAKS, NAMES, Foreign, add_harmless, write_foreign
from vttdata.dataset.leak_audit import audit_foreign

DATASETS = int(os.environ.get("VTTDATA_FOREIGN_DATASETS", "60"))


def test_planted_leaks_of_every_kind_are_found_in_every_shape(tmp_path: Path) -> None:
    missed = []
    for seed in range(DATASETS):
        kind = [*LEAKS][seed % len(LEAKS)]
        needed, plant = LEAKS[kind]
        dataset = Foreign(seed)
        plant(dataset)
        path = write_foreign(dataset, tmp_path / str(seed), needed)
        if audit_foreign(path).ok:
            missed.append((seed, kind))
    assert missed == []


def test_nothing_is_reported_where_nothing_leaks(tmp_path: Path) -> None:
    reported = []
    for seed in range(DATASETS):
        kind = HARMLESS[seed % len(HARMLESS)]
        dataset = Foreign(10**6 + seed)
        seen = frozenset(key for key in NAMES if dataset.draw.random() < 0.5) | {"id", "source", "url"}
        add_harmless(dataset, kind, seen)
        audit = audit_foreign(write_foreign(dataset, tmp_path / str(seed), seen))
        if not audit.ok:
            reported.append((seed, kind, audit.verdict, audit.examples["source"][:1]))
    assert reported == []
