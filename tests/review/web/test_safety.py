from __future__ import annotations

import re
from urllib.parse import quote

import httpx
import pytest

from bayesift.review.web import Settings, settings_for

PAGES = ["/", "/new-topic", "/reviewers"] + [
    f"/topics/1{path}" for path in ("", "/progress", "/browse", "/agreement", "/data", "/settings", "/documents/4")
]


def test_strangers_see_nothing(stranger):
    for path in (*PAGES, "/topics/1/export", "/topics/1/model"):
        answer = stranger.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login"), path
    assert stranger.get("/api/topics/1/card").status_code == 401
    assert stranger.post("/api/topics/1/undo").status_code == 401
    assert stranger.post("/reviewers", data={"name": "Eve"}).headers["location"] == "/login"


def test_a_wrong_token_does_not_log_in(stranger, service):
    right = service.project.reviewers.issue_token(service.project.reviewers.all()[0])
    for wrong in ("x", right[:-1], right.swapcase(), "\u20ac"):
        answer = stranger.post("/login", data={"token": wrong})
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        assert wrong not in re.sub('maxlength="200"', "", answer.text) or wrong == "x"
    assert stranger.post("/login", data={"token": right}).status_code == 303


def test_cookies_are_for_this_page_only(stranger, service, serve_with):
    token = service.project.reviewers.issue_token(service.project.reviewers.all()[0])
    cookie = stranger.post("/login", data={"token": token}).headers["set-cookie"]
    assert cookie.startswith(f"bayesift-{service.project.id}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie
    safe = serve_with(settings_for("0.0.0.0", "https://review.example.org"))
    answer = httpx.post(f"{safe}/login", data={"token": token}, headers={"Host": "review.example.org"})
    assert "Secure" in answer.headers["set-cookie"]


def test_logging_out_ends_the_session_itself(anna):
    cookies = dict(anna.cookies)
    anna.form_post("/logout")
    anna.cookies.update(cookies)
    assert anna.get("/api/topics/1/card").status_code == 401


def test_pages_of_other_sites_are_refused_even_with_the_word(anna, service):
    json, word = {"document": 0, "decision": "relevant"}, {"X-CSRF-Token": anna.csrf}
    for header in (
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://["}, {"Origin": ""},
        {"Origin": f"http://evil@127.0.0.1:{anna.base_url.port}"}, {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
    ):  # fmt: skip
        assert anna.post("/api/topics/1/labels", json=json, headers=word | header).status_code == 403
    own = {"Origin": str(anna.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert anna.post("/api/topics/1/labels", json=json, headers=word | own).status_code == 200
    assert len(service.project.history.since(1)) == 1


def test_other_names_are_not_answered(anna):
    for host in (
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8787",
        "",
        "[",
        "a@127.0.0.1@b",
        "evil@127.0.0.1",
        "evil:x@127.0.0.1:80",
        "127.0.0.1:80@evil",
        "127.0.0.1/x",
        "127.0.0.1?x",
        "127.0.0.1#x",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:123456",
        "127.0.0.1, evil.example",
        "[::1",
        "::1",
        "[::1]x",
        "[::1%25lo]",
        "127.0.0.1\\@evil",
        "\uff11.0.0.1".encode(),
        "localhost.",
    ):
        assert anna.get("/login", headers={"Host": host}).status_code == 421, host
    for own in ("localhost:8787", "127.0.0.1", "[::1]:8787", "LOCALHOST"):
        assert anna.get("/login", headers={"Host": own}).status_code == 200


def test_a_document_full_of_script_is_shown_as_text(anna):
    anna.label("skip", 0)
    for path in ("/topics/1/browse", "/topics/1/documents/4", "/topics/1/browse?q=script"):
        page = anna.get(path).text
        assert "&lt;script&gt;" in re.sub("</?mark[^>]*>", "", page), path
        assert "<script>" not in page
        assert "<b>bold" not in page


def test_words_of_requests_are_shown_as_text(anna):
    danger = "<script>alert(1)</script>\"'>"
    assert danger not in anna.get("/topics/1/browse", params={"q": danger}).text
    answer = anna.form_post("/new-topic", name=danger, description=danger, keywords_for=danger)
    assert "<script>alert" not in answer.text
    assert "<script>alert" not in anna.get("/").text
    told = anna.form_post("/reviewers", name=danger)
    assert "<script>alert" not in told.text


def test_long_requests_are_refused(anna, serve_with):
    long = {"document": 0, "decision": "relevant", "more": "x" * 70_000}
    assert anna.json_post("/api/topics/1/labels", long).status_code == 413
    assert anna.form_post("/topics/1/stop", note="y" * 70_000).status_code == 413
    # This form may bring a file, and its fields have limits of their own.
    assert anna.form_post("/new-topic", name="x", description="y" * 70_000).status_code == 422
    path = serve_with(Settings(upload_limit=1000)) + "/topics/1/labels/import"
    for rows, status in ((1000, 413), (1, 200)):
        content = b"id,label\n" + b"a,1\n" * rows
        answer = anna.post(path, data={"csrf": anna.csrf}, files={"file": ("labels.csv", content)})
        assert answer.status_code == status


def test_a_body_without_a_length_is_counted(anna):
    def drip():
        for _ in range(200):
            yield b"x" * 1000

    answer = anna.post("/api/topics/1/labels", content=drip(), headers={"X-CSRF-Token": anna.csrf})
    assert answer.status_code == 413


def test_no_path_of_a_request_reaches_the_disk(anna):
    for name in ("../app.py", "..%2fapp.py", "/etc/passwd", quote("/etc/passwd", safe=""), "card.js%00", "x"):
        answer = anna.get(f"/static/{name}")
        assert answer.status_code == 404, name
        assert "root:" not in answer.text
        assert "FastAPI" not in answer.text


def test_only_the_first_reviewer_adds_others(anna, ben, service):
    assert ben.form_post("/reviewers", name="Eve").status_code == 403
    page = anna.form_post("/reviewers", name="Cleo")
    token = re.search(r'data-token="([^"]+)"', page.text)[1]
    assert service.project.reviewers.by_token(token).name == "Cleo"
    assert anna.form_post("/reviewers", name="  ").status_code == 422
    assert 'action="/reviewers"' not in ben.get("/reviewers").text
    assert "Create a link" not in ben.get("/reviewers").text


def test_listening_to_other_machines_is_refused_without_an_address():
    with pytest.raises(ValueError, match="other machines can reach"):
        settings_for("0.0.0.0", None)
    with pytest.raises(ValueError, match="other machines can reach"):
        settings_for("review.example.org", None)
    with pytest.raises(ValueError, match="expected an address"):
        settings_for("0.0.0.0", "review.example.org")
    assert settings_for("127.0.0.1", None) == settings_for("localhost", None) == settings_for("::1", None) == Settings()
    assert "review.example.org" in settings_for("0.0.0.0", "http://Review.example.org:8000/").hosts
