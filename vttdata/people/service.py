"""Serve a campaign, apart from HTTP: choose units, take answers, and show the requester how the campaign stands.

All methods may be called from several threads. Memory is rebuilt from the database when a server starts, so that one
that was killed goes on where it was.
"""

from __future__ import annotations

import contextlib
import heapq
import hmac
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, Literal

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.file_lock import LockHeldError, hold_lock
from vttdata.files.results import ResultColumn, ResultTable, Section
from vttdata.ids import digest
from vttdata.people.campaign import MOST_CONTROL_EVERY, Campaign
from vttdata.people.scoring.quality import Agreement, agreement, worker_quality
from vttdata.people.store import DuplicateError, Reservation, SaveError, Store, StoredAnswer, WorkerState, answered
from vttdata.people.task import AnswerError, Earlier, Observed, Row, Unit


class UnitQueue:
    """Choice of the unit that a worker gets next: the least covered one, never one twice, and controls in between.

    A unit is covered by the workers who finished it and by those who have it reserved; reservations expire. Of equally
    covered units the first one is handed out. Each needs a number of `judgments`, one in `control_every` is a control,
    `clock` gives seconds that only go forward, and when a worker meets which control depends on a secret `key`. Of the
    controls that qualify, so many as `qualifying` come before all other units, and each worker has others. Who has
    nothing else left meets `enough_controls` of them at the end.
    """

    def __init__(
        self,
        units: Iterable[Unit],
        judgments: int,
        control_every: int,
        clock: Callable[[], float],
        key: str = "",
        qualifying: int = 0,
        enough_controls: int = 0,
    ) -> None:
        units, self._key, self._qualifying = list(units), key, qualifying
        self._qualifiers = [unit.unit for unit in units if unit.qualifies]
        self._qualification: dict[str, frozenset[str]] = {}
        self.enough_controls = enough_controls
        self.judgments, self.control_every, self.clock = judgments, control_every, clock
        self.controls = [unit.unit for unit in units if unit.is_control]
        self.order = {unit.unit: number for number, unit in enumerate(unit for unit in units if not unit.is_control)}
        self.finished: dict[str, int] = dict.fromkeys(self.order, 0)
        self.seen: dict[str, set[str]] = {}
        self.reserved: dict[str, tuple[str, float]] = {}
        self._holders: dict[str, set[str]] = {name: set() for name in self.order}
        # Units of each coverage below the number of judgments, as a dict for its order.
        self._buckets: list[dict[str, None]] = [dict.fromkeys(self.order), *({} for _ in range(judgments - 1))]
        self._expiries: list[tuple[float, str, str]] = []

    def finish(self, worker: str, unit: str, *, counts: bool = True) -> None:
        """Note that a worker is done with a unit; one that does not count is not covered by it."""
        if self.reserved.get(worker, ("", 0))[0] == unit:
            self.release(worker)
        if unit not in self.seen.setdefault(worker, set()):
            self.seen[worker].add(unit)
            if counts and unit in self.finished:
                before = self.coverage(unit)
                self.finished[unit] += 1
                self._move(unit, before)

    def coverage(self, unit: str) -> int:
        """Return how many workers finished a unit or have it reserved."""
        return self.finished[unit] + len(self._holders[unit])

    def reserve(self, worker: str, unit: str, seconds: float) -> None:
        """Reserve a unit in the place of what the worker had reserved."""
        self.release(worker)
        expires = self.clock() + seconds
        self.reserved[worker] = (unit, expires)
        heapq.heappush(self._expiries, (expires, worker, unit))
        if unit in self._holders:
            before = self.coverage(unit)
            self._holders[unit].add(worker)
            self._move(unit, before)

    def release(self, worker: str) -> None:
        """Free what a worker has reserved."""
        unit, _ = self.reserved.pop(worker, ("", 0))
        if worker in self._holders.get(unit, ()):
            before = self.coverage(unit)
            self._holders[unit].discard(worker)
            self._move(unit, before)

    def choose(self, worker: str, *, started: Iterable[str] = (), finishing: str | None = None) -> str | None:
        """Return the unit that a worker should get next, None when there is none now.

        Units in `started`, of which the worker has answered some items, come first, unless enough others have them by
        now; `finishing` is about to be finished.
        """
        self._release_expired()
        held = self.reserved.get(worker)
        if held is not None and held[0] != finishing:
            return held[0]
        seen = self.seen.get(worker, set()) | ({finishing} if finishing is not None else set())
        for unit in started:
            if unit not in seen and not self.is_enough(worker, unit):
                return unit
        regular = next((unit for bucket in self._buckets for unit in bucket if unit not in seen), None)
        first = self.qualification(worker) - seen
        # Controls alone would check nobody.
        if regular is not None and first:
            return min(first, key=lambda unit: digest([self._key, worker, unit]))
        # One unit of each run is a control, where nobody can foresee it.
        run, position = divmod(self.count(worker, finishing), self.control_every)
        own = len(seen & self.order.keys())
        is_due = (
            int(digest([self._key, worker, run])[:8], 16) % self.control_every == position
            if regular is not None
            else own > 0 and len(seen) - own < self.enough_controls
        )
        if is_due:
            controls = (unit for unit in self.controls if unit not in seen)
            return min(controls, key=lambda unit: digest([self._key, worker, unit]), default=regular)
        return regular

    def qualification(self, worker: str) -> frozenset[str]:
        """Return the units that a worker meets before all others."""
        if worker not in self._qualification:
            drawn = sorted(self._qualifiers, key=lambda unit: digest([self._key, "first", worker, unit]))
            self._qualification[worker] = frozenset(drawn[: self._qualifying])
        return self._qualification[worker]

    def count(self, worker: str, finishing: str | None = None) -> int:
        """Return how many units a worker is done with, beside those of the qualification."""
        done = self.seen.get(worker, set()) | ({finishing} if finishing is not None else set())
        return len(done - self.qualification(worker))

    def is_enough(self, worker: str, unit: str) -> bool:
        """Return whether a unit needs no further worker, since enough others finished it or have it."""
        self._release_expired()
        own = worker in self._holders.get(unit, ())
        return unit in self.finished and self.coverage(unit) - own >= self.judgments

    def may_come_back(self, worker: str) -> bool:
        """Return whether units that the worker has not done wait for others, who may not finish them."""
        seen = self.seen.get(worker, set())
        return any(
            self._holders[unit] and unit not in seen for unit in self.order if self.finished[unit] < self.judgments
        )

    def _release_expired(self) -> None:
        while self._expiries and self._expiries[0][0] <= self.clock():
            expires, reserver, unit = heapq.heappop(self._expiries)
            if self.reserved.get(reserver) == (unit, expires):
                self.release(reserver)

    def _move(self, unit: str, before: int) -> None:
        after = self.coverage(unit)
        if before < self.judgments:
            self._buckets[before].pop(unit, None)
        if after < self.judgments:
            self._buckets[after][unit] = None


