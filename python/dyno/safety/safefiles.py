"""Files in untrusted folders: follows no links, trusts no sizes.

Every part of Dyno that reads a bundle, replaces a file or removes a folder does it through here.
A path that the user typed may go through links; what is found inside a folder may not.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import stat
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO, cast

from dyno.errors import UsageError

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextlib.contextmanager
def directory(
    path: Path | str, *, above: int | None = None, follow: bool = False
) -> Generator[int]:
    """A descriptor of the folder ``path``; it stays the same folder whatever is renamed meanwhile.

    Args:
        path: Relative to ``above`` if that is given.
        above: The descriptor of a folder.
        follow: Whether ``path`` itself may be a link.

    Raises:
        UsageError: If it is a link or no folder.
        OSError: If it is missing or cannot be opened.
    """
    try:
        fd = os.open(path, _DIRECTORY | (0 if follow else os.O_NOFOLLOW), dir_fd=above)
    except OSError as error:
        raise _refusal(error, path, above, "folder") from error
    try:
        yield fd
    finally:
        os.close(fd)


def open_regular(
    path: Path | str, *, limit: int | None = None, below: Path | None = None, at: int | None = None
) -> BinaryIO:
    """Opens a regular file for reading; never waits, as on a pipe.

    Args:
        path: Itself no link.
        limit: The most bytes that it may have.
        below: A folder above it; no folder between the two may be a link.
        at: The descriptor of the folder that ``path`` is relative to.

    Raises:
        UsageError: If it is a link, a folder, a device or a pipe, or larger than ``limit``.
        OSError: If it is missing or cannot be opened.
    """
    if below is not None:
        *folders, name = Path(path).relative_to(below).parts
        with contextlib.ExitStack() as stack:
            fd = stack.enter_context(directory(below, follow=True))
            for folder in folders:
                fd = stack.enter_context(directory(folder, above=fd))
            return _opened(name, Path(path), fd, limit)
    return _opened(path, path, at, limit)


def read_bytes(path: Path | str, limit: int, *, below: Path | None = None) -> bytes:
    """The content of a regular file of at most ``limit`` bytes; see :func:`open_regular`."""
    with open_regular(path, limit=limit, below=below) as file:
        content = file.read(limit + 1)
    if len(content) > limit:  # it has grown since it was opened
        raise UsageError(f"{path} is larger than {limit:,} bytes.")
    return content


def read_text(path: Path | str, limit: int, *, below: Path | None = None) -> str:
    """The UTF-8 text of a regular file of at most ``limit`` bytes; see :func:`open_regular`."""
    return read_bytes(path, limit, below=below).decode("utf-8")


@contextlib.contextmanager
def replacing(
    path: Path, *, follow: bool = False, mode: int = 0o666, durable: bool = True
) -> Generator[BinaryIO]:
    """A new file that takes the place of ``path`` in one step when the block ends well.

    After a crash ``path`` holds the old content or the new, never half. Only a regular file is
    replaced, and nothing is written through a link.

    Args:
        path: What is replaced or made.
        follow: Whether its folder may be a link, as one that the user named.
        mode: Of the new file; the umask applies.
        durable: Whether it must survive a power cut; gigabytes that can be made again need not.

    Raises:
        UsageError: If something else than a regular file is there, or its folder is none.
        OSError: If it cannot be written.
    """
    with directory(path.parent, follow=follow) as folder:
        _refuse_other(path, folder)
        partial = f".{path.name}.{secrets.token_hex(8)}.partial"
        fd = os.open(partial, os.O_RDWR | _NEW, mode, dir_fd=folder)
        try:
            with os.fdopen(fd, "wb") as file:
                yield cast("BinaryIO", file)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            _refuse_other(path, folder)
            os.replace(partial, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial, dir_fd=folder)
            raise


def is_partial(name: str, of: str) -> bool:
    """Whether ``name`` is what a kill left of replacing the file ``of`` (see :func:`replacing`)."""
    middle = name.removeprefix(f".{of}.").removesuffix(".partial")
    return name == f".{of}.{middle}.partial" and len(middle) == 16 and middle.isalnum()


def append(path: Path, *, new: bool = False, mode: int = 0o666) -> io.FileIO:
    """Opens a regular file for appending, and makes it if it is missing.

    Args:
        path: Itself no link.
        new: Whether it must not be there yet.
        mode: Of a new file; the umask applies.

    Raises:
        UsageError: If it is a link or no regular file.
        OSError: If it cannot be opened.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | (os.O_EXCL if new else 0)
    return os.fdopen(open_own(path, flags, mode), "ab", buffering=0)


