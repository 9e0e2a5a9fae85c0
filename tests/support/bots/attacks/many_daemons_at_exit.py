"""Wins, receives `exit`, and leaves processes behind."""

#: wins = true

greet()
put('NW')
put('W')
put('SW')
while read()['method'] != 'exit':
    pass
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()
os._exit(0)
