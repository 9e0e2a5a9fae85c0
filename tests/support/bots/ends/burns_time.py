"""Burns CPU time in many threads without end."""

#: kind = "timeout"
#: call_s = 0.3

import threading
greet()
put('NW')
call()
for _ in range(4):
    threading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()
signal.pause()
