"""Has a child burn it."""

#: kind = "cpu"
#: granted_s = 1.0
#: [limits]
#: cpu_s = 0.3

greet()
call()
if os.fork() == 0:
    while True:
        pass
signal.pause()
