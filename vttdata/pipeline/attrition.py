"""Attrition table of a build: how much went into each stage, what stayed, and why the rest did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Things that go into a stage; two where the kept records are something else. All other stages take sources.
_UNITS = {
    "scenes": "recipe, files",
    "search": "queries, videos",
    "found": "videos",
    "copies": "sources, pairs",
    "shots": "sources, shots",
    "clips": "sources, clips",
    "cut": "clips",
    "captions": "captions",
    "captioned": "clips",
    "families": "clips",
    "split": "clips",
    "originals": "videos",
    "annotated": "clips",
    "sentences": "sentences",
    "concepts": "clips",
    "degraded": "captions",
    "scores": "judgments",
    "alignment": "offsets",
    "clip_files": "clips",
    "findings": "findings",
}

_MAIN_REASONS = 4

# Header above the lines of `stage_text`.
HEADER = f"{'stage':<11} {'of':<15} {'in':>7} {'kept':>7}  rejected and failed"


def attrition_rows(stages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, int, int, str]]:
    """Return a row for each stage: its name, the unit, the numbers of things in and kept, and losses in words.

    Args:
        stages: the ``stages`` of ``build.json``.
    """
    rows = []
    for stage in stages:
        name, rejected, failed = stage["name"], stage["rejected"].items(), stage["failed"].items()
        lost = [f"{count} {reason}" for reason, count in rejected]
        lost += [f"{count} failed: {reason}" for reason, count in failed]
        rows.append((name, _UNITS.get(name, "sources"), stage["in"], stage["kept"], ", ".join(lost)))
    return rows


def stage_text(stage: Mapping[str, Any]) -> str:
    """Return an aligned line for the terminal about one of the ``stages`` of ``build.json``."""
    ((name, unit, taken, kept, lost_text),) = attrition_rows([stage])
    return f"{name:<11} {unit:<15} {taken:>7} {kept:>7}  {lost_text}".rstrip()


def main_losses(stages: Sequence[Mapping[str, Any]]) -> str:
    """Return how much was rejected or failed, and the commonest reasons with their stages, in words; empty for nothing.

    Args:
        stages: the ``stages`` of ``build.json``.
    """
    counts = [
        (number, f"{prefix}{reason} ({stage['name']})")
        for stage in stages
        for prefix, numbers in (("", stage["rejected"]), ("failed: ", stage["failed"]))
        for reason, number in numbers.items()
    ]
    main = sorted(counts, key=lambda count: -count[0])[:_MAIN_REASONS]
    more = ", ..." if len(counts) > _MAIN_REASONS else ""
    return ", ".join(f"{number:,} {reason}" for number, reason in main) + more
