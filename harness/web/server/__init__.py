"""Servers of ASGI applications, and the limits for their clients."""
