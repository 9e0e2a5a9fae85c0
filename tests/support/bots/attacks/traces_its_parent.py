"""Holds the process above it like a debugger."""

#: kind = "timeout"
#: call_s = 0.3
#: granted_s = 1.3

import ctypes
greet()
put('NW')
call()
ctypes.CDLL(None).ptrace(16, os.getppid(), None, None)
signal.pause()
