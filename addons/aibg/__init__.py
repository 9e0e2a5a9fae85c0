"""AIBG's HTTP interface: aibg5.md, 13.3."""
