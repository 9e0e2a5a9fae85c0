"""Writes into every descriptor that it was given, its own apart."""

#: kind = "crash"
#: detail = "exited with code 6 before answering"

greet()
put('NW')
call()
for name in os.listdir('/proc/self/fd'):
    if int(name) > 2:
        try:
            os.write(int(name), b'forged\n')
        except OSError:
            pass
os._exit(6)
