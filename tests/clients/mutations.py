"""Ways in which an export is wrong, and the client's test that must catch each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Mutation(NamedTuple):
    """Change of a finished export, and the environment and the name of the test that fails with it."""

    change: Callable[[Path], None]
    environment: str
    test: str


def change_documents(change: Callable[[list[dict[str, Any]]], None]) -> Callable[[Path], None]:
    """Return a change of the documents of a harness."""

    def mutate(folder: Path) -> None:
        path = folder / "documents.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        change(rows)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    return mutate


def change_text(name: str, pattern: str, replacement: str) -> Callable[[Path], None]:
    """Return a change of the first place in a file that fits a pattern."""

    def mutate(folder: Path) -> None:
        text, number = re.subn(pattern, replacement, (folder / name).read_text(), count=1, flags=re.MULTILINE)
        assert number == 1
        (folder / name).write_text(text)

    return mutate


def shift_letters(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["answer"] = (row["answer"] + 1) % len(row["options"])


def reverse_options(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["options"] = row["options"][::-1]


def lose_prompt(rows: list[dict[str, Any]]) -> None:
    rows[0]["prompt"] = rows[0]["prompt"].rpartition("\n")[0] + "\n"


def swap_videos(folder: Path) -> None:
    first, second = sorted((folder / "videos").iterdir())[:2]
    spare = folder / "spare"
    first.rename(spare)
    second.rename(first)
    spare.rename(second)


def copy_over(source: str, target: str) -> Callable[[Path], None]:
    """Return a change that puts one file of an export in the place of another."""
    return lambda folder: (folder / target).write_bytes((folder / source).read_bytes()) and None


INSPECT = "test_harnesses.py::test_inspect_ai_scores_as_what_decides[questions]"
XPOOL = "test_retrieval_programs.py::test_program_reads_the_demo_with_its_videos[read_with_xpool]"
XPOOL_OFFICIAL = (
    "test_retrieval_programs.py::test_program_reads_ids_of_msrvtt_and_formulas_as_they_are[read_with_xpool]"
)
COCO = "test_pycocoevalcap.py::test_scores_are_those_of_evaluate[official-test]"

MUTATIONS: Mapping[str, Mutation] = {
    "letters shifted": Mutation(change_documents(shift_letters), "inspect", INSPECT),
    "options reversed": Mutation(change_documents(reverse_options), "inspect", INSPECT),
    "one item missing": Mutation(change_documents(lambda rows: rows.pop()), "inspect", INSPECT),
    "a prompt lost": Mutation(change_documents(lose_prompt), "inspect", INSPECT),
    "another's video": Mutation(swap_videos, "retrieval", XPOOL),
    "a wrong split": Mutation(copy_over("validation.csv", "test.csv"), "retrieval", XPOOL),
    "an escaped caption": Mutation(change_text("test.csv", '"=1', "\"'=1"), "retrieval", XPOOL_OFFICIAL),
    "a list of another protocol": Mutation(copy_over("1k-A.test.csv", "test.csv"), "retrieval", XPOOL_OFFICIAL),
    "a path that is relative to another folder": Mutation(
        change_text("README.md", "#FOLDER/test.csv#", "#test.csv#"), "retrieval", XPOOL
    ),
    "an id changed": Mutation(change_text("captions_test.json", '"id": "video', '"id": "movie'), "tables", COCO),
}
