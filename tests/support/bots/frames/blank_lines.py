"""Writes blank lines without end."""

#: kind = "output"
#: detail = "wrote more than 524288 bytes to standard output in one call"
#: [limits]
#: call_output_bytes = 524288

greet()
call()
while True:
    write(b'\n' * 65536)
