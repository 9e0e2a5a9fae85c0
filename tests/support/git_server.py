"""A git server for tests: `git http-backend` behind TLS, and paths that no honest server has."""

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import trustme
from submissions import IDENTITY

from referee.addons.tournament.intake.objects import Repository

MOVED = "/moved/"
"""Leads to the address that `GitServer.leads_to` names."""
PRIVATE = "/private/"
"""Asks for a password."""


class GitServer:
    """A server that runs. The repositories are in `folder`."""

    def __init__(self, folder: Path, server: ThreadingHTTPServer) -> None:
        self.folder = folder
        self.host = f"127.0.0.1:{server.server_address[1]}"
        self.address = f"https://{self.host}"
        self.leads_to = ""
        self.asked: list[str] = []
        self.stalls, self.closing = False, threading.Event()
        """`stalls`: it accepts questions and answers none."""
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

    def add(self, name: str, files: Mapping[str, bytes], lines: bytes = b"") -> tuple[str, str]:
        """Makes a repository with a commit. Returns its address and the commit. `lines`: more for `git fast-import`."""
        with Repository.made(self.folder / f"{name}.git") as repository:
            text = b"commit refs/heads/main\ncommitter e <e@e> 1700000000 +0000\ndata 1\ne\n"
            for path, content in files.items():
                text += b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content)
            repository.run("fast-import", "--quiet", given=text + lines + b"\n")
            return f"{self.address}/{name}.git", repository.commit("main")

    def remove(self, name: str) -> None:
        shutil.rmtree(self.folder / f"{name}.git")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    git: GitServer

    def do_GET(self) -> None:
        self.git.asked.append(self.path)
        if self.git.stalls:
            self.git.closing.wait(20)
        elif self.path.startswith(MOVED):
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


class Server(ThreadingHTTPServer):
    daemon_threads = False  # its end waits for them

    def handle_error(self, *arguments: object) -> None:
        pass  # a client that has enough hangs up


@contextmanager
def git_server(folder: Path) -> Iterator[tuple[GitServer, Path]]:
    """Runs a server while the block runs. Yields it with the certificate of its authority, which nobody else knows."""
    folder.mkdir()
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    certificate = folder.with_name("authority.pem")
    authority.cert_pem.write_to_path(str(certificate))
    server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {}))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.RequestHandlerClass.git = git = GitServer(folder, server)  # type: ignore[attr-defined]
    running = threading.Thread(target=server.serve_forever, args=(0.02,))
    running.start()
    try:
        yield git, certificate
    finally:
        git.closing.set()
        server.shutdown()
        running.join()
        server.server_close()
