"""Matches, opponents and HTTP, shared by the servers of original contests."""
