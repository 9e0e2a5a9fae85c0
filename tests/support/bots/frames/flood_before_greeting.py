"""Writes blank lines instead of a greeting."""

#: kind = "output"
#: method = "initialize"
#: [limits]
#: call_output_bytes = 524288

while True:
    write(b'\n' * 65536)
