"""What official files decide of a dataset, so that its writer must not: order, label numbers, protocols, concepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vttdata.records import Concepts, Degraded


@dataclass(frozen=True, slots=True)
class Given:
    """Makes `write_dataset` keep the order of clips (within their split) and of sources, and every row as it comes.

    What stands twice in official files stands twice in the dataset: clips under one id each show all captions of that
    id, and `captions` has them once, where the first of these clips is.

    Fields:
        categories: names in the order of their official numbers; categories that are not among them come after.
        protocols: name -> split -> ids of clips; each becomes a configuration with the columns of `clips`.
        concepts: of some of the clips; they become the configuration `concepts`.
        classes: the names of all classes of concepts, in the order of their numbers.
        degraded: captions made worse, of these clips; they become the configuration `degraded`, in their order.
        judgments: configuration (``judgments`` or ``judgments-without-...``) -> split -> rows, as
            `vttdata.publish.rows.judgment_row` makes them.
    """

    categories: Sequence[str] = ()
    protocols: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    concepts: Iterable[Concepts] = ()
    classes: Sequence[str] = ()
    degraded: Sequence[Degraded] = ()
    judgments: Mapping[str, Mapping[str, Sequence[dict[str, Any]]]] = field(default_factory=dict)
