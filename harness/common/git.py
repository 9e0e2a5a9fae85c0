"""How git is run: in an environment that neither the caller's repository nor the user's settings change.

A hook has `GIT_DIR` and its like. Settings such as `core.autocrlf`, `filter.*`, `log.*` and templates change what git
reads and writes, or start programs. Commands that read and write objects or files ignore the settings. Only fetching,
pushing and the author's name follow the user's settings: without passwords, keys, proxies and `url.*.insteadOf`,
people do not reach their forge. For an address that a stranger names, fetching does not follow them either.
"""

import os
import shutil

from referee.harness.common.errors import UsageError

SETTINGS = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "submodule.recurse=false"),
    *("core.autocrlf=false", "core.attributesFile=/dev/null"),
    "protocol.ext.allow=never",  # it would run a command
)
"""For every command."""
PACKED = ("fetch.unpackLimit=1",)
"""To fetch into one file, whose size can be limited."""
STRANGERS_SETTINGS = (
    *("protocol.allow=never", "protocol.http.allow=always", "protocol.https.allow=always", "credential.helper="),
    "http.followRedirects=false",  # a listed host could lead to any other one, such as one of this machine's network
    *("http.lowSpeedLimit=1000", "http.lowSpeedTime=30", *PACKED, "core.bigFileThreshold=1m"),
)
"""To fetch from an address that a stranger names."""
ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}
NO_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
NO_ACCOUNT = {
    "HOME": os.devnull,  # where `.netrc` would have passwords
    "XDG_CONFIG_HOME": os.devnull,
    "GIT_ASKPASS": "false",
}
KEPT = (
    *("GIT_SSH", "GIT_ASKPASS", "GIT_SSL_", "GIT_PROXY_", "GIT_AUTHOR_", "GIT_COMMITTER_"),
    *("GIT_EXEC_PATH", "GIT_DISCOVERY_ACROSS_FILESYSTEM"),
)
"""How the variables of git begin that every command keeps: those to reach a forge, and of the machine."""
KEPT_SETTINGS = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT")
KEPT_SETTING = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
"""How the variables are called, or begin, with which a user gives git settings."""
FETCH = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-gc")
PUSH = ("push", "--quiet", "--no-follow-tags", "--no-signed", "--recurse-submodules=no", "--no-verify")


def program() -> str:
    """Returns the path of git. UsageError if it is missing."""
    found = shutil.which("git")
    if found is None:
        raise UsageError("this needs git, which is not installed; install it with your system's package manager")
    return found


def options(*settings: str) -> list[str]:
    """Returns the options of git that make these settings."""
    return [word for setting in settings for word in ("-c", setting)]


def environment() -> dict[str, str]:
    """Returns the environment of every command but those below: without the user's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(KEPT)}
    return kept | ENVIRONMENT | NO_SETTINGS


def users_environment() -> dict[str, str]:
    """Returns one in which git uses the settings and passwords of this machine's user, to reach a forge."""
    plain = {name: value for name, value in environment().items() if name not in NO_SETTINGS}
    settings = {
        name: value for name, value in os.environ.items() if name in KEPT_SETTINGS or name.startswith(KEPT_SETTING)
    }
    return plain | settings


def strangers_environment(address: str) -> dict[str, str]:
    """Returns one in which git finds no setting, password, key or repository of this machine's user.

    It fetches by HTTPS alone, or by HTTP if the address says so.
    """
    allowed = {"GIT_ALLOW_PROTOCOL": "http" if address.startswith("http:") else "https"}
    return environment() | NO_ACCOUNT | allowed
