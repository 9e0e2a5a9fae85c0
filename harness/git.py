"""How git is run on what strangers write: it runs nothing of theirs, asks nobody and follows no redirect."""

import os

SETTINGS = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0"),
    "protocol.ext.allow=never",  # it would run a command
)
"""For every command."""
STRANGERS_SETTINGS = (
    *("protocol.allow=never", "protocol.http.allow=always", "protocol.https.allow=always", "credential.helper="),
    "http.followRedirects=false",  # a listed host could lead to any other one, such as one of this machine's network
    *("http.lowSpeedLimit=1000", "http.lowSpeedTime=30", "fetch.unpackLimit=1", "core.bigFileThreshold=1m"),
)
"""To fetch from an address that a stranger names."""
ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "LC_ALL": "C",
}
NO_ACCOUNT = {
    "HOME": os.devnull,  # where `.netrc` would have passwords
    "XDG_CONFIG_HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ASKPASS": "false",
}
OF_A_REPOSITORY = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_SHALLOW_FILE"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_GRAFT_FILE", "GIT_PREFIX"),
)
"""Variables with which git tells a hook what repository it is in."""
FETCH = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-gc")


def options(*settings: str) -> list[str]:
    """Returns the options of git that make these settings."""
    return [word for setting in settings for word in ("-c", setting)]


def environment() -> dict[str, str]:
    """Returns an environment in which git uses the settings and passwords of this machine's user."""
    return os.environ | ENVIRONMENT


def strangers_environment(address: str) -> dict[str, str]:
    """Returns one in which git finds no setting, password, key or repository of this machine's user.

    It fetches by HTTPS alone, or by HTTP if the address says so.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in OF_A_REPOSITORY and not name.startswith("GIT_CONFIG")
    }
    return kept | ENVIRONMENT | NO_ACCOUNT | {"GIT_ALLOW_PROTOCOL": "http" if address.startswith("http:") else "https"}
