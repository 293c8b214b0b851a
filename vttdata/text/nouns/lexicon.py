"""Lexicon of nouns for visible things: supercategories, synonyms, hypernyms and inflected forms.

The packaged lexicon was written for this project; users may load another of the same shape, or extend it. Sentences
are not analysed here: `vttdata.text.nouns.mentions` finds nouns in captions.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pydantic

from vttdata.errors import VttdataError
from vttdata.files.strict_yaml import read_yaml_as
from vttdata.settings import Strict
from vttdata.text.nouns.inflect import regular_plural

# Folder of the packaged files of words.
DATA = Path(__file__).parents[1] / "data"

Countable = Literal["count", "mass", "pair"]
Gender = Literal["male", "female"]

_PACKAGED = DATA / "lexicon.yaml"
_FORM = r"[^\W\d_]+(?:[ '-][^\W\d_]+)*"
_Form = Annotated[str, pydantic.Field(pattern=rf"^{_FORM}$", max_length=60)]
_FormAndPlural = Annotated[str, pydantic.Field(pattern=rf"^{_FORM}(/{_FORM})?$", max_length=120)]
_SAME_SPELLING = str.maketrans("\u2019\u02bc-\u2010\u2011", "''   ")


@dataclass(frozen=True, slots=True)
class Noun:
    """Noun for something visible.

    Fields:
        name: its singular, or the only form of a pair.
        supercategory: nouns of one supercategory can take each other's place.
        synonyms: other words for the same thing, singular.
        hypernyms: names of the nouns directly above it.
        plural: of the name, spelled out; the name itself where both are equal ("sheep") and for mass nouns and pairs.
        countable: ``count``; ``mass``, without plural and "a" (water); ``pair``, plural only (scissors).
        gender: of the people it names, where the word says so, or of nearly all who wear or have it (dress, beard).
        alike: names of nouns that people use for the same picture (cup and mug).
        bare: whether it has this meaning only without a determiner ("plays tennis").
        synonym_plurals: of the synonyms, in their order.
        subcategory: class within the supercategory; its nouns are used alike (what people ride, or throw).
        vague: whether it is so general that it says nothing of what else is present (person).
        implied_by: beginnings of words that imply it: "surf" implies a surfboard.
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
    implied_by: tuple[str, ...] = ()

    def spellings(self) -> Iterable[tuple[str, str]]:
        """Return the singular and the plural of its name and of each synonym; equal where there is one form only."""
        return zip((self.name, *self.synonyms), (self.plural, *self.synonym_plurals), strict=True)

    def forms(self) -> Iterable[tuple[str, bool]]:
        """Yield every surface form and whether it is a plural; a form of both numbers comes once, as a singular."""
        for singular, plural in self.spellings():
            yield singular, self.countable == "pair"
            if plural != singular:
                yield plural, True


@dataclass(frozen=True, slots=True)
class Mention:
    """Span of a text, in characters, that mentions a noun of the lexicon (by its name), in singular or plural."""

    start: int
    end: int
    noun: str
    plural: bool


