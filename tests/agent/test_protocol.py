from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent import protocol
from envdyno.agent.protocol import (
    VERSION,
    Channel,
    FromWorker,
    LineBuffer,
    PeerGone,
    ProtocolError,
    ToWorker,
    decode,
    encode,
    finite,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
bodies = st.dictionaries(st.text().filter(lambda key: key not in ("v", "type")), json_values, max_size=4)
numbers = st.floats() | st.integers() | st.none() | st.text()


@settings(max_examples=40)
@given(st.sampled_from([*ToWorker, *FromWorker]), bodies)
def test_a_message_is_one_line_and_is_read_back_as_it_was_sent(
    kind: ToWorker | FromWorker, body: dict[str, Any]
) -> None:
    line = encode(kind, body)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == {"v": VERSION, "type": kind.value, **body}


@settings(max_examples=40)
@given(st.lists(bodies, max_size=5), st.data())
def test_lines_come_out_whole_however_the_bytes_arrive(
    messages: list[dict[str, Any]], data: st.DataObject
) -> None:
    stream = b"".join(encode(FromWorker.STAGE, body) for body in messages)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    buffer = LineBuffer()
    lines = []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        lines += buffer.feed(stream[begin:end])
    assert [decode(line) for line in lines] == [decode(encode(FromWorker.STAGE, body)) for body in messages]
    assert not buffer.torn


def test_a_buffer_knows_that_a_message_was_left_unfinished() -> None:
    buffer = LineBuffer()
    assert buffer.feed(b'{"v":1,') == []
    assert buffer.torn
    assert buffer.feed(b'"type":"stop"}\n') == [b'{"v":1,"type":"stop"}']
    assert not buffer.torn


def test_a_line_without_end_is_a_broken_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MAX_MESSAGE_BYTES", 10)
    buffer = LineBuffer()
    assert buffer.feed(b"x" * 10 + b"\n") == [b"x" * 10]
    with pytest.raises(ProtocolError, match="longer than 10 bytes"):
        buffer.feed(b"x" * 11)
    with pytest.raises(ProtocolError, match="longer than 10 bytes"):
        LineBuffer().feed(b"x" * 11 + b"\n")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"{",
        b"[1]",
        b"null",
        b'"stop"',
        b'{"v":1}',
        b'{"v":1,"type":5}',
        b'{"v":1,"type":"measured","rate":NaN}',
        b'{"v":1,"type":"measured","rate":-Infinity}',
        b'{"v":1,"type":"measured","rate":1e999}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_strict_message_is_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(line)


@pytest.mark.parametrize("version", [0, 2, None, "1"])
def test_another_version_is_refused_by_name(version: object) -> None:
    with pytest.raises(ProtocolError, match=f"version {version!r}.* speaks version {VERSION}"):
        decode(json.dumps({"v": version, "type": "stop"}).encode())


def test_a_figure_that_is_not_finite_cannot_be_sent() -> None:
    for value in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="JSON"):
            encode(FromWorker.MEASURED, {"rate": value})


def test_text_that_is_no_unicode_arrives_readable() -> None:
    """A file name with undecodable bytes, as ``os.fsdecode`` gives it, must not lose the record it is in."""
    name = os.fsdecode(b"scene-\xff.xml")
    message = decode(encode(FromWorker.FAILED, {"message": name, "lines": [{name: name}]}))
    assert message["message"] == r"scene-\udcff.xml"
    assert message["lines"] == [{r"scene-\udcff.xml": r"scene-\udcff.xml"}]
    json.dumps(message, ensure_ascii=False).encode()


@settings(max_examples=40)
@given(st.recursive(numbers, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=9))
def test_whatever_is_made_finite_can_be_sent(value: Any) -> None:
    assert decode(encode(FromWorker.MEASURED, {"value": finite(value)}))["value"] == finite(value)


def test_only_what_is_not_finite_becomes_null() -> None:
    assert finite({"a": [1.5, math.nan, (math.inf, 2)], 3: "NaN", "b": True}) == {
        "a": [1.5, None, [None, 2]],
        "3": "NaN",
        "b": True,
    }


def test_array_scalars_become_plain_numbers() -> None:
    given_ = {"count": np.int64(3), "rate": np.float32(0.5), "bad": np.float64("nan"), "ok": np.bool_(True)}
    assert finite(given_) == {"count": 3, "rate": 0.5, "bad": None, "ok": True}
    assert finite(np.array(7)) == 7
    encode(FromWorker.MEASURED, finite(given_))


@pytest.fixture
def pipes() -> Iterator[tuple[Channel, int, int]]:
    """A worker's channel, and the control's ends of its two pipes: to write to, to read from."""
    read_fd, control_write = os.pipe()
    control_read, write_fd = os.pipe()
    yield Channel(read_fd, write_fd), control_write, control_read
    for fd in (read_fd, write_fd, control_read, control_write):
        try:
            os.close(fd)
        except OSError:
            continue


def test_a_channel_receives_messages_in_order_even_when_they_arrive_together(
    pipes: tuple[Channel, int, int],
) -> None:
    channel, write_fd, _ = pipes
    assert not channel.waiting()
    os.write(write_fd, encode(ToWorker.WINDOW, {"start_ns": 1}) + encode(ToWorker.STOP, {}))
    assert channel.waiting()
    assert channel.receive()["type"] == "window"
    assert channel.waiting(), "the second message is in the buffer, not in the pipe"
    assert channel.receive()["type"] == "stop"
    assert not channel.waiting()


@pytest.mark.parametrize(("said", "torn"), [(b"", False), (b'{"v":1,', True)])
def test_a_pipe_that_ends_says_whether_a_message_was_torn(
    said: bytes, torn: bool, pipes: tuple[Channel, int, int]
) -> None:
    channel, write_fd, _ = pipes
    os.write(write_fd, said)
    os.close(write_fd)
    assert channel.waiting(), "an ended pipe is something to be read"
    with pytest.raises(PeerGone) as gone:
        channel.receive()
    assert gone.value.torn is torn


def test_a_message_larger_than_the_pipe_is_sent_whole(pipes: tuple[Channel, int, int]) -> None:
    channel, _, read_fd = pipes
    body = {"traceback": "x" * 300_000}
    sender = threading.Thread(target=lambda: channel.send(FromWorker.FAILED, **body))
    sender.start()
    buffer = LineBuffer()
    lines: list[bytes] = []
    while not lines:
        lines = buffer.feed(os.read(read_fd, 1 << 16))
    sender.join()
    assert decode(lines[0])["traceback"] == body["traceback"]


def test_children_of_the_workload_do_not_inherit_the_pipes() -> None:
    read_fd, write_fd = os.pipe()
    os.set_inheritable(read_fd, True)
    os.set_inheritable(write_fd, True)
    Channel(read_fd, write_fd)
    assert not os.get_inheritable(read_fd)
    assert not os.get_inheritable(write_fd)
    os.close(read_fd)
    os.close(write_fd)
