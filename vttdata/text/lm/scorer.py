"""What every language model here answers: the perplexity of texts, and of texts with one span replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError


class Substitution(NamedTuple):
    """A text whose characters `start` to `end` (half-open) are replaced by each of `replacements` in turn."""

    text: str
    start: int
    end: int
    replacements: Sequence[str]

    def changed(self) -> list[str]:
        """The whole changed texts."""
        return [self.text[: self.start] + new + self.text[self.end :] for new in self.replacements]


class Scorer(Protocol):
    """A language model. `name` says which, for cards and tables."""

    name: str

    def perplexity(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The perplexity of each text: exp of the mean negative log-probability of its tokens and its end."""

    def substitution_perplexity(
        self, text: str, start: int, end: int, replacements: Sequence[str]
    ) -> NDArray[np.float64]:
        """The perplexity of `text` with ``text[start:end]`` replaced by each of `replacements`.

        The same values, up to rounding, as `perplexity` of the whole changed texts.
        """

    def substitution_perplexities(self, swaps: Sequence[Substitution]) -> list[NDArray[np.float64]]:
        """`substitution_perplexity` of many texts at once, which is several times faster than one by one."""


def check_swap(swap: Substitution) -> None:
    """Refuse a span that does not lie in its text.

    Raises:
        VttdataError: naming span and text.
    """
    if not 0 <= swap.start <= swap.end <= len(swap.text):
        text = f"the text of {len(swap.text)} characters: {swap.text[:80]!r}"
        raise VttdataError(f"The span {swap.start}:{swap.end} does not lie in {text}.")
