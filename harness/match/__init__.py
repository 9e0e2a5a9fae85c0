"""One match, and several of one kind: who is asked, what the engine makes of it, what it cost, how it ended."""
