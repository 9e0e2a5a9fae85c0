"""Leaves the process above it no descriptors."""

#: kind = "crash"

import resource
greet()
put('NW')
call()
try:
    resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))
except OSError:
    pass
if os.fork() == 0:
    signal.pause()
os._exit(8)
