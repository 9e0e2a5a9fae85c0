"""`referee judge BOT`: the Arena's test run."""

from contextlib import nullcontext
from pathlib import Path

from rich.text import Text

from referee.addons.arena.judge import CaseResult, JudgeReport, judge, judge_plan
from referee.harness.cli.exit_codes import PLAYED, SoFar
from referee.harness.cli.options import NO_REPLAY, GameName, Json, Seed, drawn
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import cut, printable
from referee.harness.cli.screen import building, out, print_result, progress
from referee.harness.cli.signals import run
from referee.harness.common.known_games import typed_game
from referee.harness.process.limits import Limits
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.replay.writer import claim_folder


def judge_bot(bot: str, *, game: GameName, seed: Seed = None, replay: Path | None = None, json: Json = False) -> int:
    """Plays a bot against every built-in case of an Arena game: 100 points in all.

    Args:
        bot: As for a match: PATH, cmd:'COMMAND LINE' or @NAME. NAME= before it names the bot.
        replay: The folder for the replays, one per case; none: write no replays. Default: a new folder in ./replays.
    """
    played = typed_game(game)
    cases = len(judge_plan(played.name).cases)
    check_seats([bot], played.name, every_seat=True)
    seed = drawn(seed)
    kept = None if replay == NO_REPLAY else replay
    with nullcontext(kept) if replay is not None else claim_folder(f"{played.name}-judged") as folder:
        program = entrant(bot, played.name, progress=building)
        result = run(_judge, played.name, played.title, program, seed, folder, cases)
    print_result(result, _shown(result, played.title), json)
    if not json and folder is not None:
        out.print(f"replays  {folder}", style="dim")
    return PLAYED


async def _judge(game: str, title: str, bot: Entrant, seed: int, folder: Path | None, cases: int) -> JudgeReport:
    done: list[CaseResult] = []
    with progress() as show:

        def on_case(case: CaseResult) -> None:
            done.append(case)
            show(f"case {len(done)}/{cases}  {sum(case.points for case in done)} points")

        try:
            return await judge(game, bot, seed, Limits(), folder, on_case)
        except BaseException as error:
            if not done:
                raise
            so_far = JudgeReport(game, seed, bot.name, sum(case.points for case in done), tuple(done))
            raise SoFar(error, so_far, _shown(so_far, f"{title}, {len(done)} of {cases} cases")) from error


def _shown(report: JudgeReport, title: str) -> Sheet:
    heading = f"{title}: test run of {printable(report.name)}, seed {report.seed}"
    sheet = Sheet(("case",), ("seat", "points"), ("why",), heading)
    for case in report.cases:
        style = "green" if case.points == case.out_of else "red" if case.points == 0 else "yellow"
        points = Text(f"{case.points} of {case.out_of}", style=style)
        sheet.add(case.case, str(case.seat), points, Text(cut(case.why)))
    sheet.add("sum", "", f"{report.points} of {sum(case.out_of for case in report.cases)}", "", style="bold")
    return sheet
