"""Caption campaigns notice by default who does not watch or write, and leave those alone who do."""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.helpers.needs import library

library("starlette")
library("httpx")

from tests.people.served import CAPTIONS, Client, served, write_rows
from vttdata.cli.main import main
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.people.campaign import Campaign, make_campaign
from vttdata.people.service import Service, make_report
from vttdata.people.store import Store
from vttdata.people.task import Answered, Item, Material, Observed
from vttdata.people.tasks.caption import CaptionTask, CaptionTaskSettings
from vttdata.records import Caption

# The long form makes 100 campaigns.
CAMPAIGNS = int(os.environ.get("VTTDATA_ROBOT_CAMPAIGNS", "5"))
COLOURS = ("red", "lime", "blue", "white", "black", "yellow", "magenta", "cyan")
RIGHT_QUIZ = [0, 1, 1, 0]
WORDS = [
    "purple",
    "window",
    "running",
    "table",
    "seven",
    "happy",
    "river",
    "under",
    "green",
    "music",
    "carrot",
    "paper",
    "slowly",
    "market",
    "orange",
]
SCENES = (
    ("young woman", "old farmer", "small child", "tall dancer", "street vendor", "tired runner", "grey cat"),
    ("carefully carries", "slowly pushes", "happily shows", "quickly drops", "quietly paints", "suddenly lifts"),
    ("a wooden chair", "two red apples", "a broken umbrella", "an empty bottle", "a heavy suitcase", "some flowers"),
    ("across the street", "in a bright kitchen", "near the old harbour", "behind a white fence", "under a bridge"),
)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of eight tiny videos of different colours."""
    folder = tmp_path_factory.mktemp("films")
    for colour in COLOURS:
        source = ("-f", "lavfi", "-i", f"color={colour}:s=64x48:r=10:d=0.6")
        coding = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-movflags", "+faststart")
        subprocess.run([ffmpeg_path(), "-v", "error", *source, *coding, str(folder / f"{colour}.mp4")], check=True)
    return folder


def made(folder: Path, films: Path, *overrides: str, workers: list[str]) -> Campaign:
    material = Material([str(films)], lambda wanted: {name: films / f"{name}.mp4" for name in wanted})
    campaign = make_campaign(folder, "caption", material, overrides)
    store = Store(campaign)
    for worker in workers:
        store.add_worker(worker)
    store.close()
    return campaign


def take_part(client: Client, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Answer whatever a worker is shown, the text of the first test by heart; return the last state."""
    client.insist("agree", {})
    state = client.insist("quiz", {"choices": RIGHT_QUIZ})
    while state["stage"] == "item":
        identity = {"id": uuid.uuid4().hex, "unit": state["unit"], "item": state["item"]}
        # What another worker has written already must be written anew.
        while (response := client.post("answer", identity | answer(state))).status_code == 422:
            assert response.json()["refused"] == "correction"
        assert response.status_code == 200, response.text
        state = response.json()
    return state


