"""Tournaments: what is played, by whom and where, the ledger of it, and what can be said from that and how surely."""
