"""Ends, while a child of it holds its output open."""

#: kind = "crash"
#: detail = "exited with code 4 before answering"

greet()
put('NW')
call()
if os.fork() == 0:
    signal.pause()
os._exit(4)
