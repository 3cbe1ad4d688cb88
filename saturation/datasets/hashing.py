"""Pseudonyms for annotators: HMAC-SHA256 with a key that stays with whoever converts.

A plain hash of worker ids can be reversed by trying all ids; without the key this one cannot. The same key gives the
same person the same name in every table, so keep it to join tables, delete it to make the step final.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from saturation.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

KEY_BYTES = 32
_SHORTEST = 16


def pseudonym(key: bytes, annotator: str) -> str:
    """HMAC-SHA256 of one id, in hexadecimal.

    Examples
    --------
    >>> pseudonym(bytes(32), "A3") == pseudonym(bytes(32), "A3")
    True
    >>> len(pseudonym(bytes(32), "A3"))
    64
    """
    return hmac.digest(key, annotator.encode(), "sha256").hex()


def hash_column(frame: pl.DataFrame, key: bytes) -> pl.DataFrame:
    """The frame with pseudonyms in place of annotator ids, sorted so that their order tells nothing."""
    import polars as pl

    ids = frame["annotator_id"].unique().to_list()
    names = {one: pseudonym(key, one) for one in ids}
    hashed = frame.with_columns(pl.col("annotator_id").replace_strict(names, return_dtype=pl.String))
    return hashed.sort("item_id", "annotator_id", maintain_order=True)


def read_or_make_key(path: Path, out: Path) -> bytes:
    """The key in a file; made, readable by its owner alone, where there is none yet.

    Raises
    ------
    UsageError
        When the file lies in the output folder, others may read it, or it is no key.
    """
    if path.resolve().is_relative_to(out.resolve()):
        raise UsageError(f"the key {path} must not lie in the output folder, which you may pass on; name another place")
    try:
        return _read(path) if path.exists() else _make(path)
    except OSError as error:
        raise UsageError(f"cannot use the key file {path}: {error.strerror}") from error


def _read(path: Path) -> bytes:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise UsageError(f"others may read the key {path}; say: chmod 600 {path}")
    key = path.read_bytes()
    if len(key) < _SHORTEST:
        raise UsageError(f"the key {path} has {len(key)} bytes; delete it and a good one is made")
    return key


def _make(path: Path) -> bytes:
    """A new key; O_EXCL, so that one made meanwhile by someone else is not overwritten."""
    key = secrets.token_bytes(KEY_BYTES)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, key)
        os.fsync(handle)
    finally:
        os.close(handle)
    return key
