"""Shows verdicts and replays in a notebook: tables, and the viewer in a sandboxed frame."""

import html
from pathlib import Path

from referee.games import registry
from referee.games.ending import reason_in_words, winners
from referee.harness.addons import hooks
from referee.harness.common.errors import RunError, UsageError
from referee.harness.match.verdict import Verdict
from referee.harness.replay.lines import more_faults
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, positions
from referee.protocol.text import printable

HEIGHT_PX = 680
HEADINGS = ("seat", "bot", "rank", "score", "calls", "time", "CPU", "memory")


def replay_html(replay: Replay) -> str:
    """Returns the viewer with the replay; without a viewer, the last position as text."""
    drawing = hooks().drawing()
    page = None if drawing is None else drawing.page(replay)
    if page is None:
        return _last_position(replay)
    content = html.escape(page.decode(), quote=True)
    frame = f'width:100%;height:{HEIGHT_PX}px;border:1px solid #8884" title="the match"'
    return f'<iframe sandbox="allow-scripts" srcdoc="{content}" style="{frame}></iframe>'


def _last_position(replay: Replay) -> str:
    drawn = ""
    try:
        for _, state, _ in positions(replay):
            drawn = str(state)
    except Difference as difference:
        drawn += f"\n{difference}"
    shown = "\n".join(printable(line) for line in drawn.split("\n"))
    return f"<pre>{html.escape(shown)}</pre><p>This installation has no viewer; <code>make viewer</code> builds it.</p>"


def verdict_html(verdict: Verdict) -> str:
    """Returns the winner, the reason, usage, faults, and the replay if there is one."""
    game, result, names = registry.game(verdict.game), verdict.result, [seat.name for seat in verdict.seats]
    why = reason_in_words(game.presentation.endings, result, names)
    who = f"<b>{_text(winners(result, names))}</b>: {_text(why)}"
    parts = [f"<p>{who} ({_text(game.title)}, seed {verdict.seed})</p>"]
    parts.append(f"<table><tr>{''.join(f'<th>{name}</th>' for name in HEADINGS)}</tr>")
    for player, seat in enumerate(verdict.seats):
        memory = f"{seat.peak_memory_bytes / (1 << 20):.1f} MiB"
        used = (str(seat.calls), f"{seat.wall_s:.3f} s", f"{seat.cpu_s:.2f} s", memory)
        cells = (str(player), seat.name, str(seat.rank), f"{seat.score:g}", *used)
        parts.append(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>")
    parts.append("</table>")
    if functions := [seat.name for seat in verdict.seats if seat.function]:
        parts.append(f"<p>{_text(' and '.join(functions))}: in this process, without a clock, limits or isolation</p>")
    for fault in verdict.faults:
        where = f"{fault.kind} by seat {fault.player} ({fault.name}), call {fault.call} {fault.method}"
        parts.append(f"<p><b>fault:</b> {_text(f'{where}: {fault.detail}; {fault.penalty}')}</p>")
    for player, more in enumerate(more_faults(verdict.seats, verdict.faults)):
        if more:
            who = f"seat {player} ({verdict.seats[player].name})"
            parts.append(f"<p>{more} more fault{'' if more == 1 else 's'} by {_text(who)}, counted only</p>")
    if verdict.replay is not None:
        try:
            replay = Replay(Path(verdict.replay))
            if (replay.header.game, replay.header.setup.seed) != (verdict.game, verdict.seed):
                raise UsageError(f"{verdict.replay} now contains another match; give each match its own replay")
            parts.append(replay_html(replay))
        except (UsageError, RunError) as error:  # moved or removed since
            parts.append(f"<p>{_text(str(error))}</p>")
    return "".join(parts)


def error_lines(error: Exception) -> list[str]:
    """Returns what is shown below a cell for an error of ours: its message without a traceback."""
    return [f"{type(error).__name__}: {printable(str(error))}"]


def _text(words: str) -> str:
    return html.escape(printable(words))
