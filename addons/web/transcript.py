"""Makes an HTML page of what language models were asked and what they said. It runs no script and fetches nothing."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from referee.games.contract import Call, Player
from referee.games.ending import headline
from referee.harness.common.errors import UsageError
from referee.harness.common.measures import measured
from referee.harness.replay.lines import Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, positions
from referee.protocol.text import printable

CHARACTERS = 200_000
"""A longer text is cut."""
STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.85rem; margin: 0.5rem 0; }
article { border-top: 1px solid #8886; margin-top: 1rem; }
h3 { margin: 0.75rem 0 0.25rem; }
.said { border-left: 3px solid #5b8def; padding-left: 0.75rem; }
.use { color: #888; font-size: 0.8rem; margin: 0; }
.refused { color: #d33; }
.played { font-weight: 600; }
"""


def transcript_page(replay: Replay) -> bytes:
    """Returns the page. UsageError if the replay has no transcript."""
    models = {
        player: _Model(replay, player, model) for player, model in (measured(replay.header, "models") or {}).items()
    }
    state = replay.new()
    calls, ending = state.calls(), "The replay ends here: the match has no result."
    try:
        for _, state, step in positions(replay):
            if isinstance(step, Turn):
                for player in models.keys() & (step.answers.keys() | step.faults.keys()):
                    models[player].take(step, next((call for call in calls if call.player == player), None))
            calls = state.calls()
            if state.result is not None:
                names = replay.header.setup.names
                ending = headline(replay.game.presentation.endings, state.result, names)
    except Difference as difference:
        ending = f"The replay is wrong: {difference}"
    shown = [model.shown() for _, model in sorted(models.items()) if model.calls]
    if not shown:
        raise UsageError(f"{replay.path} has no prompts and completions; keep them with --transcripts")
    players = " against ".join(printable(name) for name in replay.header.setup.names)
    page = _template().render(
        title=f"{replay.game.title}: {players}",
        ending=_clean(ending),
        models=shown,
        style=Markup(STYLE),
        style_hash=f"sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}",
    )
    return page.encode()


def _template() -> jinja2.Template:
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    pages = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return pages.get_template("transcript.html")


class _Model:
    """What one model was asked and said."""

    def __init__(self, replay: Replay, player: Player, model: Any) -> None:
        self._replay, self._player, self._settings = replay, player, model
        self._first: list[str] = []
        self.calls: list[Mapping[str, Any]] = []

    def take(self, turn: Turn, call: Call | None) -> None:
        """Adds a turn, if it has completions of this model."""
        exchanges = measured(turn, "transcript").get(self._player, ())
        if not exchanges:
            return
        fault = turn.faults.get(self._player)
        if fault is not None:
            outcome = f"{fault.kind}: {fault.detail}"
        else:
            answer = turn.answers[self._player]
            words = None if call is None else self._replay.game.presentation.in_words(call, answer)
            outcome = f"plays {words or answer}"
        self.calls.append(
            {
                "turn": turn.turn,
                "method": _clean(call.method.name) if call is not None else "",
                "exchanges": [self._exchange(each) for each in exchanges],
                "outcome": _clean(outcome),
                "is_fault": fault is not None,
            }
        )

    def _exchange(self, exchange: Any) -> Mapping[str, Any]:
        messages = [(str(each.get("role", "")), str(each.get("content", ""))) for each in exchange.messages]
        self._first += [_clean(text) for role, text in messages if role == "system"]
        return {
            "messages": [{"text": _clean(text)} for role, text in messages if role == "user"],
            "completion": _clean(exchange.completion),
            "reasoning": _clean(exchange.reasoning),
            "problem": _clean(exchange.problem),
            "use": _use(exchange.use),
        }

    def shown(self) -> Mapping[str, Any]:
        """Returns what the template needs."""
        model = self._settings
        settings = [
            model.model,
            f"at most {model.rethinks} rethinks",
            *([] if model.temperature is None else [f"temperature {model.temperature:g}"]),
            *([] if model.seed is None else [f"seed {model.seed}"]),
            *(f"{name} {value}" for name, value in model.body),
            f"template {model.template[:12]}",
        ]
        return {
            "seat": self._player,
            "name": printable(self._replay.header.setup.names[self._player]),
            "settings": _clean(", ".join(settings)),
            "first": self._first,
            "calls": self.calls,
        }


def _use(use: Any) -> str:
    parts = [f"{use.prompt_tokens:,} tokens in", f"{use.completion_tokens:,} out"]
    return ", ".join([*parts, *([] if use.cost is None else [f"${use.cost:.4f}"]), f"{use.service_s:.1f} s"])


def _clean(text: str) -> str:
    """Returns a text without what a page would obey, such as marks of the writing direction. Lines stay."""
    cut = text[:CHARACTERS] + ("…" if len(text) > CHARACTERS else "")
    return "\n".join(map(printable, cut.split("\n")))
