"""A ladder in a git repository that proves itself; `docs/explanation/ladder.md` says what is proved."""
