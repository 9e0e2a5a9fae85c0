"""Writes while nobody asks."""

#: kind = "protocol"

greet()
put('NW')
while True:
    write(b'x' * 65536)
