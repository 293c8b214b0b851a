"""Show which frames of a video the words of a caption match (``vttdata video match``)."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, WholeNumber, argument, json_option, option
from vttdata.errors import MediaError, VttdataError
from vttdata.files.output_file import check_output_picture


@click.command("match", cls=Command, examples=['vttdata video match clip.mp4 "a man rides a horse" --out matches.png'])
@argument("video", "VIDEO", "A video file.", type=FILE)
@argument("caption", "CAPTION", "A caption of it.")
@option("--out FILE", "Picture to write (PNG).", type=FILE)
@option("--model MODEL", "CLIP model, by name or folder, with @REVISION if needed.", show_default="CLIP ViT-B/32")
@option("--frames N", "Frames of the video, spread evenly; 0 for all.", type=WholeNumber(0, 10**6), default=10)
@option("--device DEVICE", "Where the model computes: cpu, cuda, cuda:1.", default="cpu")
@json_option
def command(
    video: Path, caption: str, out: Path | None, model: str | None, frames: int, device: str, as_json: bool
) -> int:
    """Show which frame of a video each word of a caption fits best.

    As EMScore sees them: each token is printed with the time of its frame and their cosine, and drawn with the frame.
    """
    from vttdata.evaluate.embeddings.features import DEFAULT_MODEL, load_clip
    from vttdata.evaluate.embeddings.match_picture import match_frames

    if out is not None:
        check_output_picture(out)
    try:
        match, tokens = match_frames(
            load_clip(model or DEFAULT_MODEL, device), video, caption, frames=frames, target=out
        )
    except MediaError as error:
        raise VttdataError(f"{video}: {error}") from error
    except OSError as error:
        raise VttdataError(f"{out}: cannot be written ({error.strerror or error}).") from error
    if as_json:
        parts = {**match._asdict(), "score": match.score}
        print(json.dumps({**parts, "tokens": [asdict(token) for token in tokens]}, indent=2, ensure_ascii=False))
        return DONE
    for token in tokens:
        print(f"{token.seconds:8.2f} s  {token.cosine:6.3f}  {token.token}")
    print(
        f"EMScore {match.score:.3f}: coarse {match.coarse:.3f}, F {match.f:.3f}, precision {match.precision:.3f}, "
        f"recall {match.recall:.3f}; all tokens weigh the same"
    )
    return DONE
