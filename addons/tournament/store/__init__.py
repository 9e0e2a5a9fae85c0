"""The files of a tournament: the ledger, packed replays, bot archives and a SQLite export."""
