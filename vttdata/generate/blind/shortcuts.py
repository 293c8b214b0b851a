"""Audit of a set of foils for shortcuts: attempts to solve it without any video.

An attacker learns from other videos than those it is tried on. The ensemble stacks all of them, as an adversary would.
A low accuracy says nothing of attackers that were not tried.
"""

from __future__ import annotations

import itertools
import math
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

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
# Half of an interval beyond which a set that is not open has too few pairs to tell.
MAX_HALF_WIDTH = 0.05

HEADER = ("blind attacker", "accuracy", "95 % interval", "cannot tell", "how it decides", "learned from")

_OF_PAIRS = "pairs of other videos"
_MAX_SCALED_MARGIN = 3.0
_DIGITS = 9
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
    set; empty where it did. `from_card` says that the attack is that of the set's card, by texts that are not at hand.
    """

    name: str
    meaning: str
    result: PairAccuracy
    interval: tuple[float, float]
    learned_from: str = "pairs of other videos"
    unavailable: str = ""
    from_card: bool = False

    @property
    def accuracy(self) -> float:
        """Share of pairs on which it is right; a pair that it cannot tell counts half."""
        return self.result.half_credit

    @property
    def open(self) -> bool:
        """True if the accuracy is above `MAX_ACCURACY` with its whole interval."""
        return self.interval[0] > MAX_ACCURACY

    @property
    def verdict(self) -> Literal["open", "withstood", "too few pairs"]:
        """``open``, ``withstood``, or ``too few pairs`` where the interval is too wide to tell."""
        if self.open:
            return "open"
        low, high = self.interval
        return "withstood" if high - low <= 2 * MAX_HALF_WIDTH else "too few pairs"

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
            "verdict": self.verdict,
            **({"from_card": True} if self.from_card else {}),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Attack:
        """Return the attack of a card from its plain values; it must not be unavailable.

        Raises:
            LookupError, TypeError, ValueError: when they are not those of `as_json`.
        """
        name, meaning = str(values["attacker"]), str(values["meaning"])
        pairs, ties = int(values["pairs"]), int(values["ties"])
        wins = round(float(values["accuracy"]) * pairs - ties / 2)
        interval = float(values["low"]), float(values["high"])
        learned_from = str(values["learned_from"])
        return cls(name, meaning, PairAccuracy(pairs, wins, ties), interval, learned_from, from_card=True)


def audit_shortcuts(
    pairs: Sequence[TextPair],
    *,
    texts: Mapping[int, Sequence[Sequence[str]]] | None = None,
    models: Mapping[str, Scorer] | None = None,
    encoder: Encoder | None = None,
    watch: Callable[[Sequence[Any], str], Iterable[Any]] = lambda attackers, _: attackers,
) -> list[Attack]:
    """Let every blind attacker try a set, and their ensemble.

    Whoever has the set may learn how people write from the true texts of its pairs, whatever else there is to read. So
    attackers that read learn from these, and, where there are others, from those as well, each by itself; of both the
    one is reported that is right more often. The ensemble is stacked for each, too.

    Args:
        pairs: the set.
        texts: fold -> true texts of other videos, those of one video together; the models behind the foils must not
            have been trained on them.
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
    sources = {f"{_OF_PAIRS} and their true texts": AttackedPairs(pairs, None, encoder)}
    if texts is not None:
        videos = sum(map(len, texts.values()))
        sources[f"{_OF_PAIRS}, texts of {videos:,} other videos"] = AttackedPairs(pairs, texts, encoder)
    by_source: dict[str, list[_Guess]] = {source: [] for source in sources}
    unavailable: dict[str, Attack] = {}
    meanings = _describe_attackers()
    for name, attacker in watch([*load_attackers().items()], "attackers"):
        guess = None
        for source, attacked in sources.items():
            if guess is None or attacker.reads_texts:
                try:
                    margins = cross_fit(attacker.differences(attacked), attacked.folds, attacker.learn)
                except AttackerUnavailableError as error:
                    unavailable[name] = Attack(
                        name, meanings[name], PairAccuracy(0, 0, 0), (0.0, 0.0), source, str(error)
                    )
                    continue
                guess = _Guess(name, meanings[name], source if attacker.reads_texts else _OF_PAIRS, margins)
            by_source[source].append(guess)
    attacked = next(iter(sources.values()))
    for name, model in (models or {}).items():
        margin = perplexity_margins([pair.true for pair in pairs], [pair.foil for pair in pairs], model)
        margins = np.tile(margin, (int(attacked.folds.max()) + 1, 1))
        judge = _Guess(name, "Which text is likelier by this model", "nothing of this set", margins)
        for members in by_source.values():
            members.append(judge)
    ensembles = [_stack(members, attacked.folds, source) for source, members in by_source.items()]
    attacks = keep_worst(
        _judge([*ensembles, *itertools.chain.from_iterable(by_source.values())], attacked.folds, attacked.videos)
    )
    tried = {attack.name for attack in attacks}
    return [*attacks, *(attack for name, attack in unavailable.items() if name not in tried)]


