"""Teams of a hosted contest whose bots pass the check, and do something else in games against other teams.

An attack that succeeds ends the bot with `STOLEN`, and one that was held off ends it with `HELD_OFF`, so that the
ledger tells which it was.
"""

STOLEN, HELD_OFF = 77, 66
LATER = """
import glob, socket, time
plain, begun, teams = choose, begin, set()
def begin(params):
    global teams
    teams = {name for name in params["names"] if name.startswith("Team ")}
    begun(params)
def choose():
    if len(teams) > 1:
        later()
    return plain()
"""
"""Calls `later` in games against other teams, and not in a check."""
CRASHES = (
    LATER
    + """
def later():
    sys.exit("gave up")
"""
)
THIEF = """
def later():
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
BOMB = """
def later():
    children = 0
    try:
        while children < 3000:
            children += 1
            if os.fork() == 0:
                time.sleep(60)
    except OSError:
        pass
    try:
        held = [bytearray(64 << 20) for _ in range(64)]
    except MemoryError:
        os._exit({held_off})
    os._exit({stolen} if children >= 3000 else {held_off})
"""
"""Starts as many processes as it may, and takes 4 GiB of memory."""


def thief(cup: str, port: int) -> str:
    """Returns the code of a bot that steals from a contest's folder and from a server on this machine."""
    paths = [f"{cup}/host.sqlite", f"{cup}/tournament.toml", f"{cup}/bots/*", f"{cup}/uploads/*/*/*", "/etc/shadow"]
    folders = [cup, f"{cup}/bots"]
    return LATER + THIEF.format(paths=paths, folders=folders, port=port, stolen=STOLEN, held_off=HELD_OFF)


def bomb() -> str:
    """Returns the code of a bot that takes all processes and all memory."""
    return LATER + BOMB.format(stolen=STOLEN, held_off=HELD_OFF)
