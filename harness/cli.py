"""The command line: argv to one call, what it prints, and the exit code. The only module that reads argv.

Exit codes: 0 played (or verified, or a check passed), 1 played, but a bot was at fault under `--strict` (or a replay
differs, or a check refuses the bot), 2 usage, 3 the run itself failed, 130 interrupted.
"""

import os
import secrets
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import msgspec
import trio
from cyclopts import App, CycloptsError, MissingArgumentError, Parameter
from rich.text import Text

from games import registry
from games.api import Game
from harness import exports, new, report
from harness.check import output
from harness.check.archive import bot_in
from harness.check.course import Check, check
from harness.check.findings import Checked, CheckReport, Level
from harness.debug import script_of
from harness.errors import RunError, UsageError
from harness.judge import Judged, Judgement, course, judge
from harness.launch import Entrant, check_seats, entrant, entrants
from harness.limits import Limits
from harness.options import LimitOptions, RuleOptions, TimeOptions, find_game, own_options
from harness.referee import Match
from harness.replay import Difference, Replay, unused, verify
from harness.screen import Screen, err, out, progress
from harness.series import Outcome, Series, numbered, play_series
from protocol.messages import Encoding

PLAYED, AT_FAULT, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130

Flag = Annotated[bool, Parameter(negative=())]

app = App(
    name="referee",
    version=metadata.version("referee"),
    help="A match between any two programs: fair, fast and on the record.",
    help_on_error=False,
    result_action="return_value",
)
replay_app = App(name="replay", help="Verify and read the records of matches.")
app.command(replay_app)


@app.default
def match(
    *bots: str,
    game: str,
    seed: int | None = None,
    games: int = 1,
    swap: Flag = False,
    best_of: int | None = None,
    rules: RuleOptions = RuleOptions(),
    times: TimeOptions = TimeOptions(),
    uses: LimitOptions = LimitOptions(),
    encoding: Encoding | None = None,
    chaos: Flag = False,
    replay: Path | None = None,
    export: Annotated[tuple[str, Path] | None, Parameter(negative=())] = None,
    json: Flag = False,
    strict: Flag = False,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative=())] = False,
    debug: Flag = False,
    **own: Annotated[str, Parameter(help="An option of the game's rules; `referee games` lists them.")],
) -> int:
    """Plays a game between bots.

    Parameters
    ----------
    bots
        One for each seat: PATH (an executable, a folder with bot.toml, or a source file), @random (built in) or
        cmd:'COMMAND LINE'; NAME= in front names it.
    game
        The game's name; `referee games` lists them.
    seed
        The seed of all luck. Without it one is drawn, and printed.
    games
        How many games to play, each with a seed of its own that follows from the seed.
    swap
        Exchange the seats in every second game.
    best_of
        Play one match of so many games at most: it ends when a bot has won more than half. The seats change every game.
    encoding
        Offer only this encoding to the bots.
    chaos
        Write to the bots in every form that the protocol allows, and draw the seats: a correct bot plays as without.
    replay
        Where the record goes; a number is added when there are several games. Default: a new file in ./replays.
    export
        FORMAT FILE: writes the record in another form too, such as aiarena21-replay; numbered likewise.
    json
        Print one machine-readable object on standard output and nothing else.
    strict
        Exit with 1 if a bot was at fault.
    verbose
        Print every turn.
    debug
        Run bots of the Python kit inside this process, without isolation and limits, so that a debugger stops in them.
    """
    played = find_game(game)
    _check_own(played, own)
    limits, time, options = uses.limits(), times.time(played), rules.options(played, _seats(bots, played), own)
    games, swap, first_to = _length(games, swap, best_of, len(bots))
    check_seats(bots, played.name, every_seat=swap or chaos)
    if export is not None:
        exports.find(export[0], played.name)
    seed = _seed(seed)
    path = Path("replays", unused(f"{played.name}-{seed}") + ".jsonl") if replay is None else replay
    encodings = tuple(Encoding) if encoding is None else (encoding,)
    first = Match(played, entrants(bots), seed, options, time, encodings, path)
    series = Series(first, games, swap, first_to, chaos)
    if debug:
        series = _debugged(series)
    return _played(series, limits, export, json, strict, verbose)


