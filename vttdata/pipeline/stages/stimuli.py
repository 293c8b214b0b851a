"""Stage that writes the stimuli of clips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vttdata.conditions import StimuliSettings, Stimulus
from vttdata.media.probe import decoding_limit
from vttdata.media.stimuli import ClipStimuli
from vttdata.pipeline.stage import Kept, Outcome, Stage, runtime


@dataclass(frozen=True, slots=True)
class StimulusClip:
    """Clip with the digest of its file, and the clips that get it as their ``other``."""

    video_id: str
    sha256: str
    recipients: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stimuli(Stage[StimulusClip, Stimulus]):
    """What is shown of each clip in each condition; a clip is decoded once."""

    name = "stimuli"
    output = Stimulus
    id_column = "video_id"
    part_size = 4
    memory = 1024

    settings: StimuliSettings
    tools: str
    files: Mapping[str, Path] = runtime()
    folder: Path = runtime()
    scratch: Path = runtime()

    def label(self, item: StimulusClip) -> str:
        """Name the clip's file."""
        return self.files[item.video_id].name

    def seconds_limit(self, item: StimulusClip) -> float:
        """Return a limit that allows for the coding of each condition."""
        size = self.files[item.video_id].stat().st_size
        return decoding_limit(None, size) * (2 + len(self.settings.conditions))

    def process(self, item: StimulusClip) -> Iterator[Outcome[Stimulus]]:
        """Keep what is shown in each condition, and what other clips show of this one."""
        wanted = [(item.video_id, condition) for condition in self.settings.conditions if condition != "other"]
        wanted += [(video_id, "other") for video_id in item.recipients]
        with ClipStimuli(self.files[item.video_id], self.settings, self.folder, self.scratch) as stimuli:
            for video_id, condition in wanted:
                yield Kept(stimuli.write(video_id, condition, item.video_id))

    def intact(self, record: Stimulus) -> bool:
        """Return whether the files exist in their full size."""
        paths = [self.folder / name for name in record.files]
        return all(path.is_file() for path in paths) and sum(path.stat().st_size for path in paths) == record.bytes
