"""Who may do what, for every route there is."""

from __future__ import annotations

import re
import socket
from contextlib import closing
from pathlib import Path

import pytest

from bayesift.review.storage import ROLES, Actor
from bayesift.review.web import create_app
from bayesift.review.web.access import LEAST_ROLE, SAFE_METHODS, WITH_FILES, GuardedRoute, guarded_router


def all_routes(found):
    """Go through routes, and through those of routers that were included."""
    for route in found:
        inner = getattr(route, "original_router", None)
        if inner is None:
            yield route
        else:
            yield from all_routes(inner.routes)


ROUTES = list(all_routes(create_app(None).routes))


def test_every_route_has_a_least_role_and_asks_for_it():
    assert all(type(route) is GuardedRoute for route in ROUTES)
    names = sorted(f"{method} {route.path}" for route in ROUTES for method in route.methods)
    assert names == sorted(LEAST_ROLE)


def test_a_route_without_a_role_cannot_be_made():
    router = guarded_router()
    with pytest.raises(LookupError, match=r"GET /secret' has no least role"):
        router.get("/secret")(lambda: None)


def test_what_strangers_may_do_is_little():
    assert {name for name, role in LEAST_ROLE.items() if role is None} == {
        "GET /health", "GET /login", "GET /static/{name}", "POST /login",
    }  # fmt: skip


def path_of(name):
    """Fill in a route's numbers with those of things that are there."""
    method, path = name.split(" ")
    return method, re.sub(r"\{(\w+)\}", lambda found: {"name": "card.js", "session": "x"}.get(found[1], "1"), path)


@pytest.fixture
def people(service, address, visit_once, anna):
    """Somebody of each role, and a stranger."""
    found = {None: visit_once(address), "owner": anna}
    for role in ("reader", "reviewer"):
        _, token = service.project.reviewers.invite(role.title(), role)
        found[role] = visit_once(address, token)
    yield found
    for role in (None, "reader", "reviewer"):
        found[role].close()


def test_each_route_refuses_those_below_its_role(people, service):
    before = service.project.topics.all(), service.project.reviewers.all()
    for name, least in LEAST_ROLE.items():
        if least is None:
            continue
        method, path = path_of(name)
        stranger = people[None].request(method, path)
        assert (stranger.status_code, stranger.headers.get("location")) in ((303, "/login"), (401, None)), name
        for role in ROLES[: ROLES.index(least)]:
            visitor = people[role]
            answer = visitor.request(method, path, headers={"X-CSRF-Token": visitor.csrf}, follow_redirects=False)
            assert answer.status_code == 403, (name, role)
            assert f"Your role is {role}" in answer.text
    assert (service.project.topics.all(), service.project.reviewers.all()) == before
    assert service.project.history.since(1) == []


def test_each_page_is_shown_to_its_least_role(people):
    for name, least in LEAST_ROLE.items():
        method, path = path_of(name)
        if method in SAFE_METHODS:
            assert people[least].get(path, follow_redirects=False).status_code == 200, name


def test_each_route_that_changes_something_asks_for_the_word_of_the_session(anna, service):
    before = list(service.project.audit)
    wrong = {}, {"headers": {"X-CSRF-Token": "0" * 64}}, {"data": {"csrf": "x"}}, {"json": {"csrf": anna.csrf}}
    for name, least in LEAST_ROLE.items():
        method, path = path_of(name)
        if least is not None and method not in SAFE_METHODS:
            for options in wrong:
                assert anna.post(path, **options).status_code == 403, (name, options)
    assert list(service.project.audit) == before


def test_each_route_carries_the_policies_and_takes_no_long_body(people):
    for name, least in LEAST_ROLE.items():
        method, path = path_of(name)
        visitor = people[least]
        if method in SAFE_METHODS:
            check_policies(visitor.get(path))
        elif not path.endswith(WITH_FILES):
            answer = visitor.post(path, headers={"X-CSRF-Token": visitor.csrf}, content=b"x" * 70_000)
            assert answer.status_code == 413, name
            check_policies(answer)
    for path in ("/nothing", "/static/nothing", "/topics/9/data"):
        check_policies(people["owner"].get(path))


def check_policies(answer):
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    if answer.headers["content-type"].startswith("text/html"):
        # Nothing that the policy would forbid, and nothing from elsewhere.
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=|<style", answer.text)
        assert not re.search(r"(src|href|action)=[\"']?(https?:)?//", answer.text)


def test_strangers_are_refused_before_their_body_is_read(people, address):
    """The answer comes although most of the body never does."""
    host, port = address.removeprefix("http://").split(":")
    with closing(socket.create_connection((host, int(port)), timeout=60)) as line:
        line.sendall(
            f"POST /topics/1/labels/import HTTP/1.1\r\nHost: {host}\r\nContent-Length: 10000000\r\n"
            "Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n".encode()
        )
        assert line.recv(1000).startswith(b"HTTP/1.1 303")


def test_a_reader_sees_everything_and_is_offered_nothing_to_change(people, anna, service):
    anna.label("relevant", 0)
    reader = people["reader"]
    for topic, shared in ((1, True), (2, False)):
        if not shared:
            service.add_topic(service.project.topics.get(1)._replace(name="own", shared=False), 1)
            anna.label("relevant", 0, topic=2)
        for path in ("progress", "browse", "agreement", "report", "data", "documents/0"):
            page = reader.get(f"/topics/{topic}/{path}")
            assert page.status_code == 200, path
            # The colours of the own page are anybody's.
            main = page.text.partition("<main")[2].partition("</main>")[0]
            assert 'method="post"' not in main, path
            assert f'"/topics/{topic}/settings"' not in page.text
        assert "1 relevant" in re.sub(r"\s+", " ", reader.get("/").text)
        # Where each reviewer has a queue, a reader sees what all have found together.
        assert '<strong>1</strong><span class="muted">of 1 decided' in reader.get(f"/topics/{topic}/progress").text
    assert 'href="/new-topic"' not in reader.get("/").text
    assert 'href="/topics/1/progress"' in reader.get("/").text
    assert reader.get("/topics/1/export").status_code == 200
    assert 'method="post"' not in reader.get("/reviewers").text.partition("<main")[2].partition("</main>")[0]
    assert "Audit log" not in reader.get("/reviewers").text


