"""The nouns of visible things: their supercategories, synonyms, what contains what, and how they are inflected.

The packaged lexicon was written for this project; a user may bring another of the same shape, or extend it. Nothing
here looks at sentences: `vttdata.text.nouns.mentions` finds nouns in captions.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pydantic

from vttdata.errors import VttdataError
from vttdata.files.strict_yaml import read_yaml_as
from vttdata.text.nouns.inflect import regular_plural

# Folder of the packaged files of words.
DATA = Path(__file__).parents[1] / "data"
# Entries of a file of words: no unknown key, and no text that is really a number or a truth value.
SHAPE = pydantic.ConfigDict(extra="forbid", strict=True)

Countable = Literal["count", "mass", "pair"]
Gender = Literal["male", "female"]

_APOSTROPHES = str.maketrans("\u2019\u02bc-\u2010\u2011", "''   ")
_FORM = r"[^\W\d_]+(?:[ '-][^\W\d_]+)*"
_Form = Annotated[str, pydantic.Field(pattern=rf"^{_FORM}$", max_length=60)]
_Synonym = Annotated[str, pydantic.Field(pattern=rf"^{_FORM}(/{_FORM})?$", max_length=120)]


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun for something visible.

    Fields:
        name: its singular, or the only form of a pair.
        supercategory: nouns of one supercategory can take each other's place.
        synonyms: other words for the same thing, singular.
        hypernyms: names of nouns that contain it, directly.
        plural: of the name, spelled out; the name itself where both are one ("sheep") and for mass nouns and pairs.
        countable: ``count``; ``mass``, without plural and "a" (water); ``pair``, plural only (scissors).
        gender: of the people it names, where the word tells.
        alike: names of nouns that people use for one and the same picture (cup and mug).
        bare: whether it means this only without a determiner ("plays tennis").
        synonym_plurals: of the synonyms, in their order.
        subcategory: class within the supercategory; its nouns are used alike (what one rides, or throws).
        vague: whether it may mean so much that it says nothing of what else is there (person).
    """

    name: str
    supercategory: str
    synonyms: tuple[str, ...] = ()
    hypernyms: tuple[str, ...] = ()
    plural: str = ""
    countable: Countable = "count"
    gender: Gender | None = None
    alike: tuple[str, ...] = ()
    bare: bool = False
    synonym_plurals: tuple[str, ...] = ()
    subcategory: str = ""
    vague: bool = False

    def spellings(self) -> Iterable[tuple[str, str]]:
        """The singular and the plural of its name and of each synonym; one form twice where there is one only."""
        return zip((self.name, *self.synonyms), (self.plural, *self.synonym_plurals), strict=True)

    def forms(self) -> Iterable[tuple[str, bool]]:
        """Every surface form and whether it is a plural; a form of both numbers comes once, as no plural."""
        for one, many in self.spellings():
            yield one, self.countable == "pair"
            if many != one:
                yield many, True


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of a text, in characters, that names a noun of the lexicon (by its name), in singular or plural."""

    start: int
    end: int
    noun: str
    plural: bool


@dataclass(frozen=True, slots=True)
class _Entry:
    __pydantic_config__: ClassVar[pydantic.ConfigDict] = SHAPE

    synonyms: list[_Synonym] = field(default_factory=list)
    hypernyms: list[_Form] = field(default_factory=list)
    alike: list[_Form] = field(default_factory=list)
    plural: _Form | None = None
    countable: Countable = "count"
    gender: Gender | None = None
    bare: bool = False
    vague: bool = False


@dataclass(frozen=True, slots=True)
class _File:
    __pydantic_config__: ClassVar[pydantic.ConfigDict] = SHAPE

    version: str
    nouns: dict[_Synonym, dict[_Form, _Entry | None]]
    excluded: dict[str, list[_Form]] = field(default_factory=dict)
    extends: Literal["packaged"] | None = None


_PACKAGED = DATA / "lexicon.yaml"
_FILE: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(_File)


class Lexicon:
    """Nouns by name and by surface form, and how they are related. Made by `load_lexicon`; never changed.

    Fields:
        version: as the file states it, and a digest of what was read; before it that of the packaged one it extends.
        nouns: by name, in the order of the file.
        excluded: words that were considered and left out.
        most_words: of any surface form.
    """

    def __init__(self, version: str, nouns: Iterable[Noun], excluded: Iterable[str] = ()) -> None:
        self.version = version
        self.nouns: Mapping[str, Noun] = {noun.name: noun for noun in nouns}
        self.excluded = frozenset(excluded)
        self._forms = {_key(form): (noun, plural) for noun in self.nouns.values() for form, plural in noun.forms()}
        self.most_words = max((form.count(" ") + 1 for form in self._forms), default=1)
        self._above: dict[str, frozenset[str]] = {}
        self._rivals: dict[str, tuple[Noun, ...]] = {}

    def noun(self, form: str) -> tuple[Noun, bool] | None:
        """The noun of a surface form in any case, with spaces or hyphens, and whether the form is a plural."""
        return self._forms.get(_key(form))

    def surface_forms(self) -> Iterable[tuple[str, Noun, bool]]:
        """Every lower-cased surface form without hyphens, its noun, and whether it is a plural."""
        return ((form, noun, plural) for form, (noun, plural) in self._forms.items())

    def related(self, one: str, other: str) -> bool:
        """Whether two nouns, by name or any form, may name one thing: the same, one in the other, or alike."""
        first, second = self._name(one), self._name(other)
        if first in self.containing(second) or second in self.containing(first):
            return True
        return first in self.nouns[second].alike or second in self.nouns[first].alike

    def containing(self, name: str) -> frozenset[str]:
        """The noun itself and all its hypernyms, theirs included, by name."""
        known = self._above.get(name)
        if known is None:
            above = (self.containing(hypernym) for hypernym in self.nouns[name].hypernyms)
            known = self._above[name] = frozenset([name]).union(*above)
        return known

    def rivals(self, name: str) -> tuple[Noun, ...]:
        """The nouns that could take this one's place and show something else, in the order of the file."""
        own = self.nouns[self._name(name)]
        if own.name not in self._rivals:
            self._rivals[own.name] = tuple(other for other in self.nouns.values() if self._is_rival(own, other))
        return self._rivals[own.name]

    def _is_rival(self, own: Noun, other: Noun) -> bool:
        kinds = ((noun.supercategory, noun.countable, noun.bare) for noun in (own, other))
        if own.vague or other.vague or len(set(kinds)) > 1:
            return False
        return not self.related(own.name, other.name)

    def _name(self, form: str) -> str:
        if form in self.nouns:
            return form
        found = self.noun(form)
        if found is None:
            raise VttdataError(f"{form[:60]!a} is not in the lexicon.")
        return found[0].name


