"""Judgement of the words around a noun: whether another noun can take its place unnoticed.

It goes by closed lists of English words and is cautious on purpose: a context that is not known to be safe is refused,
since captions have many nouns and one good place is enough.
"""

from __future__ import annotations

import re

from vttdata.text.nouns.lexicon import Lexicon
from vttdata.text.nouns.mentions import Mention

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

_WORD = r"[^\W_]+(?:['\u2019-][^\W_]+)*"
_WORD_BEFORE = re.compile(rf"({_WORD})( +)$")
_WORD_AFTER = re.compile(rf" +({_WORD})")

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
    after = min((place for stop in ".!?" if (place := text.find(stop, mention.end)) >= 0), default=len(text))
    return _NEGATION.search(text, before, after) is not None


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