def robot(seed: int, **claims: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a program that plays no video and says anything, of which it may claim what it likes."""
    draw = Random(seed)

    def answer(state: dict[str, Any]) -> dict[str, Any]:
        choices = state["shown"].get("choices")
        nonsense = {"caption": " ".join(draw.sample(WORDS, 7))}
        said = nonsense if choices is None else {"choice": draw.randrange(len(choices))}
        return {"answer": said, "seconds": 0.6} | claims

    return answer


CLAIMS = {"none": {}, "all": {"seconds": 30.0, "observed": {"shown": 1, "keys": 60, "changes": 55, "pastes": 0}}}


@pytest.mark.parametrize("claims", CLAIMS)
def test_robot_that_plays_no_video_is_left_out_of_every_campaign(
    claims: str, films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts = []
    for seed in range(CAMPAIGNS):
        campaign = made(tmp_path / f"c{seed}", films, workers=["robot"])
        with served(campaign) as running:
            take_part(Client(running.link("robot")), robot(seed, **CLAIMS[claims]))
            (report,) = make_report(campaign, running.service.store)["workers"]
        verdicts.append((report["keep"], report["verdict"]))
    assert [keep for keep, _ in verdicts] == [False] * CAMPAIGNS, verdicts
    if claims == "none":
        assert {name for _, name in verdicts} <= {"not_shown", "too_fast"}
    assert main(["people", "status", str(campaign.folder)]) == 0
    assert verdicts[-1][1] in capsys.readouterr().out
    assert main(["people", "score", str(campaign.folder), "--out", str(tmp_path / "scores")]) == 0
    with (tmp_path / "scores" / "workers.csv").open() as stream:
        (row,) = csv.DictReader(stream)
    assert (row["kept"], row["verdict"]) == ("no", verdicts[-1][1])
    assert (tmp_path / "scores" / "results.csv").read_text().count("\n") == 1


def test_honest_workers_are_not_flagged(films: Path, tmp_path: Path) -> None:
    names = [f"honest{number}" for number in range(20)]
    campaign = made(tmp_path / "c", films, "judgments=20", workers=names)
    now = 1.8e9
    with served(campaign) as running:
        running.service.wall = lambda: now
        for name in names:
            draw = Random(name)
            # Workers differ in how fast they are, in whether they see what is asked, and in how they write.
            pace, is_phone = draw.lognormvariate(math.log(25), 0.4), draw.random() < 0.3

            def answer(state: dict[str, Any]) -> dict[str, Any]:
                nonlocal now
                item = campaign.items[state["unit"], state["item"]]
                is_question = "choices" in state["shown"]
                seconds = pace * draw.lognormvariate(0, 0.4) * (0.4 if is_question else 1)  # noqa: B023
                now += seconds + draw.uniform(0.2, 3)  # noqa: B023
                # The page lets nobody go on who saw less.
                observed = {"shown": draw.uniform(0.8, 1)}  # noqa: B023
                if is_question:
                    wrong = [n for n in range(len(state["shown"]["choices"])) if n != item.facts["right"]]
                    choice = draw.choice(wrong) if draw.random() < 0.03 else item.facts["right"]  # noqa: B023
                    return {"answer": {"choice": choice}, "seconds": seconds, "observed": observed}
                text = "The " + " ".join(draw.choice(part) for part in SCENES)  # noqa: B023
                # Swiping puts in a word at a time.
                changes = len(text.split()) + 2 if is_phone else len(text) + draw.randrange(12)  # noqa: B023
                observed |= {"keys": changes, "changes": changes, "pastes": int(draw.random() < 0.05)}  # noqa: B023
                return {"answer": {"caption": text}, "seconds": seconds, "observed": observed}

            client = Client(running.link(name))
            state = take_part(client, answer)
            assert state["stage"] in ("done", "stopped")
        report = make_report(campaign, running.service.store)["workers"]
    assert len(report) == 20
    assert sum(not row["keep"] or bool(row["flags"]) for row in report) <= 1, report
    assert sum(row["verdict"] == "reliable" for row in report) >= 19


def written(number: int, text: str, seconds: float = 20.0, saved: float | None = None, **seen: Any) -> Answered:
    observed = Observed(**{"shown": 1.0, "keys": 90, "changes": 80, "pastes": 0} | seen)
    item = Item(f"i{number}", f"v{number}", {}, {})
    return Answered("w", f"u{number}", item, {"caption": text}, seconds, saved or 100.0 * number, observed)


def chosen(number: int, right: bool, **seen: Any) -> Answered:
    item = Item(f"q{number}", f"v{number}", {"choices": [{}, {}, {}, {}]}, {"right": 1})
    observed = Observed(**{"shown": 1.0} | seen)
    return Answered("w", f"q{number}", item, {"choice": int(right)}, 8.0, -100.0 + number, observed)


TASK = CaptionTask(CaptionTaskSettings())
GOOD = [chosen(number, right=True) for number in range(4)]


def test_verdict_says_why_a_worker_does_not_count() -> None:
    texts = [written(n, CAPTIONS[n]) for n in range(5)]
    assert TASK.verdict([*GOOD, *texts]).name == "reliable"
    fast = TASK.verdict([*GOOD, *(entry._replace(seconds=0.6) for entry in texts)])
    assert (fast.keep, fast.name) == (False, "too_fast")
    assert fast.evidence == "median 0.6 s a caption, of at least 4 s; 4 of 4 controls right"
    # What the page claims is no longer than what passed between two answers.
    hasty = TASK.verdict([*GOOD, *(written(n, CAPTIONS[n], saved=1.0 + n / 2) for n in range(5))])
    assert (hasty.keep, hasty.name) == (False, "too_fast")
    unseen = TASK.verdict([*GOOD, *(written(n, CAPTIONS[n], shown=0.3) for n in range(5))])
    assert (unseen.keep, unseen.name) == (False, "not_shown")
    assert "80% of the clip were shown for 4 of 9 answers" in unseen.evidence
    wrong = TASK.verdict([*(chosen(n, right=n == 0) for n in range(4)), *texts])
    assert (wrong.keep, wrong.name, wrong.evidence) == (False, "failed_controls", "1 of 4 controls right")
    # Campaigns that were begun with an earlier page say nothing of what was shown.
    assert TASK.verdict([entry._replace(observed=None) for entry in (*GOOD, *texts)]).name == "reliable"


def test_how_a_text_came_is_a_flag_and_no_verdict() -> None:
    pasted = [*GOOD, *(written(n, CAPTIONS[n], keys=2, changes=1, pastes=1) for n in range(4))]
    assert TASK.flags(pasted) == [
        ("pasting", "text was pasted into 4 of 4 captions"),
        ("not_composed", "4 of 4 captions came in fewer changes of the text than they have words"),
    ]
    assert TASK.verdict(pasted).keep
    assert TASK.flags([*GOOD, *(written(n, CAPTIONS[n], pastes=n == 0) for n in range(4))]) == []
    assert TASK.flags(pasted[:6]) == [], "two captions are too few"


def test_questions_are_of_the_campaign_s_own_clips(films: Path, tmp_path: Path) -> None:
    campaign = made(tmp_path / "c", films, workers=["ann"])
    questions = [unit.items[0] for unit in campaign.units.values() if unit.qualifies]
    assert {item.video_id for item in questions} == {*COLOURS}
    for item in questions:
        pictures = [choice["picture"] for choice in item.shown["choices"]]
        assert len({*pictures}) == len(pictures) >= 3
        assert all(picture.startswith("data:image/jpeg;base64,") for picture in pictures)
    right = [item.facts["right"] for item in questions]
    assert len({*right}) > 1, "the right picture is not always at one place"


def test_captions_that_exist_for_clips_are_asked_for_in_questions(films: Path, tmp_path: Path) -> None:
    known = dict(zip(COLOURS[:4], CAPTIONS, strict=False))
    human = [Caption(video, number, text) for number, (video, text) in enumerate(known.items())]
    rows = write_rows(tmp_path / "v.csv", ("video_id",), *((colour,) for colour in COLOURS))
    # Videos on another server have captions alone to be asked for.
    address = "https://example.org/{video_id}.mp4"
    material = Material([str(rows)], lambda wanted: {}, human, address=address)
    campaign = make_campaign(tmp_path / "c", "caption", material, ())
    questions = [unit.items[0] for unit in campaign.units.values() if unit.qualifies]
    assert {item.video_id for item in questions} == {*known}
    for item in questions:
        assert item.shown["choices"][item.facts["right"]] == {"text": known[item.video_id]}
    without = Material([str(rows)], lambda wanted: {}, address=address)
    unasked = make_campaign(tmp_path / "d", "caption", without, ())
    assert [note.name for note in unasked.notes] == ["no_questions"]
    assert not any(unit.is_control for unit in unasked.units.values())


def test_qualification_comes_first_and_ends_with_two_wrong_answers(films: Path, tmp_path: Path) -> None:
    campaign = made(tmp_path / "c", films, "per_worker=2", "control_every=100", workers=["ann", "bob", "cem"])
    for worker, mistakes, stage, stages in (("ann", {0}, "done", 6), ("bob", {1, 2}, "stopped", 4)):
        with served(campaign) as running:
            asked: list[bool] = []

            def answer(state: dict[str, Any]) -> dict[str, Any]:
                item = campaign.items[state["unit"], state["item"]]
                asked.append("right" in item.facts)  # noqa: B023
                if not asked[-1]:  # noqa: B023
                    return {"answer": {"caption": f"{CAPTIONS[len(asked) % 6]} today"}, "seconds": 9}  # noqa: B023
                is_right = len(asked) - 1 not in mistakes  # noqa: B023
                choice = item.facts["right"] if is_right else (item.facts["right"] + 1) % 2
                return {"answer": {"choice": choice}, "seconds": 9}

            assert take_part(Client(running.link(worker)), answer)["stage"] == stage
            assert asked == [True] * min(stages, 4) + [False] * (stages - 4)
            saved = running.service.store
            # A new server knows who did not pass.
            assert Service(campaign, saved).state(worker)["stage"] == stage
    given = {name: served_first(campaign, name) for name in ("ann", "bob", "cem")}
    assert len({frozenset(units) for units in given.values()}) > 1, "workers meet different questions"


def served_first(campaign: Campaign, worker: str) -> set[str]:
    store = Store(campaign)
    units = set(Service(campaign, store)._queue.qualification(worker))
    store.close()
    return units


@pytest.mark.parametrize(
    "observed", [None, 7, [], {"shown": "all"}, {"shown": math.nan}, {"shown": -1, "keys": True}, {"keys": 1e400}]
)
def test_page_that_says_nothing_that_can_be_has_shown_nothing(observed: Any, films: Path, tmp_path: Path) -> None:
    campaign = made(tmp_path / "c", films, "qualification=false", "questions=0", workers=["ann"])
    with served(campaign) as running:
        client = Client(running.link("ann"))
        state = client.insist("agree", {})
        client.http.headers["Content-Type"] = "application/json"
        body = {"id": "a", "unit": state["unit"], "item": state["item"], "seconds": 5, "observed": observed}

        sent = json.dumps(body | {"answer": {"caption": CAPTIONS[0]}})
        assert client.http.post(f"{client.link}/answer", content=sent).status_code == 200
        (saved,) = running.service.store.answers()
    assert saved.observed is not None
    assert (saved.observed.shown, saved.observed.changes, saved.observed.pastes) == (0, 0, 0)


def test_consent_says_what_the_page_observes_whatever_the_requester_s_text(films: Path, tmp_path: Path) -> None:
    campaign = made(tmp_path / "c", films, "consent=We keep your captions.", workers=["ann"])
    with served(campaign) as running:
        text = Client(running.link("ann")).http.get(f"{running.link('ann')}/state").json()["consent"]
    assert text.startswith("We keep your captions. ")
    assert "how many keys you press" in text
    assert "not which keys" in text


def test_workers_are_asked_for_facets_if_a_campaign_wants_them(films: Path, tmp_path: Path) -> None:
    names = ["Who", "What", "Where", "When"]
    asked = made(tmp_path / "asked", films, "facets=true", workers=["a"])
    units = [unit for unit in asked.units.values() if not unit.is_control]
    assert all(item.shown["facets"] == names for unit in units for item in unit.items)
    text = "\n".join(CaptionTask(CaptionTaskSettings(facets=True)).instructions())
    assert all(f"\n{name}: " in text for name in names)
    plain = made(tmp_path / "plain", films, workers=["a"])
    assert not any("facets" in item.shown for unit in plain.units.values() for item in unit.items)
