"""The arrays of each game: a module with an `ENCODING` for each. docs/reference/environments.md documents them."""
