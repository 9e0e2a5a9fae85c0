"""Plays games of modules again. They need no trust: everybody sees the same, to the last unit of fuel."""

from collections.abc import Callable, Mapping

from referee.addons.ladder.change import Accused, HandedIn, Refused
from referee.addons.ladder.games import Opened, play_games
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import GameLine, game_line, read_game

Progress = Callable[[str], None]
NEVER = 1 << 40
"""A time after all rounds: what entries know is known."""


async def differences(
    ladder: Ladder, hash: str, said: Mapping[int, bytes], opened: Opened, progress: Progress = lambda text: None
) -> dict[int, GameLine]:
    """Plays games of modules of a claim again. Returns those that differ, by place, as they are.

    `said`: lines by place in the claim.
    """
    if not said:
        return {}
    played = await play_games(ladder, hash, opened, sorted(said), progress=progress, now=NEVER)
    return {place: game.line for place, game in sorted(played.items()) if game_line(game.line) != said[place]}


def words_of(ladder: Ladder, hash: str, place: int, said: bytes, played: GameLine) -> str:
    """Says how a game differs from what a batch says of it."""
    bots, games = ladder.games_of(hash, NEVER)
    names = ", ".join(bots[bot].name for bot in games[place].bots)
    then = read_game(said, "the line")
    what = [
        f"{name} {_shown(before)} there, {_shown(now)} when it is played"
        for name, before, now in (
            ("ranks", then.ranks, played.ranks),
            ("turns", then.turns, played.turns),
            ("answers", then.course, played.course),
            ("fuel", then.costs, played.costs),
            ("faults", then.faults, played.faults),
        )
        if before != now
    ]
    return f"game {place + 1} ({names}, seed {games[place].seed}) is not what they play: {'; '.join(what)}"


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


async def prove(ladder: Ladder, handed_in: HandedIn, opened: Opened, progress: Progress) -> None:
    """Plays the games of a batch that have to be played again. Refused if one of them differs."""
    batch, claim = handed_in.batch, handed_in.claim
    places = ladder.places(batch.head.claim, handed_in.stage)
    said = {places[at]: batch.lines[at] for at in handed_in.places}
    ladder.chain.learn(batch.head.claim, handed_in.stage.signatures)
    wrong = await differences(ladder, batch.head.claim, said, opened, progress)
    for place, played in wrong.items():
        more = f"; {len(wrong)} games differ in all" if len(wrong) > 1 else ""
        why = words_of(ladder, batch.head.claim, place, said[place], played)
        raise Refused(f"the batch of {batch.head.runner}, claim {claim.number} of {claim.runner}: {why}{more}")


async def convict(ladder: Ladder, accused: Accused, opened: Opened, progress: Progress) -> None:
    """Plays the game of a strike. Refused if the batch was right, or if the strike says something else of the game."""
    strike, head = accused.strike, accused.head
    stage = next(each for each in ladder.chain.stages(head.claim, NEVER) if head.owner in each.owners)
    place = ladder.places(head.claim, stage)[strike.game]
    wrong = await differences(ladder, head.claim, {place: strike.said.encode()}, opened, progress)
    if place not in wrong:
        raise Refused(f"the strike against {head.runner} is wrong: game {strike.game + 1} is what the batch says")
    if game_line(wrong[place]).decode() != strike.played:
        raise Refused(f"the strike against {head.runner} says something else of the game than it shows when played")
