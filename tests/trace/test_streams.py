"""Bytes in and out: compression and writing that is all or nothing."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import pytest
import zstandard

from possibly.errors import TraceError
from possibly.trace.streams import compressed, opened, replacing

TEXT = b"".join(b"line %d\n" % number for number in range(50_000))


def content(data: bytes) -> bytes:
    with opened(io.BytesIO(data)) as source:
        return b"".join(source.pieces())


@pytest.mark.parametrize("data", [b"", b"a", TEXT])
def test_plain_bytes_pass(data: bytes) -> None:
    assert content(data) == data


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_several_streams_in_one_file(pack: type) -> None:
    packed = [pack(TEXT), pack(b""), pack(b"end")]
    assert content(b"".join(packed)) == TEXT + b"end"


def test_gzip_padding_is_ignored() -> None:
    assert content(gzip.compress(TEXT) + bytes(1000)) == TEXT


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_rubbish_behind_a_stream_is_an_error(pack: type) -> None:
    with pytest.raises(TraceError, match=r"damaged|too early"):
        content(pack(TEXT) + b"rubbish")


def test_a_damaged_checksum_is_an_error() -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[-6] ^= 1
    with pytest.raises(TraceError, match="the gzip stream is damaged"):
        content(bytes(packed))


@pytest.mark.parametrize("name", ["a", "a.gz", "a.zst"])
def test_the_ending_of_the_name_decides_how_to_write(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with replacing(path) as stream, compressed(stream, name) as write:
        write(TEXT)
    assert content(path.read_bytes()) == TEXT
    assert (path.read_bytes() == TEXT) == (name == "a")
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
@pytest.mark.parametrize("name", ["a", "a.gz", "a.zst"])
def test_what_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, name: str, error: type[BaseException]
) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as stream, compressed(stream, name) as write:
            write(TEXT)
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [name]


def test_a_link_is_followed_and_a_device_is_not_replaced(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    link.symlink_to(real)
    with replacing(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    with replacing(os.devnull) as stream:
        stream.write(b"gone")
    assert not Path(os.devnull).is_file()


def test_the_new_file_has_the_usual_rights(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with replacing(tmp_path / "new"):
        pass
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
