"""A file is whole or absent, its damage is noticed, and nobody removes what another process is writing."""

import json
import os
import random
import socket
import subprocess
import sys
import threading

import pytest

from lengthgen.infrastructure import files
from lengthgen.infrastructure.digests import file_digest
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import DamagedFile, Held, locked, read_json, read_sealed_json, write_bytes

CONTENT = {"rows": [1, 2.5, None, True, "\u00e9"], "by scale": {2: 0.5, 10: float("inf")}}


def test_a_killed_writer_s_partial_file_is_swept_and_nothing_else(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / ".metrics.json.x1.partial").write_bytes(b"half")
    (tmp_path / "whole.json").write_bytes(b"{}")
    files.sweep_partial(tmp_path)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["whole.json"]


def test_a_writer_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_bytes(path, b"old")
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_bytes(path, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


def test_a_living_writer_s_partial_file_is_not_swept(tmp_path, monkeypatch):
    """Another command may write below the same folder at any moment."""
    monkeypatch.setattr(os, "fsync", lambda handle: elsewhere("files.sweep_partial(path)", tmp_path))
    write_bytes(tmp_path / "whole", b"content")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("whole", b"content")]


def test_a_partial_file_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    lock, swept = files.fcntl.flock, []

    def sweep_first(file, operation):
        if not swept:
            [partial] = tmp_path.glob(".*.partial")
            swept.append(partial)
            partial.unlink()
        lock(file, operation)

    monkeypatch.setattr(files.fcntl, "flock", sweep_first)
    write_bytes(tmp_path / ("n" * 255), b"content")  # the longest name of a file
    assert swept
    assert [path.name for path in tmp_path.iterdir()] == ["n" * 255]


SEALED = [
    (files.write_sealed_json, read_sealed_json, CONTENT, json.loads(json.dumps(CONTENT)), 200),
    (files.write_sealed_bytes, files.read_sealed_bytes, bytes(range(256)), bytes(range(256)), 299),
]


@pytest.mark.parametrize(("write", "read", "content", "plain", "least"), SEALED)
def test_any_changed_bit_of_a_sealed_file_is_noticed_or_changes_nothing(tmp_path, write, read, content, plain, least):
    path, places = tmp_path / "sealed", random.Random(0)
    write(path, content)
    undamaged, noticed = path.read_bytes(), 0
    assert read(path) == plain
    for _ in range(300):
        damaged = bytearray(undamaged)
        damaged[places.randrange(len(undamaged))] ^= 1 << places.randrange(8)
        path.write_bytes(damaged)
        try:
            assert read(path) == plain, "a blank in place of a line break"
        except DamagedFile as error:
            assert str(path) in str(error)
            noticed += 1
    assert noticed > least


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"3", b"{}", b'{"seal": null}', b"[" * 200_000, b"\xff"])
def test_a_file_that_holds_no_sealed_object_is_named(tmp_path, content):
    path = tmp_path / "content.json"
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match=r"content\.json is not as it was written"):
        read_sealed_json(path)


def test_a_device_a_pipe_and_a_large_file_are_refused_at_once(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(files, "LARGEST", 10)
    (tmp_path / "large").write_bytes(b"[" + b" " * 10 + b"]")
    for path, reason in (
        (files.Path("/dev/zero"), "is no regular file"),
        (tmp_path / "pipe", "is no regular file"),
        (tmp_path, "is no regular file"),
        (tmp_path / "large", "has 12 bytes, and at most 10 are read"),
    ):
        with pytest.raises(LengthgenError, match=reason):
            read_json(path)
        if "regular" in reason:
            with pytest.raises(LengthgenError, match=reason):
                file_digest(path)


def test_a_byte_order_mark_is_no_part_of_text_or_json(tmp_path):
    (tmp_path / "content.json").write_text('"\u00e9"', encoding="utf-8-sig")
    assert files.read_text(tmp_path / "content.json") == '"\u00e9"'
    assert read_json(tmp_path / "content.json") == "\u00e9"


def elsewhere(code, path, **environment):
    """Output of a line of Python in a process of its own, which is given a path."""
    line = f"import pathlib, sys; from lengthgen.infrastructure import files; path = pathlib.Path(sys.argv[1]); {code}"
    command = [sys.executable, "-c", line, str(path)]
    return subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, text=True).stdout


def test_text_is_utf_8_whatever_the_locale(tmp_path):
    (tmp_path / "content.json").write_bytes('"\u00e9"'.encode())
    environment = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert elsewhere("print(ascii(files.read_json(path)))", tmp_path / "content.json", **environment) == "'\\xe9'\n"


def test_the_holder_of_a_lock_and_its_work_are_told_once_to_the_waiting_process(tmp_path, monkeypatch):
    messages, entered = [], threading.Event()
    monkeypatch.setattr(files, "tell", messages.append)

    def wait():
        with locked(tmp_path / "lock", "works"):
            entered.set()

    with locked(tmp_path / "lock", "works"):
        waiting = threading.Thread(target=wait)
        waiting.start()
        while not messages:
            pass
        assert not entered.is_set()
    waiting.join(10)
    assert entered.is_set()
    assert messages == [f"waiting for process {os.getpid()} on {socket.gethostname()}, which works"]


def test_a_lock_that_is_held_is_an_error_where_nobody_waits(tmp_path):
    lock = tmp_path / "lock"
    refused = pytest.raises(Held, match=rf"^process {os.getpid()} on {socket.gethostname()} works$")
    with locked(lock, "works"), refused, locked(lock, "works", wait=False):
        pass
