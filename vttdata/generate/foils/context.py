"""Tells from the words around a noun whether another noun can stand there without being noticed.

It is one judgement by closed lists of words, cautious on purpose: a place that is not known to be safe is refused,
since captions have many nouns and one is enough.
"""

from __future__ import annotations

import re

from vttdata.text.nouns.lexicon import Lexicon
from vttdata.text.nouns.mentions import Mention

_BEFORE = re.compile(r"([^\W_]+(?:['\u2019-][^\W_]+)*)( +)$")
_AFTER = re.compile(r" +([^\W_]+(?:['\u2019-][^\W_]+)*)")

DETERMINERS = frozenset(
    """a an the this that these those his her its their my your our some any each every no several many few various
    one two three four five six seven eight nine ten multiple numerous both which whose""".split()
)
_OTHERS = frozenset("another other more second third".split())
"""These tell of more than one such thing, so that a text must have another mention of it."""

_COUNTING = frozenset("a an each every several many few two three four five six seven eight nine ten".split())
"""Before these a mass noun means a piece or a kind of it ("a fire", "two coffees"), which others may not have."""

_BEFORE_BARE = frozenset(
    """and or with of in on at by for from to into onto over under near behind beside around through across against
    between like as is are was were has have having wearing holding using including while then watch watching
    see shows showing put puts putting pour pours pouring add adds adding throw throws throwing play plays
    playing ride rides riding about up down out off along where when""".split()
)
"""What may stand before a plural or a mass noun that has no determiner."""

ADJECTIVES = frozenset(
    """small big large little tiny huge long short tall young old older younger new white black red blue green yellow
    orange pink purple brown gray grey silver gold dark bright light colored colorful different same first last nice
    beautiful single empty clean dirty wet wooden metal plastic indoor outdoor snowy grassy sandy right left blond
    blonde bald shirtless asian athletic""".split()
)
"""Adjectives that go with most visible things, so that they do not tell the true noun from the other."""

_PERSON = "person"
_AGES = frozenset("small big large little tiny huge young old older younger".split())
"""What goes with grown people and with children in different senses, so that it tells them apart."""

_COMPOUND_HEADS = frozenset(
    """game match court room area lot team class competition practice show shop store station field player players
    rink alley trick tricks style side top tournament league park board lesson event ride riding stop maker driver
    track course pit machine polo pong fight race patch""".split()
)
"""Words that make a compound with the noun before them, beside the nouns of the lexicon."""


def fits_here(text: str, mention: Mention, lexicon: Lexicon, *, repeated: bool = False) -> bool:
    """Whether another noun of the same kind can take this place.

    Refused are parts of hyphenated words and of compounds ("tennis ball", "pool table"), amounts ("a bowl of"), nouns
    that pick one of several ("another man") unless the noun is `repeated`, idioms without an article ("on foot", "by
    hand"), and nouns behind an adjective that may not go with the other one.
    """
    if text[mention.start - 1 : mention.start] in ("-", "'", "\u2019", "/") and mention.start:
        return False
    if text[mention.end : mention.end + 1] in ("-", "/", "_"):
        return False
    return _nothing_joined(text, mention, lexicon) and _introduced(text, mention, lexicon, repeated)


def begins(text: str, place: int) -> bool:
    """Whether a sentence begins at a place of a text."""
    before = text[:place].rstrip()
    return not before or before[-1] in ".!?"


def shows_age(text: str, mention: Mention) -> bool:
    """Whether an adjective right before a noun says how old or how big it is."""
    before = _BEFORE.search(text, 0, mention.start)
    return before is not None and before[1].lower() in _AGES


def _nothing_joined(text: str, mention: Mention, lexicon: Lexicon) -> bool:
    after = _AFTER.match(text, mention.end)
    word = after[1].lower() if after else ""
    if word == "of" or (word in DETERMINERS and text[: mention.end].lower().endswith("ing")):
        return False  # the second is a verb: "her painting the wall"
    if lexicon.nouns[mention.noun].supercategory == _PERSON:
        return True  # what follows is a verb: "a man watches"
    if word in _COMPOUND_HEADS:
        return False
    return not word or mention.plural or lexicon.noun(word) is None


def _introduced(text: str, mention: Mention, lexicon: Lexicon, repeated: bool) -> bool:
    """Whether a determiner stands before the noun and its adjectives, or the noun needs none."""
    end = mention.start
    for _ in range(3):
        before = _BEFORE.search(text, 0, end)
        if before is None:
            break
        word = before[1].lower()
        if word in _COUNTING and lexicon.nouns[mention.noun].countable == "mass":
            return False
        if word in DETERMINERS or word.endswith(("'s", "\u2019s")):
            return True
        if word in _OTHERS and repeated:
            return True
        if word not in ADJECTIVES:
            joined = word == "and" and lexicon.nouns[mention.noun].supercategory == _PERSON  # "a man and woman"
            return joined or (_needs_none(mention, lexicon) and word in _BEFORE_BARE)
        end = before.start()
    return begins(text, end)


def _needs_none(mention: Mention, lexicon: Lexicon) -> bool:
    noun = lexicon.nouns[mention.noun]
    return mention.plural or noun.countable != "count" or noun.bare