class Lexicon:
    """Nouns by name and by surface form, with their relations; made by `load_lexicon` and immutable.

    Fields:
        version: as the file states it, with a digest of its content; of an extension, after the packaged version.
        nouns: by name, in the order of the file.
        excluded: words that were considered and left out.
        most_words: number of words in the longest surface form.
    """

    def __init__(self, version: str, nouns: Iterable[Noun], excluded: Iterable[str] = ()) -> None:
        self.version = version
        self.nouns: Mapping[str, Noun] = {noun.name: noun for noun in nouns}
        self.excluded = frozenset(excluded)
        self._forms = {
            _normalize(form): (noun, plural) for noun in self.nouns.values() for form, plural in noun.forms()
        }
        self.most_words = max((form.count(" ") + 1 for form in self._forms), default=1)
        self._first_words = {form.partition(" ")[0] for form in self._forms if " " in form}
        self._alike: defaultdict[str, set[str]] = defaultdict(set)
        for noun in self.nouns.values():
            self._alike[noun.name].update(noun.alike)
            for name in noun.alike:
                self._alike[name].add(noun.name)
        self._containing: dict[str, frozenset[str]] = {}
        self._relatives: dict[str, frozenset[str]] = {}
        self._lower_forms: dict[str, frozenset[str]] = {}
        self._rivals: dict[str, tuple[Noun, ...]] = {}

    def noun(self, form: str) -> tuple[Noun, bool] | None:
        """Return the noun of a surface form, in any case, with spaces or hyphens, and whether the form is a plural."""
        return self._forms.get(_normalize(form))

    def begins_expression(self, word: str) -> bool:
        """Return whether a surface form of several words begins with a word, in any case."""
        return _normalize(word) in self._first_words

    def surface_forms(self) -> Iterable[tuple[str, Noun, bool]]:
        """Yield every lower-cased surface form without hyphens, its noun, and whether it is a plural."""
        return ((form, noun, plural) for form, (noun, plural) in self._forms.items())

    def related(self, first: str, second: str) -> bool:
        """Return whether two nouns, by name or form, may name the same thing.

        They may if they are equal, hypernym and hyponym, or alike, or if one is alike to a hypernym of the other:
        with bread alike to dough, toast is dough too. A man and a woman never are.
        """
        return self._name(second) in self.relatives(self._name(first))

    def relatives(self, name: str) -> frozenset[str]:
        """Return the names of all nouns that are `related` to a noun, itself included."""
        if name not in self._relatives:
            above, gender = self.containing(name), self.nouns[name].gender
            alike = {other for each in self._alike[name] for other in self._contained[each]}
            alike |= {other for each in above for other in self._alike[each]}
            of_gender = {other for other in alike if {gender, self.nouns[other].gender} != {"male", "female"}}
            self._relatives[name] = above | self._contained[name] | of_gender
        return self._relatives[name]

    @functools.cached_property
    def _contained(self) -> Mapping[str, set[str]]:
        """Name -> the names of all nouns that it contains, itself included; of a lexicon without contradictions."""
        contained: defaultdict[str, set[str]] = defaultdict(set)
        for name in self.nouns:
            for hypernym in self.containing(name):
                contained[hypernym].add(name)
        return contained

    def lower_forms(self, name: str) -> frozenset[str]:
        """Return the surface forms of a noun, in lower case."""
        if name not in self._lower_forms:
            self._lower_forms[name] = frozenset(form.lower() for form, _ in self.nouns[name].forms())
        return self._lower_forms[name]

    def containing(self, name: str) -> frozenset[str]:
        """Return the names of a noun and of all its direct and indirect hypernyms."""
        known = self._containing.get(name)
        if known is None:
            above = (self.containing(hypernym) for hypernym in self.nouns[name].hypernyms)
            known = self._containing[name] = frozenset([name]).union(*above)
        return known

    def rivals(self, name: str) -> tuple[Noun, ...]:
        """Return the nouns that could take the place of a noun and show something else, in the order of the file."""
        noun = self.nouns[self._name(name)]
        if noun.name not in self._rivals:
            self._rivals[noun.name] = tuple(
                rival
                for rival in self.nouns.values()
                if rival.supercategory == noun.supercategory
                and (rival.countable, rival.bare) == (noun.countable, noun.bare)
                and not (noun.vague or rival.vague or self.related(noun.name, rival.name))
            )
        return self._rivals[noun.name]

    def _name(self, form: str) -> str:
        if form in self.nouns:
            return form
        known = self.noun(form)
        if known is None:
            raise VttdataError(f"{form[:60]!a} is not in the lexicon.")
        return known[0].name


@functools.lru_cache(maxsize=1 << 16)
def _normalize(form: str) -> str:
    return " ".join(form.translate(_SAME_SPELLING).split()).lower()


