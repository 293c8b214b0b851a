"""Small plain letters for pictures, so that times can be written without a font library. Knows capitals and figures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LETTER_WIDTH, LETTER_HEIGHT = 8, 10
"""Pixels of one letter with the space after it, and of a line without the space below it."""

_SCALE = 2
_ROWS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71122",
    "8": "75757", "9": "75717", "A": "25755", "B": "65656", "C": "74447", "D": "65556", "E": "74647", "F": "74644",
    "G": "74557", "H": "55755", "I": "72227", "J": "11157", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "75557", "P": "75744", "Q": "75573", "R": "75765", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", ".": "00002", ":": "02020", "-": "00700", "#": "57575",
}  # fmt: skip
"""Five rows a letter, each an octal digit whose three bits are the dots."""


def write(picture: NDArray[np.uint8], text: str, left: int, top: int, colour: tuple[int, int, int]) -> None:
    """Write one line of text into an RGB picture (height x width x 3), in place; what does not fit is left out.

    Lower case is written as capitals, and characters without a letter here as spaces.
    """
    for place, character in enumerate(text.upper()):
        digits = [int(digit) for digit in _ROWS.get(character, "00000")]
        dots = np.array([[digit >> bit & 1 for bit in (2, 1, 0)] for digit in digits], bool)
        letter = dots.repeat(_SCALE, 0).repeat(_SCALE, 1)
        x = left + place * LETTER_WIDTH
        area = picture[top : top + letter.shape[0], x : x + letter.shape[1]]
        area[letter[: area.shape[0], : area.shape[1]]] = colour
