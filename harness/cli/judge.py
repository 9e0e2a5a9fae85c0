"""`referee judge BOT`: the Arena's test run."""

from contextlib import nullcontext
from pathlib import Path

from rich.text import Text

from referee.games import registry
from referee.harness.cli.exit_codes import PLAYED, SoFar
from referee.harness.cli.options import Flag, drawn, find_game
from referee.harness.cli.reports.judgement import judgement as report
from referee.harness.cli.screen import building, live, out, print_json
from referee.harness.cli.signals import run
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import Entrant, check_seats, entrant
from referee.harness.replay.writer import claim_folder
from referee.harness.servers.arena.judge import CaseResult, JudgeReport, judge, judge_plan


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
        As for a match: PATH, cmd:'COMMAND LINE' or @NAME. NAME= before it names the bot.
    game
        The game's name.
    seed
        The seed of all random numbers. Default: a random one, which is printed.
    replay
        The folder for the replays, one per case. Default: a new one in ./replays.
    json
        Print only one JSON object on standard output.
    """
    played = find_game(game)
    cases = len(judge_plan(played.name).cases)
    check_seats([bot], played.name, every_seat=True)
    seed = drawn(seed)
    with nullcontext(replay) if replay is not None else claim_folder(f"{played.name}-judged") as folder:
        result = run(_judge, played.name, entrant(bot, played.name, progress=building), seed, folder, cases)
    if json:
        print_json(result)
    else:
        out.print(report(result, played.title))
        out.print(Text(f"replays  {folder}", style="dim"))
    return PLAYED


async def _judge(game: str, bot: Entrant, seed: int, folder: Path, cases: int) -> JudgeReport:
    done: list[CaseResult] = []

    def on_case(case: CaseResult) -> None:
        done.append(case)
        live.show(f"case {len(done)}/{cases}  {sum(case.points for case in done)} points")

    try:
        return await judge(game, bot, seed, Limits(), folder, on_case)
    except BaseException as error:
        if not done:
            raise
        so_far = JudgeReport(game, seed, bot.name, sum(case.points for case in done), tuple(done))
        raise SoFar(
            error, so_far, report(so_far, f"{registry.game(game).title}, {len(done)} of {cases} cases")
        ) from error
    finally:
        live.clear()
