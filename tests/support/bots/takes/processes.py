"""Starts too many processes."""

#: kind = ["processes", "crash"]
#: [limits]
#: processes = 32

greet()
call()
for _ in range(60):
    if os.fork() == 0:
        signal.pause()
signal.pause()
