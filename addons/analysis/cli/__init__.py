"""The command of the analysis."""
