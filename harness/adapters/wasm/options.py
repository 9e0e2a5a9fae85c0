"""The options of the program that runs a module."""

MEMORY = "--memory="
"""Where the module's memory ends, in bytes."""
PULLEY = "pulley64"
"""wasmtime's interpreter: the same counts from another engine, ten times slower and more."""
TARGET = "--target="
"""The engine that the module was compiled for; without it, this machine."""
