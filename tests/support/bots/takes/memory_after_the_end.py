"""Wins, receives `exit`, and takes memory."""

#: kind = "memory"
#: method = "exit"
#: wins = true
#: granted_s = 1.0
#: [limits]
#: memory_bytes = 134217728

greet()
put('NW')
put('W')
put('SW')
while read()['method'] != 'exit':
    pass
held = b'x' * (200 << 20)
signal.pause()
