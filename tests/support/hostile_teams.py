"""A team of a hosted contest whose bot steals. It ends with `STOLEN` or `HELD_OFF`, so that the ledger tells which."""

STOLEN, HELD_OFF = 77, 66
THIEF = """
import glob, socket
def steal():
    for path in {paths}:
        for found in glob.glob(path):
            try:
                os._exit({stolen}) if open(found, "rb").read(1) else None
            except OSError:
                pass
    for address in (("127.0.0.1", {port}), ("1.1.1.1", 53)):
        try:
            socket.create_connection(address, 1.0)
            os._exit({stolen})
        except OSError:
            pass
    for folder in {folders}:
        try:
            open(os.path.join(folder, "owned"), "w").close()
            os._exit({stolen})
        except OSError:
            pass
    os._exit({held_off})
"""
"""Reads the contest's secrets and other teams' bots, calls its server and the network, writes outside its folder."""


def thief(cup: str, port: int) -> str:
    """Returns the code of a function `steal` that tries a contest's folder and a server on this machine."""
    paths = [f"{cup}/host.sqlite", f"{cup}/tournament.toml", f"{cup}/bots/*", f"{cup}/uploads/*/*/*", "/etc/shadow"]
    folders = [cup, f"{cup}/bots"]
    return THIEF.format(paths=paths, folders=folders, port=port, stolen=STOLEN, held_off=HELD_OFF)
