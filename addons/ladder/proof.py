"""Plays games of modules again. They need no trust: everybody sees the same, to the last unit of fuel."""

from collections.abc import Callable, Mapping, Sequence

from referee.addons.ladder.change import Accused, HandedIn, Refused
from referee.addons.ladder.draw import DrawnGame
from referee.addons.ladder.games import Opened, play_games
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import Claim, GameLine, game_line, read_game

Progress = Callable[[str], None]


async def differences(
    ladder: Ladder,
    claim: Claim,
    hash: str,
    lines: Sequence[bytes] | Mapping[int, bytes],
    places: Sequence[int],
    opened: Opened,
    progress: Progress = lambda text: None,
) -> dict[int, GameLine]:
    """Plays games of modules of a batch again. Returns those that differ, by place, as they are."""
    if not places:
        return {}
    played = await play_games(ladder, claim, hash, opened, places, progress=progress)
    return {place: game.line for place, game in sorted(played.items()) if game_line(game.line) != lines[place]}


def words_of(ladder: Ladder, claim: Claim, place: int, said: bytes, played: GameLine) -> str:
    """Says how a game differs from what a batch says of it."""
    bots, _, games = ladder.games_of(claim)
    game: DrawnGame = games[place]
    names = ", ".join(bots[bot].name for bot in game.bots)
    then = read_game(said, "the line")
    what = [
        f"{name} {_shown(before)} there, {_shown(now)} when it is played"
        for name, before, now in (
            ("ranks", then.ranks, played.ranks),
            ("turns", then.turns, played.turns),
            ("answers", then.course, played.course),
            ("fuel", then.costs, played.costs),
            ("faults", then.faults, played.faults),
            ("proof", then.proof, played.proof),
        )
        if before != now
    ]
    return f"game {place + 1} ({names}, seed {game.seed}) is not what they play: {'; '.join(what)}"


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


async def prove(ladder: Ladder, handed_in: HandedIn, opened: Opened, progress: Progress) -> None:
    """Plays the games of a batch that have to be played again. Refused if one of them differs."""
    batch, claim = handed_in.batch, handed_in.claim
    wrong = await differences(ladder, claim, batch.head.claim, batch.lines, handed_in.places, opened, progress)
    for place, played in wrong.items():
        more = f"; {len(wrong)} games differ in all" if len(wrong) > 1 else ""
        why = words_of(ladder, claim, place, batch.lines[place], played)
        raise Refused(f"the batch of {claim.runner}, claim {claim.number}: {why}{more}")


async def convict(ladder: Ladder, accused: Accused, opened: Opened, progress: Progress) -> None:
    """Plays the game of a strike. Refused if the batch was right, or if the strike says something else of the game."""
    strike, claim = accused.strike, accused.claim
    wrong = await differences(
        ladder, claim, strike.claim, {strike.game: strike.said.encode()}, [strike.game], opened, progress
    )
    if strike.game not in wrong:
        raise Refused(f"the strike against {claim.runner} is wrong: game {strike.game + 1} is what the batch says")
    if game_line(wrong[strike.game]).decode() != strike.played:
        raise Refused(f"the strike against {claim.runner} says something else of the game than it shows when played")
