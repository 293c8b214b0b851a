"""Add the answers of files, which came from a crowd platform or from exported pages, to those of a campaign."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from vttdata.people.answers.intake import FINDINGS
from vttdata.people.answers.read import read_results
from vttdata.people.campaign import Campaign
from vttdata.people.store import DuplicateError, Store, StoredAnswer
from vttdata.people.task import AnswerError, Earlier, Observed


def add_answers(campaign: Campaign, store: Store, files: Iterable[Path]) -> Mapping[str, Sequence[str]]:
    """Save the answers of files in the store of a campaign, as if the workers had given them to its server.

    Each goes through the task's `check`; an item that the worker has answered already keeps its first answer.

    Returns:
        What could not be used: kind of `FINDINGS` -> cases.

    Raises:
        VttdataError: when the campaign's task has no such files, or one cannot be read; see `read_results`.
    """
    results = read_results(files, manifest=campaign.manifest())
    findings = {kind: list(cases) for kind, cases in results.findings.items()}
    # In a file, answers may stand in another order than that in which they were given.
    in_order = sorted(results.judgments, key=lambda given: (given.worker, given.hit, given.position))
    for number, given in enumerate(in_order):
        case = f"{given.hit}/{given.worker}/{given.item}"
        score = int(given.score) if given.score.is_integer() else given.score
        try:
            answer = campaign.task.check(campaign.items[given.hit, given.item], {"score": score}, Earlier((), ()))
            observed = None if given.shown is None else Observed(given.shown)
            who = (f"file {number}", given.worker, given.hit, given.item)
            stored = StoredAnswer(*who, answer, None, given.seconds, float(number), observed)
            store.save(stored, None)
        except AnswerError:
            findings.setdefault("refused", []).append(case)
        except DuplicateError:
            findings.setdefault("duplicate", []).append(case)
    return {kind: findings[kind] for kind in FINDINGS if kind in findings}
