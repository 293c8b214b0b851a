"""Swaps of one noun that turn a true caption into a false one and keep its grammar right.

A swap changes one span: a noun and, where it must change, the article right before it. Closed lists of English words
tell whether another noun can take its place unnoticed, and are cautious on purpose: a context that is not known to be
safe is refused, since captions have many nouns and one good place is enough. How likely the foil reads is not judged
here; `vttdata.generate.foils.selection` chooses among swaps.
"""

from __future__ import annotations

import functools
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vttdata.text.nouns.implied import derived_nouns, implied_nouns
from vttdata.text.nouns.inflect import indefinite_article
from vttdata.text.nouns.lexicon import Lexicon, Noun
from vttdata.text.nouns.mentions import Mention, possible_nouns

# Text, mention and name of a false noun -> probability that this foil is not sound; None where it is out of place.
UnsoundProbability = Callable[[str, Mention, str], float | None]
# Noun and whether a plural is needed -> the name or synonym to be written, and its form in this number.
Spellings = Callable[[Noun, bool], Iterable[tuple[str, str]]]

# Supercategories and subcategories that are swapped within one subcategory only. Who wears a coat may wear a cap, too,
# and gloves are two where a coat is one; who sings plays no harmonica; and nobody fries a dog like a squid.
_WITHIN_SUBCATEGORY = frozenset({"something worn", "instrument", "water animal", "crawling animal"})
# What has a colour of its own: peas may be green, and carrots are not.
_FOOD = frozenset({"food", "fruit or vegetable"})

_name = operator.attrgetter("name")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_ARTICLE = re.compile(r"\b(an?)( +)$", re.IGNORECASE)
_PRONOUN_GENDERS = {"he": "male", "him": "male", "his": "male", "himself": "male"} | dict.fromkeys(
    ("she", "her", "hers", "herself"), "female"
)

PERSON = "person"

# Words that say of what follows or precedes them in a sentence that it is not there, or only looks as if it were.
_NEGATION = re.compile(
    r"""\b(?:no|not|never|without|w/o|nobody|none|nothing|neither|nor|cannot|hardly|barely|scarcely|instead\s+of
    |(?:rather|other)\s+than|apart\s+from|free\s+of|except|unlike|lacks?|lacking|absent|absence|refus\w+|fail(?:s|ed)?\s+to
    |pretend\w*|imagin\w+|imaginary|invisible|fake|resembl\w+|(?:look|move|act|sound)(?:s|ed|ing)?\s+like|shaped\s+like
    |disguised|impersonat\w+|dream\w*|wish\w*|as\s+if|as\s+though|if)\b
    |n['\u2019]t\b|\b(?:do|does|did|is|was|are|were|wo|would|ca|could|should|has|have|had|ai)nt\b""",
    re.IGNORECASE | re.VERBOSE,
)

# Words behind which a sentence says what is heard, and not what is seen.
_SPEECH = re.compile(
    r"""\b(?:(?:talk|speak|sing|chat|lectur|rapp?|jok|brag|complain)\w*\s+(?:\w+\s+){0,3}?(?:about|of|on)
    |(?:tell|teach|inform|report)\w*\s+(?:\w+\s+){0,3}?(?:about|of)
    |(?:voice(?:\s+|-)?over|voice|narrator|narration|commentator|commentary|song|lyrics)\s+(?:\w+\s+){0,2}?
    (?:say|tell|describ|explain|discuss|mention|talk|narrat)\w*)\b""",
    re.IGNORECASE | re.VERBOSE,
)

_HYPHENATED = r"[^\W_]+(?:['\u2019-][^\W_]+)*"
_WORD_BEFORE = re.compile(rf"({_HYPHENATED})( +)$")
_WORD_AFTER = re.compile(rf" +({_HYPHENATED})")

DETERMINERS = frozenset(
    """a an the this that these those his her its their my your our some any each every no several many few various
    one two three four five six seven eight nine ten multiple numerous both which whose""".split()
)
# Words that tell of more than one such thing, so the text must have another mention of it.
_ANOTHER = frozenset("another other more second third".split())

# Before these a mass noun means a piece or a kind of it ("a fire", "two coffees"), which other mass nouns may not have.
_COUNTING = frozenset("a an each every several many few two three four five six seven eight nine ten".split())

