"""Clients that send and take nothing, or little, or come in crowds: raw sockets against the real server."""

from __future__ import annotations

import asyncio
import select
import socket
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress

import httpx
import pytest
import uvicorn

from bayesift._web.connections import Limits, protocol_with
from bayesift._web.listening import bind
from bayesift.review.web import Settings, settings_for
from bayesift.review.web.throttle import Throttle

#: Long enough for a busy machine; what is tested ends after a second or two.
PATIENCE = 120

SHORT = Limits(head=0.2, body=0.2, answer=0.2, idle=1, rate=1e6)
HEAD = b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@contextmanager
def connected(address: str, source: str = "127.0.0.1"):
    host, port = address.removeprefix("http://").split(":")
    with closing(socket.create_connection((host, int(port)), PATIENCE, source_address=(source, 0))) as line:
        yield line


def is_ended(line: socket.socket) -> bool:
    """Read until the server ends the connection."""
    try:
        while line.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


def answers(line: socket.socket, n: int) -> bytes:
    """Read on until n pages have come to their ends; what was read before is not counted."""
    found = b""
    while found.count(b"</html>") < n and (more := line.recv(65536)):
        found += more
    return found


def drip(line: socket.socket, piece: bytes = b"x") -> bool:
    """Send a little again and again, until the server ends the connection."""
    begun = time.monotonic()
    while time.monotonic() - begun < PATIENCE:
        try:
            line.sendall(piece)
        except ConnectionError:
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def short(serve_with):
    return serve_with(Settings(limits=SHORT))


def test_who_sends_nothing_is_let_go(short):
    with connected(short) as line:
        assert is_ended(line)


def test_who_sends_half_a_head_is_let_go(short):
    with connected(short) as line:
        line.sendall(HEAD)
        assert is_ended(line)


def test_who_sends_a_head_byte_by_byte_is_let_go(short):
    with connected(short) as line:
        line.sendall(HEAD + b"X-Slow: ")
        assert drip(line)


