"""Clips and foils are displayed by notebooks, whatever their texts hold."""

from vttdata.generate.foils.documents import FoilPair
from vttdata.generate.foils.swaps import Swap
from vttdata.records import Clip


def test_foil_marks_what_was_swapped() -> None:
    swap = Swap(2, 5, "cat", "dog", "cat", "animal", "dog", "cat", 0)
    pair = FoilPair("v<1", "v1_0", 0, "a dog & a <b>", "a cat & a <b>", swap, 10.5, 20.25, "test")
    assert pair._repr_html_() == (
        "<p><code>v&lt;1</code><br>a <mark>dog</mark> &amp; a &lt;b&gt;<br>a <mark>cat</mark> &amp; a &lt;b&gt;</p>"
    )


def test_clip_names_its_times_and_origin() -> None:
    clip = Clip("v1", "s", 1.0, 12.5, 0, 9, 1, "https://e.org/?a=1&b=<script>", "a<b", split="test")
    assert clip._repr_html_() == (
        "<p><code>v1</code> test, a&lt;b<br>1.00 to 12.50 s of https://e.org/?a=1&amp;b=&lt;script&gt;</p>"
    )
