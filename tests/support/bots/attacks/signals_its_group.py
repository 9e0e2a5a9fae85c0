"""Kills its whole group of processes."""

#: kind = "crash"
#: detail = "was killed by signal SIGKILL"

greet()
put('NW')
call()
os.killpg(0, signal.SIGKILL)
