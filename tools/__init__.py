"""What the project's own developers run: schemas, bindings, toolchains. Nothing here is part of the harness."""
