"""Kills its whole group of processes."""

#: kind = "crash"
#: detail = "ended by itself, signal SIGKILL"

greet()
put('NW')
call()
os.killpg(0, signal.SIGKILL)
