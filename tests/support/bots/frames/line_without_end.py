"""Writes a line that never ends."""

#: kind = "protocol"
#: detail = "a frame of more than 1048576 bytes, which is the limit; it begins: xxx…"

greet()
call()
while True:
    write(b'x' * 65536)
