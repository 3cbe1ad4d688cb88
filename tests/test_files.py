"""Files are whole or not there; hashes are of bytes."""

from __future__ import annotations

import hashlib
import os
import stat

import pytest

from saturation.errors import UsageError
from saturation.files import atomic_path, make_folder, sha256, write_bytes, write_text


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_hash_is_of_all_bytes(tmp_path, size):
    data = bytes(i % 251 for i in range(size))
    (tmp_path / "f").write_bytes(data)
    assert sha256(tmp_path / "f") == hashlib.sha256(data).hexdigest()


def test_text_is_utf8_with_line_feeds_whatever_the_platform(tmp_path):
    write_text(tmp_path / "é.csv", "a\né\n")
    assert (tmp_path / "é.csv").read_bytes() == b"a\n\xc3\xa9\n"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "out.json"
    path.write_text("old")

    def fail():
        with atomic_path(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_success_replaces_and_leaves_nothing_beside(tmp_path):
    path = tmp_path / "out.json"
    write_bytes(path, b"1")
    write_bytes(path, b"2")
    assert path.read_bytes() == b"2"
    assert os.listdir(tmp_path) == ["out.json"]


@pytest.mark.skipif(os.name != "posix", reason="modes are a thing of POSIX")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_mode_follows_the_umask_like_any_other_new_file(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_text(tmp_path / "f", "x")
        assert os.umask(mask) == mask, "the umask was left changed"
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == mode


def test_temporary_keeps_the_suffix_so_that_writers_know_the_format(tmp_path):
    with atomic_path(tmp_path / "x.parquet") as temporary:
        assert temporary.suffix == ".parquet"
        assert temporary.parent == tmp_path


def test_missing_folder_says_where_and_what_to_do(tmp_path):
    with pytest.raises(UsageError, match=r"cannot write .*nowhere.*choose another --out"):
        write_text(tmp_path / "nowhere" / "f.json", "x")


def test_a_folder_in_the_way(tmp_path):
    (tmp_path / "f.json").mkdir()
    with pytest.raises(UsageError, match=r"cannot write .*f\.json.*nothing was changed"):
        write_text(tmp_path / "f.json", "x")
    assert os.listdir(tmp_path) == ["f.json"]


def test_make_folder(tmp_path):
    assert make_folder(tmp_path / "a" / "b").is_dir()
    assert make_folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make the folder"):
        make_folder(tmp_path / "file" / "sub")
    with pytest.raises(UsageError, match="cannot make the folder"):
        make_folder(tmp_path / "file")


def test_link_is_written_through_and_kept(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write_text(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "link.json").symlink_to("pipe.json")
    for name in ("pipe.json", "link.json"):
        with pytest.raises(UsageError, match="device or a pipe"):
            write_text(tmp_path / name, "x")
    assert stat.S_ISFIFO((tmp_path / "pipe.json").stat().st_mode)
