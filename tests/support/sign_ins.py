"""OpenID Connect providers for tests: a real one, in Node, and one that lies."""

import fcntl
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from joserfc.jwk import OctKey, RSAKey
from joserfc.jwt import encode
from needs import skip_without

HERE = Path(__file__).parent / "oidc"
CLIENT, SECRET = "cup", "s3cret of the cup: 100%"
INSTALL_S = 120.0


def _installed() -> None:
    """Installs the provider's packages, unless they are there. Skips the test if the index cannot be reached."""
    skip_without("node", "npm")
    done, lock = HERE / "node_modules" / ".done", HERE / "package-lock.json"
    with (HERE / "package.json").open() as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)  # other workers of pytest
        if done.is_file() and done.read_bytes() == lock.read_bytes():
            return
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        if subprocess.run(command, cwd=HERE, timeout=INSTALL_S).returncode:
            pytest.skip("npm cannot install the provider's packages here")
        done.write_bytes(lock.read_bytes())


@contextmanager
def real_provider(contest: str) -> Iterator[str]:
    """Runs a provider that knows a contest at an address while the block runs, and yields its issuer."""
    _installed()
    client = {"client_id": CLIENT, "client_secret": SECRET, "redirect_uris": [f"{contest}/signed-in"]}
    command = ["node", str(HERE / "provider.mjs"), json.dumps(client)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


def settings_file(folder: Path, issuer: str) -> Path:
    """Writes the organiser's file about a provider."""
    file = folder / "provider.toml"
    lines = {"issuer": issuer, "client_id": CLIENT, "client_secret": SECRET, "name": "the school"}
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items()))
    return file


class AtProvider:
    """A browser at the provider's pages. Those of the contest have another one, because cookies know no port."""

    def __init__(self, login: str) -> None:
        self.login = login
        self.http = httpx.Client(trust_env=False, verify=False, timeout=60)

    def signs_in(self, address: str, back: str) -> str:
        """Answers the provider's pages from an address on. Returns the address of the contest to which they lead."""
        response = self.http.get(address)
        for _ in range(20):
            if response.is_redirect:
                address = urljoin(str(response.url), response.headers["location"])
                if address.startswith(back):
                    return address
                response = self.http.get(address)
                continue
            page = response.text
            prompt, action = re.search(r'name="prompt" value="(\w+)"', page), re.search(r'action="([^"]+)"', page)
            assert prompt is not None and action is not None, page
            form = {"prompt": prompt[1], "login": self.login, "password": "any"}
            response = self.http.post(action[1], data=form)
        raise AssertionError("the provider goes in circles")


# A provider that lies.

KEY = RSAKey.generate_key(2048, {"kid": "a"})


class Liar:
    """A provider whose answers a test chooses."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.description: dict[str, Any] = {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/auth",
            "token_endpoint": f"{issuer}/token",
            "jwks_uri": f"{issuer}/jwks",
        }
        self.claims: dict[str, Any] = {}
        """Replace the true ones; None leaves one out."""
        self.header: dict[str, Any] = {"alg": "RS256", "kid": "a"}
        self.key: RSAKey | OctKey = KEY
        self.keys: list[dict[str, Any]] = [dict(KEY.as_dict(private=False))]
        self.tokens: dict[str, Any] = {}
        """Replace fields of the answer to a code."""
        self.send: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        """What sends an answer, by path, instead of the true one."""
        self.asked: list[str] = []

    def token(self, nonce: str) -> str:
        """Returns an ID token."""
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": "eve", "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": nonce}
        claims |= self.claims
        kept = {name: value for name, value in claims.items() if value is not None}
        return encode(self.header, kept, self.key, [self.header["alg"]])

    def answer(self, path: str, nonce: str) -> dict[str, Any]:
        """Returns the true answer, with the lies of the token."""
        if path == "/.well-known/openid-configuration":
            return self.description
        if path == "/jwks":
            return {"keys": self.keys}
        return {"access_token": "an access token", "token_type": "Bearer", "id_token": self.token(nonce)} | self.tokens


@contextmanager
def lying_provider() -> Iterator[Liar]:
    """Runs a provider of which a test chooses the answers. `nonce` is that of the code."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("content-length", 0))
            form = httpx.QueryParams(self.rfile.read(size).decode())
            liar.asked.append(self.path)
            try:
                if (send := liar.send.get(self.path)) is not None:
                    return send(self)
                respond(self, json.dumps(liar.answer(self.path, form.get("code", ""))).encode())
            except OSError:
                pass  # the client has had enough

        do_POST = do_GET

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        liar = Liar(f"http://127.0.0.1:{server.server_port}")
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield liar
        finally:
            server.shutdown()
            thread.join()


def respond(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    """Sends an answer."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
