"""Wins, receives `exit`, and starts processes."""

#: kind = ["processes"]
#: method = "exit"
#: wins = true
#: granted_s = 1.0
#: [limits]
#: processes = 32

greet()
put('NW')
put('W')
put('SW')
while read()['method'] != 'exit':
    pass
for _ in range(60):
    try:
        if os.fork() == 0:
            signal.pause()
    except OSError:
        pass
signal.pause()
