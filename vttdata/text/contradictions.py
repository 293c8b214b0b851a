"""Finds what contradicts itself in a lexicon: a word in two places, unknown or circular hypernyms, misspelled forms.

Whether an entry is true of the world is for people to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vttdata.text.lexicon import Noun


def contradictions(nouns: Sequence[Noun], excluded: Iterable[str]) -> list[str]:
    """All contradictions, one sentence each without its full stop, in the order of the nouns."""
    names = {noun.name: noun for noun in nouns}
    return [
        *_repeated(nouns, frozenset(excluded)),
        *(sentence for noun in nouns for sentence in _unknown(noun, names)),
        *(sentence for noun in nouns for sentence in _kinds(noun, names)),
        *_cycles(names),
    ]


def _place(noun: Noun) -> str:
    return f"'{noun.name}' ({noun.supercategory})"


def _repeated(nouns: Sequence[Noun], excluded: frozenset[str]) -> Iterator[str]:
    """A form that two nouns have, or one noun twice, or that is excluded."""
    first: dict[str, tuple[Noun, str]] = {}
    for noun in nouns:
        singulars, plurals = (noun.name, *noun.synonyms), (noun.plural, *noun.synonym_plurals)
        forms = [(form, "a singular") for form in singulars]
        forms += [(many, "a plural") for one, many in zip(singulars, plurals, strict=True) if many != one]
        for form, what in forms:
            key = form.lower().replace("-", " ")
            if form != form.lower():
                yield f"'{form}' of {_place(noun)} has capital letters; forms are written in lower case"
            if form in excluded:
                yield f"'{form}' is excluded and also {what} of {_place(noun)}"
            if key not in first:
                first[key] = (noun, what)
            elif first[key] != (noun, "a plural") or what != "a plural":
                other, as_what = first[key]
                yield f"'{form}' is in two places: {as_what} of {_place(other)} and {what} of {_place(noun)}"


def _unknown(noun: Noun, names: dict[str, Noun]) -> Iterator[str]:
    for what, others in (("hypernym", noun.hypernyms), ("alike noun", noun.alike)):
        for other in others:
            if other == noun.name:
                yield f"{_place(noun)} is its own {what}"
            elif other not in names:
                yield f"the {what} '{other}' of {_place(noun)} is not the name of a noun"
    for other in sorted(set(noun.hypernyms) & set(noun.alike)):
        yield f"'{other}' is both a hypernym of {_place(noun)} and alike"


def _kinds(noun: Noun, names: dict[str, Noun]) -> Iterator[str]:
    if noun.countable != "count" and noun.plural != noun.name:
        yield f"{_place(noun)} is {noun.countable} and has a plural, '{noun.plural}'"
    if noun.bare and noun.countable != "mass":
        yield f"{_place(noun)} stands without a determiner and is not mass"
    for hypernym in noun.hypernyms:
        other = names.get(hypernym)
        if other and other.gender and other.gender != noun.gender:
            yield f"{_place(noun)} is not {other.gender}, as its hypernym '{hypernym}' is"


def _cycles(names: dict[str, Noun]) -> Iterator[str]:
    """Each circle of hypernyms once, from the noun of it that comes first."""
    done: set[str] = set()
    for start in names:
        trail: list[str] = []
        waiting = [(start, 0)]
        while waiting:
            name, depth = waiting.pop()
            del trail[depth:]
            if name in trail:
                circle = [*trail[trail.index(name) :], name]
                yield f"the hypernyms go in a circle: {' > '.join(circle)}"
            elif name in names and name not in done:
                trail.append(name)
                waiting += [(above, len(trail)) for above in names[name].hypernyms if above != name]
        done.update(_reached(start, names))


def _reached(start: str, names: dict[str, Noun]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in names and name not in found:
            found.add(name)
            waiting += names[name].hypernyms
    return found
