"""Language models: how the user names them.

`llm:[OPTION …] MODEL`, with the options of `OPTIONS`. An ordinary program makes the prompts and reads the completions,
`addons/llm/run.py`. The referee connects it to the service.
"""

import hashlib
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import msgspec
from jinja2 import Environment, TemplateSyntaxError
from msgspec import Struct

from referee.addons.llm.kind import MODEL
from referee.addons.llm.settings import Model, ModelSettings
from referee.games.game import Game
from referee.harness.common.addresses import is_local, split_address
from referee.harness.common.errors import UsageError, reason
from referee.harness.common.paths import HOME, expanded, game_file, read_limited
from referee.harness.programs import adapter_options
from referee.harness.programs.entrant import Entrant, Parsed

PREFIX = "llm:"
FOLDER = HOME / "addons" / "llm"
RUNNER, PROMPTS = FOLDER / "run.py", FOLDER / "prompt.md.jinja"
"""The program that makes prompts and reads completions, which replays name; the template of the prompts."""
OURS = ("model", "messages", "seed", "stream", "temperature", "max_tokens", "max_completion_tokens", "response_format")
"""What requests have besides `--body`."""
NEEDED = ("model", "messages")
"""Of these, what `--body NAME=null` cannot leave out."""
SHOWN = ("legal", "history", "board")
"""The parts of questions that `--show` names."""
PROMPT_BYTES = 1 << 20
"""The largest file of `--prompt`."""
BODY_CHARACTERS = 10_000
"""The longest value of `--body`."""
Settings = dict[str, Any]
"""Members of `ModelSettings`, but `body` as a dict."""
SEEDS = 1 << 31
"""Services take seeds below this."""
URL = "http://127.0.0.1:8000/v1"
"""The service that is asked if none is named: vLLM's usual address."""


def command(model: str) -> tuple[str, ...]:
    """Returns the command of the program that makes the prompts."""
    return (sys.executable, "-P", str(RUNNER), model)


def is_model(argv: Sequence[str]) -> bool:
    """Whether a command, perhaps from a replay, is that of a model, which plays only with its settings."""
    return str(RUNNER) in argv[1:3]


def parse(spec: str, game: str | None) -> Parsed:
    """Parses a bot spec. UsageError if anything is wrong with it."""
    settings = read(spec)
    return settings.model, lambda context: Entrant(settings.model, command(settings.model), HOME, MODEL.name, settings)


def read(spec: str) -> ModelSettings:
    """Parses the options and the name in a bot spec. UsageError if anything is wrong with them."""
    given, model = adapter_options.split_all(spec.removeprefix(PREFIX), dict.fromkeys(OPTIONS, True), spec)
    if not model:
        raise UsageError(f"{spec}: expected the name of a model, as in {PREFIX}gpt-oss-20b")
    if model.startswith("-"):
        raise UsageError(f"{spec}: there is no option {model.split()[0]}; there are {', '.join(OPTIONS)}")
    if late := next((word for word in model.split()[1:] if word.startswith("--")), None):
        raise UsageError(f"{spec}: {late} comes after the model; put the options before it")
    values: dict[str, Any] = {}
    body: dict[str, str] = {}
    for option, text in given:
        try:
            found = OPTIONS[option].parse(text)
        except ValueError:
            raise UsageError(f"{spec}: {option} {text}: expected {OPTIONS[option].expected}") from None
        body |= found.pop("body", {})
        values |= found
    settings = ModelSettings(model.strip("'\""), **({"url": URL} | values), body=tuple(body.items()))
    _check_key(settings, spec)
    return settings


def record_of(settings: ModelSettings, game: Game, seed: int) -> Model:
    """Returns what the header of a replay says of a model. `seed`: the match's for the seat."""
    template = "\n".join([*templates(game), *([settings.prompt] if settings.prompt else [])])
    return Model(
        **{**msgspec.structs.asdict(settings), "seed": seed_of(settings, seed)},
        template=hashlib.sha256(template.encode()).hexdigest(),
    )


