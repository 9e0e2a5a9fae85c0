"""`referee judge BOT`: the Arena's judged run."""

from contextlib import nullcontext
from pathlib import Path

from rich.text import Text

from referee.games import registry
from referee.harness.cli.exit_codes import PLAYED, SoFar
from referee.harness.cli.options import Flag, drawn, find_game
from referee.harness.cli.reports.judgement import judgement as report
from referee.harness.cli.screen import building, live, out, print_json
from referee.harness.cli.signals import run
from referee.harness.match.judge import Judged, Judgement, course, judge
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import Entrant, check_seats, entrant
from referee.harness.replay.writer import claimed_folder


def judge_bot(
    bot: str,
    *,
    game: str,
    seed: int | None = None,
    replay: Path | None = None,
    json: Flag = False,
) -> int:
    """Plays a bot against every built-in case of an Arena game: 100 points in all.

    Parameters
    ----------
    bot
        As for a match: PATH, cmd:'COMMAND LINE' or @NAME; NAME= in front names it.
    game
        The game's name.
    seed
        The seed of all luck. Without it one is drawn, and printed.
    replay
        The folder for the records, one a case. Default: a new one in ./replays.
    json
        Print one machine-readable object on standard output and nothing else.
    """
    judged = find_game(game)
    cases = len(course(judged.name).cases)
    check_seats([bot], judged.name, every_seat=True)
    seed = drawn(seed)
    with nullcontext(replay) if replay is not None else claimed_folder(f"{judged.name}-judged") as folder:
        judgement = run(_judge, judged.name, entrant(bot, judged.name, progress=building), seed, folder, cases)
    if json:
        print_json(judgement)
    else:
        out.print(report(judgement, judged.title))
        out.print(Text(f"replays  {folder}", style="dim"))
    return PLAYED


async def _judge(game: str, bot: Entrant, seed: int, folder: Path, cases: int) -> Judgement:
    done: list[Judged] = []

    def judged(case: Judged) -> None:
        done.append(case)
        live.show(f"case {len(done)}/{cases}  {sum(case.points for case in done)} points")

    try:
        return await judge(game, bot, seed, Limits(), folder, judged)
    except BaseException as error:
        if not done:
            raise
        so_far = Judgement(game, seed, bot.name, sum(case.points for case in done), tuple(done))
        raise SoFar(
            error, so_far, report(so_far, f"{registry.game(game).title}, {len(done)} of {cases} cases")
        ) from error
    finally:
        live.clear()