def _played(
    series: Series, limits: Limits, export: tuple[str, Path] | None, json: bool, strict: bool, verbose: bool
) -> int:
    """Plays it, prints it, and returns the exit code."""
    warnings = tuple(series.match.game.new(series.match.setup).warnings)
    for warning in warnings:
        err.print(Text.assemble(("warning: ", "bold yellow"), report.printable(warning)))
    outcome = trio.run(_play, series, limits, Screen(series, json, verbose))
    outcome = msgspec.structs.replace(outcome, warnings=warnings)
    exported = [] if export is None else _export(*export, outcome)
    if json:
        _print_json(outcome)
    else:
        if len(outcome.matches) > 1:
            out.print(report.outcome(outcome, series.match.game.title))
        for path in exported:
            out.print(Text(f"export  {path}", style="dim"))
    return AT_FAULT if strict and any(played.faults for played in outcome.matches) else PLAYED


@app.command
def games(name: str | None = None) -> int:
    """Lists the games with their functions and options.

    Parameters
    ----------
    name
        Only this game.
    """
    out.print(report.games([find_game(name)] if name is not None else [find_game(name) for name in registry.names()]))
    return PLAYED


@app.command(name="judge")
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
    seed = _seed(seed)
    folder = Path("replays", unused(f"{judged.name}-judged-{seed}")) if replay is None else replay
    judgement = trio.run(_judge, judged.name, entrant(bot), seed, folder, cases)
    if json:
        _print_json(judgement)
    else:
        out.print(report.judgement(judgement, judged.title))
        out.print(Text(f"replays  {folder}", style="dim"))
    return PLAYED


@app.command(name="check")
def check_bot(
    bot: str,
    *,
    game: str,
    seed: int | None = None,
    rules: RuleOptions = RuleOptions(),
    times: TimeOptions = TimeOptions(),
    uses: LimitOptions = LimitOptions(),
    chaos: Flag = False,
    junit: Path | None = None,
    sarif: Path | None = None,
    json: Flag = False,
    strict: Flag = False,
    **own: Annotated[str, Parameter(help="An option of the game's rules; `referee games` lists them.")],
) -> int:
    """Checks a bot before it is handed in: every call, every seat, both encodings, pipes, limits, whole matches.

    Exit codes: 0 passed, 1 refused, 2 usage, 3 the check itself failed (a build, a program that cannot be started).

    Parameters
    ----------
    bot
        As for a match, or a zip file of a bot's folder; NAME= in front names it.
    game
        The game's name.
    seed
        The seed of all luck. Without it one is drawn, and printed.
    chaos
        Play the whole matches too with frames in every form that the protocol allows.
    junit
        Write the check as JUnit's XML to this file.
    sarif
        Write the findings as SARIF 2.1.0 to this file.
    json
        Print one machine-readable object on standard output and nothing else.
    strict
        Refuse the bot for warnings too.
    """
    checked = find_game(game)
    _check_own(checked, own)
    limits, time, options = uses.limits(), times.time(checked), rules.options(checked, checked.seats.start, own)
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        spec = bot_in(bot, Path(scratch))
        check_seats([spec], checked.name, every_seat=True)
        run = trio.run(_check, Check(checked, entrant(spec), _seed(seed), options, limits, time, chaos))
    _write_check(run, bot, junit, sarif, strict)
    if json:
        _print_json(run)
    else:
        out.print(report.check(run))
    return AT_FAULT if not run.passed or (strict and run.count(Level.WARNING)) else PLAYED


