"""The launcher where there is no compiler: the steps of `launcher.c`, whose head says what each does, by the standard
library alone. Run as `python -I -S launcher.py STEP ARGUMENTS… -- PROGRAM ARGUMENTS…`; it costs some 8 ms more.
"""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import stat
import struct
import sys
from collections.abc import Callable
from typing import NoReturn

OLD, NEW = "/oldroot", "/newroot"
MOUNT_SETATTR, LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 442, 444, 445, 446
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
NOSUID, NODEV, NOEXEC, BIND, REC, PRIVATE = 0x2, 0x4, 0x8, 0x1000, 0x4000, 0x40000
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, RECURSIVE = 0x1, 0x2, 0x4, 0x8000
AT_FDCWD, MNT_DETACH = -100, 2
SET_DUMPABLE, SET_NAME, SET_SECCOMP, SET_NO_NEW_PRIVS = 4, 15, 22, 38
CAPBSET_DROP, SET_SECUREBITS, CAP_AMBIENT = 24, 28, 47
NOROOT_LOCKED = 1 << 0 | 1 << 1 | 1 << 3
FILE_RIGHTS = 0xC007
SIOCSIFFLAGS, IFF_UP = 0x8914, 1

libc = ctypes.CDLL(None, use_errno=True)
status: socket.socket | None = None
exec_pipe = -1
ruleset = -1


