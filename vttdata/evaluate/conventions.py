"""How papers print scores, what names of scores mean, and which scores are read first.

It imports nothing that is slow, since help texts have the meanings too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple


class Printed(NamedTuple):
    """How papers print a score: what it is about, its name, and the factor that it is multiplied by."""

    subject: str
    name: str
    factor: int = 100

    def format(self, value: float) -> str:
        """Return a value as papers print it, with one decimal."""
        return f"{value * self.factor:,.1f}"


_RECALLS: Mapping[str, tuple[str, int]] = {
    **{f"r@{k}": (f"R@{k}", 100) for k in (1, 5, 10)},
    "mdr": ("MdR", 1),
    "mnr": ("MnR", 1),
}
_DIRECTIONS = {"t2v": "text to video", "v2t": "video to text"}

PRINTED: Mapping[str, Printed] = {
    "cider-d": Printed("", "CIDEr-D"),
    "bleu4": Printed("", "BLEU-4"),
    "meteor": Printed("", "METEOR"),
    "rouge-l": Printed("", "ROUGE-L"),
    "spice": Printed("", "SPICE"),
    **{
        f"{key}/{name}": Printed(subject, *printed)
        for key, subject in _DIRECTIONS.items()
        for name, printed in _RECALLS.items()
    },
    "accuracy-half": Printed("", "pairwise accuracy"),
    "accuracy": Printed("", "accuracy"),
    "gain-over-blind": Printed("", "gain over blind attackers"),
    "pair-accuracy": Printed("", "accuracy of pairs"),
    "group-accuracy": Printed("", "accuracy of groups"),
    "balanced-accuracy": Printed("", "balanced accuracy"),
    **{f"grounding/r1@{overlap}": Printed("", f"R@1, IoU={overlap}") for overlap in (0.3, 0.5, 0.7)},
    "grounding/miou": Printed("", "mIoU"),
    **{f"moments/r1@{overlap}": Printed("", f"R1@{overlap}") for overlap in (0.5, 0.7)},
    "moments/map": Printed("", "mAP"),
    "soda-c": Printed("", "SODA_c"),
    "precision": Printed("", "precision"),
    "recall": Printed("", "recall"),
    "f1": Printed("", "F1"),
    **{
        f"paragraph/{name}": Printed("paragraphs", printed)
        for name, printed in (("cider-d", "CIDEr-D"), ("bleu4", "BLEU-4"), ("meteor", "METEOR"))
    },
}
"""Column -> how papers print it, the one that a task is summed up by first."""

MEANINGS: Mapping[str, str] = {
    "t2v": "videos ranked for each text; v2t: texts ranked for each video",
    "t2v-verbatim": "a video also counts as right where the query is word for word one of its captions; v2t-verbatim: "
    "likewise",
    "t2v-judged": "what judges found relevant counts as right",
    "grounding-verbatim": "any segment of the video with this very sentence counts as right",
    "accuracy-half": "a tie counts as half",
    "soda-c": "segments of all annotators as one sequence; soda-c-best: of the best annotator of a video; "
    "soda-c-mean: of each annotator alone; soda-c-turned: predicted sentences are scored, not annotated ones; "
    "soda-d: segments without words",
    "paragraph": "the sentences of a video as one text",
    "prior": "the most frequent answer to questions of the same type about other videos; gain-over-prior: the score "
    "minus that",
    "blind": "what attackers reach that do not see the video; gain-over-blind: the score minus that",
}
"""First part of the name of a column, or all of it -> what it means."""

_READ_LATER = re.compile(
    r"(?!.*-judged/).*(/(mrr|ndcg)(@10)?|-verbatim/(?!r@1$|r1@0\.5$|miou$).*)|[^/]+(@0\.[3579]|-2018|-corpus)"
)


def is_compared(name: str, columns: Collection[str]) -> bool:
    """Return whether two systems can differ in a column, and not as in another one: not what nobody predicted."""
    fixed = name.removeprefix("gain-over-")
    return fixed not in ("chance", "blind", "prior") or (fixed != name and "accuracy" not in columns)


def read_first(columns: Iterable[str]) -> list[str]:
    """Return the columns that are printed without ``--all``."""
    return [name for name in columns if not _READ_LATER.fullmatch(name)]


def meanings(columns: Iterable[str]) -> list[str]:
    """Return a line for each name among columns that has a meaning to be told."""
    names = {name.partition("/")[0] for name in columns}
    return [f"`{name}`: {meaning}." for name, meaning in MEANINGS.items() if name in names]
