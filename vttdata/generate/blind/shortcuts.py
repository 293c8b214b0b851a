"""Audit of a set of foils for shortcuts: attempts to solve it without any video.

An attacker learns from other videos than those it is tried on, and the ensemble adds up what all of them learned.
A low accuracy says nothing of attackers that were not tried.
"""

from __future__ import annotations

import functools
import itertools
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from vttdata.errors import VttdataError
from vttdata.files.results import Bar, Bars, Interval, Limit, ResultTable, Section
from vttdata.generate.blind.accuracy import PairAccuracy, pairwise_accuracy
from vttdata.generate.blind.attacker import by_features, load_attackers
from vttdata.generate.blind.attackers import ATTACKERS
from vttdata.generate.blind.choices import ChoiceSet, Encoder, TextPair, VideoCorpus, arrange_pairs, measure_likelihood
from vttdata.generate.blind.learning import Floats
from vttdata.generate.blind.trial import ENSEMBLE, try_attackers
from vttdata.json_types import JsonObject
from vttdata.statistics.bootstrap import share_intervals
from vttdata.text.lm import Scorer

# Accuracy above which a set counts as open to an attacker, where the whole 95 % interval is above it.
MAX_ACCURACY = 0.55
# Half of an interval beyond which a set that is not open has too few pairs to tell.
MAX_HALF_WIDTH = 0.05

HEADER = ("blind attacker", "accuracy", "95 % interval", "cannot tell", "how it decides", "learned from")

_OF_PAIRS = "pairs of other videos"
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
        """Return the attack of a card from its plain values.

        Raises:
            LookupError, TypeError, ValueError: when they are not those of `as_json`.
        """
        name, meaning = str(values["attacker"]), str(values["meaning"])
        if "unavailable" in values:
            nothing = PairAccuracy(0, 0, 0)
            return cls(name, meaning, nothing, (0.0, 0.0), unavailable=str(values["unavailable"]), from_card=True)
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
    attackers that read learn from these, and, where there are others, from those as well.

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
    corpus = None if texts is None else {fold: VideoCorpus(of_fold) for fold, of_fold in texts.items()}
    choices, answers = arrange_pairs(pairs, texts=corpus, encoder=encoder)
    attackers = load_attackers()
    likelihoods = {name: functools.partial(_judge, model) for name, model in (models or {}).items()}
    judges = {name: by_features(describe) for name, describe in likelihoods.items()}
    trial = try_attackers({**attackers, **judges}, choices, answers, watch=watch)
    # The ensemble learns how far a model can be trusted; the model itself learns nothing of the set.
    scored = {**trial.scores, **{name: choices.features(each)[:, 0] for name, each in likelihoods.items()}}
    read = f"{_OF_PAIRS} and their true texts"
    if texts is not None:
        read += f", texts of {sum(map(len, texts.values())):,} other videos"
    described = _describe_attackers() | dict.fromkeys(judges, "Which text is likelier by this model")
    described[ENSEMBLE] = f"What holds of the other {len(trial.scores) - 1} together"
    sources = {name: read for name, attacker in attackers.items() if attacker.uses_corpus_texts} | {ENSEMBLE: read}
    margins = {
        name: scores[choices.starts + answers] - scores[choices.starts + 1 - answers] for name, scores in scored.items()
    }
    videos = np.unique([pair.video_id for pair in pairs], return_inverse=True)[1]
    intervals = share_intervals((np.sign(list(margins.values())) + 1) / 2, videos)
    attacks = keep_worst(
        Attack(
            name,
            described[name],
            pairwise_accuracy(of_pairs, np.zeros(len(pairs))),
            interval,
            sources.get(name, _OF_PAIRS),
        )
        for (name, of_pairs), interval in zip(margins.items(), intervals, strict=True)
    )
    unavailable = [
        Attack(name, described[name], PairAccuracy(0, 0, 0), (0.0, 0.0), unavailable=why)
        for name, why in trial.unavailable.items()
    ]
    return [*attacks, *unavailable]


def _judge(model: Scorer, choices: ChoiceSet) -> Floats:
    return measure_likelihood(choices, model)[:, None]


def add_published(attacks: Sequence[Attack], published: Sequence[Attack]) -> list[Attack]:
    """Return of each attacker the worse of the attack here and the one that a set was published with."""
    here = [attack for attack in attacks if not attack.unavailable]
    repeated = [attack.as_json() for attack in here]
    others = [each for each in published if replace(each, from_card=False).as_json() not in repeated]
    tried = keep_worst([*others, *here])
    names = {attack.name for attack in tried}
    return [*tried, *(attack for attack in attacks if attack.unavailable and attack.name not in names)]


def _describe_attackers() -> dict[str, str]:
    """Return how each attacker decides, with its file where it is one of the user's."""
    meanings = ATTACKERS.descriptions()
    for name, path in ATTACKERS.files().items():
        if path.parent != ATTACKERS.package_folder:
            meanings[name] += f" (an attacker of one's own, {path.name})"
    return meanings


def keep_worst(attacks: Iterable[Attack]) -> list[Attack]:
    """Return of each attacker the attack that is right most often, the ensemble first, then by accuracy and name."""
    worst: dict[str, Attack] = {}
    for attack in attacks:
        if attack.name not in worst or attack.accuracy > worst[attack.name].accuracy:
            worst[attack.name] = attack
    return sorted(worst.values(), key=lambda attack: (attack.name != ENSEMBLE, -attack.accuracy, attack.name))


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


def attack_section(
    attacks: Sequence[Attack], same_texts: int = 0, *, title: str = "", key: str = "", narrow: bool = False
) -> Section:
    """Return what attackers reach, with a figure; `narrow` leaves the widest columns to sentences, for a terminal."""
    tried = [attack for attack in attacks if not attack.unavailable]
    sentences = [attack_sentences(attacks, same_texts)]
    rows = attack_rows(tried if narrow else attacks)
    if narrow:
        rows = [row[:4] for row in rows]
        if from_card := [attack.name for attack in tried if attack.from_card]:
            sentences.append(f"As on the card, by texts or models that are not at hand: {', '.join(from_card)}.")
        learned: dict[str, list[str]] = {}
        for attack in tried:
            learned.setdefault(attack.learned_from, []).append(attack.name)
        sentences += [f"Learned from {source}: {', '.join(names)}." for source, names in learned.items()]
        sentences += [f"Unavailable: {attack.name} ({attack.unavailable})." for attack in attacks if attack.unavailable]
    figure = Bars(
        [
            Bar.of(attack.name, Interval(attack.accuracy, *attack.interval), "bad" if attack.open else "a")
            for attack in tried
        ],
        "Share of pairs on which an attacker without the video is right, with 95 % intervals",
        ("blind attacker", "accuracy"),
        maximum=1.0,
        limits=[Limit(0.5, "chance", "good")],
        sortable=True,
    )
    return Section(title, sentences, table=ResultTable.of_rows(rows, "Attackers"), figures=[figure], key=key)
