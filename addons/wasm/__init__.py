"""Runs bots that are compiled to WebAssembly, and counts their time in fuel instead of seconds."""
