"""Environments for training, and policies as bots: the extra `rl`. `referee.rl` is the public part."""
