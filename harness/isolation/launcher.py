"""The sandbox launcher where there is no C compiler: the steps of `launcher.c`, which documents them.

Run as `python -I -S launcher.py STEP ARGUMENTS… -- PROGRAM ARGUMENTS…`. Standard library only. A start takes about 8 ms
longer than with the compiled one.
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
from contextlib import suppress
from itertools import islice
from typing import NoReturn

OLD, NEW = "oldroot", "/newroot"
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR, LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 428, 429, 442, 444, 445, 446
NOSUID, NODEV, NOEXEC, BIND, REC, PRIVATE = 0x2, 0x4, 0x8, 0x1000, 0x4000, 0x40000
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, RECURSIVE = 0x1, 0x2, 0x4, 0x8000
OPEN_TREE_COPY, FROM_DESCRIPTOR, FOLLOW_LINK = 0x1, 0x4, 0x10
AT_FDCWD, MNT_DETACH = -100, 2
SET_DUMPABLE, SET_NAME, SET_SECCOMP, SET_NO_NEW_PRIVS = 4, 15, 22, 38
CAPBSET_DROP, SET_SECUREBITS, CAP_AMBIENT = 24, 28, 47
NOROOT_LOCKED = 1 << 0 | 1 << 1 | 1 << 3
FILE_RIGHTS = 0xC007
NEW_CGROUP = 0x02000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def syscall(number: int, *arguments: object, what: str) -> int:
    return check(libc.syscall(ctypes.c_long(number), *arguments), what)


def prctl(option: int, *values: int) -> int:
    return int(libc.prctl(option, *map(ctypes.c_ulong, (*values, 0, 0, 0, 0)[:4])))


def mount(source: str | None, place: str, kind: str | None, flags: int, options: str = "") -> None:
    words = [None if word is None else word.encode() for word in (source, place, kind)]
    check(libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None), f"mount {place}")


def set_attributes(place: str, flags: int, attributes: int) -> None:
    request = struct.pack("=QQQQ", attributes, 0, 0, 0)
    size = ctypes.c_size_t(len(request))
    syscall(MOUNT_SETATTR, AT_FDCWD, place.encode(), flags, request, size, what=f"mount_setattr {place}")


def write(file: str, text: str) -> None:
    with open(file, "w") as stream:
        stream.write(text)


def make(path: str, folder: bool = True) -> None:
    """Makes a folder or file, to be mounted over."""
    os.makedirs(path if folder else os.path.dirname(path), 0o755, exist_ok=True)
    if not folder and not os.path.lexists(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))


class Root:
    """The steps that make the new root. From `newroot` to `enter` it is our `/`, so no link in it leads out of it."""

    overlays = 0
    base = -1  # the folder of the old and the new root

    def newroot(self, base: str) -> None:
        mount(None, "/", None, REC | PRIVATE)
        mount("tmpfs", base, "tmpfs", NOSUID | NODEV, "mode=755,size=1m")
        os.chdir(base)
        os.mkdir("newroot", 0o755)
        os.mkdir(OLD, 0o755)
        check(libc.pivot_root(b".", OLD.encode()), "pivot_root")
        os.chdir("/")
        mount(NEW, NEW, None, BIND)
        self.base = os.open("/", os.O_PATH | os.O_DIRECTORY)
        self._go_in()

    def _go_in(self) -> None:
        os.chroot(NEW)
        os.chdir("/")

    def _go_out(self) -> None:
        os.fchdir(self.base)
        os.chroot(".")

    def _attach(self, source: str, place: str) -> None:
        """Mounts what lies at a path below the base."""
        copy = syscall(OPEN_TREE, self.base, source.encode(), OPEN_TREE_COPY | RECURSIVE, what=f"mount {place}")
        flags = FROM_DESCRIPTOR | FOLLOW_LINK
        syscall(MOVE_MOUNT, copy, b"", AT_FDCWD, place.encode(), flags, what=f"mount {place}")
        os.close(copy)

    def bind(self, source: str, path: str, how: str, *, optional: bool = False) -> None:
        try:
            kind = os.stat(OLD + source, dir_fd=self.base).st_mode
            make(path, stat.S_ISDIR(kind))
            self._attach(OLD + source, path)
        except OSError:
            if optional:
                return
            raise
        attributes = ATTR_NOSUID | (0 if how == "dev" else ATTR_NODEV) | (ATTR_RDONLY if how == "ro" else 0)
        set_attributes(path, RECURSIVE, attributes)

    def bind_optional(self, source: str, path: str, how: str) -> None:
        self.bind(source, path, how, optional=True)

    def tmpfs(self, path: str, options: str) -> None:
        make(path)
        mount("tmpfs", path, "tmpfs", NOSUID | NODEV, options)

    def overlay(self, path: str, layer: str, uid: str, what: str, options: str) -> None:
        try:
            os.stat(OLD + path, dir_fd=self.base)
        except OSError:
            return
        make(path)
        self._go_out()
        self.overlays += 1
        lower, upper, shown = (f"{name}{self.overlays}" for name in ("lower", "layer", "shown"))
        for name in (lower, upper, shown):
            os.mkdir(name, 0o755)
        mount(OLD + path, lower, None, BIND)
        options += f"lowerdir=/{lower},upperdir=/{upper}/upper,workdir=/{upper}/work"
        self._overlay(OLD + layer, lower, upper, shown, int(uid), what, options)
        self._go_in()
        self._attach(shown, path)

    def _overlay(self, layer: str, lower: str, upper: str, shown: str, uid: int, what: str, options: str) -> None:
        try:
            mount(layer, upper, None, BIND)
            mount("overlay", shown, "overlay", 0, options)
        except OSError:  # not on this file system
            mount("tmpfs", upper, "tmpfs", NOSUID | NODEV, "mode=755")
            for name in ("upper", "work"):
                os.mkdir(f"{upper}/{name}", 0o755)
            if uid != os.geteuid():
                os.chown(f"{upper}/upper", uid, uid)
            try:
                mount("overlay", shown, "overlay", 0, options)
            except OSError:  # not on this kernel
                mount(lower, shown, None, BIND)
                set_attributes(shown, 0, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
                return
        set_attributes(shown, 0, ATTR_NOSUID | ATTR_NODEV)
        if uid != os.geteuid():
            for folder, _, files in os.walk(shown):
                for name in ("", *files) if what == "files" else ("",):
                    path = os.path.join(folder, name)
                    if os.lstat(path).st_uid != uid:
                        os.lchown(path, uid, uid)

    def mkdir(self, path: str, mode: str, uid: str, gid: str) -> None:
        make(path)
        os.chmod(path, int(mode, 8))
        os.chown(path, int(uid), int(gid))

    def proc(self, path: str) -> None:
        make(path)
        mount("proc", path, "proc", NOSUID | NODEV | NOEXEC)
        set_attributes(path, 0, ATTR_RDONLY)

    def devpts(self, path: str) -> None:
        make(path)
        with suppress(OSError):
            mount("devpts", path, "devpts", NOSUID | NOEXEC, "newinstance,ptmxmode=0666,mode=0600,max=64")

    def names(self, uid: str, gid: str, home: str) -> None:
        home = "/tmp" if ":" in home or "\n" in home else home
        passwd = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
        self._show_text("passwd", f"{passwd}bot:x:{uid}:{gid}:bot:{home}:/bin/sh\n")
        self._show_text("group", f"root:x:0:\nnogroup:x:65534:\nbot:x:{gid}:\n")

    def _show_text(self, source: str, text: str) -> None:
        with open(source, "w", opener=lambda name, flags: os.open(name, flags, dir_fd=self.base)) as file:
            file.write(text)
        place = f"/etc/{source}"
        with suppress(OSError):  # in a folder of the machine or of an image that lacks it
            if not os.path.exists(place):
                make(place, folder=False)
            if os.path.isfile(place):
                self._attach(source, place)
                set_attributes(place, 0, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)

    def symlink(self, target: str, path: str) -> None:
        make(os.path.dirname(path))
        if not os.path.lexists(path):
            os.symlink(target, path)

    def enter(self) -> None:
        self._go_out()
        set_attributes(NEW, 0, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
        os.chdir(NEW)
        check(libc.pivot_root(b".", b"."), "pivot_root")
        check(libc.umount2(b".", MNT_DETACH), "umount of the old root")
        os.chdir("/")


class Launcher(Root):
    """All steps, and what they hand on to later ones."""

    def __init__(self) -> None:
        self.supervisor: socket.socket | None = None
        self.init_pipe = -1  # to the first process of the namespace, in its child
        self.ruleset = -1

    def report(self, text: str) -> None:
        if self.supervisor is not None:
            with suppress(OSError):
                self.supervisor.send(text.encode())

    def status(self, descriptor: str) -> None:
        self.supervisor = socket.socket(fileno=int(descriptor))
        self.supervisor.set_inheritable(False)

    def cgroup(self, file: str) -> None:
        write(file, "0")

    def child_cgroup(self, folder: str) -> None:
        write(f"{folder}/cgroup.procs", "0")

    def unshare(self, flags: str) -> None:
        check(libc.unshare(int(flags, 0)), "unshare")

    def map(self, uid: str, gid: str) -> None:
        if os.path.exists("/proc/self/setgroups"):
            write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{uid} {uid} 1")
        write("/proc/self/gid_map", f"{gid} {gid} 1")

    def own_cgroup(self) -> None:
        libc.unshare(NEW_CGROUP)

    def fork(self) -> None:
        if os.fork():
            os._exit(0)

    def fork_and_wait(self) -> None:
        if child := os.fork():
            os.waitpid(child, 0)
            os._exit(0)

    def loopback(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))

    def init(self, scratch: str) -> None:
        read_end, write_end = os.pipe()
        if bot := os.fork():
            os.close(write_end)
            self.run_init(bot, read_end, scratch)
        os.close(read_end)
        self.init_pipe = write_end
        self.report("bot")
        if self.supervisor is not None:
            self.supervisor.close()
            self.supervisor = None
        os.setsid()

    def run_init(self, bot: int, read_end: int, scratch: str) -> NoReturn:
        """Runs the first process of a namespace to its end."""
        for descriptor in range(3):
            os.close(descriptor)
        folder = -1
        with suppress(OSError):
            folder = os.open(scratch, os.O_PATH | os.O_DIRECTORY)
        prctl(SET_DUMPABLE, 0)
        libc.prctl(SET_NAME, b"referee-init", 0, 0, 0)
        if text := os.read(read_end, 4096):
            self.report(text.decode("utf-8", "replace"))
            os._exit(126)
        os.close(read_end)
        self.report("started")
        peak_kib = 0
        while True:
            try:
                pid, state, usage = os.wait4(-1, 0)
            except ChildProcessError:
                os._exit(0)
            peak_kib = max(peak_kib, usage.ru_maxrss)
            if pid == bot:
                room_bytes = -1
                with suppress(OSError):
                    room = os.statvfs(folder)
                    room_bytes = room.f_bavail * room.f_frsize
                self.report(f"exit {state} {peak_kib} {room_bytes}")

    def rlimit(self, kind: str, soft: str, hard: str) -> None:
        granted = resource.getrlimit(int(kind))[1]
        limit = int(hard) if granted == resource.RLIM_INFINITY else min(int(hard), granted)
        resource.setrlimit(int(kind), (min(int(soft), limit), limit))

    def chdir(self, folder: str) -> None:
        os.chdir(folder)

    def account(self, uid: str, gid: str) -> None:
        os.setgroups([])
        os.setresgid(int(gid), int(gid), int(gid))
        os.setresuid(int(uid), int(uid), int(uid))

    def drop_capabilities(self) -> None:
        for capability in range(64):
            prctl(CAPBSET_DROP, capability)
        prctl(SET_SECUREBITS, NOROOT_LOCKED)
        prctl(CAP_AMBIENT, 4)
        check(libc.capset(struct.pack("=Ii", 0x20080522, 0), bytes(24)), "capset")

    def no_new_privs(self) -> None:
        check(prctl(SET_NO_NEW_PRIVS, 1), "no_new_privs")

    def landlock(self, files: str, network: str, scopes: str) -> None:
        handled = struct.pack("=QQQ", int(files, 0), int(network, 0), int(scopes, 0))
        size = ctypes.c_size_t(len(handled))
        self.ruleset = syscall(LANDLOCK_CREATE, handled, size, 0, what="landlock_create_ruleset")

    def allow(self, path: str, rights: str) -> None:
        try:
            parent = os.open(path, os.O_PATH)
        except OSError:
            return
        mask = ~0 if stat.S_ISDIR(os.fstat(parent).st_mode) else FILE_RIGHTS
        rule = struct.pack("=Qi", int(rights, 0) & mask, parent)
        syscall(LANDLOCK_ADD, self.ruleset, 1, rule, 0, what=f"landlock_add_rule {path}")
        os.close(parent)

    def restrict(self) -> None:
        syscall(LANDLOCK_RESTRICT, self.ruleset, 0, what="landlock_restrict_self")
        os.close(self.ruleset)

    def seccomp(self, text: str) -> None:
        code = ctypes.create_string_buffer(bytes.fromhex(text))
        program = struct.pack("@HP", len(text) // 16, ctypes.addressof(code))
        check(libc.prctl(SET_SECCOMP, ctypes.c_ulong(2), program, ctypes.c_ulong(0), ctypes.c_ulong(0)), "seccomp")

    def setenv(self, name: str, value: str) -> None:
        os.environ[name] = value


def main() -> None:
    launcher = Launcher()
    os.umask(0o022)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    rest = iter(sys.argv[1:])
    try:
        while (word := next(rest)) != "--":
            step = getattr(launcher, word)
            step(*islice(rest, step.__code__.co_argcount - 1))
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the program would inherit that
            signal.signal(number, signal.SIG_DFL)
        launcher.report("runs")
        program = [*rest]
        os.execv(program[0], program)
    except Exception as error:
        text = f"error {error}"
        if launcher.init_pipe >= 0:
            os.write(launcher.init_pipe, text.encode())
        elif launcher.supervisor is not None:
            launcher.report(text)
        else:
            sys.stderr.write(f"launcher: {error}\n")
        os._exit(126)


if __name__ == "__main__":
    main()
