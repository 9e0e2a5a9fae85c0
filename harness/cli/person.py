"""A person at the terminal: shows the board and the legal answers, and reads an answer."""

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import trio
from rich.text import Text

from referee.games.contract import Fault, FaultKind, Player, State
from referee.games.dice import Dice
from referee.harness.cli.reports.text import printable
from referee.harness.cli.reports.turns import board, legend, title
from referee.harness.cli.screen import err
from referee.harness.match.match import Match
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.answer_text import Answers, Unclear
from referee.harness.seats.kinds import PERSON
from referee.harness.seats.person import Person
from referee.harness.seats.seat import Seat

LISTED = 40
"""How many answers are listed at most."""
DRAWN = 3
"""How many random answers are shown as examples if there are too many to list."""
HELP = (
    "Type words of an answer, or its number, as in 3 or #3. `? WORD` lists answers with a word, `*` plays any answer, "
    "`help` shows this line, `quit` leaves the match and loses it."
)
_NUMBER = re.compile(r"\d+")
CLEAN = "\x1b[2J\x1b[3J\x1b[H"


class Hands:
    """The people of a match, all at this terminal. They read standard error: standard output is for results."""

    def __init__(self, match: Match) -> None:
        self.game = match.game
        self.several = sum(map(PERSON.plays, match.entrants)) > 1
        """Two or more people: the screen is cleared before the next one looks."""
        self._dice, self._examples = Dice(match.seed), Dice(match.seed)
        self._begun = False

    def __call__(self, entrant: Entrant) -> Seat:
        return Person(self.choose, self.refused)

    def refused(self, player: Player, fault: Fault) -> None:
        """Says why an answer was illegal; the person answers again."""
        err.print(f"not legal: {printable(fault.detail)}", style="yellow")

    async def choose(self, state: State, player: Player) -> Any:
        """Shows the player's view of the position, and reads lines until one names an answer."""
        answers = Answers(self.game, state, player)
        await self._show(state, player, answers)
        while True:
            line = await self._line(f"{printable(state.setup.names[player])}> ", answers)
            text = "quit" if line is None else line.strip()
            if text.lower() == "quit":
                return Fault(FaultKind.CRASH, "left the table")
            if text.lower() == "help":
                err.print(HELP, style="dim")
            elif text.startswith("?") and not answers.complete:  # too many to list
                self._draw(state, player, answers, DRAWN)
            elif text.startswith("?"):
                self._list(answers, text[1:])
            elif text == "*":
                return state.sample(player, self._dice)
            elif text:
                try:
                    answer = self._numbered(text, answers) if self._is_number(text, answers) else answers.read(text)
                except Unclear as error:
                    err.print(f"{printable(str(error))}; `?` lists answers", style="yellow")
                    continue
                if self._must_hide(state, player) and err.is_terminal:
                    err.print(CLEAN, end="")
                return answer

    def _must_hide(self, state: State, player: Player) -> bool:
        """Returns whether the other people here must not see what this player sees."""
        return self.several and state.shown_to(player) != str(state)

    def _is_number(self, text: str, answers: Answers) -> bool:
        """Returns whether a line is the number of a listed answer. Where answers are numbers too, it needs the #."""
        if text.startswith("#"):
            return True
        if answers.call.method.result is int or any(map(_NUMBER.fullmatch, answers.words)):
            return False
        return answers.complete and _NUMBER.fullmatch(text) is not None

    def _numbered(self, text: str, answers: Answers) -> Any:
        number = text.removeprefix("#").strip()
        if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= len(answers.legal):
            raise Unclear(f"{text}: the answers are #1 to #{len(answers.legal)}")
        return answers.legal[int(number) - 1]

    async def _show(self, state: State, player: Player, answers: Answers) -> None:
        if not self._begun:
            self._begun = True
            err.print(title(self.game, state.setup.names, state.setup.seed))
            err.print(HELP, style="dim")
        if self._must_hide(state, player):
            await self._line(f"{printable(state.setup.names[player])}, press Enter when nobody else is looking ", None)
        err.print(Text("\n").append_text(board(self.game, state, player)))
        err.print(*legend(self.game))
        method = answers.call.method
        err.print(f"{method.name}: {method.doc}", style="dim")
        if len(answers.words) <= LISTED:
            self._list(answers, "")
        elif not answers.complete:
            self._draw(state, player, answers, 1)

    def _draw(self, state: State, player: Player, answers: Answers, count: int) -> None:
        err.print("  too many answers to list; type one, such as", style="dim")
        for _ in range(count):
            err.print(f"  {printable(answers.in_words(state.sample(player, self._examples)))}")

    def _list(self, answers: Answers, text: str) -> None:
        """Lists the answers that match, in columns."""
        matching = answers.matching(text)
        cells = [f"#{index + 1} {printable(answers.words[index])}" for index in matching[:LISTED]]
        width = max(map(len, cells), default=0) + 2
        columns = max(1, err.width // max(width, 1))
        height = -(-len(cells) // columns)
        for row in range(height):
            err.print("  " + "".join(cell.ljust(width) for cell in cells[row::height]).rstrip())
        if len(matching) > LISTED:
            more = f"{len(matching) - len(cells)} more"
            err.print(f"  … {more}; add words, as in ? {answers.words[0].split()[0]}", style="dim")
        if not matching:
            err.print("  no legal answer has these words", style="dim")

    async def _line(self, prompt: str, answers: Answers | None) -> str | None:
        """Reads a line in a thread, so that the match can be cancelled; None at the end of input."""
        words = [] if answers is None else answers.words
        return await trio.to_thread.run_sync(_read, prompt, words, abandon_on_cancel=True)


def _read(prompt: str, words: Sequence[str]) -> str | None:
    """Reads a line, with editing and completion if both input and output are a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        err.print(prompt, style="bold", end="")
        line = sys.stdin.readline()
        if not (line and sys.stdin.isatty()):  # a terminal already shows the typed line break
            err.print()
        return line or None
    _complete(words)
    try:
        return input(prompt)
    except EOFError:
        return None


def _complete(words: Sequence[str]) -> None:
    with suppress(ImportError):
        import readline

        def completer(text: str, state: int) -> str | None:
            line = readline.get_line_buffer().lower()
            start = len(line) - len(text)
            fits = dict.fromkeys(word[start:] for word in words if word.lower().startswith(line))
            return next((word for number, word in enumerate(fits) if number == state), None)

        readline.set_completer_delims(" ")
        readline.set_completer(completer)
        readline.parse_and_bind("tab: complete")
