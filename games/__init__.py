"""The games: rules only. No process, no clock, no luck but `referee.games.dice`."""
