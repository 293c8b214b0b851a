"""Write the tables of questions in docs/audits.md: ``python docs/question_sets.py ATLAS.json BUILD...``.

What blind attackers reach is what each build found, and sources shared are those of ``vttdata audit all --across all
--json``. Errors are looked for anew, and the attacker that tells most of single questions is tried again for two
examples. The same builds and files give the same tables; CPU seconds are printed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from tables import table

from vttdata.dataset.foils.statistics import read_blind_results
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.question_errors import ERRORS, find_question_errors
from vttdata.generate.blind.attacker import BlindAttacker, load_attackers
from vttdata.generate.blind.choices import Choice, ChoiceSet
from vttdata.generate.blind.trial import ENSEMBLE, ONE_BY_ONE, try_attackers
from vttdata.json_types import JsonObject, Row

PAGE = Path(__file__).resolve().parent / "audits.md"
_PLACE = re.compile(r"(<!-- questions -->\n).*?(<!-- end -->)", re.DOTALL)
_ATTACKED = (
    *("set", "questions", "guessing", "one question at a time (95 % interval)", "with the whole file"),
    *("best single attacker, and what it exploits", "two that it answers"),
)
_FOUND = (
    "set",
    "groups, and those all of whose questions the ensemble answers",
    *ERRORS.values(),
    "sources shared with",
)
_COLUMNS = ("question_id", "video_id", "source_id", "kind", "question", "options", "answer", "group", "end")
_MOST_SETS = 3


def list_attacked(name: str, dataset: Path, attackers: Mapping[str, BlindAttacker]) -> list[list[str]]:
    """Return a row for each kind of questions of a dataset that blind attackers tried."""
    page = PAGE.parent / "audits" / f"{name}.md"
    rows = []
    for config, attacks in read_blind_results(dataset).items():
        found = {attack["attacker"]: attack for attack in attacks}
        ensemble = found[ENSEMBLE]
        alone = [each for each in attacks if each["attacker"] in attackers and attackers[each["attacker"]].one_by_one]
        best, kind = max(alone, key=lambda each: each["accuracy"]), config.removeprefix("questions/")
        tells = best["low"] > best["guessing"]
        exploits = f"`{best['attacker']}`, {best['accuracy']:.3f}: {best['meaning'][0].lower()}{best['meaning'][1:]}"
        examples = find_examples(read_rows(dataset, kind), attackers[best["attacker"]]) if tells else []
        rows.append(
            [
                f"[{name}](audits/{page.name})" if page.is_file() else f"`{name}`",
                f"{ensemble['questions']:,} {kind.replace('_', ' ')}",
                f"{ensemble['guessing']:.3f}",
                *(describe_share(attack) for attack in (found.get(ONE_BY_ONE, ensemble), ensemble)),
                exploits if tells else "none is above guessing",
                ", ".join(f"`{each}`" for each in examples),
            ]
        )
    return rows


def describe_share(attack: JsonObject) -> str:
    """Return a share with its interval."""
    return f"{attack['accuracy']:.3f} ({attack['low']:.3f}-{attack['high']:.3f})"


def read_rows(dataset: Path, kind: str | None = None) -> list[Row]:
    """Return the questions of a dataset, of one kind or all."""
    paths = [path for each in read_layout(dataset, needs="questions").files["questions"].values() for path in each]
    return [row for row in read_parquet_rows(paths, _COLUMNS) if kind in (None, row["kind"])]


def find_examples(rows: Sequence[Row], attacker: BlindAttacker) -> list[str]:
    """Return the two questions, about different sources, that an attacker answers with the largest lead."""
    choices = ChoiceSet(
        [Choice(tuple(row["options"]), row["source_id"], row["question"], row["group"]) for row in rows]
    )
    answers = np.array([row["answer"] for row in rows], dtype=np.int64)
    scores = try_attackers({"best": attacker}, choices, answers).scores["best"]
    leads: dict[str, tuple[float, str]] = {}
    for row, of_options in zip(rows, np.split(scores, choices.starts[1:]), strict=True):
        lead = float(of_options[row["answer"]] - np.delete(of_options, row["answer"]).max())
        leads[row["source_id"]] = max(leads.get(row["source_id"], (0.0, "")), (lead, row["question_id"]))
    return [name for lead, name in sorted(leads.values(), key=lambda each: (-each[0], each[1]))[:2] if lead > 0]


def list_found(name: str, dataset: Path, shared: Mapping[str, Counter[str]]) -> list[str]:
    """Return the row of a dataset with its groups, the errors that its questions show, and sets with its sources."""
    groups = [attacks[0]["groups"] for attacks in read_blind_results(dataset).values() if "groups" in attacks[0]]
    errors = Counter(each.error for each in find_question_errors(dataset))
    clips = [path for paths in read_layout(dataset, needs=None).files["clips"].values() for path in paths]
    timed = {row["video_id"] for row in read_parquet_rows(clips, ("video_id", "end")) if row["end"]}
    if not any(row["end"] is not None and row["video_id"] in timed for row in read_rows(dataset)):
        errors["span_after_video"] = -1
    sets = [f"{other} {count:,}" for other, count in shared.get(name, Counter[str]()).most_common()]
    more = [f"{len(sets) - _MOST_SETS} more"] if len(sets) > _MOST_SETS else []
    return [
        f"`{name}`",
        "; ".join(f"{each['groups']:,}: {describe_share(each)}, guessing {each['guessing']:.3f}" for each in groups)
        or "-",
        *("not known" if errors[error] < 0 else f"{errors[error]:,}" for error in ERRORS),
        ", ".join(sets[:_MOST_SETS] + more) or ("none" if name in shared else "not known"),
    ]


def read_shared(atlas: Path) -> dict[str, Counter[str]]:
    """Return set -> other set -> sources that splits of both have."""
    content = json.loads(atlas.read_text(encoding="utf-8"))
    shared: dict[str, Counter[str]] = {name: Counter() for name in content["sets"]}
    for overlap in content["overlaps"]:
        (a, _), (b, _) = overlap["a"], overlap["b"]
        if overlap["sources"]:
            shared[a][b] += overlap["sources"]
            shared[b][a] += overlap["sources"]
    return shared


def main() -> int:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("atlas", type=Path, help="what 'vttdata audit all --across all --json' prints")
    parser.add_argument("builds", nargs="+", type=Path, help="folders of builds, named by their recipes")
    options = parser.parse_args()
    shared, attackers = read_shared(options.atlas), load_attackers()
    attacked: list[list[str]] = []
    found = []
    for build in sorted(options.builds, key=lambda each: each.name):
        started = time.process_time()
        attacked += list_attacked(build.name, build / "dataset", attackers)
        found.append(list_found(build.name, build / "dataset", shared))
        print(f"{build.name}: {time.process_time() - started:.1f} CPU s", file=sys.stderr)
    tables = f"{table(_ATTACKED, attacked)}\n{table(_FOUND, found)}"
    before = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_PLACE.sub(lambda match: f"{match[1]}{tables}{match[2]}", before), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
