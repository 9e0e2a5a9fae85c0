"""Games whose rules are a program in any language: a folder with a `game.toml`, named by its path or installed."""
