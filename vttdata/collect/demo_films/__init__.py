"""The drawn world of the generated videos: what can be seen in it, by category, and the search that would find it."""

from vttdata.collect.demo_films import animals, geometry, sports, traffic, travel, weather
from vttdata.collect.demo_films.drawing import Drawing, Picture, View
from vttdata.collect.demo_films.motifs import ChooseMotif, Motif
from vttdata.collect.demo_films.props import MOODS

CATEGORIES: dict[str, tuple[tuple[str, ChooseMotif], ...]] = {
    "geometry": (
        ("bouncing shapes", geometry.bouncing),
        ("spinning shapes", geometry.crossing),
        ("two shapes in a circle", geometry.circling),
    ),
    "traffic": (
        ("car on a country road", traffic.driving),
        ("train on a bridge", traffic.crossing_bridge),
        ("bus and car on the street", traffic.meeting),
    ),
    "weather": (
        ("rain on a house", weather.raining),
        ("snow in the forest", weather.snowing),
        ("sunrise", weather.sunrise),
    ),
    "sports": (
        ("bouncing ball", sports.bouncing_ball),
        ("basketball throw", sports.basketball),
        ("tennis match", sports.tennis),
    ),
    "animals": (
        ("fish under water", animals.swimming),
        ("bird in flight", animals.flying),
        ("butterfly and flowers", animals.fluttering),
    ),
    "travel": (
        ("sailing boat", travel.sailing),
        ("hot-air balloon", travel.ballooning),
        ("rocket launch", travel.launching),
    ),
}
"""For each category its motifs, each with a query under which people would look for it."""

__all__ = ["CATEGORIES", "MOODS", "ChooseMotif", "Drawing", "Motif", "Picture", "View"]