def seed_of(settings: ModelSettings, seed: int) -> int | None:
    """Returns the seed that is sent to the service, if any."""
    if not settings.sends_seed:
        return None
    return seed % SEEDS if settings.seed is None else settings.seed


@cache
def templates(game: Game) -> tuple[str, str]:
    """Returns the usual template of prompts, and the game's; empty if it has none."""
    own = game_file(game, game.prompt).read_text("utf-8") if game.prompt else ""
    return PROMPTS.read_text("utf-8"), own


def _check_key(settings: ModelSettings, spec: str) -> None:
    name = settings.key_from
    if name is None:
        return
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(f"{spec}: --key-from {name}: there is no such environment variable, or it is empty")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise UsageError(f"{spec}: --key-from {name}: what it holds is no key: it has blanks or other characters")
    parts = urlsplit(settings.url)
    if parts.scheme == "http" and not is_local(parts.hostname or ""):
        raise UsageError(f"{spec}: --key-from needs https, since {parts.hostname} is not this machine")


def _url(text: str) -> str:
    parts = split_address(text)
    extra = parts.query or parts.fragment or parts.username is not None
    if parts.scheme not in ("http", "https") or not parts.hostname or extra or not text.isascii():
        raise ValueError
    return text.rstrip("/")


def _prompt(text: str) -> str:
    """Returns the content of a file. UsageError if a template in it is wrong."""
    try:
        content = read_limited(expanded(text), PROMPT_BYTES).decode()
        if is_template(content):
            Environment(autoescape=True).parse(content)
    except OSError as error:
        raise UsageError(f"--prompt {text}: {reason(error)}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--prompt {text}: is not UTF-8") from None
    except TemplateSyntaxError as error:
        raise UsageError(f"--prompt {text}: line {error.lineno}: {error.message}") from None
    return content


def is_template(prompt: str) -> bool:
    """Whether a file for prompts has blocks. Otherwise it is a text, which the first message ends with."""
    return re.search(r"{%-?\s*block\s", prompt) is not None


def _whole(text: str, least: int = 0) -> int:
    if not re.fullmatch(r"\d{1,12}", text) or int(text) < least:
        raise ValueError
    return int(text)


def _number(text: str, least: float, most: float) -> float:
    number = float(text)
    if not math.isfinite(number) or not least <= number <= most:
        raise ValueError
    return number


def _prices(text: str) -> Settings:
    prices = [_number(each, 0, 1e6) for each in text.split("/")]
    if len(prices) > 3:
        raise ValueError
    found: Settings = {"price": (prices[0], prices[1 if len(prices) > 1 else 0])}
    return found | ({"cached_price": prices[2]} if len(prices) > 2 else {})


def _member(text: str) -> Settings:
    """Parses `NAME=VALUE`. A value that is no JSON is a text, and `null` leaves the member out."""
    name, equals, value = text.partition("=")
    taken = NEEDED if value == "null" else OURS
    free = re.fullmatch(r"[A-Za-z_]\w{0,99}", name, re.ASCII) and name not in taken
    if not equals or not free or len(value) > BODY_CHARACTERS:
        raise ValueError
    try:
        return {"body": {name: msgspec.json.encode(msgspec.json.decode(value)).decode()}}
    except (msgspec.MsgspecError, RecursionError):
        return {"body": {name: msgspec.json.encode(value).decode()}}


def _effort(text: str) -> Settings:
    if not re.fullmatch(r"[a-z]{1,20}", text):
        raise ValueError
    return {"body": {"reasoning_effort": f'"{text}"'}}


def _seed(text: str) -> Settings:
    return {"sends_seed": False} if text == "none" else {"seed": _whole(text), "sends_seed": True}


def _shown(text: str) -> Settings:
    parts = {"all": SHOWN, "none": ()}.get(text, tuple(text.split(",")))
    if not {*parts} <= {*SHOWN}:
        raise ValueError
    return {"show": tuple(part for part in SHOWN if part in parts)}


