"""Everything for a bot in Python. Import `referee_kit.GAME` before other modules."""
