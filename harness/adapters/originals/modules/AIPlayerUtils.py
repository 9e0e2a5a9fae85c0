"""Functions on positions (reantics.md, 11.3). Agents also use the names that this module imports."""

import random

from Ant import UNIT_STATS, Ant
from Constants import *
from Construction import CONSTR_STATS, Construction
from GameState import *
from Move import Move
from referee_kit import reantics as _kit

# The kit's own functions. Its classes are not those of the original, where `fastclone` is a method.
for _name, _made in vars(_kit).items():
    if getattr(_made, "__module__", "") == "referee_kit._reantics" and _name != "fastclone":
        globals()[_name] = _made
