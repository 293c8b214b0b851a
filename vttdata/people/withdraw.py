"""Take withdrawn videos out of a campaign, with the answers about them."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import shlex
import sqlite3
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from vttdata.dataset.tombstones import Tombstones
from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.output_file import write_whole
from vttdata.files.own_folder import FileChanges
from vttdata.people.campaign import CAMPAIGN, DATABASE, MEDIA, UNITS, campaign_digest, read_campaign
from vttdata.people.service import lock_campaign
from vttdata.people.task import Item, Unit


def withdraw_from_campaign(folder: Path, dataset: str, tombstones: Tombstones, changes: FileChanges) -> None:
    """Take the items about withdrawn videos out of a campaign, with their answers and the videos that it prepared.

    Items about other videos that show captions or pictures of withdrawn ones, as controls do, lose these and are
    retired; their answers stay and count.

    Raises:
        VttdataError: when a server works on it, it was changed since it was made, or cannot be written.
    """
    with lock_campaign(folder), DescribeOSErrors(f"{folder}: the campaign cannot be written"):
        campaign = read_campaign(folder)
        content = json.loads((folder / CAMPAIGN).read_text(encoding="utf-8"))
        if content.get("datasets") and dataset not in content["datasets"]:
            changes.left.append((folder, f"is a campaign on {', '.join(content['datasets'])}"))
            return
        kept = []
        for unit in campaign.units.values():
            items = [_without(item, tombstones) for item in unit.items if not tombstones.covers(item.video_id)]
            kept += [dataclasses.replace(unit, items=tuple(items))] if items else []
        gone = [video for video in campaign.videos.values() if tombstones.covers(video.video_id)]
        for video in gone:
            if Path(video.page).parent == (folder / MEDIA).resolve():
                changes.remove(folder, f"{MEDIA}/{Path(video.page).name}", video.sha256)
        if not any(unit.asked for unit in kept):
            changes.left.append((folder, f"no item of it would be left: rm -r {shlex.quote(str(folder))}"))
            return
        if not gone and kept == list(campaign.units.values()) and "next_units_sha256" not in content:
            return
        names = [UNITS, *([DATABASE] if (folder / DATABASE).is_file() else ()), CAMPAIGN]
        for name in names:
            changes.note(folder / name, "changed")
        if changes.is_dry_run:
            return
        text = "".join(f"{json.dumps(dataclasses.asdict(unit), ensure_ascii=False)}\n" for unit in kept)
        # Whoever is killed between the files finds the units of one of both digests.
        content["next_units_sha256"] = hashlib.sha256(text.encode()).hexdigest()
        write_whole(folder / CAMPAIGN, json.dumps(content, indent=1))
        write_whole(folder / UNITS, text)
        content["units_sha256"] = content.pop("next_units_sha256")
        content["videos"] = [video for video in content["videos"] if not tombstones.covers(video["video_id"])]
        for note in content["notes"]:
            note["cases"] = [case for case in note["cases"] if not tombstones.mention(str(case))]
        _keep_answers(folder / DATABASE, kept, campaign_digest(content))
        write_whole(folder / CAMPAIGN, json.dumps(content, indent=1))


def _without(item: Item, tombstones: Tombstones) -> Item:
    """Return an item, retired and without its texts if it shows anything of another video that is withdrawn."""
    if not any(map(tombstones.covers, item.others)):
        return item
    facts = {name: value for name, value in item.facts.items() if not tombstones.cover_tree(value, name)}
    return dataclasses.replace(item, shown=_without_texts(item.shown), facts=facts, others=(), is_retired=True)


def _without_texts(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_texts(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_texts(each) for each in value]
    return "(withdrawn)" if isinstance(value, str) else value


def _keep_answers(database: Path, units: Collection[Unit], digest: str) -> None:
    """Delete the answers about other items, and what the file keeps of deleted rows."""
    if not database.is_file():
        return
    items = {(unit.unit, item.item) for unit in units for item in unit.items}
    names = {unit.unit for unit in units if unit.asked}
    try:
        with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            answers = connection.execute("SELECT number, unit, item FROM answers").fetchall()
            reserved = {row[0] for row in connection.execute("SELECT unit FROM reservations")}
            gone = [(number,) for number, unit, item in answers if (unit, item) not in items]
            connection.executemany("DELETE FROM answers WHERE number = ?", gone)
            connection.executemany("DELETE FROM reservations WHERE unit = ?", [(unit,) for unit in reserved - names])
            connection.execute("UPDATE campaign SET digest = ?", (digest,))
            connection.execute("COMMIT")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise VttdataError(f"{database}: cannot be changed ({error}); stop the server of the campaign.") from error
