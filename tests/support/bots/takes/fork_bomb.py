"""Forks, and its children do."""

#: kind = ["processes", "memory", "crash", "timeout"]
#: call_s = 1.0
#: granted_s = 1.0
#: [limits]
#: processes = 64

greet()
call()
while True:
    try:
        os.fork()
    except OSError:
        pass
