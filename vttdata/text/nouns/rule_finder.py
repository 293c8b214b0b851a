"""Mentions of nouns by rule, with spaCy's blank English tokenizer and `vttdata.text.nouns.grammar`.

No trained model is needed, and results do not depend on what is installed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from vttdata.text.nouns.grammar import PROPER_NAME, STOP, Grammar
from vttdata.text.nouns.lexicon import Lexicon, Mention, Noun

# Distinct words after which spaCy's store of strings is replaced, for flat memory; MSR-VTT has 29,322.
_MAX_CACHED_WORDS = 500_000


class _Expression(NamedTuple):
    """Expression after its first two tokens, with its letter and noun."""

    rest: list[int]
    letter: str
    noun: Noun | None
    plural: bool


# Index of the first token of an expression -> index after its last one, noun, and whether it is a plural.
_Joined = dict[int, tuple[int, Noun | None, bool]]


class RuleFinder:
    """Rules for one lexicon, with a cache of the letters of words."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.grammar = Grammar(lexicon)
        self._reset()

    def _reset(self) -> None:
        import spacy

        self._nlp = spacy.blank("en")
        self._letters: dict[int, str] = {}
        self._expressions: dict[tuple[int, int], list[_Expression]] = {}
        for form, value in self.grammar.expressions.items():
            for spelling in {form, form.replace(" ", "-")}:
                words = [token.text for token in self._nlp.make_doc(spelling)]
                for first in {words[0], words[0].capitalize()} if len(words) > 1 else ():
                    orths = [self._nlp.vocab.strings.add(word) for word in (first, *words[1:])]
                    expressions = self._expressions.setdefault((orths[0], orths[1]), [])
                    expressions.append(_Expression(orths[2:], *value))
        for expressions in self._expressions.values():
            expressions.sort(key=lambda expression: -len(expression.rest))

    def find(self, text: str) -> list[Mention]:
        """Find the nouns that a text certainly mentions, in its order."""
        if len(self._letters) > _MAX_CACHED_WORDS:
            self._reset()
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
        if PROPER_NAME in letters:
            self._accept_sentence_capitals(doc, letters)
        has_expression = not self._expressions.keys().isdisjoint(itertools.pairwise(orths))
        joined = self._join_expressions(orths, letters) if has_expression else {}
        return list(self._mentions(doc, letters, joined))

    def _accept_sentence_capitals(self, doc: Any, letters: list[str]) -> None:
        """Replace the letters of words that are capitalized because they begin a sentence."""
        begins = True
        for index, letter in enumerate(letters):
            if letter == PROPER_NAME and begins:
                letters[index] = self.grammar.letter(doc[index].text, begins_sentence=True)
            begins = letter == STOP or (begins and not letter)

    def _join_expressions(self, orths: list[int], letters: list[str]) -> _Joined:
        """Join the longest expressions: the first token gets their letter, the others get none."""
        joined: _Joined = {}
        index = 0
        while index < len(orths) - 1:
            for expression in self._expressions.get((orths[index], orths[index + 1]), ()):
                end = index + 2 + len(expression.rest)
                if orths[index + 2 : end] == expression.rest:
                    letters[index:end] = [expression.letter] + [""] * (end - index - 1)
                    joined[index] = (end, expression.noun, expression.plural)
                    index = end - 1
                    break
            index += 1
        return joined

    def _mentions(self, doc: Any, letters: list[str], joined: _Joined) -> Iterator[Mention]:
        with_letter = [index for index, letter in enumerate(letters) if letter]
        for number, plural_by_sentence in self.grammar.find_nouns("".join(letters)):
            first = doc[with_letter[number]]
            if first.i in joined:
                end, noun, plural = joined[first.i]
            else:
                end, (_, noun, plural) = first.i + 1, self.grammar.expressions[first.lower_]
            if noun is not None:
                last = doc[end - 1]
                plural = plural if plural_by_sentence is None else plural_by_sentence
                yield Mention(first.idx, last.idx + len(last), noun.name, plural)
