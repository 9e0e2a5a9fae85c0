"""Pages: a match to look at, in one file that opens from disk."""