MAX_ATTEMPTS = 2
"""How often a worker may try the qualification."""

_MAX_SECONDS = 86400.0
_MAX_NAME = 200
# The requester's page asks every few seconds; quality is computed anew when answers have come since, and not oftener.
_REPORT_SECONDS = 5.0


Refused = Literal["answer", "link", "correction", ""]


class RequestError(Exception):
    """Request that cannot be answered as asked.

    Fields:
        status: of HTTP.
        message: a sentence for the worker.
        refused: what ends with it, for the page: the answer, the link with all answers, nothing before the worker's
            correction, or nothing at all, so that the same request may succeed later.
    """

    def __init__(self, status: int, message: str, refused: Refused = "answer") -> None:
        super().__init__(message)
        self.status, self.message, self.refused = status, message, refused


@contextlib.contextmanager
def lock_campaign(folder: Path) -> Iterator[None]:
    """Hold the lock of a campaign's answers, which is released however this process ends.

    Raises:
        VttdataError: when a server works on them, or the folder cannot be written.
    """
    with contextlib.ExitStack() as stack:
        try:
            with DescribeOSErrors(f"{folder}: cannot be written"):
                stack.enter_context(hold_lock(folder / "server.lock"))
        except LockHeldError as error:
            raise VttdataError(f"{folder}: a server works on this campaign; stop it first{error.advice}.") from error
        yield


