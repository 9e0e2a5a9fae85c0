"""Replays: written during a match; read, verified and exported afterwards."""
