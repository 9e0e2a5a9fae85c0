"""Everything for a bot in Python. Begin your bot with `from referee_kit.GAME import *`, before other imports."""