def open_own(path: Path | str, flags: int, mode: int = 0o666, *, at: int | None = None) -> int:
    """A descriptor of a regular file with no other name; links are not followed.

    Raises:
        UsageError: If it is a link, has a hard link, or is not a regular file.
        OSError: If it cannot be opened.
    """
    never_waits = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with contextlib.suppress(FileNotFoundError):
            _look(path, at)
        fd = os.open(path, flags | never_waits, mode, dir_fd=at)
    except OSError as error:
        raise _refusal(error, path, at, "file") from error
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(fd)
        what = _kind(status.st_mode) or "a file with a second name (hard link)"
        raise UsageError(f"{path} is {what}. Remove it, or use another path.")
    return fd


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Makes ``path`` with the folders above it. One that is there must be this user's, and no link.

    Raises:
        UsageError: If a link, another user's folder or a file is there.
        OSError: If it cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=mode)
    with directory(path) as fd:
        if not is_own(fd):
            raise UsageError(f"{path} belongs to another user. Use another --out DIR.")


def is_own(fd: int) -> bool:
    """Whether this user owns what a descriptor is open on."""
    return os.fstat(fd).st_uid == os.geteuid()


def is_own_folder(path: Path) -> bool:
    """Whether ``path`` is a folder of this user's, and no link."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def own_text(path: Path | str, limit: int, *, at: int | None = None) -> str | None:
    """The text of a mark: a regular file of this user's, of at most ``limit`` bytes; else None."""
    try:
        with open_regular(path, limit=limit, at=at) as file:
            if not is_own(file.fileno()) or os.fstat(file.fileno()).st_nlink > 1:
                return None
            return file.read(limit + 1).decode("utf-8")
    except (OSError, UnicodeError, UsageError):
        return None


def sync(path: Path) -> None:
    """Makes a file, or the names in a folder, durable.

    Raises:
        OSError: If it cannot be opened or written.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _opened(name: Path | str, shown: Path | str, at: int | None, limit: int | None) -> BinaryIO:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        _look(name, at)
        fd = os.open(name, flags, dir_fd=at)
    except OSError as error:
        raise _refusal(error, name, at, "file") from error
    status = os.fstat(fd)
    what = _kind(status.st_mode)
    if what is not None or (limit is not None and status.st_size > limit):
        os.close(fd)
        what = what or f"larger than {limit:,} bytes"
        raise UsageError(f"{shown} is {what}; Dyno reads only regular files of limited size.")
    return os.fdopen(fd, "rb")


def _look(path: Path | str, at: int | None) -> None:
    """Before a file is opened: to open a device can do something already."""
    mode = os.stat(path, dir_fd=at, follow_symlinks=False).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise UsageError(f"{path} is a device, not a file. Remove it, or use another path.")


def _refuse_other(path: Path, folder: int) -> None:
    try:
        status = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    what = _kind(status.st_mode)
    if what is not None:
        raise UsageError(f"{path} is {what}; Dyno replaces only regular files. Use another path.")


def _kind(mode: int) -> str | None:
    """What something is in words; None for a regular file."""
    return None if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "not a regular file")


def _refusal(error: OSError, path: Path | str, at: int | None, wanted: str) -> Exception:
    """Of an open: in words if it is the kind that is wrong, else the error itself."""
    if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
        return error
    try:
        mode = os.stat(path, dir_fd=at, follow_symlinks=False).st_mode
    except OSError:
        return error
    what = _kind(mode) or "a file"
    return UsageError(f"{path} is {what}, not a {wanted}. Remove it, or use another path.")
