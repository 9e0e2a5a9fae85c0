"""Obeys no signal that can be disobeyed, nor `exit`."""

#: kind = "timeout"
#: call_s = 0.3

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
    signal.signal(number, signal.SIG_IGN)
greet()
put('NW')
call()
while True:
    signal.pause()
