"""Connects a language model's seat to its service: one host, one port and one path, and nothing else.

The relay runs in the referee's process. It alone has the key. It speaks the chat-completions interface of OpenAI, which
vLLM, llama.cpp, Ollama and most vendors have. It follows no redirect and uses no proxy.
"""

import email.utils
import http.client  # not httpx: language models need no extra
import os
import re
import socket
import ssl
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from email.message import Message
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
import trio
from msgspec import Raw, Struct

from referee.addons.llm.completions import Completion
from referee.addons.llm.settings import ModelSettings
from referee.games.contract import Fault, FaultKind
from referee.protocol.errors import UNDECODABLE
from referee.protocol.text import printable

MAX_BYTES = 8 << 20
"""The longest response that is read."""
ATTEMPTS = 5
"""How often a request is sent in all, if the service fails."""
BACKOFF_S = 0.5
"""The wait before the second attempt. It doubles with each further one."""
PATIENCE_S = 300.0
"""Most time of one call that goes into waits for a service that is busy."""
BUSY_S = 1.0
"""The first such wait, if the service does not say how long. It doubles too."""
MAX_WAIT_S = 1e9
"""A service that asks for a longer wait is said to ask for at least this one."""
SAID_S = 2.0
"""The terminal shows a wait from this length on."""
UNUSABLE = (401, 403, 404)
"""The key, the model or the address is wrong."""
BUSY = (429, 503)
NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
"""The codes of a 429 that no wait helps against."""
SCHEMA, SEED, TEMPERATURE = "response_format", "seed", "temperature"
"""The members of a request that are left out if the service refuses them."""
PARTS_BYTES = 1 << 20
"""Longer content is not read as a list of parts: 8 MiB of empty parts would take 200 MiB."""
MAX_TOKENS = 10**9
"""A service that counts more tokens in a completion has not counted."""
BYTES_A_TOKEN = 4
"""For services that count no tokens."""
MESSAGE_CHARACTERS = 300
USAGE_BYTES = ERROR_BYTES = 10_000
"""Longer counts of tokens or errors are not parsed: 8 MiB of empty lists would take 200 MiB."""
NULL = Raw(b"null")
TEXTS = ("text", "output_text", "refusal")
"""The types of parts that have what the model says."""
FAILED = "error"
"""Some services give this as the end of a completion that broke off."""
HIDDEN = "[key]"
"""Stands for the key, if a service repeats it."""
ESCAPE = re.compile(rb"(\\(?:[^u]|u[dD][89abAB]..\\u[dD][c-fC-F]..|u(?![dD][89a-fA-F])....))|\\u....", re.DOTALL)
"""An escape in a JSON text. The group is empty for half of a character, which a token limit may leave behind."""


class Trouble(Exception):
    """The service gave no completion, which is no fault of the model. The message is one line and has no key."""

    def __init__(self, text: str, unusable: bool = False, again: bool = False, wait_s: float | None = None) -> None:
        """`unusable`: the key, the model or the address is wrong. `again`: the service may give one, if asked again.

        `wait_s`: how long a busy service asks to wait before that; 0 = it does not say.
        """
        super().__init__(text)
        self.unusable, self.again, self.wait_s = unusable, again, wait_s


