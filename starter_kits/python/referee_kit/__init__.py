"""What a bot in Python needs. Begin your bot with `from referee_kit.GAME import *`, before other imports."""
