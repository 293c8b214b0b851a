"""Tone mapping of pictures of high dynamic range (PQ and HLG) to the standard one, as filters of the ffmpeg program.

Diffuse white, 203 cd/m2 (ITU-R BT.2408, 2.1), becomes nearly the white of the clip: the brightest of the three colours
of a pixel is kept up to .7 of it, and what is brighter, up to 1,000 cd/m2, is compressed by a Moebius function; the
other two keep their ratio to it. Primaries become those of BT.709, and colours that these cannot show are clipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vttdata.records import HDR_TRANSFERS, Probe

HDR_CODE_POINTS = (16, 18)
"""Numbers of the transfer functions of high dynamic range in ITU-T H.273."""

_PQ = HDR_CODE_POINTS[0]
_WHITE, _PEAK, _KNEE = 203.0, 1000.0, 0.7
# Linear RGB of BT.2020 and of P3-D65 (code point of ffmpeg) to that of BT.709.
_TO_BT709 = {
    9: ((1.6605, -0.5876, -0.0728), (-0.1246, 1.1329, -0.0083), (-0.0182, -0.1006, 1.1187)),
    12: ((1.2249, -0.2247, 0.0), (-0.0420, 1.0419, 0.0), (-0.0197, -0.0786, 1.0979)),
}
_LUMA = np.array((0.2126, 0.7152, 0.0722))
_BT2020_LUMA = np.array((0.2627, 0.6780, 0.0593))


def is_hdr(probe: Probe) -> bool:
    """Return whether a video is of high dynamic range by the transfer function that it states."""
    return probe.color_transfer in HDR_TRANSFERS


def tone_map(pictures: Any, probe: Probe) -> Any:
    """Add the filters to a stream of ffmpeg-python whose pictures are of high dynamic range; it then has 8 bits."""
    # Streams that state the transfer function alone have the rest of BT.2100.
    primaries = "bt2020" if probe.color_primaries is None else probe.color_primaries
    matrix = "bt2020nc" if probe.color_matrix is None else probe.color_matrix
    stated = {"color_trc": probe.color_transfer, "color_primaries": primaries, "colorspace": matrix}
    return (
        pictures.filter("setparams", **stated)
        .filter("zscale", transfer="linear", npl=_WHITE, agamma="false")
        .filter("format", "gbrpf32le")
        .filter("zscale", primaries="bt709")
        .filter("tonemap", "mobius", param=_KNEE, desat=0, peak=f"{_PEAK / _WHITE:.6f}")
        .filter("zscale", transfer="bt709", matrix="bt709", range="limited", agamma="false")
        .filter("format", "yuv420p")
    )


def grey_of(rgb: npt.NDArray[np.uint16], transfer: int, primaries: int) -> npt.NDArray[np.float32]:
    """Return how light the pixels of a picture of high dynamic range are in a clip.

    Args:
        rgb: (height, width, 3), 0..65535, of full range.
        transfer: code point of PQ or HLG.
        primaries: code point; BT.709 and all that are not known here are left as they are.

    Returns:
        (height, width) of 0..255.
    """
    signal = rgb.astype(np.float64) / 65535
    light = (_light_of_pq(signal) if transfer == _PQ else _light_of_hlg(signal)) / _WHITE
    light = np.maximum(light @ np.array(_TO_BT709.get(primaries, np.eye(3))).T, 0)
    brightest = np.maximum(light.max(axis=2, keepdims=True), 1e-6)
    mapped = np.clip(light * (_compress(brightest) / brightest), 0, 1)
    # The inverse of a display's gamma (ITU-R BT.1886).
    grey: npt.NDArray[np.float32] = (255 * mapped ** (1 / 2.4) @ _LUMA).astype(np.float32)
    return grey


def _light_of_pq(signal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return cd/m2 (SMPTE ST 2084)."""
    root = signal ** (32 / 2523)
    return np.asarray(10_000 * (np.maximum(root - 107 / 128, 0) / (2413 / 128 - 2392 / 128 * root)) ** (16384 / 2610))


def _light_of_hlg(signal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return cd/m2 on a display of 1,000 cd/m2 (ITU-R BT.2100, table 5)."""
    scene = np.where(signal <= 0.5, signal**2 / 3, (np.exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12)
    return np.asarray(_PEAK * scene * np.maximum(scene @ _BT2020_LUMA, 1e-6)[..., np.newaxis] ** 0.2)


def _compress(light: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return light after the Moebius function of ffmpeg's filter `tonemap`."""
    peak = _PEAK / _WHITE
    a = -(_KNEE**2) * (peak - 1) / (_KNEE**2 - 2 * _KNEE + peak)
    b = (_KNEE**2 - 2 * _KNEE * peak + peak) / (peak - 1)
    scale = (b**2 + 2 * b * _KNEE + _KNEE**2) / (b - a)
    return np.where(light <= _KNEE, light, scale * (light + a) / (light + b))
