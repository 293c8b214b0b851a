"""Metadata of a dataset that its tables do not contain: name, version, licence, origin, and official order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from vttdata.dataset.questions import QuestionSet
from vttdata.dataset.rows import JudgmentRow
from vttdata.ids import is_dataset_name
from vttdata.records import Concepts, Degraded, QueryWindows
from vttdata.settings import ResponsibleUse, Strict, check_date, check_licence

Figure = Literal["sources", "clips", "hours", "sentences", "words", "vocabulary"]
_VERSION = re.compile(r"\d+\.\d+\.\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class PaperFigure(Strict):
    """Figure that the paper of a benchmark states, as printed; it is compared to as many decimals.

    `why` is the known reason for which counting gives another one.
    """

    says: float
    why: str = ""


class AttritionRow(NamedTuple):
    """What a stage took in and kept, in `unit` such as sources, and what it lost, in words."""

    stage: str
    unit: str
    taken: int
    kept: int
    losses: str


class FindingRow(NamedTuple):
    """How often official files have an irregularity, and where, such as a few ids."""

    kind: str
    meaning: str
    number: int
    examples: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """Facts on a card that are in no table.

    Fields:
        name: ``owner/name``, as `load_dataset` takes it.
        version: MAJOR.MINOR.PATCH.
        licence: Identifier of the Hub (``cc-by-4.0``) or a name; or one for each of `LICENSED_PARTS`.
        language: Language of the captions, ISO 639-1, or several; none where it is not known.
        split_ratios: Split -> requested ratio; empty for official splits.
        together: What no two splits share (``source``, ``query``, ``near_duplicate``).
        attrition: Input and output of each stage.
        unprocessed: Stages and numbers of items that the dataset lacks because their processing was cut short; empty
            for a complete dataset.
        tools: Program, library or recipe -> version or checksum.
        findings: Irregularities in official files.
        date: Day on which this version is published, YYYY-MM-DD; never taken from a clock, so that bytes stay the same.
        collected: How the material was collected, one sentence.
        inputs: Name of each official file -> its SHA-256.
        required_paths: Key of the recipe that takes a path -> ``file`` or ``folder``.
        paper: Figure of `SplitStatistics`, or of `counted` -> what the paper of the benchmark states.
        counted: Further figures in the official files, for the comparison with the paper.
        responsible: What its makers say of it.
    """

    name: str
    version: str = "1.0.0"
    licence: str | Mapping[str, str] = "unknown"
    language: str | Sequence[str] = "en"
    seed: int = 0
    description: str = ""
    split_ratios: Mapping[str, float] = field(default_factory=dict)
    together: Sequence[str] = ()
    allow_leaks: str | None = None
    attrition: Sequence[AttritionRow] = ()
    unprocessed: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[FindingRow] = ()
    citation: str = ""
    date: str | None = None
    collected: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    required_paths: Mapping[str, str] = field(default_factory=dict)
    paper: Mapping[str, PaperFigure] = field(default_factory=dict)
    counted: Mapping[str, float] = field(default_factory=dict)
    responsible: ResponsibleUse = field(default_factory=ResponsibleUse)

    def __post_init__(self) -> None:
        if not is_dataset_name(self.name):
            raise ValueError(
                f"'{self.name}' is not a name for a dataset; use owner/name in letters, digits, '.', '_' and '-'."
            )
        if not _VERSION.fullmatch(self.version):
            raise ValueError(f"'{self.version}' is not a version; use MAJOR.MINOR.PATCH, such as 1.0.0.")
        check_licence(self.licence)
        check_date(self.date)

    @property
    def languages(self) -> list[str]:
        """Languages of the captions; empty where none is known."""
        return [self.language] if isinstance(self.language, str) else [*self.language]

    @property
    def licences(self) -> dict[str, str | None]:
        """Licence of each part; captions have that of the annotations unless they have one of their own."""
        licences = {"annotations": self.licence} if isinstance(self.licence, str) else dict(self.licence)
        annotations = licences.get("annotations", "unknown")
        return {
            "annotations": annotations,
            "captions": licences.get("captions", annotations),
            "videos": licences.get("videos"),
        }


@dataclass(frozen=True, slots=True)
class OfficialLayout:
    """Row order, label ids, protocols and further tables that are fixed by an official release.

    With it, `write_dataset` keeps the order of clips (within their split) and of sources, and every row as it is.
    Duplicated rows of official files stay duplicated: clips of one id each have all captions of that id, and `captions`
    has them once, at the first of these clips.

    Fields:
        categories: Names in the order of their official numbers; other categories come after them.
        protocols: Name -> split -> ids of clips; each becomes a configuration with the columns of `clips`.
        concepts: Concepts of some of the clips, for the configuration `concepts`.
        classes: Names of all classes of concepts, in the order of their numbers.
        degraded: Degraded captions of these clips, for the configuration `degraded`, in its order.
        judgments: Configuration (``judgments`` or ``judgments-without-...``) -> split -> rows.
        counted: Figures in the official files that no table has; see `Metadata`.
        questions: Questions about these clips, for the configuration `questions`, in its order.
        moments: Windows that captions are about, for the configuration `moments`, in its order.
    """

    categories: Sequence[str] = ()
    protocols: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    concepts: Iterable[Concepts] = ()
    classes: Sequence[str] = ()
    degraded: Sequence[Degraded] = ()
    judgments: Mapping[str, Mapping[str, Sequence[JudgmentRow]]] = field(default_factory=dict)
    counted: Mapping[str, float] = field(default_factory=dict)
    questions: QuestionSet | None = None
    moments: Sequence[QueryWindows] = ()