@app.command(name="new")
def new_bot(game: str | None = None, folder: Path | None = None, *, lang: str | None = None) -> int:
    """Writes a bot to begin with: it builds, plays and is tested as it is. Without a game: lists what there is.

    Parameters
    ----------
    game
        The game's name.
    folder
        Where the bot goes, a new or an empty folder. Default: my_GAME_LANG.
    lang
        The language.
    """
    if game is None:
        out.print(report.kits({lang: new.games(lang, kit) for lang, kit in new.kits().items()}))
        return PLAYED
    if lang is None:
        raise UsageError(f"new {game}: needs --lang; there are {', '.join(new.kits())}")
    written = find_game(game)
    folder = Path(f"my_{written.name}_{lang}") if folder is None else folder
    new.write(written, lang, folder)
    out.print(report.written(folder, new.first_match(written, shlex.quote(str(folder)))))
    return PLAYED


@replay_app.command(name="verify")
def replay_verify(file: Path) -> int:
    """Plays a recorded match again from its setup and answers: "identical", or the first line that differs.

    Parameters
    ----------
    file
        The replay.
    """
    replay = Replay(file)
    try:
        result = verify(replay)
    except Difference as difference:
        out.print(Text(f"{file}: {report.printable(str(difference))}"))
        return AT_FAULT
    out.print(Text(f"{file}: identical, {len(replay.lines)} lines, {report.printable(result.reason)}"))
    return PLAYED


@replay_app.command(name="show")
def replay_show(file: Path) -> int:
    """Steps through a recorded match as text.

    Parameters
    ----------
    file
        The replay.
    """
    for step in report.steps(Replay(file)):
        out.print(step, end="\n\n")
    return PLAYED


@replay_app.command(name="export")
def replay_export(format: str, replay: Path, file: Path) -> int:
    """Writes a recorded match in another form.

    Parameters
    ----------
    format
        aiarena21-replay: AI Arena 21's own replay.txt, for its viewer.
    replay
        The replay; nothing is written unless it verifies.
    file
        Where the other form goes.
    """
    try:
        exports.export(format, Replay(replay), file)
    except Difference as difference:
        out.print(Text(f"{replay}: {report.printable(str(difference))}"))
        return AT_FAULT
    return PLAYED


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code. An empty one shows what there is."""
    try:
        if not (sys.argv[1:] if argv is None else argv):
            app.help_print([])
            return USAGE
        code = app(argv, exit_on_error=False, print_error=False)
        return PLAYED if code is None else int(code)
    except CycloptsError as error:
        return _fail(_slip(error) or " ".join(str(error).split()), USAGE)
    except UsageError as error:
        return _fail(str(error), USAGE)
    except BaseException as error:
        return _ended_by(error)


def _slip(error: CycloptsError) -> str | None:
    """An option that nobody knows and that ends the line: it was taken for one of the rules' without its value."""
    if not isinstance(error, MissingArgumentError) or error.argument is None or error.keyword is None:
        return None
    known = {option for name in registry.names() for option in own_options(registry.game(name))}
    if not error.argument.name.endswith("[KEYWORD]") or error.keyword.lstrip("-").replace("-", "_") in known:
        return None
    rules = [f"--{option}" for option in sorted(known)]
    return _unknown(error.keyword, rules, "`referee games` lists those of the rules")


def _ended_by(error: BaseException) -> int:
    """The exit code of what the tasks of a run have raised; a bug of ours goes on with its trace."""
    if _inside(error, KeyboardInterrupt):
        return _fail("interrupted", INTERRUPTED)
    if _inside(error, BrokenPipeError):
        # Whoever read our output has had enough; so that Python does not complain at exit, there is none any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PLAYED
    if found := _inside(error, RunError):
        return _fail(str(found), FAILED)
    raise error


def _inside(error: BaseException, kind: type[BaseException]) -> BaseException | None:
    """The first exception of that kind, in however many groups it is wrapped."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, (_inside(inner, kind) for inner in error.exceptions)), None)
    return error if isinstance(error, kind) else None


def _fail(message: str, code: int) -> int:
    first, *rest = message.split("\n")
    err.print(Text.assemble(("referee: ", "bold red"), report.printable(first)))
    for line in rest:
        err.print(Text("  " + report.printable(line)))
    return code


# What the commands are made of.


def _seed(seed: int | None) -> int:
    return secrets.randbits(32) if seed is None else seed


def _print_json(value: Any) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.flush()


def _check_own(game: Game, own: Mapping[str, str]) -> None:
    """UsageError for an option that is none of ours and none of the game's: most often a slip."""
    known = own_options(game)
    for name in own:
        if name.replace("-", "_") not in known:
            rules = [f"--{option}" for option in known]
            raise UsageError(_unknown(f"--{name}", rules, f"options of {game.name}: {', '.join(known)}"))


