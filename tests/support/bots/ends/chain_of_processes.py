"""Forks anew in every moment, so that nobody sees it twice."""

#: kind = "timeout"
#: call_s = 0.3

greet()
call()
if os.fork() == 0:
    while True:
        if os.fork():
            os._exit(0)
signal.pause()