@dataclass(frozen=True, slots=True)
class _Entry(Strict):
    """Noun in a lexicon file."""

    synonyms: list[_FormAndPlural] = field(default_factory=list)
    hypernyms: list[_Form] = field(default_factory=list)
    alike: list[_Form] = field(default_factory=list)
    plural: _Form | None = None
    countable: Countable = "count"
    gender: Gender | None = None
    bare: bool = False
    vague: bool = False
    implied_by: list[_Form] = field(default_factory=list)

    def noun(self, name: str, category: str) -> Noun:
        """Return the noun with all its forms; `category` is ``supercategory`` or ``supercategory/subcategory``."""
        synonyms = [synonym.partition("/") for synonym in self.synonyms]
        has_plural = self.countable == "count"
        supercategory, _, subcategory = category.partition("/")
        return Noun(
            name,
            supercategory,
            tuple(singular for singular, _, _ in synonyms),
            tuple(self.hypernyms),
            self.plural or (regular_plural(name) if has_plural else name),
            self.countable,
            self.gender,
            tuple(self.alike),
            self.bare,
            tuple(plural or (regular_plural(singular) if has_plural else singular) for singular, _, plural in synonyms),
            subcategory,
            self.vague,
            tuple(self.implied_by),
        )


@dataclass(frozen=True, slots=True)
class _File(Strict):
    """Content of a lexicon file."""

    version: str
    nouns: dict[_FormAndPlural, dict[_Form, _Entry | None]]
    excluded: dict[str, list[_Form]] = field(default_factory=dict)
    extends: Literal["packaged"] | None = None


_FILE: pydantic.TypeAdapter[_File] = pydantic.TypeAdapter(_File)


def load_lexicon(path: Path | None = None) -> Lexicon:
    """Load a lexicon from a file of the packaged one's shape, or the packaged one, and check it.

    A file with ``extends: packaged`` adds its nouns to the packaged ones or, under a known name, replaces them; words
    that it excludes are removed from the packaged ones, and excluded words that it defines are restored.

    Raises:
        VttdataError: when a file is damaged, of another shape or contradictory.
    """
    if path is None:
        return _load_packaged()
    lexicon, contradictions = _read_lexicon(path)
    if contradictions:
        more = f" (and {len(contradictions) - 1} more)" if len(contradictions) > 1 else ""
        raise VttdataError(f"{path}: {contradictions[0]}{more}.")
    return lexicon


@functools.cache
def _load_packaged() -> Lexicon:
    """Load the packaged lexicon once, since rules that are made of a lexicon are kept with it."""
    return load_lexicon(_PACKAGED)


def check_lexicon(path: Path | None = None) -> list[str]:
    """Return every contradiction in a lexicon, a sentence each without full stop; `path` as for `load_lexicon`.

    Raises:
        VttdataError: when a file is damaged or of another shape.
    """
    return _read_lexicon(path or _PACKAGED)[1]


def _read_lexicon(path: Path) -> tuple[Lexicon, list[str]]:
    """Return a lexicon and its contradictions."""
    content, data = read_yaml_as(path, _FILE)
    version = f"{content.version}-{hashlib.sha256(data).hexdigest()[:8]}"
    nouns = [
        (entry or _Entry()).noun(name, category)
        for category, entries in content.nouns.items()
        for name, entry in entries.items()
    ]
    excluded = [word for words in content.excluded.values() for word in words]
    if content.extends is None:
        return Lexicon(version, nouns, excluded), find_contradictions(nouns, excluded)
    base = _load_packaged()
    names, forms = {noun.name for noun in nouns}, {form for noun in nouns for form, _ in noun.forms()}
    removed = set(excluded) - names
    kept = [
        dataclasses.replace(
            noun,
            hypernyms=tuple(name for name in noun.hypernyms if name not in removed),
            alike=tuple(name for name in noun.alike if name not in removed),
        )
        for noun in base.nouns.values()
        if noun.name not in names | removed
    ]
    excluded = [word for word in base.excluded if word not in forms] + excluded
    # A contradiction quotes the supercategory of a noun; for a packaged one it says so.
    labelled = [dataclasses.replace(noun, supercategory=f"{noun.supercategory}, packaged") for noun in kept]
    contradictions = find_contradictions(labelled + nouns, excluded)
    return Lexicon(f"{base.version}+{version}", kept + nouns, excluded), contradictions