def load_lexicon(path: Path | None = None) -> Lexicon:
    """Read a lexicon and check it.

    Args:
        path: a file of the packaged lexicon's shape; the packaged one by default. A file that says ``extends:
            packaged`` adds its nouns to the packaged ones or, under a known name, replaces them; what it excludes is
            taken out of the packaged ones, and what these exclude and it has is back.

    Raises:
        VttdataError: when a file is damaged or of another shape, or when what is read contradicts itself.
    """
    version, nouns, excluded, found = _read(path)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise VttdataError(f"{path or _PACKAGED}: {found[0]}{more}.")
    return Lexicon(version, nouns, excluded)


def check_lexicon(path: Path | None = None) -> list[str]:
    """Every contradiction in a lexicon, one sentence each without its full stop; `path` as in `load_lexicon`.

    Raises:
        VttdataError: when a file is damaged or of another shape.
    """
    return _read(path)[3]


def _read(path: Path | None) -> tuple[str, list[Noun], list[str], list[str]]:
    """Version, nouns, excluded words and contradictions."""
    content, data = read_yaml_as(path or _PACKAGED, _FILE)
    version = f"{content.version}-{hashlib.sha256(data).hexdigest()[:8]}"
    nouns, out = _nouns(content), [word for words in content.excluded.values() for word in words]
    if content.extends is None:
        return version, nouns, out, contradictions(nouns, out)
    base, packaged, excluded, _ = _read(None)
    own, used = {noun.name for noun in nouns}, {form for noun in nouns for form, _ in noun.forms()}
    gone = set(out) - own
    packaged = [_without(noun, gone) for noun in packaged if noun.name not in own | gone]
    excluded = [word for word in excluded if word not in used] + out
    # A contradiction names the place of a word; here that is also which of the two files.
    placed = [dataclasses.replace(noun, supercategory=f"{noun.supercategory}, packaged") for noun in packaged]
    return f"{base}+{version}", packaged + nouns, excluded, contradictions(placed + nouns, excluded)


def _without(noun: Noun, gone: set[str]) -> Noun:
    if not gone.intersection(noun.hypernyms + noun.alike):
        return noun
    hypernyms = tuple(name for name in noun.hypernyms if name not in gone)
    return dataclasses.replace(noun, hypernyms=hypernyms, alike=tuple(name for name in noun.alike if name not in gone))


def _nouns(content: _File) -> list[Noun]:
    return [
        _noun(name, *place.partition("/")[::2], entry or _Entry())
        for place, entries in content.nouns.items()
        for name, entry in entries.items()
    ]


def _noun(name: str, supercategory: str, subcategory: str, entry: _Entry) -> Noun:
    synonyms = [one.partition("/") for one in entry.synonyms]
    plural = entry.countable == "count"
    return Noun(
        name,
        supercategory,
        tuple(one for one, _, _ in synonyms),
        tuple(entry.hypernyms),
        entry.plural or (regular_plural(name) if plural else name),
        entry.countable,
        entry.gender,
        tuple(entry.alike),
        entry.bare,
        tuple(many or (regular_plural(one) if plural else one) for one, _, many in synonyms),
        subcategory,
        entry.vague,
    )


def _key(form: str) -> str:
    return re.sub(r"\s+", " ", form.translate(_APOSTROPHES)).strip().lower()


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
