"""The command, as a process of its own, asked at the socket."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import httpx
import pytest

from bayesift.formats import save
from bayesift.serving import open_server, read_token

PATIENCE = 120


@pytest.fixture(scope="module")
def model(several, tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "news.bayesift"
    save(several, path)
    return path


@contextmanager
def running(model, *arguments):
    """Run the command until the block ends; return the process and the address."""
    command = [sys.executable, "-m", "bayesift", "serve", str(model), "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            first = process.stdout.readline()
            yield process, re.fullmatch(r"news\.bayesift: POST (\S+)/classify\n", first)[1]
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize(("end", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_many_ask_and_it_ends_when_told(model, several, news, end, status):
    texts = news.test.texts[:60]
    expected = [list(labels) for labels in several.predict(texts).tolist()]
    with running(model) as (process, address), ThreadPoolExecutor(8) as pool:
        with httpx.Client(base_url=address, timeout=PATIENCE, verify=False) as client:
            asked = [pool.submit(client.post, "/classify", json={"text": text, "reasons": 1}) for text in texts]
            found = [answer.result().json()["results"][0] for answer in asked]
            assert [answer["labels"] for answer in found] == expected
            assert client.get("/health").json()["status"] == "ok"
        process.send_signal(end)
        assert process.wait(PATIENCE) == status
        assert "Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_what_is_under_way_is_answered_before_the_end(model, news):
    asked = {"texts": (news.test.texts * 7)[:1000], "reasons": 50}
    with running(model) as (process, address), ThreadPoolExecutor(1) as pool:
        answer = pool.submit(httpx.post, f"{address}/classify", json=asked, timeout=PATIENCE, verify=False)
        with httpx.Client(base_url=address, timeout=PATIENCE, verify=False) as client:
            while "bayesift_waiting_characters 0\n" in client.get("/metrics").text:
                assert not answer.done()
        process.terminate()
        assert len(answer.result().json()["results"]) == 1000
        assert process.wait(PATIENCE) == 143


@pytest.mark.slow
def test_who_sends_garbage_or_half_a_request_harms_nobody(model):
    with running(model) as (process, address):
        host, port = address.removeprefix("http://").split(":")
        half = b"POST /classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n" + b'{"text": "'
        lines = [socket.create_connection((host, int(port)), PATIENCE) for _ in range(3)]
        lines[0].sendall(b"\0\xff garbage\r\n\r\n")
        assert lines[0].recv(20).startswith(b"HTTP/1.1 400")
        lines[1].sendall(half)
        lines[2].sendall(half)
        lines[2].close()
        answer = httpx.post(f"{address}/classify", json={"text": "the court"}, timeout=PATIENCE, verify=False)
        assert answer.json()["results"][0]["labels"] == ["courts"]
        for line in lines:
            line.close()
        process.terminate()
        assert process.wait(PATIENCE) == 143
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"host": "0.0.0.0"}, "other machines can reach; expected 127.0.0.1, or also a token"),
        ({"host": "0.0.0.0", "public_url": "nonsense"}, "public_url is 'nonsense'"),
        ({"public_url": "http://[nonsense"}, "public_url is"),
        ({"token": "short"}, "token of 5 characters; expected at least 16"),
        ({"token": "with spaces in between"}, "without spaces"),
        ({"proxies": ["nobody"]}, "proxy is 'nobody'"),
        ({"host": "192.0.2.1", "token": "correct-horse-battery"}, "cannot listen on 192.0.2.1"),
    ],
)
def test_what_cannot_be_served_is_told(model, options, said):
    with pytest.raises((ValueError, OSError), match=said), open_server(model, **options):
        pass


def test_other_machines_may_ask_by_an_explicit_choice(model):
    with open_server(model, host="127.0.0.1", port=0, public_url="https://Model.example.org") as server:
        assert "model.example.org" in server.settings.hosts
        assert server.settings.token is None
    with open_server(model, host="0.0.0.0", port=0, token="correct-horse-battery") as server:
        assert server.settings.hosts is None
    with (
        open_server(model, port=0) as first,
        closing(socket.create_connection(first.listening.getsockname())),
        pytest.raises(OSError, match="cannot listen"),
        open_server(model, port=first.listening.getsockname()[1]),
    ):
        pass


def test_a_token_is_read_from_a_file_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("BAYESIFT_TOKEN", raising=False)
    assert read_token(None) is None
    monkeypatch.setenv("BAYESIFT_TOKEN", "from-the-environment\n")
    assert read_token(None) == "from-the-environment"
    path = tmp_path / "token"
    path.write_text("from-a-small-file\n")
    assert read_token(path) == "from-a-small-file"
    monkeypatch.setenv("BAYESIFT_TOKEN", "short")
    with pytest.raises(ValueError, match="BAYESIFT_TOKEN holds a token of 5"):
        read_token(None)
    for content in (b"", b"\xff" * 20, "ü".encode() * 20, b"two words and more letters"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"token"):
            read_token(path)
