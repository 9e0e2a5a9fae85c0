"""Writes a byte now and then, and never a line."""

#: kind = "timeout"
#: call_s = 0.3

greet()
call()
while True:
    write(b' ')
    time.sleep(0.05)
