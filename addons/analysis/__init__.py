"""What a match tells: how the expected score of each seat changed, and where."""
