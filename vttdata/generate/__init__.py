"""New captions made from given ones, as pure functions on records: no files, no stages."""

from vttdata.generate.degrade import DegradeSettings, degrade
from vttdata.generate.degrade_donors import Donors
from vttdata.generate.degrade_variants import VARIANTS

__all__ = ["VARIANTS", "DegradeSettings", "Donors", "degrade"]
