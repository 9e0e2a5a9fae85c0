"""What a tournament keeps on disk: the ledger, packed replays, bot archives and a SQLite export."""
