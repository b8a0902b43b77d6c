from __future__ import annotations

import io
import os
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from requests import Response

from bayesift.datasets import ChecksumError, FetchError, fetch, load, stop_words
from bayesift.datasets._fetching import _refuse_other_than_https
from bayesift.datasets._registry import COLLECTIONS, DATASETS


def webkb_archive() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        page = os.urandom(300_000)
        member = tarfile.TarInfo("webkb/course/cornell/http:^^a^")
        member.size = len(page)
        archive.addfile(member, io.BytesIO(page))
    return stream.getvalue()


ARCHIVE = webkb_archive()


class Handler(BaseHTTPRequestHandler):
    """Serves an archive, whole or in one of the ways that servers fail."""

    def do_GET(self):
        if self.path == "/missing":
            self.send_error(404)
            return
        content = {"/page": b"<html>We moved.</html>", "/words": b"the\nof\n"}.get(self.path, ARCHIVE)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.path == "/broken":
            self.wfile.write(content[:100_000])
            self.wfile.flush()
            self.connection.close()
        else:
            self.wfile.write(content)

    def log_message(self, format, *args):
        pass


@pytest.fixture(scope="module")
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()
        thread.join()


def files(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def is_empty(root):
    return not any(root.iterdir())


class Bar:
    """Counts what it is told, and may break off like a user who presses control-C."""

    def __init__(self, patience=None):
        self.total, self.seen, self.closed, self.patience = 0, [], False, patience

    def update(self, size):
        self.seen.append(size)
        if self.patience is not None and len(self.seen) > self.patience:
            raise KeyboardInterrupt

    def reset(self):
        self.seen.clear()

    def close(self):
        self.closed = True


def test_fetch_then_load(server, tmp_path):
    bar = Bar()
    path = fetch("webkb", tmp_path, url=f"{server}/archive", unverified=True, progress=bar)
    assert path == tmp_path / "webkb" / "webkb-data.gtar.gz"
    assert path.read_bytes() == ARCHIVE
    assert files(tmp_path) == ["webkb/webkb-data.gtar.gz"]
    assert (bar.total, bar.seen, bar.closed) == (len(ARCHIVE), [len(ARCHIVE)], True)
    assert load("webkb", tmp_path).test.ids == ["course/cornell/http:^^a^"]


def test_what_is_there_is_not_fetched_again(server, tmp_path):
    path = fetch("webkb", tmp_path, url=f"{server}/archive", unverified=True)
    assert fetch("webkb", tmp_path, url=f"{server}/missing", unverified=True) == path
    with pytest.raises(FetchError, match="the server answered 404 Not Found"):
        fetch("webkb", tmp_path, url=f"{server}/missing", unverified=True, force=True)
    assert path.read_bytes() == ARCHIVE


def test_a_word_list(server, tmp_path):
    fetch("smart", tmp_path, url=f"{server}/words", unverified=True)
    assert stop_words("smart", tmp_path) == {"the", "of"}


def test_a_wrong_checksum_leaves_nothing_behind(server, tmp_path):
    expected = r"/archive has SHA-256 \w{64}, expected 1587ea43e58e"
    with pytest.raises(ChecksumError, match=expected):
        fetch("sms", tmp_path, url=f"{server}/archive", unverified=True)
    assert is_empty(tmp_path)


def test_a_page_instead_of_an_archive_leaves_nothing_behind(server, tmp_path):
    with pytest.raises(FetchError, match="/page sent something that is not an archive; get it by hand"):
        fetch("webkb", tmp_path, url=f"{server}/page", unverified=True)
    assert is_empty(tmp_path)


def test_a_connection_that_breaks_off_leaves_nothing_behind(server, tmp_path):
    with pytest.raises(FetchError, match=r"webkb cannot be fetched: .*/broken failed, the connection broke off"):
        fetch("webkb", tmp_path, url=f"{server}/broken", unverified=True)
    assert is_empty(tmp_path)


def test_an_interrupted_download_leaves_nothing_behind(server, tmp_path):
    bar = Bar(patience=1)
    with pytest.raises(KeyboardInterrupt):
        fetch("webkb", tmp_path, url=f"{server}/archive", unverified=True, progress=bar)
    assert len(bar.seen) == 2
    assert is_empty(tmp_path)


def test_a_failed_download_leaves_the_old_file_alone(server, tmp_path):
    path = fetch("webkb", tmp_path, url=f"{server}/archive", unverified=True)
    for address in ("broken", "page"):
        with pytest.raises(FetchError):
            fetch("webkb", tmp_path, url=f"{server}/{address}", unverified=True, force=True)
    assert files(tmp_path) == ["webkb/webkb-data.gtar.gz"]
    assert path.read_bytes() == ARCHIVE


def test_no_server(tmp_path):
    with pytest.raises(FetchError, match="no connection; get it by hand"):
        fetch("webkb", tmp_path, url="http://127.0.0.1:9/nobody", unverified=True)
    assert is_empty(tmp_path)


@pytest.mark.parametrize("url", ["", " "])
def test_an_empty_address_is_not_the_public_one(url, tmp_path):
    with pytest.raises(ValueError, match=f"url must be an address, or None for the public one, found '{url}'"):
        fetch("webkb", tmp_path, url=url)


def test_what_was_fetched_is_for_everybody_whom_the_umask_allows(server, tmp_path):
    before = os.umask(0o022)
    try:
        path = fetch("smart", tmp_path, url=f"{server}/words", unverified=True)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("name", ["si650", "trec9", "cohen2006", "synergy"])
def test_without_a_public_address_the_way_by_hand_is_told(name, tmp_path):
    with pytest.raises(FetchError, match="no public address") as error:
        fetch(name, tmp_path)
    entry = COLLECTIONS[name]
    assert str(tmp_path / entry.folders[0]) in str(error.value)
    assert entry.archives[0].name in str(error.value)
    assert entry.homepage in str(error.value)


def test_nothing_to_fetch(tmp_path):
    with pytest.raises(FetchError, match="newsroom is part of the package"):
        fetch("newsroom", tmp_path)
    with pytest.raises(ValueError, match=r"name must be one of .* found 'nope'"):
        fetch("nope", tmp_path)


def test_addresses_are_of_the_archives_they_are_saved_as():
    for entry in COLLECTIONS.values():
        for archive in entry.archives:
            assert archive.url is None or archive.url.endswith(f"/{archive.name}") or archive.sha256 is not None


def test_public_addresses_are_secure():
    addresses = [archive.url for entry in DATASETS.values() for archive in entry.archives if archive.url]
    assert addresses
    assert all(address.startswith("https://") for address in addresses)


@pytest.mark.parametrize("address", ["/archive", "ftp://127.0.0.1/a", "file:///etc/hostname", "HTTPS"])
def test_an_address_that_is_not_secure_is_refused(address, server, tmp_path):
    url = f"{server}{address}" if address.startswith("/") else address
    with pytest.raises(FetchError, match=rf"sms cannot be fetched: {url} does not begin with https://.*--unverified"):
        fetch("sms", tmp_path, url=url)
    assert is_empty(tmp_path)


@pytest.mark.parametrize("name", ["webkb", "ohsumed", "smart"])
def test_a_file_without_a_known_checksum_is_refused(name, tmp_path):
    with pytest.raises(FetchError, match=rf"{name} cannot be fetched: no SHA-256 of the file is known; .*--unverified"):
        fetch(name, tmp_path)
    assert is_empty(tmp_path)


@pytest.mark.parametrize(("location", "secure"), [("http://other/a", False), ("https://other/a", True), ("/b", True)])
def test_a_redirection_to_an_address_that_is_not_secure_is_refused(location, secure):
    answer = Response()
    answer.url, answer.headers["Location"] = "https://example.org/a", location
    if secure:
        _refuse_other_than_https(answer)
    else:
        with pytest.raises(OSError, match="it leads to http://other/a, which does not begin with https://"):
            _refuse_other_than_https(answer)
