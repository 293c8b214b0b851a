"""Find the option that an answer in free text states, as models that reason and explain write it.

Reasoning blocks go first. What is marked as the answer, by a tag, a box or a key of JSON, is read before everything
else; of several statements the last one counts. Nothing is guessed: an option that is negated, doubted or one of a list
is not stated, and an answer that states none is not understood.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
import unicodedata
from collections.abc import Sequence

from vttdata.files.tables import fold_name
from vttdata.text.generated import strip_generated
from vttdata.text.questions import Choices, find_label, fold_text, kind_of

_KEYS = frozenset(
    {"answer", "final_answer", "correct_answer", "choice", "option", "selected_option", "prediction", "letter"}
)

_TAGGED = re.compile(r"<(?:final_?)?answer>((?:(?!<(?:final_?)?answer>).)*?)(?:</(?:final_?)?answer>|\Z)", re.S | re.I)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_JOINED = re.compile(r"\W*(?:(?:or|and|maybe|perhaps)\W*)*", re.I)
_OBJECT = re.compile(r"\{[^{}]*\}")
_LATEX = re.compile(r"\\(?:text\w*|math\w+)\s*\{([^{}]*)\}|\\[()\[\]]")
_MARKUP = re.compile(r"[*`$#\u200b-\u200f\u2060\ufeff]|(?<!\w)_+|_+(?!\w)")
_QUOTES = "\"'\u201c\u201d\u2018\u2019\u300c\u300d \t\r\n"
_BRACKETS = "()[]{}<>.\u3002"
_ROLE = re.compile(r"\A(?:assistant|model|ai|bot)\s*:\s*", re.I)

# Words between a cue and the option that it announces.
_FILLER = (
    r"(?:[\s:]|(?:most likely|likely|probably|clearly|definitely|indeed|therefore|thus|still|simply|the|option|choice"
    r"|answer|letter|correct|right|best)(?!\w))*"
)
# The word for an answer with what joins it to one, in languages that models are asked in; a single letter between them
# would be an option already.
_CUE = re.compile(
    r"(?:(?<![A-Za-z])(?:answer|ans|option|choice|antwort|antwoord|r\u00e9ponse|respuesta|risposta|resposta|svar|vastaus"
    r"|cevap|jawaban|odpowied\u017a|\u043e\u0442\u0432\u0435\u0442|\u0111\u00e1p \u00e1n)(?!\w)"
    r"|\u7b54\u6848|\u7b54\u3048|\u6b63\u89e3|\u56de\u7b54|\uc815\ub2f5|\ub2f5\ubcc0|\ub2f5"
    r"|\u0627\u0644\u0625\u062c\u0627\u0628\u0629|\u0627\u0644\u062c\u0648\u0627\u0628"
    r"|\u0909\u0924\u094d\u0924\u0930|\u0989\u09a4\u09cd\u09a4\u09b0)"
    r"(?:\s+(?!(?-i:[A-Z](?!\w))|\d)[\w'\u2019]+){0,8}?"
    r"\s*(?:(?<!\w)(?:is|was|be|ist|est|es|\u00e9|\u00e8|\u00e4r|jest)(?!\w)|\u662f|\u4e3a|\u70ba"
    rf"|\u306f|\uc740|\ub294|[:=\-]|\n){_FILLER}",
    re.I,
)
_CHOICE = re.compile(
    r"(?:(?<!\w)(?:choose|select|pick|go with|opt for|think|believe|say|guess|hence|therefore|thus|so|remains|leaves"
    rf"|(?:it|remaining|left)(?:\s+is|['\u2019]s))(?!\w),?|\u9009\u62e9?){_FILLER}",
    re.I,
)
# What follows a letter that is an option, and no article, pronoun or initial; then what makes it one of a list.
_END = (
    r"(?:\s*(?:[.):;\]}>!(\u3002](?![A-Za-z]\.)|,|\n|\Z|\u3067\u3059|\uc785\ub2c8\ub2e4)|\s+[\-\u2013\u2014]\s"
    r"|\s+(?:because|since|as|due|which|matches|fits|describes)(?!\w))"
)
_NEXT = (
    r"[\s.)\]}>]*(?:[,/&+;]|\u6216|\u548c|(?:or|and|und|oder|et|ou|y|o)(?!\w))\s*(?:(?:or|and)\s+)*[(\[]?"
    r"(?:(?i:option|choice|answer|sentence|caption)\s+[(\[]?[A-Za-z0-9]|[A-Z])(?![A-Za-z0-9_'\u2019])"
)
_CLEAR = rf"(?![A-Za-z0-9_'\u2019])(?={_END}|{_NEXT})"
_CORRECT = re.compile(
    r"(?<![\w'\u2019])[(\[]?([A-Z])[)\].]*\s+is\s+(?:(?:the|most likely|clearly|indeed)\s+)*"
    r"(?:correct|right|true|best)(?!\w)"
)
_MENTION = re.compile(rf"(?<!\w)(?i:answer|option|choice)\s+(?=[(\[]?[A-Z]{_CLEAR})")
# What a denial is about ends with its clause, and what is only supposed with the sentence.
_CLAUSE = re.compile(r"\A.*(?:[.,;:!?\n]|(?<!\w)(?:so|but|hence|therefore|thus)(?!\w))", re.S | re.I)
_SENTENCE = re.compile(r"\A.*[.;!?\n]", re.S)
_DENIED = re.compile(
    r"(?<!\w)(?:not|cannot|never|neither|nor|no|without|except|doubt|unlikely|wrong|incorrect|false|out|all but"
    r"|anything but|eliminat\w+|exclud\w+|reject\w*|discard\w*|rul\w+ out)(?!\w)|n['\u2019]t(?!\w)",
    re.I,
)
_SUPPOSED = re.compile(r"(?<!\w)(?:if|unless|whether)(?!\w)", re.I)
_VERDICT = re.compile(
    r"[)\].:]*\s*(?:is|was|seems?|looks?|appears?|can|could|cannot|should|does|would)(?!\w)[^.;!?\n]*", re.I
)
_LONGEST_SENTENCE = 1000
_RETRACTED = re.compile(r"(?<!\w)(?:wait|correction|scratch that|my mistake|on second thoughts?)(?!\w)", re.I)

Stated = frozenset[int] | None
"""Options that a statement names: one, with those of the same text; none for a letter beyond the options; None for a
list or a contradiction."""


def find_statement(text: str, choices: Choices) -> Stated:
    """Return the option that an answer states.

    Args:
        text: answer as a model writes it.
        choices: options of its question.

    Returns:
        The option, and those of the same text; empty for a letter beyond the options. None where nothing is stated, or
        several options are.
    """
    text = strip_generated(unicodedata.normalize("NFKC", text))
    for mark in (_TAGGED, _BOXED):
        if marked := list(mark.finditer(text)):
            is_list = len(marked) > 1 and _JOINED.fullmatch(text[marked[-2].end() : marked[-1].start()])
            return None if is_list else find_statement(marked[-1][1], choices)
    stated = _read_json(text)
    if stated is not None:
        return find_statement(stated, choices)
    shown = Choices([_plain(unicodedata.normalize("NFKC", option)) for option in choices.options], choices.labels)
    text = _ROLE.sub("", _plain(text))
    if (whole := _read_whole(text, shown)) is not None:
        return whole
    return _read_yes_no(text, shown) if kind_of(choices.options) == "yes_no" else _read_last(text, shown)


def _read_json(text: str) -> str | None:
    """Return the answer in an object of JSON or Python, or in a list of texts; None without one."""
    bare = re.sub(r"\A\s*```\w*|```\s*\Z", "", text).strip()
    for written in [bare] if bare.startswith(("[", "{")) else reversed(_OBJECT.findall(text)):
        for parse in (json.loads, ast.literal_eval):
            with contextlib.suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                value = parse(written)
                if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
                    return " or ".join(value)
                answers = (
                    [value[key] for key in value if fold_name(str(key)) in _KEYS] if isinstance(value, dict) else []
                )
                if len(answers) == 1 and isinstance(answers[0], (str, int, float)):
                    return str(answers[0])
    return None


def _plain(text: str) -> str:
    """Return a text without marks of emphasis and formulas, and without quotes around it."""
    return _MARKUP.sub("", _LATEX.sub(lambda match: match[1] or "", text)).strip(_QUOTES)


def _read_whole(text: str, choices: Choices) -> frozenset[int] | None:
    """Return the option whose text, label, or label and text a text is; None if it is none."""
    for written in (text, text.strip(_QUOTES + _BRACKETS)):
        same = frozenset(
            index for index, option in enumerate(choices.options) if fold_text(option) == fold_text(written)
        )
        index = find_label(written, choices)
        if same or index is not None:
            return same or choices.copies(index or 0)
    return frozenset() if re.fullmatch("[A-Z]", text.strip(_QUOTES + _BRACKETS)) else None


def _read_yes_no(text: str, choices: Choices) -> frozenset[int] | None:
    """Return yes or no as the last statement says, or else the first word and every clause that is only one of them."""
    word = re.compile(r"(?:yes|no|true|false)(?!\w)", re.I)
    said = [
        found[0]
        for cue in _CUE.finditer(text)
        if (found := word.match(text, cue.end())) and not _is_denied(text[: cue.end()])
    ][-1:]
    if not said:
        clauses = [clause.strip() for clause in re.split(r"[.,;:!?\n]", text)]
        said = [clause for clause in clauses if word.fullmatch(clause)]
        first = word.match(text)
        said += [first[0]] if first and not re.match(r"\s*(?:and|or|/)(?!\w)", text[first.end() :], re.I) else []
    if not said:
        return _read_last(text, choices)
    names = {"true": "yes", "false": "no"}
    answers = {names.get(each.lower(), each.lower()) for each in said}
    named = frozenset(index for index, option in enumerate(choices.options) if fold_text(option) in answers)
    return named if len(named) == 1 else None


def _read_last(text: str, choices: Choices) -> Stated:
    """Return what the last statement names, else the beginning, else the only mention of an option by its letter."""
    lines = _drop_repeated(text.splitlines(), choices)
    text = "\n".join(lines).strip()
    cues = [(cue.end(), cue.end(), pattern) for pattern in (_CUE, _CHOICE) for cue in pattern.finditer(text)]
    cues += [(verdict.start(1), verdict.start(), _CORRECT) for verdict in _CORRECT.finditer(text)]
    for position, before, pattern in sorted(cues, key=lambda cue: cue[0], reverse=True):
        if _is_denied(text[:before]):
            continue
        if pattern is _CORRECT:
            is_list = re.search(r"(?<!\w)[A-Z][)\]]?\s*(?:,|/|&|and|or)\s*\Z", text[:before])
            return None if is_list else _by_letter(text[position], choices)
        if found := _read_named(text[position:], choices, pattern):
            return found[0]
    first = _read_named(text, choices)
    if "\n" in text and (whole := _read_whole(_plain(text.rpartition("\n")[2]), choices)) is not None:
        return whole if first in ([], [whole]) else None
    if first:
        return None if _RETRACTED.search(text) or _lists_others(text, first[0], choices) else first[0]
    mentions = {
        found[0]
        for mention in _MENTION.finditer(text)
        if not _is_denied(text[: mention.end()]) and (found := _read_named(text[mention.end() :], choices))
    }
    return mentions.pop() if len(mentions) == 1 else None


def _drop_repeated(lines: Sequence[str], choices: Choices) -> list[str]:
    """Return the lines of an answer without those that repeat the options of the question in order, two or more."""
    kept: list[str] = []
    run: list[str] = []
    for line in [*lines, ""]:
        label = find_label(_plain(line), choices) if len(line.split()) > 1 else None
        if label is not None and label == len(run):
            run.append(line)
        elif line.strip() or line is lines[-1:]:
            kept += [*([] if len(run) > 1 else run), line]
            run = []
    return [*kept, *([] if len(run) > 1 else run)]


def _read_named(text: str, choices: Choices, cue: re.Pattern[str] | None = None) -> list[Stated]:
    """Return what the beginning of a text names, in a list; nothing if it names no option, or denies or asks it.

    After a cue a small letter names one too, and after the word for an answer the text of an option.
    """
    start = re.match(r"[\s(\[{<\"'\u201c]*", text)
    position = start.end() if start else 0
    for index, option in sorted(enumerate(choices.options), key=lambda pair: -len(pair[1])) if cue is _CUE else ():
        if match := re.compile(rf"{_words(option)}(?=[\"'\u201d]?{_END})", re.I).match(text, position):
            named = choices.copies(index)
            break
    else:
        labels = {label.casefold(): index for index, label in enumerate(choices.labels) if len(label) > 1}
        if cue:
            labels |= {label.rpartition(" ")[2]: index for label, index in labels.items()}
        names = [*(f"(?i:{re.escape(label)})" for label in labels), "[A-Z]"]
        match = re.compile(f"(?:{'|'.join(names)}){_CLEAR}").match(text, position)
        if match is None and cue:
            match = re.compile(r"[b-z](?=[.)\]}>\"']*\s*\Z|[.)]\s)|a(?=[.)\]}>\"']*\s*\Z|\)\s)").match(text, position)
        if match is None:
            return []
        place = labels.get(match[0].casefold())
        named = _by_letter(match[0].upper(), choices) if place is None else choices.copies(place)
    position = match.end()
    beside = re.compile(r"[\s.):\]\-\u2013\u2014(]*").match(text, position)
    after = beside.end() if beside else position
    for index, option in enumerate(choices.options):
        if told := re.compile(rf"{_words(option)}(?=[)\"'\u201d]?{_END})", re.I).match(text, after):
            if index not in named:
                return [None]
            position = told.end()
    rest = text[position:]
    verdict = _VERDICT.match(rest)
    if re.match(_NEXT, rest):
        return [None]
    is_denied = verdict is not None and _DENIED.search(verdict[0]) is not None
    return [] if is_denied or re.match(r"[)\]\"'.]*\s*\?", rest) else [named]


def _words(option: str) -> str:
    """Return a pattern for the words of an option."""
    return r"\s+".join(map(re.escape, option.removesuffix(".").split())) + r"(?!\w|\.\d)"


def _lists_others(text: str, named: Stated, choices: Choices) -> bool:
    """Return whether a text has the letter and the text, or a colon, of an option that is not the named one."""
    return any(
        re.search(rf"(?<!\w)[(\[]?{re.escape(label)}(?:[.):\]]+\s*{_words(option)}|:)", text)
        for index, (label, option) in enumerate(zip(choices.labels, choices.options, strict=True))
        if named and index not in named
    )


def _by_letter(letter: str, choices: Choices) -> frozenset[int]:
    index = ord(letter) - ord("A")
    return choices.copies(index) if index < len(choices.options) else frozenset()


def _is_denied(before: str) -> bool:
    """Return whether the clause that ends a text denies what comes next, or its sentence only supposes it."""
    before = before[-_LONGEST_SENTENCE:].rstrip(" :\n")
    is_denied = _DENIED.search(_CLAUSE.sub("", before)) is not None
    return is_denied or _SUPPOSED.search(_SENTENCE.sub("", before)) is not None
