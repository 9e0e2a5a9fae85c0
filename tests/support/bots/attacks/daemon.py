"""Leaves a process behind that has left its family."""

#: kind = "crash"
#: detail = "exited with code 0 before answering"

greet()
put('NW')
call()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(3):
            os.close(descriptor)
        while True:
            signal.pause()
    os._exit(0)
os.wait()
sys.exit(0)
