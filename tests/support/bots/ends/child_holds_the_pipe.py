"""Ends, while a child of it holds its output open."""

#: kind = "crash"
#: detail = "ended by itself, exit code 4"

greet()
put('NW')
call()
if os.fork() == 0:
    signal.pause()
os._exit(4)