def _unknown(option: str, rules: Sequence[str], otherwise: str) -> str:
    """That there is no such option, and which it may have been meant for: of ours, or of those of the rules."""
    commands = (app, app["check"])
    ours = {flag for each in commands for argument in each.assemble_argument_collection() for flag in argument.names}
    near = get_close_matches(option, [*sorted(ours), *rules], 1)
    return f"there is no option {option}; " + (f"did you mean {near[0]}?" if near else otherwise)


def _seats(bots: Sequence[str], game: Game) -> int:
    """How many bots play."""
    if len(bots) not in game.seats:
        wanted = " or ".join(str(count) for count in game.seats)
        raise UsageError(
            f"{game.name} is played by {wanted} bots; {len(bots)} {'was' if len(bots) == 1 else 'were'} named"
        )
    return len(bots)


def _length(games: int, swap: bool, best_of: int | None, seats: int) -> tuple[int, bool, int | None]:
    """How many games, whether the seats change, and how many wins decide."""
    if games < 1:
        raise UsageError(f"--games {games}: there must be one at least")
    if best_of is None:
        return games, swap, None
    if games != 1:
        raise UsageError(f"--best-of {best_of} --games {games}: one of the two")
    if best_of < 1:
        raise UsageError(f"--best-of {best_of}: there must be one game at least")
    if seats != 2:
        raise UsageError(f"--best-of {best_of}: that is for two bots; {seats} were named")
    return best_of, True, best_of // 2 + 1


def _debugged(series: Series) -> Series:
    """The series with its Python bots inside; a breakpoint must not run into the end of the match."""
    if series.chaos:
        raise UsageError("--debug --chaos: one of the two")
    for bot in series.match.entrants:
        if script_of(bot) is None:
            err.print(Text(f"{report.printable(bot.name)} runs in a process of its own: no bot of the Python kit"))
    match = series.match
    endless = msgspec.structs.replace(match.time, match_s=None)
    return msgspec.structs.replace(series, match=msgspec.structs.replace(match, time=endless), debug=True)


async def _play(series: Series, limits: Limits, screen: Screen) -> Outcome:
    with screen:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(screen.refresh)
            try:
                return await play_series(series, limits, screen.turned, screen.played)
            finally:
                nursery.cancel_scope.cancel()


def _export(name: str, path: Path, outcome: Outcome) -> list[Path]:
    """Writes every record in another form too; where."""
    paths = [numbered(path, number, len(outcome.matches)) for number in range(len(outcome.matches))]
    for file, played in zip(paths, outcome.matches, strict=True):
        assert played.replay is not None
        exports.export(name, Replay(Path(played.replay)), file)
    return paths


async def _judge(game: str, bot: Entrant, seed: int, folder: Path, cases: int) -> Judgement:
    done: list[Judged] = []
    with progress() as show:

        def judged(case: Judged) -> None:
            done.append(case)
            show(f"case {len(done)}/{cases}  {sum(case.points for case in done)} points")

        return await judge(game, bot, seed, Limits(), folder, judged)


async def _check(wanted: Check) -> CheckReport:
    with progress() as show:

        def told(checked: Checked) -> None:
            show(f"{checked.rule} {checked.status}")

        return await check(wanted, told)


def _write_check(run: CheckReport, bot: str, junit: Path | None, sarif: Path | None, strict: bool) -> None:
    """The files that were asked for; on GitHub the annotations, by standard error."""
    if junit is not None:
        output.write(junit, output.junit(run, strict))
    if sarif is not None:
        output.write(sarif, output.sarif(run, bot))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in output.annotations(run):
            err.print(Text(line))


if __name__ == "__main__":
    sys.exit(main())