def add_published(attacks: Sequence[Attack], published: Sequence[Attack]) -> list[Attack]:
    """Return of each attacker the worse of the attack here and the one that a set was published with."""
    tried = keep_worst([*(attack for attack in attacks if not attack.unavailable), *published])
    names = {attack.name for attack in tried}
    return [*tried, *(attack for attack in attacks if attack.unavailable and attack.name not in names)]


def _describe_attackers() -> dict[str, str]:
    """Return how each attacker decides, with its file where it is one of the user's."""
    meanings = ATTACKERS.descriptions()
    for name, path in ATTACKERS.files().items():
        if path.parent != ATTACKERS.package_folder:
            meanings[name] += f" (an attacker of one's own, {path.name})"
    return meanings


def _stack(members: Sequence[_Guess], folds: Integers, source: str) -> _Guess:
    """Return the guess of the ensemble of some members that learned from one source."""
    stacked = stack_margins(np.array([member.margins for member in members]), folds)
    meaning = f"Logistic regression on the margins of the other {len(members)}"
    return _Guess(ENSEMBLE, meaning, source, np.tile(stacked, (len(members[0].margins), 1)))


def _judge(guesses: Sequence[_Guess], folds: Integers, videos: Integers) -> list[Attack]:
    """Return the attacks that guesses are, each pair guessed by what was learned without its fold."""
    # Sums that are 0 but for the last digits are ties on every machine.
    margins = np.array([guess.margins[folds, np.arange(len(folds))] for guess in guesses]).round(_DIGITS)
    intervals = share_intervals((np.sign(margins) + 1) / 2, videos)
    return [
        Attack(guess.name, guess.meaning, pairwise_accuracy(row, np.zeros(len(folds))), interval, guess.learned_from)
        for guess, row, interval in zip(guesses, margins, intervals, strict=True)
    ]


def keep_worst(attacks: Iterable[Attack]) -> list[Attack]:
    """Return of each attacker the attack that is right most often, the ensemble first, then by accuracy and name."""
    worst: dict[str, Attack] = {}
    for attack in attacks:
        if attack.name not in worst or attack.accuracy > worst[attack.name].accuracy:
            worst[attack.name] = attack
    return sorted(worst.values(), key=lambda attack: (attack.name != ENSEMBLE, -attack.accuracy, attack.name))


class _Guess(NamedTuple):
    """Margins of an attacker: folds x pairs, each by what was learned for a fold."""

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
    letters = [letter for pair in itertools.islice(pairs, _SAMPLED_PAIRS) for letter in pair.true if letter.isalpha()]
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
    if ensemble.verdict == "open":
        verdict = f", above {MAX_ACCURACY:.2f}: the set is open to blind solving."
    elif ensemble.verdict == "withstood":
        verdict = f", not above {MAX_ACCURACY:.2f} with certainty. An attacker outside this suite may find more."
    else:
        needed = math.ceil(ensemble.result.pairs * ((high - low) / 2 / MAX_HALF_WIDTH) ** 2)
        verdict = (
            f". So few pairs cannot tell whether it is open: an interval of {MAX_HALF_WIDTH:.2f} to either side takes "
            f"some {needed:,}."
        )
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
    from_card = [attack.name for attack in tried if attack.from_card]
    if from_card:
        notes.append(f"As on the card, by texts or models that are not at hand: {', '.join(from_card)}.")
    notes += [f"Unavailable: {attack.name} ({attack.unavailable})." for attack in attacks if attack.unavailable]
    paragraphs = [textwrap.fill(text, 100) for text in (" ".join(notes), attack_sentences(attacks, same_texts))]
    return "\n\n".join([table, *paragraphs])
