"""Is killed by the system."""

#: kind = "crash"
#: detail = "was killed by signal SIGSEGV"

greet()
put('NW')
call()
os.kill(os.getpid(), signal.SIGSEGV)
