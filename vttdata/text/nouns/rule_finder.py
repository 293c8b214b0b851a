"""Finds mentions of nouns by rule: spaCy's blank English tokenizer, a lexicon's forms and `vttdata.text.nouns.grammar`.

No model is needed, and what is found does not depend on what is installed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from vttdata.text.nouns.grammar import Grammar, is_stop
from vttdata.text.nouns.lexicon import Lexicon, Mention, Noun

_MAX_WORDS_KEPT = 500_000
"""Distinct words after which spaCy's store of strings is begun anew, for flat memory; MSR-VTT has 29,322."""

_Expression = tuple[list[int], str, Noun | None, bool]


class RuleFinder:
    """The rules for one lexicon, with what they remember about words they have seen."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.grammar = Grammar(lexicon)
        self._begin()

    def _begin(self) -> None:
        import spacy

        self._nlp = spacy.blank("en")
        self._letters: dict[int, str] = {}
        self._expressions: dict[tuple[int, int], list[_Expression]] = {}
        for form, value in self.grammar.expressions.items():
            for spelling in {form, form.replace(" ", "-")}:
                words = [token.text for token in self._nlp.make_doc(spelling)]
                for first in {words[0], words[0].capitalize()} if len(words) > 1 else ():
                    orths = [self._nlp.vocab.strings.add(word) for word in (first, *words[1:])]
                    self._expressions.setdefault((orths[0], orths[1]), []).append((orths[2:], *value))
        for entries in self._expressions.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def find(self, text: str) -> list[Mention]:
        """The believable mentions in a text, in its order."""
        if len(self._letters) > _MAX_WORDS_KEPT:
            self._begin()
        doc = self._nlp.tokenizer(text)
        orths = [token.orth for token in doc]
        known = self._letters
        try:
            letters = [known[orth] for orth in orths]
        except KeyError:
            for token in doc:
                if token.orth not in known:
                    known[token.orth] = self.grammar.letter(token.text)
            letters = [known[orth] for orth in orths]
        if "z" in letters:
            self._begin_sentences(doc, letters)
        plain = self._expressions.keys().isdisjoint(itertools.pairwise(orths))
        return list(self._mentions(doc, letters, {} if plain else self._join(orths, letters)))

    def _begin_sentences(self, doc: Any, letters: list[str]) -> None:
        begins = True
        for place, letter in enumerate(letters):
            if letter == "z" and begins:
                letters[place] = self.grammar.letter(doc[place].text, begins=True)
            begins = is_stop(letter) or (begins and not letter)

    def _join(self, orths: list[int], letters: list[str]) -> dict[int, tuple[int, Noun | None, bool]]:
        """Take the longest expressions as one; what is not their first token gets no letter."""
        joined = {}
        place = 0
        while place < len(orths) - 1:
            for rest, letter, noun, plural in self._expressions.get((orths[place], orths[place + 1]), ()):
                end = place + 2 + len(rest)
                if orths[place + 2 : end] == rest:
                    letters[place:end] = [letter] + [""] * (end - place - 1)
                    joined[place] = (end, noun, plural)
                    place = end - 1
                    break
            place += 1
        return joined

    def _mentions(
        self, doc: Any, letters: list[str], joined: dict[int, tuple[int, Noun | None, bool]]
    ) -> Iterator[Mention]:
        places = (
            [place for place, letter in enumerate(letters) if letter]
            if joined or "" in letters
            else range(len(letters))
        )
        for index, many in self.grammar.mentions("".join(letters)):
            first = doc[places[index]]
            if first.i in joined:
                end, noun, plural = joined[first.i]
            else:
                end, (_, noun, plural) = first.i + 1, self.grammar.expressions[first.lower_]
            if noun is not None:
                last = doc[end - 1]
                yield Mention(first.idx, last.idx + len(last), noun.name, plural if many is None else many)
