"""The starter kits' typed bindings, made from protocol/schemas/: one reading of the schemas, one emitter a language."""
