"""Audit of a set of foils for shortcuts: attempts to solve it without any video.

An attacker learns from other videos than those it is tried on. The ensemble stacks all of them, as an adversary would.
A low accuracy says nothing of attackers that were not tried.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.files.table_formats import align_columns
from vttdata.generate.blind.accuracy import PairAccuracy, pairwise_accuracy
from vttdata.generate.blind.attacker import (
    AttackedPairs,
    AttackerUnavailableError,
    Encoder,
    TextPair,
    load_attackers,
)
from vttdata.generate.blind.attackers import ATTACKERS
from vttdata.generate.blind.learning import (
    Floats,
    Integers,
    cross_fit,
    nonnegative_logistic_regression,
    perplexity_margins,
)
from vttdata.json_types import JsonObject
from vttdata.statistics.bootstrap import share_intervals
from vttdata.text.lm import Scorer

ENSEMBLE = "ensemble"
# Accuracy above which a set counts as open to an attacker, where the whole 95 % interval is above it.
MAX_ACCURACY = 0.55

HEADER = ("blind attacker", "accuracy", "95 % interval", "cannot tell", "how it decides", "learned from")

_MAX_SCALED_MARGIN = 3.0
_SAMPLED_PAIRS = 100
# First words of the Unicode names of letters of scripts that put no spaces between words.
# First word of the names of letters of a script without spaces between words -> language; Japanese has Han letters too.
_UNSPACED_SCRIPTS = {
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "THAI": "Thai",
    "LAO": "Lao",
    "KHMER": "Khmer",
    "MYANMAR": "Burmese",
    "TIBETAN": "Tibetan",
}


@dataclass(frozen=True, slots=True)
class Attack:
    """Result of a blind attacker: its name, how it decides, and the counts of pairs that it is right on.

    The 95 % interval of its accuracy is by drawing videos with replacement. `unavailable` says why it could not try the
    set; empty where it did.
    """

    name: str
    meaning: str
    result: PairAccuracy
    interval: tuple[float, float]
    learned_from: str = "pairs of other videos"
    unavailable: str = ""

    @property
    def accuracy(self) -> float:
        """Share of pairs on which it is right; a pair that it cannot tell counts half."""
        return self.result.half_credit

    @property
    def open(self) -> bool:
        """True if the accuracy is above `MAX_ACCURACY` with its whole interval."""
        return self.interval[0] > MAX_ACCURACY

    def as_json(self) -> JsonObject:
        """Return plain values, rounded to six digits; of an attacker that is unavailable only why."""
        described = {"attacker": self.name, "meaning": self.meaning}
        if self.unavailable:
            return described | {"unavailable": self.unavailable}
        low, high = self.interval
        return {
            **described,
            "learned_from": self.learned_from,
            "pairs": self.result.pairs,
            "ties": self.result.ties,
            "accuracy": round(self.accuracy, 6),
            "low": round(low, 6),
            "high": round(high, 6),
        }


def audit_shortcuts(
    pairs: Sequence[TextPair],
    *,
    texts: Mapping[int, Sequence[Sequence[str]]] | None = None,
    models: Mapping[str, Scorer] | None = None,
    encoder: Encoder | None = None,
    watch: Callable[[Sequence[Any], str], Iterable[Any]] = lambda attackers, _: attackers,
) -> list[Attack]:
    """Let every blind attacker try a set, and their ensemble.

    Args:
        pairs: the set.
        texts: fold -> true texts of other videos, those of one video together, from which attackers learn how people
            write; the models behind the foils must not have been trained on them. If omitted, the true texts of other
            pairs serve.
        models: further language models by name, such as one of another family than the one that scored the foils.
        encoder: of sentences; without one the attacker that needs it is unavailable.
        watch: is given the attackers and what they do, and gives them back one by one, to show progress.

    Returns:
        The attack of the ensemble, then those of its members, highest accuracy first, then attackers that are
        unavailable.

    Raises:
        VttdataError: when the set cannot be attacked: it has no pairs, pairs of one video only, a pair with the same
            text twice, or texts without spaces between words; or when SciPy is not installed.
    """
    check_pairs(pairs)
    attacked = AttackedPairs(pairs, texts, encoder)
    of_others = "true texts of pairs of other videos"
    if texts is not None:
        of_others = f"texts of {sum(map(len, texts.values())):,} other videos"
    members: list[_Guess] = []
    unavailable = []
    meanings = ATTACKERS.descriptions()
    for name, attacker in watch([*load_attackers().items()], "attackers"):
        learned_from = "pairs of other videos" + (f", {of_others}" if attacker.reads_texts else "")
        try:
            margins = cross_fit(attacker.differences(attacked), attacked.folds, attacker.learn)
        except AttackerUnavailableError as error:
            unavailable.append(
                Attack(name, meanings[name], PairAccuracy(0, 0, 0), (0.0, 0.0), learned_from, str(error))
            )
            continue
        members.append(_Guess(name, meanings[name], learned_from, margins))
    for name, model in (models or {}).items():
        margin = perplexity_margins([pair.true for pair in pairs], [pair.foil for pair in pairs], model)
        margins = np.tile(margin, (int(attacked.folds.max()) + 1, 1))
        members.append(_Guess(name, "Which text is likelier by this model", "nothing of this set", margins))
    stacked = stack_margins(np.array([member.margins for member in members]), attacked.folds)
    meaning = f"Logistic regression on the margins of the other {len(members)}"
    guesses = [_Guess(ENSEMBLE, meaning, "pairs of other videos", stacked)]
    own_fold = attacked.folds, np.arange(len(pairs))
    guesses += [member._replace(margins=member.margins[own_fold]) for member in members]
    right = np.array([(np.sign(guess.margins) + 1) / 2 for guess in guesses])
    ensemble, *attacks = [
        Attack(
            guess.name,
            guess.meaning,
            pairwise_accuracy(guess.margins, np.zeros(len(pairs))),
            interval,
            guess.learned_from,
        )
        for guess, interval in zip(guesses, share_intervals(right, attacked.videos), strict=True)
    ]
    return [ensemble, *sorted(attacks, key=lambda attack: (-attack.accuracy, attack.name)), *unavailable]


class _Guess(NamedTuple):
    """Margins of an attacker: folds x pairs, each by what was learned for a fold, or those of each pair's own fold."""

    name: str
    meaning: str
    learned_from: str
    margins: Floats


