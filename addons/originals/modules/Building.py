"""Anthills and tunnels (reantics.md, 4 and 11.2)."""

from _names import kit_name
from Constants import *
from Construction import CONSTR_STATS, Construction


class Building(Construction):
    """An anthill or a tunnel."""

    capture_health = kit_name("captureHealth")

    def __init__(self, inputCoordinates, inputType, inputPlayer, inputCaptureHealth=None):
        super().__init__(inputCoordinates, inputType)
        self.player = inputPlayer
        self.captureHealth = CONSTR_STATS[inputType][CAP_HEALTH] if inputCaptureHealth is None else inputCaptureHealth
