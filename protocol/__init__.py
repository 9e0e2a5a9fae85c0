"""The wire between the referee and a bot: bytes in, values out. No process, no clock, no waiting."""