def check_pairs(pairs: Sequence[TextPair]) -> None:
    """Raise VttdataError, which says what to do, unless pairs can be attacked."""
    if not pairs:
        raise VttdataError("There are no pairs of texts to audit.")
    if len({pair.video_id for pair in pairs}) < 2:
        raise VttdataError("All pairs are of one video, and blind attackers learn from other videos; give several.")
    same = next((pair for pair in pairs if pair.true == pair.foil), None)
    if same is not None:
        raise VttdataError(f"A pair of video {same.video_id[:80]!a} has one text twice: {same.true[:80]!a}.")
    letters = [letter for pair in islice(pairs, _SAMPLED_PAIRS) for letter in pair.true if letter.isalpha()]
    scripts = [unicodedata.name(letter, "").partition(" ")[0] for letter in letters]
    unspaced = [script for script in scripts if script in _UNSPACED_SCRIPTS]
    if len(unspaced) * 2 > len(letters):
        language = max((_UNSPACED_SCRIPTS[script] for script in unspaced if script != "CJK"), default="Chinese")
        raise VttdataError(
            f"The texts are {language}, whose script has no spaces between words, and blind attackers compare words; "
            "separate the words by spaces."
        )


def stack_margins(margins: Floats, folds: Integers) -> Floats:
    """Return the margins of a logistic regression on those of several attackers, without weights below 0.

    What it learns for a fold comes from margins (attackers x folds x pairs; see `cross_fit`) that nothing of the fold
    has gone into.
    """
    stacked = np.zeros(len(folds))
    for fold in range(margins.shape[1]):
        of_fold = margins[:, fold].T
        scale = np.sqrt((of_fold[folds != fold] ** 2).mean(axis=0))
        scaled = np.clip(of_fold / np.where(scale > 0, scale, 1), -_MAX_SCALED_MARGIN, _MAX_SCALED_MARGIN)
        stacked[folds == fold] = scaled[folds == fold] @ nonnegative_logistic_regression(scaled[folds != fold])
    return stacked


def attack_rows(attacks: Sequence[Attack]) -> list[tuple[str, ...]]:
    """Return a header and a row for each attack, in the given order."""
    rows: list[tuple[str, ...]] = [HEADER]
    for attack in attacks:
        if attack.unavailable:
            rows.append((attack.name, "unavailable", "", "", f"{attack.meaning}: {attack.unavailable}", ""))
            continue
        low, high = attack.interval
        accuracy = f"{attack.accuracy:.3f}" + (" (open)" if attack.open else "")
        interval = f"{low:.3f}-{high:.3f}"
        rows.append((attack.name, accuracy, interval, f"{attack.result.ties:,}", attack.meaning, attack.learned_from))
    return rows


def attack_sentences(attacks: Sequence[Attack], same_texts: int = 0) -> str:
    """Summarize attacks: what the ensemble reaches, and what that does not show.

    `same_texts` is how many further pairs have one text twice.
    """
    ensemble, *members = [attack for attack in attacks if not attack.unavailable]
    low, high = ensemble.interval
    reached = (
        f"An ensemble of {len(members)} blind attackers, tried on videos that they did not learn from, is right on "
        f"{ensemble.accuracy:.3f} of {ensemble.result.pairs:,} pairs (95 % interval {low:.3f}-{high:.3f})"
    )
    if ensemble.open:
        verdict = f", above {MAX_ACCURACY:.2f}: the set is open to blind solving."
    else:
        verdict = f", not above {MAX_ACCURACY:.2f} with certainty. An attacker outside this suite may find more."
    opened = [attack.name for attack in members if attack.open]
    alone = f" Alone, above {MAX_ACCURACY:.2f}: {', '.join(opened)}." if opened else ""
    left_out = f" Left out were pairs whose true text and foil are the same: {same_texts:,}." if same_texts else ""
    return reached + verdict + alone + left_out


def attacks_text(attacks: Sequence[Attack], same_texts: int = 0) -> str:
    """Return a table, what attackers learned from, and the sentences, for a terminal of 100 columns."""
    tried = [attack for attack in attacks if not attack.unavailable]
    table = align_columns([row[:4] for row in attack_rows(tried)], left=range(4))
    learned: dict[str, list[str]] = {}
    for attack in tried:
        learned.setdefault(attack.learned_from, []).append(attack.name)
    notes = [f"Learned from {source}: {', '.join(names)}." for source, names in learned.items()]
    notes += [f"Unavailable: {attack.name} ({attack.unavailable})." for attack in attacks if attack.unavailable]
    paragraphs = [textwrap.fill(text, 100) for text in (" ".join(notes), attack_sentences(attacks, same_texts))]
    return "\n\n".join([table, *paragraphs])
