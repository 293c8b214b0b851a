"""What is to be said of a dataset besides its tables: its name, version, licence, and how it was made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from vttdata.ids import is_dataset_name
from vttdata.records import Concepts, Degraded
from vttdata.settings import STRICT, check_date, check_licence

Figure = Literal["sources", "clips", "hours", "sentences", "words", "vocabulary"]
_VERSION = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """What the paper of a benchmark states of it.

    Fields:
        says: the figure as printed; compared to as many decimals.
        why: why counting may give another one, as far as that is known.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    says: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a card says that no table does.

    Fields:
        name: ``owner/name``, as `load_dataset` takes it.
        version: MAJOR.MINOR.PATCH.
        licence: an identifier of the Hub's kind (``cc-by-4.0``) or a name; or one for each of `LICENSED_PARTS`.
        language: of the captions, ISO 639-1.
        seed: the seed of all random choices.
        description: a paragraph, as plain text.
        asked: split -> ratio that was asked for; empty where the splits were given.
        together: what the splits never divide (``source``, ``query``, ``near_duplicate``).
        allow_leaks: why leaks between splits are accepted, where they are.
        attrition: rows of (stage, what is counted, in, kept, losses in words).
        provenance: program, library or recipe -> version or checksum.
        findings: rows of (kind, what it means, how often, examples): what is odd in official files.
        citation: BibTeX entries of the papers behind it.
        date: the day this version is published, YYYY-MM-DD; never taken from a clock, so that bytes stay the same.
        collected: how its material came together, in a sentence.
        inputs: name of each official file -> its SHA-256.
        needs: keys of the recipe that name a file or folder -> which of both.
        paper: figure of `SplitStatistics` -> what the benchmark's paper says, and why that may not be what is counted.
    """

    name: str
    version: str = "1.0.0"
    licence: str | Mapping[str, str] = "unknown"
    language: str = "en"
    seed: int = 0
    description: str = ""
    asked: Mapping[str, float] = field(default_factory=dict)
    together: Sequence[str] = ()
    allow_leaks: str | None = None
    attrition: Sequence[tuple[str, str, int, int, str]] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[tuple[str, str, int, str]] = ()
    citation: str = ""
    date: str | None = None
    collected: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    needs: Mapping[str, str] = field(default_factory=dict)
    paper: Mapping[Figure, PaperFigure] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_dataset_name(self.name):
            raise ValueError(f"'{self.name}' cannot name a dataset; owner/name in letters, digits, '.', '_', '-' can.")
        if not _VERSION.fullmatch(self.version):
            raise ValueError(f"'{self.version}' is no version; MAJOR.MINOR.PATCH is, such as 1.0.0.")
        check_licence(self.licence)
        check_date(self.date)

    @property
    def licences(self) -> dict[str, str | None]:
        """The licence of each part; captions have that of the annotations unless theirs is given."""
        given = {"annotations": self.licence} if isinstance(self.licence, str) else dict(self.licence)
        annotations = given.get("annotations", "unknown")
        return {
            "annotations": annotations,
            "captions": given.get("captions", annotations),
            "videos": given.get("videos"),
        }


@dataclass(frozen=True, slots=True)
class OfficialLayout:
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
            `vttdata.dataset.rows.judgment_row` makes them.
    """

    categories: Sequence[str] = ()
    protocols: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    concepts: Iterable[Concepts] = ()
    classes: Sequence[str] = ()
    degraded: Sequence[Degraded] = ()
    judgments: Mapping[str, Mapping[str, Sequence[dict[str, Any]]]] = field(default_factory=dict)
