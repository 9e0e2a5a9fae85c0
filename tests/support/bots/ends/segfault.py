"""Is killed by the system."""

#: kind = "crash"
#: detail = "ended by itself, signal SIGSEGV"

greet()
put('NW')
call()
os.kill(os.getpid(), signal.SIGSEGV)
