"""What `render` returns: a drawing as text, or a picture as an array."""

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.games.contract import Player, State
from referee.harness.replay.drawing import Pictures

METADATA: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}


def rendered(
    mode: str | None, pictures: Pictures | None, state: State, player: Player | None = None
) -> str | NDArray[np.uint8] | None:
    """Returns the drawing of a position in this mode, of what a seat may see or of everything."""
    if pictures is not None:
        return pixels(pictures.draw(state, player))
    if mode is None:
        return None
    return str(state) if player is None else state.shown_to(player)


def pixels(png: bytes) -> NDArray[np.uint8]:
    """Returns a picture as rows, columns and the three colours."""
    from PIL import Image  # of the extra `pictures`

    return np.asarray(Image.open(BytesIO(png)).convert("RGB"))
