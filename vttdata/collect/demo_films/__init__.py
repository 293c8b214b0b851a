"""Films generated for the demo, whose content, cuts and captions are known exactly."""

from vttdata.collect.demo_films.drawing import Drawing, Frame, View
from vttdata.collect.demo_films.motifs import CATEGORIES, Motif, choose_motif
from vttdata.collect.demo_films.props import LIGHTS

__all__ = ["CATEGORIES", "LIGHTS", "Drawing", "Frame", "Motif", "View", "choose_motif"]
