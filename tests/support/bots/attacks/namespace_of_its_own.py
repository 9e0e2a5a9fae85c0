"""Tries to become root somewhere, and to mount over what we read."""

#: kind = "crash"
#: detail = "exited with code 6 before answering"

import ctypes
greet()
put('NW')
call()
libc = ctypes.CDLL(None)
libc.unshare(0x10020000)
libc.mount(b'none', b'/proc', b'tmpfs', 0, None)
os._exit(6)
