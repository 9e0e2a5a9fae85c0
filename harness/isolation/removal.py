"""Removes scratch folders, with everything that bots have made there, and control groups.

Run as `python -I -S removal.py FOLDER GROUP…`, it removes a folder ("" = none) and the control groups whose names begin
with a GROUP and a hyphen. The spawner becomes this program after the referee was killed. Standard library only.
"""

import errno
import glob
import os
import sys
import time

GROUP_S = 0.5
"""Longest wait for the kernel to notice that a control group has become empty."""


def remove(folder: str | os.PathLike[str]) -> None:
    """Removes a folder with its content, as far as possible.

    A bot may have made folders that nobody may enter, and folders nested deeper than any path can name. So modes are
    changed, and the content of a nested folder is moved up before it is removed.
    """
    try:
        os.rmdir(folder)
        return
    except OSError:
        pass  # it is not empty, or a link
    try:
        if os.path.islink(folder):
            os.unlink(folder)
            return
        top = _open(folder)
        try:
            _remove_content(top)
        finally:
            os.close(top)
        os.rmdir(folder)
    except OSError:
        pass


def _remove_content(top: int) -> None:
    names = _remove_files(top)
    while names:
        name = names.pop()
        try:
            nested = _open(name, top)
        except OSError:
            continue
        try:
            for inner in _remove_files(nested):
                os.chmod(inner, 0o700, dir_fd=nested)
                moved = os.urandom(16).hex()
                os.rename(inner, moved, src_dir_fd=nested, dst_dir_fd=top)
                names.append(moved)
            os.rmdir(name, dir_fd=top)
        except OSError:
            continue
        finally:
            os.close(nested)


def _open(name: str | os.PathLike[str], folder: int | None = None) -> int:
    """Opens a folder after making it accessible."""
    os.chmod(name, 0o700, dir_fd=folder)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)


def _remove_files(folder: int) -> list[str]:
    """Removes the files in an open folder and returns the names of all other entries."""
    names = []
    for name in os.listdir(folder):
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            names.append(name)
    return names


def remove_group(folder: str | os.PathLike[str]) -> None:
    """Removes a control group whose processes have ended."""
    deadline = time.monotonic() + GROUP_S
    while True:
        try:
            return os.rmdir(folder)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() >= deadline:
                return None
            time.sleep(0.001)


if __name__ == "__main__":
    if sys.argv[1]:
        remove(sys.argv[1])
    for start in sys.argv[2:]:
        for group in glob.glob(f"{glob.escape(start)}-*"):
            remove_group(group)