def find_contradictions(nouns: Sequence[Noun], excluded: Iterable[str]) -> list[str]:
    """Return all contradictions, a sentence each without full stop, in the order of the nouns."""
    by_name = {noun.name: noun for noun in nouns}
    return [
        *find_repeated_forms(nouns, frozenset(excluded)),
        *(sentence for noun in nouns for sentence in find_wrong_references(noun, by_name)),
        *(sentence for noun in nouns for sentence in find_wrong_grammar(noun, by_name)),
        *find_hypernym_cycles(by_name),
    ]


def _label(noun: Noun) -> str:
    return f"'{noun.name}' ({noun.supercategory})"


def find_repeated_forms(nouns: Sequence[Noun], excluded: frozenset[str]) -> Iterator[str]:
    """Find forms that two nouns have, or one noun twice, or that are excluded or capitalized."""
    first: dict[str, tuple[Noun, str]] = {}
    for noun in nouns:
        forms = [(singular, "a singular") for singular, _ in noun.spellings()]
        forms += [(plural, "a plural") for singular, plural in noun.spellings() if plural != singular]
        for form, number in forms:
            key = form.lower().replace("-", " ")
            if form != form.lower():
                yield f"'{form}' of {_label(noun)} has capital letters; forms are written in lower case"
            if form in excluded:
                yield f"'{form}' is excluded and also {number} of {_label(noun)}"
            if key not in first:
                first[key] = (noun, number)
            elif first[key] != (noun, "a plural") or number != "a plural":
                other, other_number = first[key]
                yield f"'{form}' is in two places: {other_number} of {_label(other)} and {number} of {_label(noun)}"


def find_wrong_references(noun: Noun, by_name: Mapping[str, Noun]) -> Iterator[str]:
    """Find hypernyms and alike nouns that are missing, or that contradict each other."""
    for relation, names in (("hypernym", noun.hypernyms), ("alike noun", noun.alike)):
        for name in names:
            if name == noun.name:
                yield f"{_label(noun)} is its own {relation}"
            elif name not in by_name:
                yield f"the {relation} '{name}' of {_label(noun)} is not the name of a noun"
    for name in sorted(set(noun.hypernyms) & set(noun.alike)):
        yield f"'{name}' is both a hypernym of {_label(noun)} and alike"


def find_wrong_grammar(noun: Noun, by_name: Mapping[str, Noun]) -> Iterator[str]:
    """Find contradictions of number and gender."""
    if noun.countable != "count" and noun.plural != noun.name:
        yield f"{_label(noun)} is {noun.countable} and has a plural, '{noun.plural}'"
    if noun.bare and noun.countable != "mass":
        yield f"{_label(noun)} stands without a determiner and is not mass"
    for hypernym in noun.hypernyms:
        above = by_name.get(hypernym)
        if above and above.gender and above.gender != noun.gender:
            yield f"{_label(noun)} is not {above.gender}, as its hypernym '{hypernym}' is"


def find_hypernym_cycles(by_name: Mapping[str, Noun]) -> Iterator[str]:
    """Find each cycle of hypernyms once, from its first noun, without recursion: a chain may be long."""
    done: set[str] = set()
    for start in by_name:
        visited: set[str] = set()
        trail: list[str] = []
        stack = [(start, 0)]
        while stack:
            name, depth = stack.pop()
            del trail[depth:]
            if name in trail:
                cycle = [*trail[trail.index(name) :], name]
                yield f"the hypernyms form a cycle: {' > '.join(cycle)}"
            elif name in by_name and name not in done:
                visited.add(name)
                trail.append(name)
                stack += [(above, len(trail)) for above in by_name[name].hypernyms if above != name]
        done |= visited
