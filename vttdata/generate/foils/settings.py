"""Settings of how foils are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le

from vttdata.errors import VttdataError
from vttdata.generate.foils.selection import Selection
from vttdata.settings import Count, PositiveCount, Ratio, Strict


@dataclass(frozen=True, slots=True)
class FoilSettings(Strict):
    """Choice of foils.

    Fields:
        selection: ``balanced`` (see `vttdata.generate.foils.selection.balance_foils`), ``paper`` (likeliest foil of a
            caption) or ``random``.
        min_count: how often a concept must be mentioned in the whole corpus. The paper has 2,191 ordered pairs of some
            168 concepts; see docs/foils.md for what 19 and 21 leave of ActivityNet's.
        pair_share: the highest share of the set that swaps one word for one other, each direction by itself.
        group_share: the highest share of pairs that ``balanced`` takes from one supercategory, in each split.
        imbalance: how far above one half ``balanced`` lets the share of pairs be on which a guess by one feature is
            right: by a word, a pair of words, length, frequency, likelihood, or how well a word goes with the others.
            Small sets hide more of it than large.
        max_unsound_probability: the highest estimated probability of being unsound, from 0 to 1, with which
            ``balanced`` takes a foil (see `vttdata.generate.foils.noun_usage.NounUsage.unsound_probability`); a lower
            limit leaves fewer foils, and more of them are sound.
        unsound_penalty: how many sound foils ``balanced`` gives up to avoid one unsound foil.
        judged_only: whether ``balanced`` takes only foils that people judged. Their verdicts outweigh what the lexicon
            says a word implies.
        candidates: how many possible foils of a video are scored; of more, a hash picks.
        options: 2 for pairs of a caption and a foil; more for multiple-choice questions of a caption and as many foils
            as are missing, all in one place; ``balanced`` only.
    """

    selection: Selection = "balanced"
    min_count: Count = 10
    pair_share: Annotated[float, Gt(0), Le(1)] = 0.03
    group_share: Annotated[float, Gt(0), Le(1)] = 1.0
    imbalance: Annotated[float, Ge(0), Le(0.5)] = 0.02
    max_unsound_probability: Ratio = 0.6
    unsound_penalty: Annotated[float, Ge(0), Le(100)] = 0.0
    judged_only: bool = False
    candidates: PositiveCount = 1000
    options: Annotated[int, Ge(2), Le(6)] = 2

    @property
    def balanced(self) -> bool:
        """Whether foils are chosen such that the set cannot be solved blind."""
        return self.selection == "balanced"

    @property
    def makes_questions(self) -> bool:
        """Whether questions of more than two options are made, and not pairs."""
        return self.options > 2

    def check(self, *, has_verdicts: bool) -> None:
        """Check that the settings go together.

        Raises:
            VttdataError: when only foils with verdicts are to be taken and there are none, or questions of more than
                two options are not balanced.
        """
        if self.balanced and self.judged_only and not has_verdicts:
            raise VttdataError("Only foils that were judged are to be taken, and there are no verdicts; give some.")
        if self.makes_questions and not self.balanced:
            raise VttdataError(
                f"Questions with {self.options} options need the selection 'balanced', not '{self.selection}'."
            )
