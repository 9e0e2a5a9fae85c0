"""Takes memory without end."""

#: kind = "memory"
#: [limits]
#: memory_bytes = 67108864

greet()
call()
held = []
for _ in range(64):
    held.append(b'x' * (8 << 20))
signal.pause()
