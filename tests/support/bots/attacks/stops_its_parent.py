"""Stops the process above it."""

#: kind = "timeout"
#: call_s = 0.3
#: granted_s = 1.3

greet()
put('NW')
call()
try:
    os.kill(os.getppid(), signal.SIGSTOP)
except OSError:
    pass
signal.pause()
