"""Days of upload and whether a program made a video, as lists and sites state them."""

from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.collect import list_manifest
from vttdata.collect.video_list import parse_day
from vttdata.errors import VttdataError


def listed(folder: Path, head: str, *rows: str) -> list[tuple[str | None, bool | None]]:
    path = folder / "list.csv"
    path.write_text(
        "\n".join([f"url,{head}", *(f"https://example.org/{n},{row}" for n, row in enumerate(rows))]) + "\n"
    )
    return [(candidate.uploaded, candidate.synthetic) for candidate in list_manifest(path)]


def test_a_list_states_the_day_and_whether_a_program_made_it(tmp_path: Path) -> None:
    assert listed(tmp_path, "upload_date,synthetic", "20250131,yes", "2024-02-29,false", ",") == [
        ("2025-01-31", True),
        ("2024-02-29", False),
        (None, None),
    ]


@pytest.mark.parametrize(
    ("row", "words"), [("20250231,", "uploaded must be a day"), (",maybe", "synthetic must be true or false")]
)
def test_another_value_is_refused(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        listed(tmp_path, "uploaded,synthetic", row)


def test_days_of_sites_are_days_or_nothing() -> None:
    assert [parse_day(value) for value in ("20250131", "2025-01-31", "20251331", "", None, 20250131)] == [
        "2025-01-31",
        "2025-01-31",
        None,
        None,
        None,
        None,
    ]
