"""Decode every video of a folder with torchcodec: number of frames, and the times of the first and last one."""

import json
import sys
from pathlib import Path

from torchcodec.decoders import VideoDecoder

shown = {}
for path in sorted(Path(sys.argv[1]).rglob("*.mp4")):
    decoder = VideoDecoder(str(path))
    times = [decoder.get_frame_at(number).pts_seconds for number in range(len(decoder))]
    shown[path.stem] = [len(times), times[0], times[-1], list(decoder[0].shape)]
print(json.dumps(shown))