class Unanswered(Exception):
    """The model gave no completion in its own time."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


class _Part(Struct):
    """A piece of a completion. Those of other types than `TEXTS` have reasoning, and no text of the answer."""

    type: Raw = Raw(b'"text"')
    text: Raw = NULL
    refusal: Raw = NULL


class _Said(Struct):
    content: Raw = NULL
    """A text, or a list of parts."""
    refusal: str | None = None
    reasoning_content: Raw = NULL
    reasoning: Raw = NULL
    """The newer name of the same."""


class _Choice(Struct):
    message: _Said
    finish_reason: Raw = NULL


class _Response(Struct):
    choices: list[_Choice]
    usage: Raw = NULL


class Received(NamedTuple):
    """A completion and its tokens."""

    completion: Completion
    prompt_tokens: int
    completion_tokens: int
    estimated: bool
    """The service did not count them."""
    structured: bool
    """The request had the schema of the answer."""
    reasoning_tokens: int
    cached_tokens: int
    left_out: tuple[str, ...] = ()
    """The other members that the request did not have, because the service refuses them."""
    took_s: float = 0.0
    """How long the service took for it, without the attempts that failed and the waits."""


class Relay:
    """The way to one service."""

    def __init__(self, settings: ModelSettings) -> None:
        parts = urlsplit(settings.url)
        self.settings = settings
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port
        self._path = f"{parts.path.rstrip('/')}/chat/completions"
        self._limit_name = "max_tokens"
        self._left_out: frozenset[str] = frozenset()
        """The members of a request that the service has refused."""

    async def complete(
        self,
        messages: Sequence[Mapping[str, str]],
        schema: Any,
        seed: int | None,
        max_tokens: int | None,
        limit_s: float,
    ) -> Received:
        """Returns the completion of a conversation. Trouble if the service gives none.

        Sends a request again if the service fails, and after the wait that it asks for. Unanswered if the model takes
        more than `limit_s` seconds.
        """
        waited_s, busy_s, failures = 0.0, BUSY_S, 0
        while True:
            try:
                return await self._adapted(messages, schema, seed, max_tokens, limit_s)
            except Trouble as trouble:
                if not trouble.again:
                    raise
                if trouble.wait_s is None:
                    failures += 1
                    if failures >= ATTEMPTS:
                        raise Trouble(f"{trouble} ({ATTEMPTS} attempts)", trouble.unusable) from None
                    wait_s = BACKOFF_S * 2 ** (failures - 1)
                else:
                    wait_s = max(trouble.wait_s, busy_s)
                    busy_s *= 2
                    if waited_s + wait_s > PATIENCE_S:
                        raise Trouble(f"{trouble}; {_impatience(trouble.wait_s, waited_s)}") from None
                    waited_s += wait_s
                self._say_wait(wait_s, trouble)
            await trio.sleep(wait_s)

    def _say_wait(self, wait_s: float, why: Trouble) -> None:
        if wait_s < SAID_S:
            return
        until = time.strftime("%H:%M:%S", time.localtime(time.time() + wait_s))
        asked = ", as the service asks" if why.wait_s == wait_s else ""
        line = printable(f"{self.settings.model} waits {wait_s:.0f} s, until {until}{asked}: {why}")
        over = "\r\x1b[K" if sys.stderr.isatty() else ""  # the live line of the command may be there
        sys.stderr.write(f"{over}{line}\n")
        sys.stderr.flush()

    async def _adapted(
        self,
        messages: Sequence[Mapping[str, str]],
        schema: Any,
        seed: int | None,
        max_tokens: int | None,
        limit_s: float,
    ) -> Received:
        """Sends a request, without what the service refuses, and with the name that it has for the limit."""
        left_out = self._left_out
        while True:
            body = self._body(messages, schema, seed, max_tokens, left_out)
            try:
                content, took_s = await self._post(msgspec.json.encode(body), limit_s)
            except _Refused as refused:
                if "max_tokens" in body and "max_completion_tokens" in str(refused):
                    self._limit_name = "max_completion_tokens"
                elif member := self._refused_member(str(refused), body):
                    left_out |= {member}
                else:
                    raise Trouble(str(refused)) from None
            else:
                self._left_out = left_out
                received = self._read(content, messages, SCHEMA in body)
                return received._replace(left_out=tuple(sorted(left_out - {SCHEMA})), took_s=took_s)

    def _body(
        self,
        messages: Sequence[Mapping[str, str]],
        schema: Any,
        seed: int | None,
        max_tokens: int | None,
        left_out: frozenset[str],
    ) -> dict[str, Any]:
        settings = self.settings
        closed, strict = strict_schema(schema)
        answer = {"name": "answer", "strict": strict, "schema": closed}
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": messages,
            "stream": False,
            SEED: seed,
            TEMPERATURE: settings.temperature,
            self._limit_name: max_tokens,
            SCHEMA: None if settings.structured is False else {"type": "json_schema", "json_schema": answer},
            **{name: None if value == "null" else Raw(value.encode()) for name, value in settings.body},
        }
        return {name: value for name, value in body.items() if value is not None and name not in left_out}

    def _refused_member(self, message: str, body: Mapping[str, Any]) -> str | None:
        """Returns the member to leave out: one that the message names, or else what few services have."""
        settings = self.settings
        for name in (SEED, TEMPERATURE):
            if name in body and re.search(rf"\b{name}\b", message):
                return name
        if SCHEMA in body and settings.structured is None:
            return SCHEMA
        return SEED if SEED in body and settings.seed is None else None

    async def _post(self, body: bytes, limit_s: float) -> tuple[bytes, float]:
        """Returns the content of a response, and how long it took from the connection on.

        Ends the connection when it is cancelled or takes too long.
        """
        key, sockets = self._key(), list[socket.socket]()
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        if key:
            headers["Authorization"] = f"Bearer {key}"

        heads, contents, started = list[tuple[int, Message]](), list[bytes](), list[float]()

        def begin() -> None:
            """Ends the time for connecting, which is the service's, and begins that of the model."""
            started.append(time.monotonic())
            scope.deadline = trio.current_time() + limit_s

        def exchange() -> None:
            with closing(self._connection()) as connection:
                connection.connect()
                sockets.append(connection.sock)
                trio.from_thread.run_sync(begin)
                connection.request("POST", self._path, body, headers)
                with connection.getresponse() as response:
                    heads.append((response.status, response.headers))
                    contents.append(response.read(MAX_BYTES + 1))

        try:
            with trio.fail_after(self.settings.timeout_s) as scope:
                await trio.to_thread.run_sync(exchange, abandon_on_cancel=True)
        except trio.TooSlowError:
            if not started:
                late = f"{self} cannot be reached within {self.settings.timeout_s:g} s"
                raise Trouble(late, unusable=True, again=True) from None
            if not _is_error(heads):
                late = f"{self} gave no completion within {limit_s:g} s"
                raise Unanswered(Fault(FaultKind.TIMEOUT, late)) from None
        except (ConnectionRefusedError, socket.gaierror, ssl.SSLError) as error:
            text = f"{self} cannot be reached: {self._plain(str(error), key)}"
            raise Trouble(text, unusable=True, again=True) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            if not _is_error(heads):
                raise Trouble(f"{self}: {self._plain(str(error) or type(error).__name__, key)}", again=True) from None
        finally:
            for opened in sockets:
                with suppress(OSError):  # ends the thread, if it still reads
                    opened.shutdown(socket.SHUT_RDWR)
        (status, received), content = heads[0], contents[0] if contents else b""
        if len(content) > MAX_BYTES:
            raise Trouble(f"{self} answered with more than {MAX_BYTES >> 20} MiB")
        if key:
            content = content.replace(key.encode(), HIDDEN.encode())
        if 200 <= status < 300:
            return content, time.monotonic() - started[0]
        message, code = _error(content)
        text = f"{self} answered {status} {self._plain(message, key)}".rstrip()
        if code in NO_MONEY:
            raise Trouble(text)
        if status in BUSY:
            raise Trouble(text, again=True, wait_s=_retry_after(received))
        if status in (400, 422):
            raise _Refused(text)
        if 300 <= status < 400:
            raise Trouble(f"{text}: it leads elsewhere, and the referee follows no redirects", unusable=True)
        raise Trouble(text, unusable=status in UNUSABLE, again=status >= 500 or status == 408)

    def _connection(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=self.settings.timeout_s)

    def _key(self) -> str:
        name = self.settings.key_from
        return "" if name is None else os.environ.get(name, "").strip()

    def _read(self, content: bytes, messages: Sequence[Mapping[str, str]], structured: bool) -> Received:
        """Returns the completion in a response. Every text of it is without the key."""
        key = self._key()
        try:
            content = ESCAPE.sub(lambda each: each[1] or rb"\ufffd", content)
            response = msgspec.json.decode(content, type=_Response)
            choice = response.choices[0]
            parts = _parts(choice.message.content)
            finish = _text(choice.finish_reason)
            if finish == FAILED:
                raise ValueError("it broke off")
        except (*UNDECODABLE, IndexError, ValueError) as error:
            said = _error(content)
            why, code = said if re.search(rb'"error"\s*:', content[:ERROR_BYTES]) else (str(error), "")
            text = f"{self} answered with no completion: {self._plain(why, key)}"
            raise Trouble(text, again=code not in NO_MONEY) from None
        message, usage = choice.message, _parsed(response.usage)
        completion = Completion(
            text=_without("".join(text for text, _ in parts), key),
            finish="stop" if finish is None else self._plain(finish, key),
            refusal=_without(message.refusal or "".join(refusal for _, refusal in parts), key),
            reasoning=_without(_text(message.reasoning_content) or _text(message.reasoning) or "", key),
        )
        prompt, counted = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        estimated = not prompt or counted is None
        if estimated:
            size = sum(len(each["content"].encode()) for each in messages)
            prompt, counted = _tokens(size), _tokens(len(content))
        reasoning = _count(usage, "completion_tokens_details", "reasoning_tokens")
        cached = _count(usage, "prompt_tokens_details", "cached_tokens")
        return Received(completion, prompt or 0, counted or 0, estimated, structured, reasoning or 0, cached or 0)

    def _plain(self, text: str, key: str) -> str:
        return printable(_without(text, key), MESSAGE_CHARACTERS)

    def __str__(self) -> str:
        return f"the service at {self.settings.url}"


