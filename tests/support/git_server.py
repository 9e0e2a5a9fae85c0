"""A git server for tests: `git http-backend` behind TLS, and paths that no honest server has."""

import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import trustme
from submissions import IDENTITY

MOVED = "/moved/"
"""Leads to the address that `GitServer.leads_to` names."""
PRIVATE = "/private/"
"""Asks for a password."""


class GitServer:
    """A server that runs. The repositories are in `folder`."""

    def __init__(self, folder: Path, server: ThreadingHTTPServer) -> None:
        self.folder = folder
        self.address = f"https://127.0.0.1:{server.server_address[1]}"
        self.leads_to = ""
        self.passwords: list[str] = []
        """What clients have sent to sign in."""

    def repository(self, name: str, tree: str = "") -> str:
        """Makes a bare repository of a folder's, and returns its address. `tree`: of its only commit instead."""
        bare = self.folder / f"{name}.git"
        subprocess.run(["git", "clone", "--quiet", "--bare", self.folder / name, bare], check=True)
        if tree:
            commit = ["git", "-C", bare, *IDENTITY, "commit-tree", tree, "-m", "hostile"]
            made = subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip()
            subprocess.run(["git", "-C", bare, "update-ref", "HEAD", made], check=True)
        return f"{self.address}/{name}.git"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    git: GitServer

    def do_GET(self) -> None:
        if self.path.startswith(MOVED):
            self._answer(302, {"Location": self.git.leads_to + self.path.removeprefix(MOVED.rstrip("/"))})
        elif self.path.startswith(PRIVATE):
            self.git.passwords += filter(None, [self.headers.get("authorization")])
            self._answer(401, {"WWW-Authenticate": 'Basic realm="private"'})
        else:
            self._answer_by_git()

    do_POST = do_GET

    def _answer_by_git(self) -> None:
        path, _, query = self.path.partition("?")
        environment = {
            "GIT_PROJECT_ROOT": str(self.git.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
        }
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self._answer(int(fields.pop("Status", "200").split()[0]), fields, content)

    def _answer(self, status: int, fields: dict[str, str], content: bytes = b"") -> None:
        self.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def git_server(folder: Path) -> Iterator[tuple[GitServer, Path]]:
    """Runs a server while the block runs. Yields it with the certificate of its authority, which nobody else knows."""
    folder.mkdir()
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    certificate = folder.with_name("authority.pem")
    authority.cert_pem.write_to_path(str(certificate))
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {}))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.RequestHandlerClass.git = git = GitServer(folder, server)  # type: ignore[attr-defined]
    running = threading.Thread(target=server.serve_forever)
    running.start()
    try:
        yield git, certificate
    finally:
        server.shutdown()
        running.join()
        server.server_close()
