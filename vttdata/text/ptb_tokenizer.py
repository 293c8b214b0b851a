r"""Tokenize English captions as coco-caption does, without Java: Penn Treebank tokens in lower case, no punctuation.

The tokens equal those of CoreNLP 3.4.1's ``PTBTokenizer -preserveLines -lowerCase``, less coco-caption's list of
punctuation, which is how pycocoevalcap prepares captions. The rules were found by running that program on texts and are
compared with it by `benchmarks/tokenizer.py`; they are written for its output, and share no code with it. Like it they
keep ``-lrb-``, ``!!`` and other marks that coco-caption's list misses, and a no-break space inside ``3\xa01/2``.

A text is tokenized as if nothing followed it. pycocoevalcap passes all captions as lines of one file, where a last
"no." or "b." can depend on how the next caption begins, and where U+2028 and control characters that end a line shift
all captions that follow; here they are spaces.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable

from vttdata.errors import VttdataError
from vttdata.text.ptb_characters import LETTERS, MARKS, SYMBOLS, character_class

LETTERS_AND_DIGITS, OTHER_LETTERS, SYMBOL = map(character_class, (LETTERS, MARKS, SYMBOLS))
HYPHEN = "\\-\u058a\u2010\u2011"
CURLY = "\u2019\x92"
APOSTROPHE = f"'{CURLY}"
QUOTE = f"{APOSTROPHE}`\u2018\x91"
SPACE = " \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
# Accented vowels as entities are letters. A soft hyphen is a letter that is removed in the end.
ACCENTED = "&[aeiouAEIOU](?i:acute|grave|uml);"
LETTER = f"(?:[A-Za-z{LETTERS_AND_DIGITS}{OTHER_LETTERS}\xad]|{ACCENTED})"
# An atomic group, since a possessive repetition of alternatives matches wrongly before Python 3.11.5 (gh-106052).
WORD = f"{LETTER}(?>(?:[A-Za-z0-9{LETTERS_AND_DIGITS}{OTHER_LETTERS}\xad]++|{ACCENTED})*)"
PLAIN_LETTER = f"[A-Za-z{LETTERS_AND_DIGITS}]"
ALNUM = f"[A-Za-z0-9{LETTERS_AND_DIGITS}]"
PART = f"(?:[dDoOlL][{QUOTE}]{ALNUM})?{ALNUM}+"
DIGITS = "[0-9](?:\xad?[0-9])*"
ACRONYM = r"[A-Za-z](?:\.[A-Za-z])+\."
EYE = r"[\^x=~<>'\-]"
EYE_BESIDE_DASH = r"[\^x=~<>']"
TAG_NAME = r"[A-Za-z][A-Za-z0-9:.\-_]*"


def _any_of(words: str) -> str:
    return "|".join(sorted(words.split(), key=len, reverse=True))


# A letter's period ends a sentence before these words.
SENTENCE_STARTS = (
    "A About According Additionally After An As At But Earlier He Her Here However If In It Last Many More Now Once "
    "One Other Our She Since So Some Such That The Their Then There These They This We What When While Yet You"
)
# These keep their period, whatever follows.
TITLES = (
    "adj adm adv alex assoc asst ave brig capt cf cie cmdr col cpl dept det dr drs elec ens ft gen gov hon insp jos lt "
    "maj messrs mfg mlle mme mr mrs ms mt mtg natl pfc ph pres prof pvt rep reps rev sen sens sfc sgt spc st ste supt "
    "treas vs wm"
)
# These keep it too, but a letter that follows without a space is not part of the word.
ABBREVIATIONS = (
    "al ala apr ariz assn aug bhd bldg blvd bros calif co colo conn corp cos ct dak dec esq est etc ext feb fla fri ga "
    "inc ind intl jan jr jul jun kan kans ky ltd mar md mich minn mo mon mont neb nev nov oct okla penn plc pte pty "
    "rd rt sep sept seq sq sr sys tel tenn thu thurs tue tues univ va vt wed wis wisc wyo"
)
# The same, unless in lower case.
CAPITAL_ABBREVIATIONS = "Ark Az Del Ill La Mass Miss Ore Pa Tex Wash"
# These keep it before a number.
NUMBERED = "art ca fig figs no nos op pp prop"
FILE_EXTENSIONS = (
    "bat bmp c class cgi cpp dll doc docx exe gif gz h htm html jar java jpeg jpg mov mp3 pdf php pl png ppt ps py sql "
    "tar txt wav x xml zip"
)

BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
SINGLE = BRACKETS | dict.fromkeys("\x80¤\u20a0€", "$")
SINGLE |= {"£": "#", "¢": "cents", "¼": "1/4", "½": "1/2", "¾": "3/4", "⅓": "1/3", "⅔": "2/3"}
ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">"}
QUOTES = str.maketrans(
    dict.fromkeys("\u2018\u201b\u2039\x91", "`")
    | dict.fromkeys("\u2019\u203a\x92", "'")
    | dict.fromkeys("“«\x93", "``")
    | dict.fromkeys("”»\x94", "''")
)
PUNCTUATION = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"]
)

Emit = Callable[[str], str]


def _verbatim(token: str) -> str:
    return token.lower().replace(" ", "\xa0")


def _word(token: str) -> str:
    return _verbatim(token).replace("&amp;", "&").replace("\xad", "") or "-"


def _quotes(token: str) -> str:
    return token.lower().translate(QUOTES)


DOTTED = rf"{WORD}(?:[.!?]{WORD})*"
JOINED = rf"{ALNUM}+(?:[{HYPHEN}_]{ALNUM}+)*"
JOINED_NAMES = rf"{PART}(?:[{HYPHEN}_]{PART})*"
HYPHENATED = rf"[A-Za-z0-9][A-Za-z0-9.,\xad]*(?:-(?:{ACRONYM}|[A-Za-z0-9\xad]+))+"
COMPANY = "[A-Z]+(?:(?:[&+]|&amp;)[A-Z]+)+"
URL_PATH = r"""(?:/[^ \t\n"<>|()]+[^ \t\n"<>|.!?(){},-])?"""
# Bounded, so that time grows with the length of a text: names on the web have at most 255 characters.
URL_NAME = r"""[^ \t\n"`'<>|!(){}$,-_]{1,255}"""
MAIL_NAME = r"""[^ \t\n"<>|(){}.\xa0]+"""

# The longest match wins, and the first of equal ones. If a pattern has one group, the group is the token, and the rest
# of the match is what must follow it, counts for the length and is read again.
RULES: list[tuple[Emit, list[str]]] = [
    (
        _word,
        [
            rf"({WORD})[{APOSTROPHE}](?i:[dms]|ll|re|ve)",
            rf"((?:(?i:{_any_of(ABBREVIATIONS)}|ph\.d|ed\.d)|"
            rf"{_any_of(CAPITAL_ABBREVIATIONS)}|{_any_of(CAPITAL_ABBREVIATIONS.upper())})\.)(?:-.|.)?",
        ],
    ),
    (
        _verbatim,
        [
            r"<[!?][A-Za-z-][^>\n]*>",
            rf"""<{TAG_NAME}(?: +{TAG_NAME}(?:=(?:'[^'\n]*'|"[^"\n]*"))?)* */? *>|</{TAG_NAME} *>""",
        ],
    ),
    (
        _word,
        [
            WORD,
            JOINED,
            r"[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}(?:\\?/[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}){1,2}",
            JOINED_NAMES,
            HYPHENATED,
            # O'Neil, M'Baye, ma'am and other words with apostrophes.
            rf"[dDoOlL][{QUOTE}]{ALNUM}{{2,}}",
            rf"[A-HJ-XZn][{QUOTE}]{PLAIN_LETTER}{{2,}}",
            rf"{PLAIN_LETTER}+[aeiouyAEIOUY][{QUOTE}][aeiouA-Z]{PLAIN_LETTER}*",
            rf"[oO][{QUOTE}][oO]",
            rf"(?i:[djl]|ol|somethin|dunkin)[{APOSTROPHE}]|[yY][{APOSTROPHE}](?=[A-Za-z])",
            rf"[{APOSTROPHE}](?i:em|till?|cause)|[{APOSTROPHE}]n[{APOSTROPHE}]|[{CURLY}][nN]",
            rf"('[nN])(?!{LETTER}|[0-9])(?s:.)",
            rf"([{APOSTROPHE}][0-9]{{2}})[{SPACE}\n]",
            rf"[{APOSTROPHE}][0-9]0[sS]",
            rf"{WORD}(?:[.!?]{WORD})+",
            # Numbers, dates, fractions.
            rf"[-+]?(?:(?:\xad?{DIGITS})?(?:[.,:]{DIGITS})+|\xad?{DIGITS})",
            r"[0-9]{1,2}[-/][0-9]{1,2}[-/][0-9]{2,4}",
            r"(?:[0-9]{1,4}[- \xa0])?[0-9]{1,4}(?:\\?/|\u2044)[0-9]{1,4}",
            "[\u207a\u207b\u208a\u208b]?(?:[\xb2\xb3\xb9\u2070\u2074-\u2079]+|[\u2080-\u2089]+)",
            r"[A-Z]+\$",
            # Periods that belong to a word.
            ACRONYM,
            r"[A-Za-z]\.",
            rf"(?i:{_any_of(TITLES)})\.",
            rf"((?i:{_any_of(NUMBERED)})\.)[{SPACE}]?[0-9]",
            *(rf"({word}\.)[,;:]" for word in (DOTTED, JOINED, JOINED_NAMES, HYPHENATED, COMPANY)),
            rf"([A-Za-z])\.[{SPACE}]+(?:{_any_of(SENTENCE_STARTS)}|{_any_of(SENTENCE_STARTS.upper())}"
            rf"|M[rRsS]\.|</?[A-Za-z!?][^>\n]*>)(?=[{SPACE}\n])",
            # Don't: the rest is a clitic.
            rf"(\xad*(?=[A-Za-z])[A-Za-z\xad]*[A-MO-Za-mo-z\xad])[nN][{QUOTE}][tT]",
            r"[cCfF]#|[cC]\+\+",
            COMPANY,
            "@[A-Za-z_][A-Za-z0-9_]*",
            "&#[0-9]+;",
            rf"[{SYMBOL}$%&+=~^\\|<>@/#*]",
            r"_+|\*{2,}|[?!]{2,}|<<|>>|@{2,}|#{2,}|\\\*|-{5,}",
        ],
    ),
    (
        _verbatim,
        [
            rf"#{LETTER}+",
            rf"((?:{LETTER}|[0-9])+(?:\.(?:{LETTER}|[0-9])+)*\.(?i:{_any_of(FILE_EXTENSIONS)}))[ \t\xa0,.!?\n]",
            r"""(?i:https?)://[^ \t\n"<>|(){}]+[^ \t\n"<>|.!?(){},-]""",
            rf"""(?i:www)\.(?:[^ \t\n"<>|.!?(){{}},]+\.)+[a-zA-Z]{{2,4}}{URL_PATH}""",
            rf"{URL_NAME}(?:\.{URL_NAME})*\.(?i:com|net|org|edu){URL_PATH}",
            rf"""(?:<|&lt;)?[a-zA-Z0-9][^ \t\n"<>|(){{}}\xa0]{{0,255}}@{MAIL_NAME}(?:\.{MAIL_NAME})*(?:>|&gt;)?""",
        ],
    ),
    (_quotes, ["[`\u2018-\u201f\xab\xbb\u2039\u203a\x91-\x94]{1,2}"]),
    (
        _quotes,
        [
            rf"[nN][{QUOTE}][tT]",
            rf"[{CURLY}](?i:[dms]|ll|re|ve)",
            rf"([{APOSTROPHE}](?i:[dms]|ll|re|ve))[^A-Za-z]",
        ],
    ),
    (
        lambda token: _verbatim(token).replace("(", "-lrb-").replace(")", "-rrb-"),
        [
            r"(?:\([0-9]{2,3}\)[ \xa0]?|(?:\+\+?)?(?:[0-9]{2,4}[- \xa0])?[0-9]{2,4}[- \xa0])"
            r"[0-9]{3,4}[- \xa0]?[0-9]{3,5}",
            r"([<>]?[:;=][-o*']?[()DPdpO\\\[\]{|@])[^A-Za-z0-9]",
            rf"{EYE}_{EYE}|\({EYE}[_.]?{EYE}\)|\({EYE_BESIDE_DASH}-{EYE_BESIDE_DASH}\)",
        ],
    ),
    (lambda token: ENTITIES.get(token.lower(), "'"), ["&(?i:amp|lt|gt|quot|apos|nbsp|mdash|ndash);"]),
    # Left out, as all of coco-caption's punctuation.
    (lambda _: "--", [r"\.\.\.+|--+|''"]),
]
TWO_WORDS = re.compile(rf"(?i:(can)(not)|(gon|wan)(na)|(got)(ta)|(lem|gim)(me)|([{APOSTROPHE}]t)(is|was))")


@functools.cache
def _compiled_rules() -> list[tuple[re.Pattern[str], Emit]]:
    # Compiling takes a tenth of a second, which only those who tokenize should pay.
    return [(re.compile(pattern), emit) for emit, patterns in RULES for pattern in patterns]


def _read_tokens(text: str) -> Iterable[str]:
    """Yield all tokens of a text, those of punctuation included or left out; the text is read to its last character."""
    text += "\n"
    position, end = 0, len(text) - 1
    rules = _compiled_rules()
    while position < end:
        longest, best = position, None
        emit: Emit = _word
        for pattern, rule in rules:
            match = pattern.match(text, position)
            if match and match.end() > longest:
                longest, best, emit = match.end(), match, rule
        two = TWO_WORDS.match(text, position)
        if two and two.end() >= longest:
            yield from (word.lower() for word in two.groups() if word)
            position = two.end()
        elif best is None:
            if text[position] in SINGLE:
                yield SINGLE[text[position]]
            position += 1
        else:
            token = best[best.re.groups]
            yield emit(token)
            position += len(token)


# Where tokens can depend on what lies beyond a space, besides in tags: numbers, and abbreviations of "number". Most
# captions have no space before a digit, which is found faster.
SPACE_AND_DIGIT = re.compile(" [0-9]")
ACROSS_SPACES = re.compile(rf"[0-9)] [0-9]|(?i:{_any_of(NUMBERED)})\. [0-9]")
LINE_ENDS = str.maketrans(dict.fromkeys("\n\r\x0b\x0c\u2028\u2029", " "))
MOST_CHUNKS = 500_000
LONGEST_CHUNK = 40
_chunks: dict[str, tuple[str, ...]] = {}


def tokenize_caption(text: str) -> list[str]:
    """Return the tokens of a caption.

    Raises:
        VttdataError: if the text contains an unpaired surrogate.
    """
    if not text.isprintable():
        text = text.translate(LINE_ENDS)
    if "<" in text or (SPACE_AND_DIGIT.search(text) and ACROSS_SPACES.search(text)):
        return list(_tokens_of(text))
    tokens: list[str] = []
    for chunk in text.split(" "):
        words = _chunks.get(chunk)
        if words is None:
            words = _remember_chunk(chunk)
        tokens += words
        # The period of a single letter can depend on the next word.
        if chunk[-1:] == "." and words and len(words[-1]) == 2 and words[-1][1] == ".":
            return list(_tokens_of(text))
    return tokens


def _remember_chunk(chunk: str) -> tuple[str, ...]:
    """Return the tokens of a text without spaces, and keep them for the next time if it is short."""
    # Nearly all chunks are words of plain letters, which no other rule applies to.
    plain = chunk.isascii() and chunk.isalpha() and not TWO_WORDS.fullmatch(chunk)
    words = (chunk.lower(),) if plain else _tokens_of(chunk)
    if len(chunk) <= LONGEST_CHUNK:
        if len(_chunks) >= MOST_CHUNKS:
            _chunks.clear()
        _chunks[chunk] = words
    return words


def _tokens_of(text: str) -> tuple[str, ...]:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise VttdataError(f"The caption {text[:60]!a} contains an unpaired surrogate, which no text has.") from error
    return tuple(token for token in _read_tokens(text) if token not in PUNCTUATION)