@pytest.mark.parametrize("framing", [b"Content-Length: 60000\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_who_sends_a_body_byte_by_byte_is_let_go(short, framing):
    with connected(short) as line:
        form = b"Content-Type: application/x-www-form-urlencoded\r\n"
        line.sendall(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n" + form + framing + b"\r\n")
        assert drip(line, b"1\r\nx\r\n" if b"chunked" in framing else b"x")


def test_who_has_an_answer_and_asks_no_more_is_let_go(serve_with):
    with connected(serve_with(Settings(limits=Limits(idle=1)))) as line:
        line.sendall(HEAD + b"\r\n")
        assert line.recv(10) == b"HTTP/1.1 2"
        assert is_ended(line)


def test_a_body_that_goes_on_after_the_answer_is_not_read_for_ever(serve_with):
    with connected(serve_with(Settings(limits=Limits(head=3.0)))) as line:
        line.sendall(b"POST /reviewers HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert line.recv(12) == b"HTTP/1.1 303"
        assert drip(line, b"400\r\n" + b"x" * 1024 + b"\r\n")


def test_a_slow_request_that_comes_to_an_end_is_answered(serve_with):
    """Slower than the limit in all, but faster than the least rate."""
    address = serve_with(Settings(limits=Limits(body=1.0, rate=1.0)))
    with connected(address) as line:
        for byte in HEAD + b"\r\n":
            line.sendall(bytes([byte]))
        assert line.recv(10) == b"HTTP/1.1 2"
    with connected(address) as line:
        form = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\ntoken="
        line.sendall(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n" + form)
        for _ in range(15):
            time.sleep(0.1)
            line.sendall(b"x" * 60)
        line.sendall(b"x" * (1000 - 6 - 15 * 60))
        assert line.recv(12) == b"HTTP/1.1 422"


@contextmanager
def endless(limits: Limits):
    """Serve an answer without an end with our protocol; tell when the server has noticed that nobody takes it."""
    gone = threading.Event()

    async def app(_scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

        async def pour():
            while True:
                await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
                await asyncio.sleep(0)

        pouring = asyncio.ensure_future(pour())
        while (await receive())["type"] != "http.disconnect":
            pass
        pouring.cancel()
        gone.set()

    server = uvicorn.Server(uvicorn.Config(app, http=protocol_with(limits), lifespan="off", log_level="error"))
    listening = bind("127.0.0.1", 0, 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield "http://{}:{}".format(*listening.getsockname()), gone
    finally:
        server.should_exit = True
        thread.join()


def test_who_takes_nothing_of_an_answer_is_let_go():
    with endless(SHORT) as (address, gone), connected(address) as line:
        line.sendall(HEAD + b"\r\n")
        assert gone.wait(PATIENCE)
        assert is_ended(line)


def test_who_takes_an_answer_steadily_is_not_let_go():
    limits, is_steady = SHORT._replace(answer=0.5), False
    while not is_steady:
        with endless(limits) as (address, _), connected(address) as line:
            line.sendall(HEAD + b"\r\n")
            begun = last = time.monotonic()
            longest = 0.0
            with suppress(ConnectionError):
                while last - begun < 3 * limits.answer and line.recv(65536):
                    longest, last = max(longest, time.monotonic() - last), time.monotonic()
            # On a busy machine it may be the client of this test that pauses for too long: that says nothing.
            is_steady = longest < limits.answer / 2
            assert last - begun >= 3 * limits.answer or not is_steady


SLOW = [HEAD, b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: x-www-form\r\nContent-Length: 9\r\n\r\n"]


@pytest.mark.parametrize("begun", SLOW, ids=["heads", "bodies"])
def test_a_crowd_of_connections_keeps_nobody_out(serve_with, begun):
    address = serve_with(Settings(limits=Limits(connections=8, head=PATIENCE, body=PATIENCE, idle=PATIENCE)))
    with ExitStack() as stack:
        kept = stack.enter_context(connected(address))
        kept.sendall(HEAD + b"\r\n")
        assert kept.recv(10) == b"HTTP/1.1 2"
        crowd = []
        for _ in range(30):
            crowd.append(stack.enter_context(connected(address)))
            with suppress(ConnectionError):
                crowd[-1].sendall(begun)
        assert httpx.get(f"{address}/health", timeout=PATIENCE).status_code == 200
        # Of all, those who had waited longest were let go, but not the one who had an answer.
        assert is_ended(crowd[0])
        kept.sendall(HEAD + b"\r\n")
        assert b"HTTP/1.1 200" in answers(kept, 2)


def test_one_address_has_a_part_of_the_connections_only(serve_with):
    address = serve_with(Settings(limits=Limits(connections=20, of_one_address=3, head=PATIENCE)))
    with ExitStack() as stack:
        elsewhere = stack.enter_context(connected(address, "127.0.0.3"))
        elsewhere.sendall(HEAD)
        crowd = [stack.enter_context(connected(address, "127.0.0.2")) for _ in range(10)]
        assert all(is_ended(line) for line in crowd[:7])
        elsewhere.sendall(b"\r\n")
        assert elsewhere.recv(10) == b"HTTP/1.1 2"
        crowd[-1].sendall(HEAD + b"\r\n")
        assert crowd[-1].recv(10) == b"HTTP/1.1 2"


def test_when_all_are_at_work_a_further_one_is_refused():
    with endless(Limits(connections=1)) as (address, _), connected(address) as line:
        line.sendall(HEAD + b"\r\n")
        assert line.recv(10) == b"HTTP/1.1 2"
        with connected(address) as other:
            assert other.recv(12) == b"HTTP/1.1 503"
            assert is_ended(other)


def test_a_head_without_an_end_is_refused(address):
    with connected(address) as line:
        line.sendall(HEAD + b"X-Long: " + b"x" * 100_000)
        assert line.recv(12) == b"HTTP/1.1 400"


def test_web_sockets_are_not_spoken(address):
    with connected(address) as line:
        line.sendall(HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n")
        assert line.recv(10) == b"HTTP/1.1 2"


def test_delays_grow_and_are_forgotten():
    now = 0.0
    throttle = Throttle(free=2, longest=5.0, memory=100.0, clock=lambda: now)
    delays = [(throttle.delay("x"), throttle.count("x"))[0] for _ in range(7)]
    assert delays == [0, 0, 1, 2, 4, 5, 5]
    assert throttle.delay("y") == 0
    now = 101.0
    assert throttle.delay("x") == 0
    assert throttle.count("x") == 1


def test_of_many_addresses_the_first_are_forgotten():
    throttle = Throttle(free=1)
    for number in range(20_000):
        throttle.count(number)
    assert len(throttle._known) == 10_000
    assert throttle.delay(0) == 0
    assert throttle.delay(19_999) == 1


async def _hold(throttle: Throttle, n: int) -> list[bool]:
    return await asyncio.gather(*(throttle.wait("x") for _ in range(n)))


def test_many_attempts_at_once_are_refused():
    throttle = Throttle(free=0, longest=0.1, most_held=3)
    assert asyncio.run(_hold(throttle, 5)) == [True, True, True, False, False]
    assert throttle._held == {}


def test_who_is_held_back_when_the_server_ends_is_refused():
    async def end(throttle: Throttle) -> bool:
        held = asyncio.ensure_future(throttle.wait("x"))
        await asyncio.sleep(0)
        held.cancel()
        return await held

    throttle = Throttle(free=0, first=3600.0, longest=3600.0)
    assert asyncio.run(end(throttle)) is False
    assert throttle._held == {}


def test_failed_logins_are_slowed_down_but_the_right_token_gets_in(service, serve_with):
    reviewers = service.project.reviewers
    token = reviewers.issue_token(reviewers.add("Anna"))
    address = serve_with(Settings(free_logins=3, longest_delay=0.01))
    with httpx.Client(base_url=address, timeout=PATIENCE) as client:
        for _ in range(40):
            assert client.post("/login", data={"token": "wrong"}).status_code == 401
        assert client.post("/login", data={"token": token}).status_code == 303
    noted = [entry.detail for entry in service.project.audit if entry.action == "failed login"]
    assert noted == [f"attempt {n}" for n in (1, 2, 3, 4, 5, 8, 16, 32)]


def log_in(client: httpx.Client, token: str, place: str) -> httpx.Response:
    return client.post("/login", data={"token": token}, headers={"X-Forwarded-For": place})


def login_request(token: str, place: str) -> bytes:
    body = f"token={token}"
    return (
        f"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: {place}\r\nContent-Length: {len(body)}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}"
    ).encode()


def test_many_logins_of_one_reviewer_are_slowed_down_wherever_they_come_from(service, serve_with):
    reviewers = service.project.reviewers
    tokens = [reviewers.issue_token(reviewers.add(name)) for name in ("Anna", "Ben")]
    held_for_ever = Settings(free_logins=2, first_delay=3600.0, longest_delay=3600.0, proxies=("127.0.0.1",))
    address = serve_with(held_for_ever, timeout_graceful_shutdown=0)
    with httpx.Client(base_url=address, timeout=PATIENCE) as client, ExitStack() as stack:
        for place in ("198.51.100.1", "198.51.100.2"):
            assert log_in(client, tokens[0], place).status_code == 303
        held = [stack.enter_context(connected(address)) for _ in range(5)]
        for number, line in enumerate(held):
            line.sendall(login_request(tokens[0], f"203.0.113.{number}"))
        ready, _, _ = select.select(held, [], [], PATIENCE)
        assert ready[0].recv(12) == b"HTTP/1.1 429"
        assert log_in(client, tokens[1], "198.51.100.1").status_code == 303


def test_many_failed_logins_at_once_are_refused_and_others_are_not_slowed_down(service, serve_with):
    reviewers = service.project.reviewers
    token = reviewers.issue_token(reviewers.add("Anna"))
    # A delay without an end: whoever is held back is not answered in this test.
    held_for_ever = Settings(free_logins=1, first_delay=3600.0, longest_delay=3600.0, proxies=("127.0.0.1",))
    address = serve_with(held_for_ever, timeout_graceful_shutdown=0)

    with httpx.Client(base_url=address, timeout=PATIENCE) as client, ExitStack() as stack:
        assert log_in(client, "wrong", "198.51.100.1").status_code == 401
        # At most four are held back, so that one of five is refused at once.
        held = [stack.enter_context(connected(address)) for _ in range(5)]
        for line in held:
            line.sendall(login_request("wrong", "198.51.100.1"))
        ready, _, _ = select.select(held, [], [], PATIENCE)
        assert ready[0].recv(12) == b"HTTP/1.1 429"
        answer = log_in(client, "wrong", "198.51.100.1")
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) > 0
        assert log_in(client, token, "203.0.113.5").status_code == 303
    logins = [entry for entry in service.project.audit if entry.action == "login"]
    assert [entry.address for entry in logins] == ["203.0.113.5"]


def test_what_a_client_says_about_where_it_is_counts_only_from_a_proxy(service, serve_with):
    service.project.reviewers.add("Anna")
    for proxies, place, noted in (
        ((), "198.51.100.1", "127.0.0.1"),
        (("192.0.2.1",), "198.51.100.1", "127.0.0.1"),
        (("127.0.0.1",), "198.51.100.1", "198.51.100.1"),
        (("127.0.0.1",), "1.2.3.4, 198.51.100.1", "198.51.100.1"),
        (("127.0.0.1",), "<script>", "unknown"),
    ):
        address = serve_with(settings_for("127.0.0.1", None, proxies))
        httpx.post(f"{address}/login", data={"token": "x"}, headers={"X-Forwarded-For": place}, timeout=PATIENCE)
        (entry,) = service.project.audit.latest(1)
        assert (entry.action, entry.address) == ("failed login", noted)
    with pytest.raises(ValueError, match="expected the address of a proxy"):
        settings_for("127.0.0.1", None, ["*"])