def _switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError
    return text == "on"


def _variable(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", text, re.ASCII):
        raise ValueError
    return text


def _setting(name: str, parse: Callable[..., Any], *limits: float) -> Callable[[str], Settings]:
    return lambda text: {name: parse(text, *limits)}


class Option(Struct, frozen=True):
    """An option in a bot spec."""

    value: str
    """The placeholder of its value in the help."""
    meaning: str
    parse: Callable[[str], Settings]
    expected: str
    """The end of the message about a wrong value, after `expected`."""


OPTIONS: dict[str, Option] = {
    "--url": Option(
        "URL",
        f"The service, over the chat-completions interface. Default: {URL}.",
        _setting("url", _url),
        "the address of a service without credentials, such as https://api.example.com/v1",
    ),
    "--key-from": Option(
        "VARIABLE",
        "The environment variable that holds the service's key.",
        _setting("key_from", _variable),
        "the name of an environment variable, not the key itself",
    ),
    "--rethinks": Option(
        "N",
        "How often the model may answer again after a refused answer. Default: 2.",
        _setting("rethinks", _whole),
        "a whole number from 0 on",
    ),
    "--budget": Option(
        "TOKENS",
        "The most tokens in a match, prompts included. Default: no limit.",
        _setting("budget", _whole, 1),
        "a number of tokens from 1 on",
    ),
    "--max-tokens": Option(
        "N",
        "The most tokens of a completion. Default: the service's own.",
        _setting("max_tokens", _whole, 1),
        "a number of tokens from 1 on",
    ),
    "--price": Option(
        "IN/OUT",
        "Dollars for a million tokens of prompts and of completions: 0.15/0.60. A third price is that of cached "
        "prompts: 0.15/0.60/0.08. Then verdicts and tables have the cost.",
        _prices,
        "dollars for a million tokens of prompts, of completions and of cached prompts, such as 0.15/0.60 or "
        "0.15/0.60/0.08",
    ),
    "--temperature": Option(
        "T",
        "The temperature. Default: the service's own.",
        _setting("temperature", _number, 0, 10),
        "a number from 0 to 10",
    ),
    "--seed": Option(
        "N", "The seed, or none. Default: from the match.", _seed, "a whole number from 0 on, or none to send no seed"
    ),
    "--timeout": Option(
        "SECONDS",
        "How long a completion may take; a later one is a time-out of the model. Default: 120.",
        _setting("timeout_s", _number, 0.01, 86400),
        "a number of seconds from 0.01 to 86400",
    ),
    "--effort": Option(
        "LEVEL",
        "How much the model reasons: low, high. Default: the service's own.",
        _effort,
        "a level that the service knows, such as low or high",
    ),
    "--body": Option(
        "NAME=VALUE",
        "Another member of every request, such as top_p=0.9. NAME=null leaves one out that requests usually have. May "
        "be repeated. The replay has it, so put no secret there.",
        _member,
        f"NAME=VALUE, such as top_p=0.9, and none of {', '.join(OURS)}, or NAME=null to leave one out",
    ),
    "--prompt": Option(
        "FILE",
        "A text to add to the first message, or a template for all prompts.",
        _setting("prompt", _prompt),
        "a file with a text to add to the first message, or with a template",
    ),
    "--show": Option(
        "PARTS",
        f"What questions have: all, none, or some of {', '.join(SHOWN)} with commas. Default: all.",
        _shown,
        f"all, none, or some of {', '.join(SHOWN)} with commas between them",
    ),
    "--structured": Option(
        "on|off",
        "Whether requests have the schema of the answer. Default: on, unless the service refuses it.",
        _setting("structured", _switch),
        "on or off",
    ),
}
"""By name."""


def help_options() -> dict[str, str]:
    """Returns what each option does, by how it is typed."""
    return {f"{name} {each.value}": each.meaning for name, each in OPTIONS.items()}
