"""What people read: verdicts, standings, games and replays as text. Nothing here prints by itself."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from games.api import Fault, Game, State
from harness import maps
from harness.check.findings import NOT_TRIED, RULES, CheckReport, Level, Status
from harness.check.output import in_full
from harness.judge import Judgement
from harness.limits import mebibytes
from harness.replay import Difference, Injection, Opening, Replay, Stop, positions
from harness.series import Outcome
from harness.verdict import FaultReport, Seat, Standing, Verdict

LINE_CHARACTERS = 160


def printable(text: str) -> str:
    """`text` without anything that a terminal would obey: bots choose names, errors and what they print. Tabs, as in
    traces, become spaces."""
    text = text.expandtabs(4)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def verdict(match: Verdict, title: str) -> RenderableType:
    """Who won and why, the faults, what everybody used, where the replay lies, and what the bots printed."""
    parts: list[RenderableType] = [headline(match, title), _seats(match.seats)]
    parts += [_fault(fault) for fault in match.faults]
    if match.replay is not None:
        parts.append(Text(f"replay  {match.replay}  ({match.turns} turns in {match.duration_s:.2f} s)", style="dim"))
    for seat in match.seats:
        if seat.stderr is not None:
            parts.append(Text(f"stderr  {seat.stderr}  ({printable(seat.name)})", style="dim"))
    return Group(*parts)


def headline(match: Verdict, title: str) -> Text:
    """One line: who beat whom, and why."""
    names = _distinct([printable(seat.name) for seat in match.seats])
    best = [name for name, seat in zip(names, match.seats, strict=True) if seat.rank == 1]
    rest = [name for name, seat in zip(names, match.seats, strict=True) if seat.rank > 1]
    line = Text(f"{title}: ")
    if rest:
        line.append(" and ".join(best), style="bold green")
        line.append(f" beat{'s' if len(best) == 1 else ''} {', '.join(rest)}")
    else:
        line.append("a draw", style="bold yellow").append(f" between {' and '.join(best)}")
    line.append(f": {printable(match.result.reason)}")
    return line.append(f"   (seed {match.seed})", style="dim")


def _distinct(names: list[str]) -> list[str]:
    """The names, with the seat behind those that more than one bot has."""
    return [f"{name} (seat {player})" if names.count(name) > 1 else name for player, name in enumerate(names)]


def _seats(seats: Sequence[Seat]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("seat", "bot", "program"):
        table.add_column(column, overflow="fold")  # a name that is too long goes on below: nothing of it is lost
    for column in ("rank", "score", "calls", "time", "CPU", "memory"):
        table.add_column(column, justify="right")
    for player, seat in enumerate(seats):
        table.add_row(
            str(player),
            Text(printable(seat.name)),
            Text(f"{printable(seat.program or '')} ({seat.encoding})".lstrip()),
            str(seat.rank),
            f"{seat.score:g}",
            str(seat.calls),
            f"{seat.wall_s:.3f} s",
            f"{seat.cpu_s:.2f} s",
            mebibytes(seat.peak_memory_bytes),
        )
    return table


def _fault(fault: FaultReport) -> Text:
    text = Text(f"fault: {fault.kind}", style="bold red")
    where = f" by seat {fault.player} ({printable(fault.name)}), call {fault.call} {fault.method}: "
    text.append(where, style="none").append(printable(fault.detail), style="none")
    text.append(f"; {fault.penalty}", style="none")
    if fault.exit is not None:
        text.append(f"\n  the process had ended: {fault.exit}", style="none")
    if fault.last_words:
        text.append("\n  its last words on standard error:", style="dim")
        for line in fault.last_words:
            text.append(f"\n    {printable(line)[:LINE_CHARACTERS]}", style="none")
    return text


def outcome(series: Outcome, title: str) -> RenderableType:
    """The standings of several matches, or who won the games of one."""
    played = f"{len(series.matches)} games"
    if series.best_of is not None:
        played = f"{_larger_match(series)} after {played}, best of {series.best_of}"
    table = Table(title=f"{title}: {played}, seed {series.seed}", title_justify="left", box=None)
    table.add_column("bot")
    for column in ("played", "wins", "draws", "losses", "points", "faults"):
        table.add_column(column, justify="right")
    for line in sorted(series.standings, key=_by_points):
        row = (line.played, line.wins, line.draws, line.losses, f"{line.points:g}", line.faults)
        table.add_row(Text(printable(line.name)), *map(str, row))
    return table


def _larger_match(series: Outcome) -> str:
    """`one beats two 51–37`."""
    first, second = sorted(series.standings, key=lambda line: -line.wins)
    score = f"{first.wins}–{second.wins}"
    if first.wins == second.wins:
        return f"a draw {score} between {printable(first.name)} and {printable(second.name)}"
    return f"{printable(first.name)} beats {printable(second.name)} {score}"


def judgement(run: Judgement, title: str) -> RenderableType:
    """The cases of a judged run, each with its points and why, and their sum."""
    name = printable(run.name)
    table = Table(title=f"{title}: {name} is judged, seed {run.seed}", title_justify="left", box=None, pad_edge=False)
    table.add_column("case")
    table.add_column("seat", justify="right")
    table.add_column("points", justify="right")
    table.add_column("why")
    for case in run.cases:
        style = "green" if case.points == case.out_of else "red" if case.points == 0 else "yellow"
        points = Text(f"{case.points} of {case.out_of}", style=style)
        table.add_row(case.case, str(case.seat), points, Text(_cut(case.why)))
    table.add_row("sum", "", f"{run.points} of {sum(case.out_of for case in run.cases)}", style="bold")
    return table


def check(run: CheckReport) -> RenderableType:
    """The rules of a check with what became of each, the findings in full, and the verdict."""
    title = f"{run.game}: {printable(run.name)} is checked, seed {run.seed}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("rule", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("what")
    found = []
    tried = [checked for checked in run.checks if checked.told != NOT_TRIED or checked.findings]
    for checked in tried:
        style = _STATUS_STYLES[checked.status]
        what = RULES[checked.rule].title + (f": {checked.told}" if checked.told else "")
        table.add_row(checked.rule, Text(checked.status, style=style), Text(_cut(what)))
        for finding in checked.findings:
            text = Text(f"{finding.level} {finding.rule}: ", style=_LEVEL_STYLES[finding.level])
            lines = [printable(line) for line in in_full(finding).split("\n")]
            found.append(text.append("\n  ".join(lines), style="none"))
    counts = [f"{count} {level}{'' if count == 1 else 's'}" for level in Level if (count := run.count(level))]
    rest = len(run.checks) - len(tried)
    counts += [f"{rest} rules not tried before that is mended"] if rest else []
    word, style = ("passed", "bold green") if run.passed else ("refused", "bold red")
    return Group(table, *found, Text(f"{word}: {', '.join(counts) or 'nothing found'}", style=style))


_STATUS_STYLES = {Status.PASSED: "green", Status.FAILED: "red", Status.SKIPPED: "dim"}
_LEVEL_STYLES = {Level.ERROR: "bold red", Level.WARNING: "bold yellow", Level.NOTE: "bold"}


def _by_points(line: Standing) -> float:
    return -line.points


def games(all_games: Sequence[Game]) -> RenderableType:
    """Every game with its functions, its options and its own time control."""
    return Group(*(part for game in all_games for part in _game(game)))


def _game(game: Game) -> Iterator[RenderableType]:
    seats = game.seats
    count = str(seats.start) if len(seats) == 1 else f"{seats.start} to {seats.stop - 1}"
    yield Text(f"{game.name}", style="bold").append(f"  {game.title}, {count} seats, {_time(game)}", style="none")
    table = Table(box=None, show_header=False, pad_edge=False)
    for method in game.methods.values():
        kind = "viewers" if method.viewers else "event" if method.result is None else "function"
        table.add_row(f"  {kind}", method.name, Text(method.doc))
    for name, default, text in options(game):
        table.add_row("  option", Text(f"{name}={default}"), Text(text))
    if names := maps.names(game.name):
        table.add_row("  maps", Text(" ".join(names)), "for --map, or the path of a file")
    yield table


def kits(games_by_kit: Mapping[str, Sequence[str]]) -> RenderableType:
    """The languages that a new bot can be written in, each with its games."""
    table = Table("--lang", "games", box=None, pad_edge=False, header_style="dim")
    for lang, names in games_by_kit.items():
        table.add_row(lang, " ".join(names))
    return Group(table, Text("referee new GAME --lang LANG [FOLDER]", style="dim"))


def written(folder: Path, first_match: str) -> Text:
    """A new bot, and what to do next."""
    return Text(f"{folder} plays as it is; its README tells what is what\n").append(first_match, style="bold")


def options(game: Game) -> Iterator[tuple[str, str, str]]:
    """Name, default as JSON and description of every option."""
    properties = msgspec.json.schema(game.options)["$defs"][game.options.__name__]["properties"]
    for field in msgspec.structs.fields(game.options):
        default = msgspec.json.encode(field.default).decode()
        yield field.name, default, properties[field.encode_name].get("description", "")


def _time(game: Game) -> str:
    time = game.time
    parts = []
    if time.initial_s is not None:
        parts.append(f"{time.initial_s:g}+{time.increment_s:g} s")
    if time.per_call_s is not None:
        parts.append(f"{time.per_call_s:g} s a call")
    return " and ".join(parts) or "no limit of time"


def turn(number: int, names: Sequence[str], answers: Mapping[int, Any], events: Sequence[Any]) -> Text:
    """One turn in a line or a few: who answered what, and what came of it."""
    text = Text()
    for player, answer in answers.items():
        said = f"{answer.kind}: {_cut(answer.detail)}" if isinstance(answer, Fault) else _json(answer)
        text.append(f"{number:>5}  ", style="dim").append(printable(names[player]), style="bold").append(f" {said}\n")
    for event in events:
        text.append(f"       {_event(msgspec.to_builtins(event), names)}\n", style="dim")
    text.right_crop(1)
    return text


def steps(replay: Replay) -> Iterator[Text]:
    """A replay as text: the setup, then each turn with the position after it, at last the result."""
    setup = replay.header.setup
    names = setup.names
    yield Text(f"{replay.game.title}: {printable(' against '.join(names))}, seed {setup.seed}")
    state: State | None = None
    try:
        for _, state, line in positions(replay):
            if isinstance(line, Opening):
                events = [f"       {_event(event, names)}" for event in line.opening]
                yield Text("\n".join([*events, str(state)]))
            elif isinstance(line, Stop):
                yield Text(f"stopped: {printable(line.stop)}\n{state}", style="bold")
            elif isinstance(line, Injection):
                events = [f"       {_event(event, names)}" for event in line.events]
                yield Text("\n".join([f"{printable(names[line.inject])} acts out of turn:", *events, str(state)]))
            else:
                yield turn(line.turn, names, line.answers | line.faults, line.events).append(f"\n{state}")
    except Difference as difference:
        yield Text(f"the replay is not what the rules give: {printable(str(difference))}", style="bold red")
    if state is not None and state.result is not None:
        yield Text(f"result: {printable(state.result.reason)}, ranks {state.result.ranks}", style="bold")


def _event(event: Mapping[str, Any], names: Sequence[str]) -> str:
    if event["event"] == "ruling":
        fault = event["fault"]
        return f"{printable(names[event['player']])}: {fault['kind']}: {_cut(fault['detail'])}; {event['penalty']}"
    return f"{event['method']} {_json(event['params'])}"


def _json(value: Any) -> str:
    return _cut(msgspec.json.encode(value).decode())


def _cut(text: str) -> str:
    text = printable(text)
    return text if len(text) <= LINE_CHARACTERS else text[:LINE_CHARACTERS] + "…"
