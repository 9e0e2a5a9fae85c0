"""WASI preview 1: the signature of each of its 46 functions, and its error numbers and types that we use.

Source: WASI, `legacy/preview1/docs.md`.
"""

MODULE = "wasi_snapshot_preview1"

FUNCTIONS = {
    "args_get": "ii",
    "args_sizes_get": "ii",
    "environ_get": "ii",
    "environ_sizes_get": "ii",
    "clock_res_get": "ii",
    "clock_time_get": "iIi",
    "fd_advise": "iIIi",
    "fd_allocate": "iII",
    "fd_close": "i",
    "fd_datasync": "i",
    "fd_fdstat_get": "ii",
    "fd_fdstat_set_flags": "ii",
    "fd_fdstat_set_rights": "iII",
    "fd_filestat_get": "ii",
    "fd_filestat_set_size": "iI",
    "fd_filestat_set_times": "iIIi",
    "fd_pread": "iiiIi",
    "fd_prestat_get": "ii",
    "fd_prestat_dir_name": "iii",
    "fd_pwrite": "iiiIi",
    "fd_read": "iiii",
    "fd_readdir": "iiiIi",
    "fd_renumber": "ii",
    "fd_seek": "iIii",
    "fd_sync": "i",
    "fd_tell": "ii",
    "fd_write": "iiii",
    "path_create_directory": "iii",
    "path_filestat_get": "iiiii",
    "path_filestat_set_times": "iiiiIIi",
    "path_link": "iiiiiii",
    "path_open": "iiiiiIIii",
    "path_readlink": "iiiiii",
    "path_remove_directory": "iii",
    "path_rename": "iiiiii",
    "path_symlink": "iiiii",
    "path_unlink_file": "iii",
    "poll_oneoff": "iiii",
    "proc_exit": "i",
    "proc_raise": "i",
    "sched_yield": "",
    "random_get": "ii",
    "sock_accept": "iii",
    "sock_recv": "iiiiii",
    "sock_send": "iiiii",
    "sock_shutdown": "ii",
}
"""By name, the types of the parameters: i = 32 bits, I = 64 bits. Each returns an error number of 32 bits, but
`proc_exit`, which does not return."""

SUCCESS, BADF, INVAL, NOTSUP, SPIPE = 0, 8, 28, 58, 70

CHARACTER_DEVICE = 2
CLOCK_IDS = range(4)
"""Real time, monotonic, and the CPU time of the process and of the thread."""
CLOCK, FD_READ, FD_WRITE = range(3)
"""What a subscription of `poll_oneoff` waits for."""
ABSOLUTE = 1
"""A flag of a subscription: its time is that of the clock, not a span."""
SUBSCRIPTION_BYTES, EVENT_BYTES = 48, 32
RIGHT_READ, RIGHT_WRITE, RIGHT_POLL = 1 << 1, 1 << 6, 1 << 27
