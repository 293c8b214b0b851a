"""Interface of language models: the perplexity of texts, and of texts with one span replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError


class Substitution(NamedTuple):
    """Text whose characters `start` to `end` (half-open) are replaced by each of `replacements` in turn."""

    text: str
    start: int
    end: int
    replacements: Sequence[str]

    def changed_texts(self) -> list[str]:
        """Return the whole changed texts."""
        return [self.text[: self.start] + new + self.text[self.end :] for new in self.replacements]

    def check(self) -> None:
        """Refuse a span that does not lie in the text.

        Raises:
            VttdataError: naming span and text.
        """
        if not 0 <= self.start <= self.end <= len(self.text):
            text = f"the text of {len(self.text)} characters: {self.text[:80]!r}"
            raise VttdataError(f"The span {self.start}:{self.end} does not lie in {text}.")


class Scorer(Protocol):
    """Language model. `name` identifies it on cards and in tables."""

    name: str

    def perplexity(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the perplexity of each text: exp of the mean negative log-probability of its tokens and its end."""

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return of each text over how many tokens its perplexity is a mean, its end included."""

    def substitution_perplexities(self, substitutions: Sequence[Substitution]) -> list[NDArray[np.float64]]:
        """Return the perplexities of the changed texts of each substitution.

        The same values, up to rounding, as `perplexity` of the whole changed texts, several times faster.

        Raises:
            VttdataError: when a span does not lie in its text, or a changed text has too many tokens.
        """
