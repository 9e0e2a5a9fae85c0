"""The rules of `referee check` for the rules program of a game."""

from collections.abc import Mapping

from referee.harness.check.findings import Rule

RULES: Mapping[str, Rule] = {
    "game-starts": Rule(
        "The program starts, and has a first position for every number of seats",
        "answer initialize and start; flush standard output after every answer",
        "SPEC.md 19-21",
    ),
    "game-start-repeats": Rule(
        "The first position follows from options, seats and luck alone",
        "take all random numbers from `luck`; read no clock and no file that changes",
        "SPEC.md 20, 26",
    ),
    "game-ends": Rule(
        "Matches between random players end, and their results rank all seats",
        "end a match that goes on for too long, such as by a limit of turns",
        "SPEC.md 21, 25",
    ),
    "game-steps-repeat": Rule(
        "A step follows from position, answers and luck alone",
        "keep nothing between two requests; take all random numbers from `luck`; read no clock",
        "SPEC.md 20, 26, 28",
    ),
    "game-legal-accepted": Rule(
        "Every answer of the list of legal ones is accepted", "list what step accepts, in this position", "SPEC.md 27"
    ),
    "game-others-refused": Rule(
        "Every answer that is not in the list is refused", "refuse it with a ruling, or list it", "SPEC.md 24, 27"
    ),
    "game-faults-ruled": Rule(
        "Faults of every kind have a ruling, in and out of turn",
        "return one ruling for each member of `faults`, await no seat that is out, and rank it behind all others",
        "SPEC.md 24, 25, 27",
    ),
    "game-views-fit": Rule(
        "Every seat can look at every position", "return views that fit view and seat_view of game.toml", "SPEC.md 27"
    ),
    "game-views-hide": Rule(
        "No seat sees what is hidden from it",
        "leave what `deal` draws again out of a seat's view, its drawing and its legal answers",
        "SPEC.md 27",
    ),
    "game-board": Rule(
        "The board that game.toml declares is in the views",
        "name members of the views in presentation.board",
        "SPEC.md 30",
    ),
    "game-memory-flat": Rule(
        "Memory does not grow from match to match",
        "keep nothing between two requests, or forget the oldest; where a runtime collects garbage, limit its heap so"
        " that it fills soon, as with `java -Xmx64m` or `node --max-old-space-size=64`",
        "SPEC.md 28",
    ),
    "game-step-times": Rule("A step takes little time", "make step faster: all bots wait for it", "SPEC.md 29"),
}
"""The rules for the rules program of a game, in the order in which they are tried."""