class Service:
    """Running campaign.

    `wall` gives seconds since the epoch, and `clock` seconds that only go forward. `known_tokens` has the workers who
    were read, by the tokens of their links.
    """

    def __init__(self, campaign: Campaign, store: Store, *, wall: Any = time.time, clock: Any = time.monotonic) -> None:
        self.campaign, self.store, self.wall, self.clock = campaign, store, wall, clock
        self._lock = threading.RLock()
        self._workers: dict[str, WorkerState] = {}
        self.known_tokens: dict[str, str] = {}
        self._version = (-1, 0)
        self._report: tuple[int, float, Row] | None = None
        self._load_workers()
        self._is_stale = False
        self._load_answers()

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        """Hold what is in memory; after a failure to write, which it may be ahead of, it is read anew."""
        with self._lock:
            if self._is_stale:
                self._load_answers()
            try:
                yield
            except SaveError:
                self._is_stale = True
                raise

    def _load_answers(self) -> None:
        """Read what was answered, and what waits for whom."""
        campaign, store, settings = self.campaign, self.store, self.campaign.settings
        # Others have answers that count.
        asked = {unit.unit: unit for unit in campaign.units.values() if unit.asked}
        self._queue = UnitQueue(
            asked.values(),
            settings.judgments,
            settings.control_every or MOST_CONTROL_EVERY,
            self.clock,
            campaign.token("order"),
            qualifying=campaign.task.qualifying(),
            enough_controls=(campaign.task.enough_controls() if any(unit.is_control for unit in asked.values()) else 0),
        )
        # Answers to units of the qualification that are not right.
        self._wrong: Counter[str] = Counter()
        # Answered items of units that a worker has not finished.
        self._partial: dict[tuple[str, str], set[str]] = {}
        self._problems: set[tuple[str, str]] = set()
        # Units that a worker was ever shown.
        self._assigned: set[tuple[str, str]] = {(worker, unit) for unit, worker in store.assignments()}
        self._ids: dict[str, tuple[str, str, str]] = {}
        # What a task compares further answers with.
        self._of_worker: dict[str, list[StoredAnswer]] = {}
        self._of_item: dict[tuple[str, str], list[StoredAnswer]] = {}
        for stored in store.answers():
            if stored.unit in asked:
                self._note(stored)
        now = self.wall()
        for unit, worker, expires in store.reservations():
            # A clock that was set back or forward makes no reservation longer than it was.
            left = min(max(expires - now, 0.0), settings.reservation_seconds)
            if unit in asked and unit not in self._queue.seen.get(worker, ()):
                self._queue.reserve(worker, unit, left)
        self._is_stale = False

    def _load_workers(self) -> None:
        """Read the workers again if another process has added some."""
        version = self.store.version()
        if version != self._version:
            self._version = version
            for state in self.store.workers():
                self._remember(state)

    def _remember(self, state: WorkerState) -> None:
        if state.worker not in self._workers:
            self.known_tokens[self.campaign.worker_token(state.worker)] = state.worker
        self._workers[state.worker] = state

    def _note(self, stored: StoredAnswer) -> None:
        worker, unit, item = stored.worker, stored.unit, stored.item
        self._ids[stored.answer_id] = (worker, unit, item)
        self._wrong[worker] += self._is_wrong(worker, unit, item, stored.answer)
        if self.campaign.task.compares and stored.answer:
            self._of_worker.setdefault(worker, []).append(stored)
            self._of_item.setdefault((unit, item), []).append(stored)
        self._assigned.add((worker, unit))
        done = self._partial.setdefault((worker, unit), set())
        done.add(item)
        if stored.problem is not None:
            self._problems.add((worker, unit))
        if done.issuperset(item.item for item in self.campaign.units[unit].asked):
            del self._partial[worker, unit]
            self._queue.finish(worker, unit, counts=(worker, unit) not in self._problems)

    def worker_of(self, token: str) -> str:
        """Return the worker whose link has a token.

        Raises:
            RequestError: 404 when there is none.
        """
        with self._held():
            if token not in self.known_tokens:
                self._load_workers()
            if token not in self.known_tokens:
                raise RequestError(
                    404, "This link is not one of this task. Ask the person who sent it for a new one.", "link"
                )
            return self.known_tokens[token]

    def is_requester(self, token: str) -> bool:
        """Return whether a token is that of the requester's page."""
        return hmac.compare_digest(token.encode(), self.campaign.requester_token.encode())

    def join(self, key: str, query: dict[str, str]) -> str:
        """Return the token of a worker whom a crowd platform sends, and who is new or comes back.

        `key` is that of the link for platforms, whose query has ``PROLIFIC_PID``, or ``workerId`` of Mechanical Turk.

        Raises:
            RequestError: when the key is wrong or the worker is not named.
        """
        if not hmac.compare_digest(key.encode(), self.campaign.join_token.encode()):
            raise RequestError(404, "This link is not one of this task.")
        if query.get("assignmentId") == "ASSIGNMENT_ID_NOT_AVAILABLE":
            raise RequestError(200, "This is a preview. Accept the task to start.")
        pairs = (("prolific", query.get("PROLIFIC_PID")), ("mturk", query.get("workerId")))
        names = [f"{platform}:{name}" for platform, name in pairs if name]
        if not names or len(names[0]) > _MAX_NAME or not names[0].isprintable():
            raise RequestError(400, "The link does not say who you are. Open the task from the platform again.")
        known = ("assignmentId", "hitId", "turkSubmitTo", "STUDY_ID", "SESSION_ID")
        platform = {name: query[name][:500] for name in known if query.get(name)}
        with self._held():
            self.store.add_worker(names[0], platform)
            state = self._workers.get(names[0], WorkerState(names[0], None, False, 0, {}))
            self._remember(state._replace(platform=platform or state.platform))
            self._version = (self._version[0], self.store.version()[1])
        return self.campaign.worker_token(names[0])

    def state(self, worker: str) -> Row:
        """Return what the worker's page shows now."""
        with self._held():
            return self._state(worker)

    def _state(self, worker: str) -> Row:
        campaign, known = self.campaign, self._workers[worker]
        task = campaign.task
        common: Row = {"title": campaign.title, "instructions": list(task.instructions())}
        if known.agreed is None:
            return common | {"stage": "consent", "consent": campaign.consent}
        is_quizzed = bool(task.quiz()) and not known.qualified
        if self._is_failed(worker) or (is_quizzed and known.attempts >= MAX_ATTEMPTS):
            return common | {"stage": "stopped"}
        if is_quizzed:
            quiz = [{"text": question.text, "choices": list(question.choices)} for question in task.quiz()]
            return common | {"stage": "quiz", "quiz": quiz, "attempts": MAX_ATTEMPTS - known.attempts}
        common["done"] = len(self._queue.seen.get(worker, ()))
        unit_id = self._next_unit(worker)
        if unit_id is None and not self._is_enough(worker) and self._queue.may_come_back(worker):
            return common | {"stage": "wait"}
        if unit_id is not None and self._queue.reserved.get(worker, ("",))[0] != unit_id:
            self.store.reserve(self._reservation(worker, unit_id))
            self._assigned.add((worker, unit_id))
            self._queue.reserve(worker, unit_id, campaign.settings.reservation_seconds)
        if unit_id is None:
            return common | {"stage": "done", "code": campaign.completion_code, "platform": known.platform}
        unit = campaign.units[unit_id]
        answered_items = self._partial.get((worker, unit_id), set())
        position, item = next((n, item) for n, item in enumerate(unit.asked) if item.item not in answered_items)
        return common | {
            "stage": "item",
            "unit": unit_id,
            "item": item.item,
            "position": position,
            "count": len(unit.asked),
            "video": campaign.video_address(worker, item.video_id),
            "following": self._following_video(worker, unit, position),
            "shown": dict(item.shown),
        }

    def _following_video(self, worker: str, unit: Unit, position: int) -> int | str | None:
        """Return the video that the page loads ahead: of the unit's next item, or of the unit that is likely next."""
        items = unit.asked[position + 1 :]
        if not items:
            next_unit = self._next_unit(worker, finishing=unit.unit)
            items = () if next_unit is None else self.campaign.units[next_unit].asked
        return self.campaign.video_address(worker, items[0].video_id) if items else None

    def _is_enough(self, worker: str, finishing: str | None = None) -> bool:
        return 0 < self.campaign.settings.per_worker <= self._queue.count(worker, finishing)

    def _is_wrong(self, worker: str, unit: str, item: str, answer: Row | None) -> bool:
        """Return whether an answer is one to the worker's qualification, and not right; None is a problem."""
        if unit not in self._queue.qualification(worker) or (unit, item) not in self.campaign.items:
            return False
        task = self.campaign.task
        return answer is None or not task.control_passed(self.campaign.items[unit, item], answer)

    def _is_failed(self, worker: str, finishing: str | None = None, further: int = 0) -> bool:
        """Return whether the qualification is over and more than a quarter wrong, with so many further answers."""
        units = self._queue.qualification(worker)
        is_over = units <= self._queue.seen.get(worker, set()) | {finishing}
        return is_over and 4 * (self._wrong[worker] + further) > len(units)

    def _next_unit(self, worker: str, finishing: str | None = None) -> str | None:
        """Return the worker's unit, or the one after the one that is about to be finished; None when there is none."""
        if self._is_enough(worker, finishing):
            return None
        started = [unit for name, unit in self._partial if name == worker and unit != finishing]
        return self._queue.choose(worker, started=started, finishing=finishing)

    def _reservation(self, worker: str, unit: str) -> Reservation:
        return Reservation(unit, worker, self.wall() + self.campaign.settings.reservation_seconds)

    def agree(self, worker: str) -> Row:
        """Note that a worker agreed to the consent."""
        with self._held():
            if self._workers[worker].agreed is None:
                self._change(worker, agreed=self.wall())
            return self._state(worker)

    def take_quiz(self, worker: str, choices: Any) -> Row:
        """Grade the qualification, which is passed with one wrong choice in four.

        Raises:
            RequestError: when not every question has a choice.
        """
        questions = self.campaign.task.quiz()
        if not isinstance(choices, list) or len(choices) != len(questions):
            raise RequestError(422, "Please answer every question.", "correction")
        with self._held():
            known = self._workers[worker]
            if known.agreed is None or known.qualified or known.attempts >= MAX_ATTEMPTS:
                return self._state(worker)
            right = [
                type(choice) is int and choice == question.right
                for choice, question in zip(choices, questions, strict=True)
            ]
            passed = 4 * sum(right) >= 3 * len(questions)
            self._change(worker, qualified=passed, attempts=known.attempts + 1)
            # Why the choices are right that the worker missed, without saying which they are.
            missed = (question for question, is_right in zip(questions, right, strict=True) if not is_right)
            reasons = [f"{question.text} {question.reason}" for question in missed]
            return self._state(worker) | {"passed": passed, "reasons": reasons}

    def _change(self, worker: str, **values: Any) -> None:
        changed = self._workers[worker]._replace(**values)
        self.store.update_worker(changed)
        self._workers[worker] = changed

    def check(self, worker: str, unit: str, item: str, answer: Any) -> str | None:
        """Return what is wrong with an answer that is being written, None when it would be taken."""
        with self._held():
            try:
                self._checked(worker, unit, item, answer)
            except AnswerError as error:
                return str(error)
        return None

    def _checked(self, worker: str, unit: str, item: str, answer: Any) -> Row:
        known = self._workers[worker]
        task = self.campaign.task
        if known.agreed is None or (task.quiz() and not known.qualified):
            raise RequestError(403, "Please read and agree to the first page before you answer.")
        self._check_assigned(worker, unit, item)
        if not isinstance(answer, dict):
            raise RequestError(400, "The answer is not a JSON object.")
        others = [a.answer for a in self._of_item.get((unit, item), ()) if a.answer and a.worker != worker]
        own = [a.answer for a in self._of_worker.get(worker, ()) if a.answer and (a.unit, a.item) != (unit, item)]
        return task.check(self.campaign.items[unit, item], answer, Earlier(others, own))

    def _check_assigned(self, worker: str, unit: str, item: str) -> None:
        if (unit, item) not in self.campaign.items or (worker, unit) not in self._assigned:
            raise RequestError(404, "This question is not one of this task.")

    def answer(
        self,
        worker: str,
        answer_id: str,
        unit: str,
        item: str,
        answer: Any,
        problem: str | None,
        seconds: float,
        observed: Observed | None = None,
    ) -> Row:
        """Save an answer and return the worker's next state.

        An answer that arrives again, or a second one to the same item from another window, changes nothing, and neither
        does one to a unit that went to enough others while the worker was away. Units that the worker never got are
        refused. The page makes `answer_id`, the same however often it is sent. With a `problem`, why the item cannot be
        answered, `answer` is None; `seconds` count from showing the item. `observed` is what the page says of itself.

        Raises:
            RequestError: when it is refused; 422 when the worker can correct it.
            SaveError: when it cannot be written, such as on a full disk.
        """
        with self._held():
            if self._ids.get(answer_id) == (worker, unit, item):
                return self._state(worker) | {"saved": "before"}
            known = self._partial.get((worker, unit), set())
            if answer_id in self._ids or item in known or unit in self._queue.seen.get(worker, ()):
                return self._state(worker) | {"saved": "elsewhere"}
            checked = None
            if problem is None:
                try:
                    checked = self._checked(worker, unit, item, answer)
                except AnswerError as error:
                    raise RequestError(422, str(error), "correction") from error
            else:
                self._check_assigned(worker, unit, item)
            if self._is_enough(worker) or self._queue.is_enough(worker, unit):
                # The worker was away, and the unit went to others.
                return self._state(worker) | {"saved": "late"}
            is_last = {item, *known}.issuperset(entry.item for entry in self.campaign.units[unit].asked)
            # The next unit is reserved together with the answer, so that there is one commit for both.
            is_wrong = self._is_wrong(worker, unit, item, checked)
            is_failed = self._is_failed(worker, finishing=unit, further=is_wrong)
            following = (None if is_failed else self._next_unit(worker, finishing=unit)) if is_last else unit
            reservation = None if following is None else self._reservation(worker, following)
            spent = min(max(seconds, 0.0), _MAX_SECONDS) if math.isfinite(seconds) else _MAX_SECONDS
            stored = StoredAnswer(answer_id, worker, unit, item, checked, problem, spent, self.wall(), observed)
            try:
                self.store.save(stored, reservation)
            except DuplicateError:
                # Another server wrote it; this one's memory is behind.
                raise RequestError(409, "This answer is saved already. Reload the page to go on.") from None
            self._note(stored)
            if following is not None:
                self._assigned.add((worker, following))
                self._queue.reserve(worker, following, self.campaign.settings.reservation_seconds)
            return self._state(worker) | {"saved": "now"}

    def answer_together(self, sent: Iterable[tuple[Any, ...]]) -> list[Row | Exception]:
        """Save answers by one commit: of each the arguments of `answer` come in, and what that returns or raises, out.

        Raises:
            SaveError: when they cannot be written; none of them is saved.
        """
        with self._held(), self.store.transaction():
            return [self._outcome(fields) for fields in sent]

    def _outcome(self, fields: tuple[Any, ...]) -> Row | Exception:
        try:
            return self.answer(*fields)
        except SaveError:
            raise
        except Exception as error:
            return error

    def report(self) -> Row:
        """Return what the requester's page shows: progress, workers, agreement."""
        with self._held():
            number, then = len(self._ids), self.clock()
            if self._report and (self._report[0] == number or then - self._report[1] < _REPORT_SECONDS):
                return self._report[2]
        report = make_report(self.campaign, self.store)
        with self._held():
            self._report = (number, then, report)
        return report


