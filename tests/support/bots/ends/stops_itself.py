"""Stops itself, as a debugger would."""

#: kind = "timeout"
#: call_s = 0.3

greet()
put('NW')
call()
os.kill(os.getpid(), signal.SIGSTOP)
