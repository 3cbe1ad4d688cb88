"""Hash files and write them whole or not at all: the only code that opens a file for writing."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from saturation.errors import UsageError

_CHUNK = 1 << 20


def sha256(path: Path) -> str:
    """Hex digest of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` and rename it into place when the block succeeds.

    Whatever happens, ``path`` holds either its old content or the whole new one. A link stays a link: the file that
    it names is replaced.

    Raises
    ------
    UsageError
        When the folder does not exist or cannot be written to, or ``path`` is a device or a pipe, which a rename would
        replace.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file() and not target.is_dir():
        raise UsageError(f"cannot write {path}: it is a device or a pipe, not a file; choose another --out")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}; choose another --out") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        _flush(temporary)
        temporary.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}; nothing was changed") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def claimed(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a lock that ends with its process: a killed worker leaves no claim behind. Yields whether it is held.

    Parameters
    ----------
    path
        A file beside the work, made where it is not there.
    wait
        Whether to wait for another process that holds it, rather than go on without.
    """
    import fcntl

    with Path(path).open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


def append_line(path: Path, line: str) -> None:
    """Add one line and wait until it is on the disk; what an interrupted run left half written is cut off first.

    Only one process at a time may do this to a file; :func:`claimed` sees to that.
    """
    with Path(path).open("ab+") as stream:
        end = stream.tell()
        if end:
            stream.seek(0)
            whole = stream.read().rfind(b"\n") + 1
            if whole < end:
                stream.truncate(whole)
        stream.write(f"{line}\n".encode())
        stream.flush()
        os.fsync(stream.fileno())


def make_folder(path: Path) -> Path:
    """Create a folder for outputs and its parents."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {path}: {error.strerror}; choose another --out") from error
    return Path(path)


def _flush(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