def make_report(campaign: Campaign, store: Store, *, hash_names: bool = False) -> Row:
    """Return how a campaign stands, from its database: progress, quality of workers (or of hashed names), agreement."""
    stored = store.answers()
    states = [state.worker for state in store.workers()]
    if hash_names:
        stored = [entry._replace(worker=campaign.hash_worker(entry.worker)) for entry in stored]
        states = [campaign.hash_worker(worker) for worker in states]
    answers = answered(campaign, stored)
    counts = Counter((entry.unit, entry.worker) for entry in answers if not entry.item.is_retired)
    regular = [unit for unit in campaign.units.values() if unit.asked and not unit.is_control]
    complete = Counter(unit for (unit, _), number in counts.items() if number == len(campaign.units[unit].asked))
    wanted = campaign.settings.judgments
    workers = worker_quality(campaign.task, answers)
    seconds = [entry.seconds for entry in answers if entry.seconds is not None]
    return {
        "title": campaign.title,
        "task": campaign.task_name,
        "units": len(regular),
        "judgments": wanted,
        "complete": sum(complete[unit.unit] >= wanted for unit in regular),
        "collected": sum(min(complete[unit.unit], wanted) for unit in regular),
        "wanted": wanted * len(regular),
        "answers": len(answers),
        "problems": [
            {"video_id": campaign.items[a.unit, a.item].video_id, "worker": a.worker, "problem": a.problem}
            for a in stored
            if a.problem is not None and (a.unit, a.item) in campaign.items
        ],
        "seconds": median(seconds) if seconds else None,
        "workers": [
            {
                "worker": report.worker,
                "answers": report.answers,
                "seconds": report.median_seconds,
                "verdict": report.verdict.name,
                "keep": report.verdict.keep,
                "evidence": report.verdict.evidence,
                "flags": [f"{flag}: {evidence}" for flag, evidence in report.flags],
            }
            for report in workers
        ],
        "idle": sorted({*states} - {report.worker for report in workers}),
        "agreement": [
            # Browsers read no NaN.
            {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in row._asdict().items()
            }
            for row in agreement(campaign.task, answers)
        ],
    }


