"""Kills the process above it."""

#: kind = "crash"

greet()
put('NW')
asked = call()
try:
    os.kill(os.getppid(), signal.SIGKILL)
except OSError:
    pass
time.sleep(0.2)
sys.exit(7)
