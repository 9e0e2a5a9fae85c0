"""A Model Context Protocol server: an assistant plays at a seat by calling tools."""
