"""The record of a match: its lines, written while it is played; read, simulated, verified and exported afterwards."""