# Words that may stand before a plural or a mass noun without a determiner.
_BEFORE_BARE = frozenset(
    """and or with of in on at by for from to into onto over under near behind beside around through across against
    between like as is are was were has have having wearing holding using including while then watch watching
    see shows showing put puts putting pour pours pouring add adds adding throw throws throwing play plays
    playing ride rides riding about up down out off along where when""".split()
)

# Adjectives that go with most visible things, so that they do not tell the true noun from a false one.
ADJECTIVES = frozenset(
    """small big large little tiny huge long short tall young old older younger new white black red blue green yellow
    orange pink purple brown gray grey silver gold dark bright light colored colorful different same first last nice
    beautiful single empty clean dirty wet wooden metal plastic indoor outdoor snowy grassy sandy right left blond
    blonde bald shirtless asian athletic""".split()
)

# Adjectives that mean something else for adults than for children, so that they tell them apart.
AGES = frozenset("small big large little tiny huge young old older younger".split())

# Adjectives that tell most foods apart.
COLORS = frozenset("white black red blue green yellow orange purple brown dark".split())

# Words that make a compound with the noun before them, beside the nouns of the lexicon.
_COMPOUND_HEADS = frozenset(
    """game match court room area lot team class competition practice show shop store station field player players
    rink alley trick tricks style side top tournament league park board lesson event ride riding stop maker driver
    track course pit machine polo pong fight race patch ring rings stalk stalks stem stems chop chops""".split()
)


@dataclass(frozen=True, slots=True)
class Swap:
    """Change of one span of a text.

    Fields:
        start, end: the span of the true text, in characters; half-open.
        replacement: text that the foil has there.
        concept, foil_concept: names of the true and the false noun.
        supercategory: of both.
        word, foil_word: the nouns as they are written, in lower case and without an article.
        other_mentions: how many more mentions the document has of the true noun or of one that looks alike.
        unsound_probability: estimate that the foil is not sound; see
            `vttdata.generate.foils.noun_usage.NounUsage.unsound_probability`.
        foil_name: the name or synonym of the false noun that is written, singular.
    """

    start: int
    end: int
    replacement: str
    concept: str
    foil_concept: str
    supercategory: str
    word: str
    foil_word: str
    other_mentions: int
    unsound_probability: float = 0.0
    foil_name: str = ""

    def apply(self, text: str) -> str:
        """Return the foil: the text with this span replaced."""
        return text[: self.start] + self.replacement + text[self.end :]


@dataclass(frozen=True, slots=True)
class MentionSummary:
    """Nouns, words and genders that some texts mention.

    Fields:
        nouns: number of mentions of each noun of the lexicon.
        possible: names of all nouns that a word could name, sure or not, and of annotated ones.
        words: number of occurrences of each lower-cased word.
        genders: of the pronouns.
        derived, implied: names of the nouns that words are derived from, or imply; see `vttdata.text.nouns.implied`.
    """

    nouns: Mapping[str, int]
    possible: frozenset[str]
    words: Mapping[str, int]
    genders: frozenset[str]
    derived: frozenset[str] = frozenset()
    implied: frozenset[str] = frozenset()


def summarize_mentions(
    texts: Iterable[tuple[str, Sequence[Mention]]], lexicon: Lexicon, names: Iterable[str] = ()
) -> MentionSummary:
    """Summarize texts with their mentions; `names` are further nouns or pronouns, from annotations."""
    nouns: Counter[str] = Counter()
    possible: set[str] = set()
    words: Counter[str] = Counter(name.lower() for name in names)
    for name in list(words):
        possible |= possible_nouns(name, lexicon)
    for text, mentions in texts:
        nouns.update(mention.noun for mention in mentions)
        possible |= possible_nouns(text, lexicon)
        words.update(match[0].lower() for match in _WORD.finditer(text))
    genders = frozenset(_PRONOUN_GENDERS[word] for word in words if word in _PRONOUN_GENDERS)
    derived = derived_nouns(words, lexicon)
    implied = implied_nouns(words, lexicon)
    return MentionSummary(nouns, frozenset(possible | nouns.keys()), words, genders, derived, implied)


