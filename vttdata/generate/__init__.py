"""New captions made from given ones, as pure functions on records: no files, no stages."""

from typing import TYPE_CHECKING, Any

from vttdata.generate.degrade.degrade import DegradeSettings, degrade
from vttdata.generate.degrade.donors import Donors
from vttdata.generate.degrade.variants import VARIANTS

if TYPE_CHECKING:
    from vttdata.generate.foils.mine import mine_foils

__all__ = ["VARIANTS", "DegradeSettings", "Donors", "degrade", "mine_foils"]


def __getattr__(name: str) -> Any:
    # Loading a dataset imports this room for its flags, and then neither spaCy nor a lexicon is at hand or needed.
    if name == "mine_foils":
        try:
            from vttdata.generate.foils.mine import mine_foils
        except ModuleNotFoundError as error:
            told = f"Foils need more than loading does: pip install 'vttdata[foil]' ({error})."
            raise ModuleNotFoundError(told, name=error.name) from error
        return mine_foils
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
