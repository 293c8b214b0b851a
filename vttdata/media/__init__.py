"""Work on video files: probing, measuring, shot detection, choice of clips, cutting. Usable as a library by itself."""

from vttdata.media.clip_selection import ClipSettings, choose_clips
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.measure import frame_times, measure
from vttdata.media.probe import probe
from vttdata.media.shots.contact_sheet import draw_sheet
from vttdata.media.shots.detect import Detection, ShotSettings, detect_shots
from vttdata.media.shots.scoring import score, score_by_kind

__all__ = [
    "ClipSettings",
    "Detection",
    "MediaSettings",
    "ShotSettings",
    "choose_clips",
    "cut",
    "detect_shots",
    "draw_sheet",
    "frame_times",
    "measure",
    "probe",
    "score",
    "score_by_kind",
]
