"""Captions made from given ones, degraded or false: pure functions on records, without files and stages."""

from typing import TYPE_CHECKING, Any

from vttdata.generate.degrade.degrade import VARIANTS, DegradeSettings, degrade, degrade_captions
from vttdata.generate.degrade.donors import Donors

if TYPE_CHECKING:
    from vttdata.generate.foils.mine import mine_foils

__all__ = ["VARIANTS", "DegradeSettings", "Donors", "degrade", "degrade_captions", "mine_foils"]


def __getattr__(name: str) -> Any:
    # Loading a dataset imports this package for its flags, when spaCy need not be installed.
    if name == "mine_foils":
        try:
            from vttdata.generate.foils.mine import mine_foils
        except ModuleNotFoundError as error:
            message = "Foils need more libraries: pip install 'vttdata[foil]'."
            raise ModuleNotFoundError(message, name=error.name) from error
        return mine_foils
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