class _Refused(Exception):
    """The service refuses the form of a request."""


def _without(text: str, key: str) -> str:
    return text.replace(key, HIDDEN) if key else text


def _parts(content: Raw) -> list[tuple[str, str]]:
    """Returns text and refusal of each part of a completion. UNDECODABLE if it has none."""
    if not bytes(content).startswith(b"[") or len(bytes(content)) > PARTS_BYTES:
        return [(_string(content), "")]
    parts = [part for part in msgspec.json.decode(content, type=list[_Part]) if _text(part.type) in TEXTS]
    return [(_string(part.text), _string(part.refusal)) for part in parts]


def _string(member: Raw) -> str:
    """Returns a text; empty for null. UNDECODABLE for anything else."""
    return msgspec.json.decode(member, type=str | None) or ""


def _is_error(heads: Sequence[tuple[int, Message]]) -> bool:
    """Returns whether a response has begun that is no completion, so that its status says enough."""
    return any(not 200 <= status < 300 for status, _ in heads)


def _impatience(asked_s: float, waited_s: float) -> str:
    """Returns why Referee waits no longer for a busy service. `asked_s`: the wait that it asks for; 0 = none."""
    if asked_s > BUSY_S:
        asked = f"{'at least ' * (asked_s >= MAX_WAIT_S)}{asked_s:,.0f} s"
        return f"it asks for a wait of {asked}, which is too long: Referee waits at most {PATIENCE_S:g} s a call"
    return f"Referee has waited {waited_s:.0f} s in vain"


