"""A person at the terminal: the board, what may be answered, and a line to write it in."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any

import trio
from rich.text import Text

from referee.games.contract import Fault, FaultKind, Game, Player, State
from referee.games.dice import Dice
from referee.harness.cli.reports.text import printable
from referee.harness.cli.reports.turns import board, title
from referee.harness.cli.screen import err
from referee.harness.programs.spec import Entrant
from referee.harness.seats.answer_text import Answers, Unclear
from referee.harness.seats.person import Person
from referee.harness.seats.seat import Seat

LISTED = 40
"""Of more answers only so many are listed; words narrow them down."""
DRAWN = 3
"""So many answers are drawn as examples where there are more than can be listed: the first ones are nearly the same."""
HELP = "words of an answer choose it, or its number with #; ? lists those that a word leaves, as in ? e4; * plays any"
CLEAN = "\x1b[2J\x1b[3J\x1b[H"


class Hands:
    """The people of a match, all at this terminal. What is printed for them goes to standard error: standard output is
    for results."""

    def __init__(self, game: Game, seed: int, several: bool) -> None:
        self.game = game
        self.several = several
        """More than one person: what one may see is taken away before the other looks."""
        self._dice, self._examples = Dice(seed), Dice(seed)
        self._begun = False

    def __call__(self, entrant: Entrant) -> Seat:
        return Person(self.choose, self.refused)

    def refused(self, player: Player, fault: Fault) -> None:
        """Tells why an answer was not legal; it is asked for again."""
        err.print(Text(f"not legal: {printable(fault.detail)}", style="yellow"))

    async def choose(self, state: State, player: Player) -> Any:
        """Shows the position as this player may see it, and reads until a line names an answer."""
        answers = Answers(self.game, state, player)
        await self._show(state, player, answers)
        while True:
            line = await self._line(f"{printable(state.setup.names[player])}> ", answers)
            if line is None:
                return Fault(FaultKind.CRASH, "left the table")
            text = line.strip()
            if text.startswith("?") and not answers.all:  # words narrow a list of answers only
                self._draw(state, player, answers, DRAWN)
            elif text.startswith("?"):
                self._list(answers, text[1:])
            elif text == "*":
                return state.sample(player, self._dice)
            elif text:
                try:
                    answer = self._numbered(text, answers) if text.startswith("#") else answers.read(text)
                except Unclear as error:
                    err.print(Text(printable(str(error)), style="yellow"))
                    continue
                if self.several and hides(state, player) and err.is_terminal:
                    err.print(CLEAN, end="")
                return answer

    def _numbered(self, text: str, answers: Answers) -> Any:
        number = text[1:].strip()
        if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= len(answers.legal):
            raise Unclear(f"{text}: the answers are #1 to #{len(answers.legal)}")
        return answers.legal[int(number) - 1]

    async def _show(self, state: State, player: Player, answers: Answers) -> None:
        if not self._begun:
            self._begun = True
            err.print(title(self.game, state.setup.names, state.setup.seed))
            err.print(Text(HELP, style="dim"))
        if self.several and hides(state, player):
            await self._line(f"{printable(state.setup.names[player])}, press Enter when you look alone ", None)
        err.print(Text("\n").append_text(board(self.game, state, player)))
        method = answers.call.method
        err.print(Text(f"{method.name}: {method.doc}", style="dim"))
        if len(answers.words) <= LISTED:
            self._list(answers, "")
        elif not answers.all:
            self._draw(state, player, answers, 1)

    def _draw(self, state: State, player: Player, answers: Answers, count: int) -> None:
        """Some answers out of more than can be listed, as they may be written."""
        err.print(Text("  more answers than can be listed; write one of your own, such as", style="dim"))
        for _ in range(count):
            err.print(Text(f"  {printable(answers.in_words(state.sample(player, self._examples)))}"))

    def _list(self, answers: Answers, text: str) -> None:
        """In columns, by number."""
        found = answers.matching(text)
        shown = [f"#{index + 1} {printable(answers.words[index])}" for index in found[:LISTED]]
        width = max(map(len, shown), default=0) + 2
        columns = max(1, err.width // max(width, 1))
        height = -(-len(shown) // columns)
        rows = zip_longest(
            *(shown[start : start + height] for start in range(0, len(shown), height or 1)), fillvalue=""
        )
        for row in rows:
            err.print(Text("  " + "".join(cell.ljust(width) for cell in row).rstrip()))
        if len(found) > LISTED:
            more = f"{len(found) - len(shown)} more"
            err.print(Text(f"  … {more}; words leave fewer, as in ? {answers.words[0].split()[0]}", style="dim"))
        if not found:
            err.print(Text("  no legal answer has these words", style="dim"))

    async def _line(self, prompt: str, answers: Answers | None) -> str | None:
        """A line from standard input; None at its end. The match goes on waiting meanwhile, and can be ended."""
        words = [] if answers is None else answers.words
        return await trio.to_thread.run_sync(_read, prompt, words, abandon_on_cancel=True)


def hides(state: State, player: Player) -> bool:
    """Whether a position has something that this player may not see."""
    return state.shown_to(player) != str(state)


def _read(prompt: str, words: Sequence[str]) -> str | None:
    """With editing, history and completion where there is a terminal for it; its library writes to standard output."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        err.print(Text(prompt, style="bold"), end="")
        line = sys.stdin.readline()
        if not (line and sys.stdin.isatty()):  # a terminal has shown the end of a line that was typed
            err.print()
        return line or None
    _complete(words)
    try:
        return input(prompt)
    except EOFError:
        return None


def _complete(words: Sequence[str]) -> None:
    """The tab key goes on with the words of the answers that are left."""
    with suppress(ImportError):
        import readline

        def completer(text: str, state: int) -> str | None:
            begun = readline.get_line_buffer().lower()
            start = len(begun) - len(text)
            fits = dict.fromkeys(word[start:] for word in words if word.lower().startswith(begun))
            return next((word for number, word in enumerate(fits) if number == state), None)

        readline.set_completer_delims(" ")
        readline.set_completer(completer)
        readline.parse_and_bind("tab: complete")