def pair_concepts(counts: Mapping[str, int], lexicon: Lexicon, *, min_count: int) -> dict[str, tuple[Noun, ...]]:
    """Pair each concept with those it may be swapped for, as in section 4.2 of EMScore (Shi et al., CVPR 2022).

    Concepts with fewer mentions in the whole corpus than `min_count` are neither swapped nor swapped in. The result has
    concept -> its rivals by name; concepts without a rival are left out.
    """
    paired: dict[str, tuple[Noun, ...]] = {}
    for noun in sorted((lexicon.nouns[name] for name, count in counts.items() if count >= min_count), key=_name):
        rivals = [
            rival
            for rival in lexicon.rivals(noun.name)
            if counts.get(rival.name, 0) >= min_count
            and (
                rival.subcategory == noun.subcategory
                or _WITHIN_SUBCATEGORY.isdisjoint((noun.supercategory, noun.subcategory, rival.subcategory))
            )
        ]
        if rivals:
            paired[noun.name] = tuple(sorted(rivals, key=_name))
    return paired


def select_absent_rivals(
    rivals: Mapping[str, Sequence[Noun]], video: MentionSummary, lexicon: Lexicon, dropped: Counter[str] | None = None
) -> dict[str, tuple[Noun, ...]]:
    """Reduce rivals to those that are surely absent from a video.

    Dropped are, by reason:
        mentioned: they, or nouns related to them, are mentioned. A vague noun counts unless it contains the true noun,
            too: an adult beside a child may be a man, and an adult beside a woman is the woman.
        implied: another word implies them, as kayaking does a kayak.
        pronoun: a pronoun may mean them. No man becomes a woman where a text says "her" of anybody; where only one of
            "he" and "she" is said, a child may be meant, and may become a person of that gender.

    The summary of the video is of everything that any text or annotation says is in it.
    """
    present = [name for name in video.possible if not lexicon.nouns[name].vague]
    vague = video.possible - set(present)

    @functools.cache
    def is_mentioned(noun: Noun) -> bool:
        named = not lexicon.lower_forms(noun.name).isdisjoint(video.words)
        return named or not lexicon.relatives(noun.name).isdisjoint(present)

    def exclusion_reason(noun: Noun, concept: Noun) -> str | None:
        unexplained = vague & lexicon.containing(noun.name) - lexicon.containing(concept.name)
        if unexplained or is_mentioned(noun):
            return "mentioned"
        if noun.name in video.derived | video.implied:
            return "implied"
        means_child = concept.gender is None and video.genders == {noun.gender}
        is_meant = noun.gender in video.genders and noun.gender != concept.gender and not means_child
        return "pronoun" if is_meant and PERSON in lexicon.containing(noun.name) else None

    absent: dict[str, tuple[Noun, ...]] = {}
    for name in (name for name in video.nouns if name in rivals):
        reasons = [(noun, exclusion_reason(noun, lexicon.nouns[name])) for noun in rivals[name]]
        absent[name] = tuple(noun for noun, reason in reasons if reason is None)
        if dropped is not None:
            dropped.update(reason for _, reason in reasons if reason is not None)
    return absent


def find_swaps(
    text: str,
    mentions: Sequence[Mention],
    lexicon: Lexicon,
    rivals: Mapping[str, Sequence[Noun]],
    document: MentionSummary,
    unsound_probability: UnsoundProbability | None = None,
    spellings: Spellings | None = None,
    dropped: Counter[str] | None = None,
) -> list[Swap]:
    """Find all swaps of a text, in the order of its mentions and then of the name of the false noun.

    `rivals` are those of `select_absent_rivals`. A swap is left out that pronouns anywhere in the document, which is
    everything that is shown together with the text and the text itself, would give away. `unsound_probability` leaves
    out nouns that are out of place; without it, all nouns count as sound. Without `spellings` the name alone is written
    for a noun, or a synonym of one word for several. `dropped` counts, as ``negated``, rivals of nouns that the text
    denies, or names as what something looks like, and, as ``heard``, those of nouns that somebody only speaks of.
    """
    swaps: list[Swap] = []
    for mention in mentions:
        if mention.noun not in rivals:
            continue
        unseen = "negated" if is_negated(text, mention) else "heard" if is_only_heard(text, mention) else None
        if unseen is not None:
            if dropped is not None:
                dropped[unseen] += len(rivals[mention.noun])
            continue
        noun = lexicon.nouns[mention.noun]
        others = count_other_mentions(noun, lexicon, document)
        for foil in list_fitting_nouns(text, mention, lexicon, rivals[noun.name], document, others):
            probability = 0.0 if unsound_probability is None else unsound_probability(text, mention, foil.name)
            if probability is None:
                continue
            plural = mention.plural and foil.countable == "count"
            for name, form in [spell_shortly(foil, plural)] if spellings is None else spellings(foil, plural):
                if breaks_possessive(text, mention, form):
                    continue
                start, replacement = write_form(text, mention, form)
                concepts = (noun.name, foil.name, noun.supercategory)
                words = (text[mention.start : mention.end].lower(), form.lower())
                swaps.append(Swap(start, mention.end, replacement, *concepts, *words, others, probability, name))
    return swaps


