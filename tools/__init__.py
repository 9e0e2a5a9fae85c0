"""Generators (schemas, pages, bindings of the kits) and other programs for developers of the referee."""