def check(result: int, what: str) -> int:
    """OSError if a function of the C library has failed."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def syscall(number: int, *arguments: object, what: str) -> int:
    return check(libc.syscall(ctypes.c_long(number), *arguments), what)


def prctl(option: int, *values: int) -> int:
    return int(libc.prctl(option, *map(ctypes.c_ulong, (*values, 0, 0, 0, 0)[:4])))


def mount(source: str | None, place: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [None if word is None else word.encode() for word in (source, place, kind)]
    data = None if options is None else options.encode()
    check(libc.mount(*words, ctypes.c_ulong(flags), data), f"mount {place}")


def set_attributes(place: str, flags: int, attributes: int) -> None:
    request = struct.pack("=QQQQ", attributes, 0, 0, 0)
    size = ctypes.c_size_t(len(request))
    syscall(MOUNT_SETATTR, AT_FDCWD, place.encode(), flags, request, size, what=f"mount_setattr {place}")


def pivot_root(new: str, old: str) -> None:
    syscall(PIVOT_ROOT[os.uname().machine], new.encode(), old.encode(), what="pivot_root")


def tell(text: str) -> None:
    if status is not None:
        try:
            status.send(text.encode())
        except OSError:
            pass


def take_status(descriptor: str) -> None:
    global status
    status = socket.socket(fileno=int(descriptor))
    status.set_inheritable(False)


def take_cgroup(file: str) -> None:
    put(file, "0")


def take_bornin(folder: str) -> None:
    put(f"{folder}/cgroup.procs", "0")


def put(file: str, text: str) -> None:
    with open(file, "w") as stream:
        stream.write(text)


def take_unshare(flags: str) -> None:
    check(libc.unshare(int(flags, 0)), "unshare")


def take_map(uid: str, gid: str) -> None:
    if os.path.exists("/proc/self/setgroups"):
        put("/proc/self/setgroups", "deny")
    put("/proc/self/uid_map", f"{uid} {uid} 1")
    put("/proc/self/gid_map", f"{gid} {gid} 1")


def take_fork() -> None:
    if os.fork():
        os._exit(0)


def take_attend() -> None:
    if child := os.fork():
        os.waitpid(child, 0)
        os._exit(0)


def take_newroot(base: str) -> None:
    mount(None, "/", None, REC | PRIVATE)
    mount("tmpfs", base, "tmpfs", NOSUID | NODEV, "mode=755,size=1m")
    os.chdir(base)
    os.mkdir("newroot", 0o755)
    os.mkdir("oldroot", 0o755)
    pivot_root(".", "oldroot")
    os.chdir("/")
    mount(NEW, NEW, None, BIND)


def place_for(path: str, folder: bool) -> str:
    """The path in the new root, made to be mounted over."""
    place = NEW + path
    os.makedirs(place if folder else os.path.dirname(place), 0o755, exist_ok=True)
    if not folder and not os.path.lexists(place):
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT, 0o644))
    return place


def take_bind(source: str, path: str, how: str) -> None:
    place = place_for(path, stat.S_ISDIR(os.stat(OLD + source).st_mode))
    mount(OLD + source, place, None, BIND | REC)
    attributes = ATTR_NOSUID | (0 if how == "dev" else ATTR_NODEV) | (ATTR_RDONLY if how == "ro" else 0)
    set_attributes(place, RECURSIVE, attributes)


def take_maybe(source: str, path: str, how: str) -> None:
    if os.path.exists(OLD + source):
        take_bind(source, path, how)


def take_tmpfs(path: str, options: str) -> None:
    mount("tmpfs", place_for(path, True), "tmpfs", NOSUID | NODEV, options)


def take_mkdir(path: str, mode: str, uid: str, gid: str) -> None:
    place = place_for(path, True)
    os.chmod(place, int(mode, 8))
    os.chown(place, int(uid), int(gid))


def take_proc(path: str) -> None:
    mount("proc", place := place_for(path, True), "proc", NOSUID | NODEV | NOEXEC)
    set_attributes(place, 0, ATTR_RDONLY)


def take_symlink(target: str, path: str) -> None:
    os.makedirs(os.path.dirname(NEW + path), 0o755, exist_ok=True)
    if not os.path.lexists(NEW + path):
        os.symlink(target, NEW + path)


def take_enter() -> None:
    set_attributes(NEW, 0, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
    os.chdir(NEW)
    pivot_root(".", ".")
    check(libc.umount2(b".", MNT_DETACH), "umount of the old root")
    os.chdir("/")


def take_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))


def take_init(scratch: str) -> None:
    global exec_pipe, status
    read_end, write_end = os.pipe()
    if bot := os.fork():
        os.close(write_end)
        stay(bot, read_end, scratch)
    os.close(read_end)
    exec_pipe = write_end
    tell("bot")
    if status is not None:
        status.close()
        status = None
    os.setsid()


def stay(bot: int, read_end: int, scratch: str) -> NoReturn:
    """The first process of a namespace, to its end."""
    for descriptor in range(3):
        os.close(descriptor)
    try:
        folder = os.open(scratch, os.O_PATH | os.O_DIRECTORY)
    except OSError:
        folder = -1
    prctl(SET_DUMPABLE, 0)
    libc.prctl(SET_NAME, b"referee-init", 0, 0, 0)
    if text := os.read(read_end, 4096):
        tell(text.decode("utf-8", "replace"))
        os._exit(126)
    os.close(read_end)
    tell("started")
    peak_kib = 0
    while True:
        try:
            pid, state, used = os.wait4(-1, 0)
        except ChildProcessError:
            os._exit(0)
        peak_kib = max(peak_kib, used.ru_maxrss)
        if pid == bot:
            tell(f"exit {state} {peak_kib} {room_in(folder)}")


def room_in(folder: int) -> int:
    """How many bytes can still be written there; -1 = nobody knows."""
    try:
        room = os.statvfs(folder)
    except OSError:
        return -1
    return room.f_bavail * room.f_frsize


def take_rlimit(kind: str, soft: str, hard: str) -> None:
    granted = resource.getrlimit(int(kind))[1]
    most = int(hard) if granted == resource.RLIM_INFINITY else min(int(hard), granted)
    resource.setrlimit(int(kind), (min(int(soft), most), most))


def take_account(uid: str, gid: str) -> None:
    os.setgroups([])
    os.setresgid(int(gid), int(gid), int(gid))
    os.setresuid(int(uid), int(uid), int(uid))


def take_nocaps() -> None:
    for capability in range(64):
        prctl(CAPBSET_DROP, capability)
    prctl(SET_SECUREBITS, NOROOT_LOCKED)
    prctl(CAP_AMBIENT, 4)
    check(libc.capset(struct.pack("=Ii", 0x20080522, 0), bytes(24)), "capset")


def take_nnp() -> None:
    check(prctl(SET_NO_NEW_PRIVS, 1), "no_new_privs")


def take_landlock(files: str, network: str, scopes: str) -> None:
    global ruleset
    handled = struct.pack("=QQQ", int(files, 0), int(network, 0), int(scopes, 0))
    ruleset = syscall(LANDLOCK_CREATE, handled, ctypes.c_size_t(len(handled)), 0, what="landlock_create_ruleset")


def take_allow(path: str, rights: str) -> None:
    try:
        parent = os.open(path, os.O_PATH)
    except OSError:
        return
    mask = ~0 if stat.S_ISDIR(os.fstat(parent).st_mode) else FILE_RIGHTS
    rule = struct.pack("=Qi", int(rights, 0) & mask, parent)
    syscall(LANDLOCK_ADD, ruleset, 1, rule, 0, what=f"landlock_add_rule {path}")
    os.close(parent)


def take_restrict() -> None:
    syscall(LANDLOCK_RESTRICT, ruleset, 0, what="landlock_restrict_self")
    os.close(ruleset)


def take_seccomp(text: str) -> None:
    code = ctypes.create_string_buffer(bytes.fromhex(text))
    program = struct.pack("@HP", len(text) // 16, ctypes.addressof(code))
    check(libc.prctl(SET_SECCOMP, ctypes.c_ulong(2), program, ctypes.c_ulong(0), ctypes.c_ulong(0)), "seccomp")


STEPS: dict[str, tuple[int, Callable[..., None]]] = {
    "status": (1, take_status),
    "cgroup": (1, take_cgroup),
    "bornin": (1, take_bornin),
    "unshare": (1, take_unshare),
    "map": (2, take_map),
    "fork": (0, take_fork),
    "attend": (0, take_attend),
    "newroot": (1, take_newroot),
    "bind": (3, take_bind),
    "maybe": (3, take_maybe),
    "tmpfs": (2, take_tmpfs),
    "mkdir": (4, take_mkdir),
    "proc": (1, take_proc),
    "symlink": (2, take_symlink),
    "enter": (0, take_enter),
    "loopback": (0, take_loopback),
    "init": (1, take_init),
    "rlimit": (3, take_rlimit),
    "chdir": (1, os.chdir),
    "account": (2, take_account),
    "nocaps": (0, take_nocaps),
    "nnp": (0, take_nnp),
    "landlock": (3, take_landlock),
    "allow": (2, take_allow),
    "restrict": (0, take_restrict),
    "seccomp": (1, take_seccomp),
}


def launch(words: list[str]) -> None:
    """Takes all steps and becomes the program. OSError or another error if that cannot be."""
    at = 0
    while words[at] != "--":
        count, take = STEPS[words[at]]
        take(*words[at + 1 : at + 1 + count])
        at += 1 + count
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and a program would inherit that
        signal.signal(number, signal.SIG_DFL)
    tell("runs")
    program = words[at + 1 :]
    os.execv(program[0], program)


def main() -> None:
    try:
        launch(sys.argv[1:])
    except Exception as error:
        text = f"error {error}"
        if exec_pipe >= 0:
            os.write(exec_pipe, text.encode())
        elif status is not None:
            tell(text)
        else:
            sys.stderr.write(f"launcher: {error}\n")
        os._exit(126)


if __name__ == "__main__":
    main()