def spell_shortly(noun: Noun, plural: bool) -> tuple[str, str]:
    """Return the name of a noun, or its first synonym of one word if the name has several, and its form in a number."""
    name, many = min(noun.spellings(), key=lambda spelling: " " in spelling[0])
    return name, many if plural else name


def count_other_mentions(noun: Noun, lexicon: Lexicon, document: MentionSummary) -> int:
    """Count how many more words than one name a noun, or one that looks alike, in a document that mentions it.

    Words that are not surely nouns where they stand count too, since they may name the same thing again.
    """
    alike = {noun.name, *noun.alike, *(name for name in document.possible if noun.name in lexicon.nouns[name].alike)}
    mentions = sum(max(document.nouns.get(name, 0), 1) for name in document.possible & alike)
    forms = frozenset().union(*map(lexicon.lower_forms, alike))
    return max(mentions, sum(document.words.get(form, 0) for form in forms)) - 1


def list_fitting_nouns(
    text: str, mention: Mention, lexicon: Lexicon, rivals: Sequence[Noun], document: MentionSummary, others: int
) -> Iterator[Noun]:
    """Yield the rivals that fit the grammar of a mention and that the document does not give away."""
    noun = lexicon.nouns[mention.noun]
    # Other words of the document would contradict the foil: the dog is still called an animal, one of the children is a
    # girl, and a rider bikes.
    hypernyms = lexicon.containing(noun.name) & document.nouns.keys() - {noun.name}
    has_hyponym = any(noun.name in lexicon.containing(name) for name in document.nouns.keys() - {noun.name})
    is_derived = noun.supercategory != PERSON and noun.name in document.derived
    if has_hyponym or is_derived or not all(lexicon.nouns[name].vague for name in hypernyms):
        return
    if not accepts_another_noun(text, mention, lexicon, repeated=others > 0):
        return
    if noun.supercategory in _FOOD and follows_adjective(text, mention, COLORS):
        return
    has_age = noun.supercategory == PERSON and follows_adjective(text, mention, AGES)
    is_person = PERSON in lexicon.containing(noun.name)
    # Of those who wear or have the thing, or of the things that are worn: no man wears a skirt, and no woman a beard.
    genders = {
        gendered_noun.gender
        for gendered_noun in map(lexicon.nouns.__getitem__, possible_nouns(text, lexicon))
        if gendered_noun.gender and (PERSON in lexicon.containing(gendered_noun.name)) != is_person
    }
    for foil in rivals:
        if (has_age and foil.hypernyms != noun.hypernyms) or foil.countable != noun.countable:
            continue
        if foil.gender and genders and foil.gender not in genders:
            continue
        if foil.gender is None or foil.gender == noun.gender or document.genders <= {foil.gender}:
            yield foil


def accepts_another_noun(text: str, mention: Mention, lexicon: Lexicon, *, repeated: bool = False) -> bool:
    """Return whether another noun of the same class can take the place of a mention.

    Refused are parts of hyphenated words and of compounds ("tennis ball", "pool table"), amounts ("a bowl of"), nouns
    that pick one of several ("another man") unless the noun is `repeated`, idioms without an article ("on foot", "by
    hand"), and nouns behind an adjective that may not go with the other one.
    """
    if text[mention.start - 1 : mention.start] in ("-", "'", "\u2019", "/") and mention.start:
        return False
    if text[mention.end : mention.end + 1] in ("-", "/", "_"):
        return False
    return not is_continued(text, mention, lexicon) and is_introduced(text, mention, lexicon, repeated)