def test_roles_are_changed_and_reviewers_removed_on_the_page(anna, ben, service):
    person = service.project.reviewers.named("Ben")
    ben.label("relevant", 0)
    assert "Ben" in anna.form_post(f"/reviewers/{person.id}/role", role="reader").text
    assert ben.json_post("/api/topics/1/labels", {"document": 1, "decision": "relevant"}).status_code == 403
    assert anna.form_post(f"/reviewers/{person.id}/role", role="king").status_code == 422
    page = anna.form_post(f"/reviewers/{person.id}/remove")
    assert "Removed; their decisions stay: Ben." in page.text
    assert ben.get("/").url.path == "/login"
    assert "Ben" in anna.get("/topics/1/documents/0").text
    assert "decision of Ben" in anna.get("/topics/1/export").text
    assert anna.form_post(f"/reviewers/{person.id}/remove").status_code == 404
    alone = anna.form_post("/reviewers/1/remove")
    assert (alone.status_code, "Anna is the only owner" in alone.text) == (409, True)
    assert anna.form_post("/reviewers/1/role", role="reader").status_code == 409
    assert anna.form_post("/reviewers", name="Anna").status_code == 422
    token = re.search(r'data-token="([^"]+)"', anna.form_post("/reviewers", name="Ben", role="reviewer").text)[1]
    assert service.project.reviewers.by_token(token).id == person.id


def test_a_new_link_ends_the_sessions_of_the_old_one(anna, ben, service):
    person = service.project.reviewers.named("Ben")
    page = anna.form_post(f"/reviewers/{person.id}/token")
    assert service.project.reviewers.by_token(re.search(r'data-token="([^"]+)"', page.text)[1]) == person
    assert ben.get("/").url.path == "/login"
    assert anna.get("/").url.path == "/"


def test_each_ends_own_sessions_and_the_owner_those_of_all(anna, ben, visitor, service):
    def keys(page):
        return re.findall(r'action="/sessions/(\w+)/end"', page.text)

    (own,) = keys(ben.get("/sessions"))
    of_all = keys(anna.get("/sessions"))
    assert own in of_all
    assert len(of_all) == 2
    (of_anna,) = set(of_all) - {own}
    assert ben.form_post(f"/sessions/{of_anna}/end").status_code == 404
    assert anna.get("/").url.path == "/"
    anna.form_post(f"/sessions/{own}/end")
    assert ben.get("/").url.path == "/login"
    # A second browser of the same person.
    secret = service.project.sessions.begin(service.project.reviewers.named("Anna"), "192.0.2.1", "<b>Browser</b>")
    page = anna.get("/sessions")
    assert "192.0.2.1" in page.text
    assert "&lt;b&gt;Browser" in page.text
    assert "this one" in page.text
    anna.form_post("/sessions/end-others")
    assert service.project.sessions.reviewer(secret) is None
    assert anna.get("/").url.path == "/"


def test_the_owner_reads_the_audit_log(anna, ben, stranger, service):
    stranger.post("/login", data={"token": "<i>wrong</i>"})
    anna.form_post("/new-topic", name="ships")
    anna.form_post("/topics/2/settings", name="ships", random="20")
    ben.get("/topics/1/export", params={"decided_only": True})
    ben.get("/topics/1/model")
    ben.post("/topics/1/labels/import", data={"csrf": ben.csrf}, files={"file": ("x.csv", b"id,label\na,1\n")})
    noted = [(entry.action, entry.detail) for entry in service.project.audit]
    for entry in (
        ("failed login", "attempt 1"),
        ("topic added", "ships"),
        ("settings changed", "ships: random from 0.05 to 0.2"),
        ("exported", "metals: decided documents as csv"),
        ("exported", "metals: model"),
        ("decisions imported", "metals: 1"),
    ):
        assert entry in noted
    page = anna.get("/audit").text
    for word in ("failed login", "random from 0.05 to 0.2", "127.0.0.1", "Ben"):
        assert word in page
    assert "wrong" not in page
    first = next(iter(service.project.audit)).id
    assert "There are no older entries" in anna.get("/audit", params={"before": first}).text
    assert anna.get("/audit", params={"before": "x"}).status_code == 422
    for _ in range(100):
        service.project.audit.note("exported", Actor(1, "192.0.2.1"), "many")
    older = re.search(r'href="/audit\?before=(\d+)"', anna.get("/audit").text)[1]
    assert "random from 0.05 to 0.2" in anna.get("/audit", params={"before": older}).text


def test_health_is_told_to_everybody_and_says_little(stranger, service):
    answer = stranger.get("/health")
    assert (answer.status_code, answer.json()["status"], set(answer.json())) == (200, "ok", {"status", "version"})
    service.project._engine.dispose()
    path = Path(service.project._engine.url.database)
    away = path.rename(path.with_suffix(".away"))
    try:
        answer = stranger.get("/health")
    finally:
        service.project._engine.dispose()
        for made in path.parent.glob(f"{path.name}*"):
            made.unlink()
        away.rename(path)
    assert (answer.status_code, answer.json()["status"]) == (503, "failing")
    assert stranger.get("/health").status_code == 200