def _parsed(usage: Raw) -> Any:
    """Returns what a service counted as plain values; None if that cannot be read."""
    with suppress(*UNDECODABLE):
        return msgspec.json.decode(usage) if len(bytes(usage)) <= USAGE_BYTES else None
    return None


def _text(member: Raw) -> str | None:
    """Returns a text, and None for anything else."""
    with suppress(*UNDECODABLE):
        return msgspec.json.decode(member, type=str)
    return None


def _count(usage: Any, *path: str) -> int | None:
    """Returns a number of tokens that a service counted; None if there is none, or one that cannot be."""
    for member in path:
        usage = usage.get(member) if isinstance(usage, dict) else None
    is_count = isinstance(usage, int) and not isinstance(usage, bool) and 0 <= usage <= MAX_TOKENS
    return usage if is_count else None


def strict_schema(schema: Any) -> tuple[Any, bool]:
    """Returns a schema whose objects have no other members, and whether it is strict: all of its members are required.

    Services refuse `strict` for any other schema.
    """
    if isinstance(schema, list):
        parts = [strict_schema(each) for each in schema]
        return [part for part, _ in parts], all(strict for _, strict in parts)
    if not isinstance(schema, dict):
        return schema, True
    members = {name: strict_schema(value) for name, value in schema.items()}
    closed, strict = {name: part for name, (part, _) in members.items()}, all(part for _, part in members.values())
    if schema.get("type") == "object":
        closed.setdefault("additionalProperties", False)
        required = set(schema.get("required", ())) == set(schema.get("properties", {}))
        strict = strict and required and closed["additionalProperties"] is False
    return closed, strict


def _tokens(size: int) -> int:
    return -(-size // BYTES_A_TOKEN)


def _error(content: bytes) -> tuple[str, str]:
    """Returns what a service says about an error, and its code; empty without one.

    That is OpenAI's `error.message`, or the beginning of the text.
    """
    beginning = content[:ERROR_BYTES]
    try:
        answer = msgspec.json.decode(beginning)
    except UNDECODABLE:
        return beginning.decode("utf-8", "replace"), ""
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    message = error.get("message", error) if isinstance(error, dict) else error
    text = message if isinstance(message, str) else msgspec.json.encode(message).decode()
    if not isinstance(error, dict):
        return text, ""
    member = error.get("param")
    if isinstance(member, str) and member not in text:
        text = f"{text} ({member})"
    return text, next((code for code in NO_MONEY if code in (error.get("code"), error.get("type"))), "")


def _retry_after(headers: Message) -> float:
    """Returns the seconds of a `Retry-After`, which are a number or a date; 0 if it has none."""
    text = (headers.get("Retry-After") or "").strip()[:100]
    try:
        wait_s = float(text)
    except ValueError:
        try:
            wait_s = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return 0.0
    return max(0.0, min(wait_s, MAX_WAIT_S)) if wait_s == wait_s else 0.0  # NaN is unlike itself
