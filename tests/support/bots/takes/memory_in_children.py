"""Takes it in children."""

#: kind = "memory"
#: [limits]
#: memory_bytes = 67108864

greet()
call()
for _ in range(4):
    if os.fork() == 0:
        held = b'x' * (24 << 20)
        signal.pause()
signal.pause()