def is_negated(text: str, mention: Mention) -> bool:
    """Return whether a sentence denies something, or says that it only seems so: then the foil may be true."""
    before = max(text.rfind(stop, 0, mention.start) for stop in ".!?") + 1
    after = min((end for stop in ".!?" if (end := text.find(stop, mention.end)) >= 0), default=len(text))
    return _NEGATION.search(text, before, after) is not None


def is_only_heard(text: str, mention: Mention) -> bool:
    """Return whether a sentence says that somebody speaks of a thing, which need not be seen."""
    before = max(text.rfind(stop, 0, mention.start) for stop in ".!?") + 1
    return _SPEECH.search(text, before, mention.start) is not None


def begins_sentence(text: str, position: int) -> bool:
    """Return whether a sentence begins at a position of a text."""
    before = text[:position].rstrip()
    return not before or before[-1] in ".!?"


def follows_adjective(text: str, mention: Mention, adjectives: frozenset[str]) -> bool:
    """Return whether one of some adjectives stands right before a mention."""
    before = _WORD_BEFORE.search(text, 0, mention.start)
    return before is not None and before[1].lower() in adjectives


def is_continued(text: str, mention: Mention, lexicon: Lexicon) -> bool:
    """Return whether the next word may belong to the noun, as in a compound."""
    match = _WORD_AFTER.match(text, mention.end)
    after = match[1].lower() if match else ""
    # A word in -ing before a determiner is a verb: "her painting the wall".
    if after == "of" or (after in DETERMINERS and text[: mention.end].lower().endswith("ing")):
        return True
    # After a person follows a verb: "a man watches".
    if lexicon.nouns[mention.noun].supercategory == PERSON:
        return False
    if after in _COMPOUND_HEADS:
        return True
    return bool(after) and not mention.plural and lexicon.noun(after) is not None


def is_introduced(text: str, mention: Mention, lexicon: Lexicon, repeated: bool) -> bool:
    """Return whether a determiner stands before the noun and its adjectives, or the noun needs none."""
    noun = lexicon.nouns[mention.noun]
    needs_no_determiner = mention.plural or noun.countable != "count" or noun.bare
    end = mention.start
    for _ in range(3):
        before = _WORD_BEFORE.search(text, 0, end)
        if before is None:
            break
        word = before[1].lower()
        if word in _COUNTING and noun.countable == "mass":
            return False
        if word in DETERMINERS or word.endswith(("'s", "\u2019s")) or (word in _ANOTHER and repeated):
            return True
        if word not in ADJECTIVES:
            # "a man and woman" shares the determiner.
            shares_determiner = word == "and" and noun.supercategory == PERSON
            return shares_determiner or (needs_no_determiner and word in _BEFORE_BARE)
        end = before.start()
    return begins_sentence(text, end)


def breaks_possessive(text: str, mention: Mention, form: str) -> bool:
    """Return whether a bare apostrophe follows that fits only one of the true noun and the false one."""
    bare = text[mention.end : mention.end + 1] in ("'", "\u2019")
    return bare and text[mention.end - 1].lower().endswith("s") != form.endswith("s")


def write_form(text: str, mention: Mention, form: str) -> tuple[int, str]:
    """Return where the changed span starts, and its replacement: cased alike, with its article where that changes."""
    true_form = text[mention.start : mention.end]
    if len(true_form) > 1 and true_form.isupper():
        form = form.upper()
    elif true_form[:1].isupper() and begins_sentence(text, mention.start):
        form = form[:1].upper() + form[1:]
    match = _ARTICLE.search(text, 0, mention.start)
    article = indefinite_article(form)
    if match is None or match[1].lower() == article:
        return mention.start, form
    article = article.upper() if match[1].isupper() and len(match[1]) > 1 else article
    article = article[:1].upper() + article[1:] if match[1][:1].isupper() else article
    return match.start(), f"{article}{match[2]}{form}"