def report_sections(report: Row) -> list[Section]:
    """Return what a report of `make_report` says of workers, of their agreement, and of problems that they reported."""
    sections = []
    if report["workers"]:
        workers = [
            (
                row["worker"],
                row["answers"],
                row["seconds"],
                row["verdict"] if row["keep"] else f"{row['verdict']} (does not count)",
                row["evidence"],
                "; ".join(row["flags"]),
            )
            for row in report["workers"]
        ]
        columns = ("worker", "answers", ResultColumn("median seconds", 1), "verdict", "evidence", "flags")
        sentence = "Controls decide who is left out of the results; flags are hints, and decide nothing."
        sections.append(Section("Workers", [sentence], table=ResultTable(columns, workers), badge=f"{len(workers):,}"))
    if report["agreement"]:
        rows = [tuple(row.values()) for row in report["agreement"]]
        sentence = "Items with several judgments; alpha is Krippendorff's, 1 for full agreement and 0 for chance."
        sections.append(Section("Agreement", [sentence], table=ResultTable(Agreement._fields, rows)))
    if report["problems"]:
        problems = [(row["video_id"], row["problem"], row["worker"]) for row in report["problems"]]
        table = ResultTable(("video_id", "problem", "worker"), problems, "Problems that workers reported")
        sections.append(Section("Problems", table=table, badge=f"{len(problems):,}"))
    return sections
