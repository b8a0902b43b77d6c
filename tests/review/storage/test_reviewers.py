"""People, their roles, tokens and sessions, and the log of what they did, in either kind of database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

import pytest

from bayesift.review.serve import issue_tokens
from bayesift.review.storage import Actor, Project, Topic
from bayesift.review.storage import Event as Decided
from bayesift.review.storage.reviewers import MOST_SESSIONS


def test_the_first_reviewer_is_the_owner_and_others_are_not(project):
    anna, ben = project.reviewers.add("Anna"), project.reviewers.add("Ben")
    cleo = project.reviewers.add("Cleo", "reader")
    assert [anna.role, ben.role, cleo.role] == ["owner", "reviewer", "reader"]
    assert project.reviewers.all() == [anna, ben, cleo]
    assert [cleo.may("reader"), cleo.may("reviewer"), ben.may("reviewer"), ben.may("owner")] == [
        True, False, True, False,
    ]  # fmt: skip


def test_the_first_reviewer_cannot_be_anything_but_the_owner(project):
    with pytest.raises(ValueError, match="expected 'owner'"):
        project.reviewers.add("Anna", "reader")


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\x1b[31mred", "a\0b", "x" * 201])
def test_names_that_cannot_be_shown_are_refused(project, name):
    with pytest.raises(ValueError, match="the name of a reviewer is"):
        project.reviewers.add(name)


def test_a_new_token_ends_the_sessions_and_links_of_the_old_one(project):
    anna, ben = project.reviewers.add("Anna"), project.reviewers.add("Ben")
    old, link = project.reviewers.issue_token(anna), project.reviewers.issue_link(anna)
    session, of_ben = project.sessions.begin(anna), project.sessions.begin(ben)
    assert project.sessions.reviewer(session) == project.reviewers.by_token(link) == anna
    new = project.reviewers.issue_token(anna)
    assert project.sessions.reviewer(session) is None
    assert project.reviewers.by_token(old) is project.reviewers.by_token(link) is None
    assert project.reviewers.by_token(new) == anna
    assert project.sessions.reviewer(of_ben) == ben


def test_a_login_with_a_token_that_was_just_replaced_fails(project):
    anna = project.reviewers.add("Anna")
    old = project.reviewers.issue_token(anna)
    assert project.reviewers.by_token(old) == anna
    new = project.reviewers.issue_token(anna)
    with pytest.raises(LookupError, match="no longer valid"):
        project.sessions.begin(anna, token=old)
    assert project.sessions.all() == []
    assert project.sessions.reviewer(project.sessions.begin(anna, token=new)) == anna


@pytest.mark.slow
def test_logins_and_new_tokens_at_the_same_time_leave_no_session_of_an_old_token(project):
    anna = project.reviewers.add("Anna")
    newest = [project.reviewers.issue_token(anna)]
    stop = Event()

    def log_in():
        begun = []
        while not stop.is_set():
            token = newest[0]
            with suppress(LookupError):
                begun.append((project.sessions.begin(anna, token=token), token))
        return begun

    with ThreadPoolExecutor(3) as pool:
        working = [pool.submit(log_in) for _ in range(3)]
        for _ in range(10):
            newest[0] = project.reviewers.issue_token(anna)
        stop.set()
        begun = [login for work in working for login in work.result()]
    assert all(token == newest[0] for secret, token in begun if project.sessions.reviewer(secret) is not None)


def test_a_link_leaves_token_and_sessions_and_expires(project, monkeypatch):
    anna = project.reviewers.add("Anna")
    token, session = project.reviewers.issue_token(anna), project.sessions.begin(anna)
    link = project.reviewers.issue_link(anna)
    for known in (token, link):
        assert project.reviewers.by_token(known) == anna
    assert project.sessions.reviewer(session) == anna
    # Two days later.
    monkeypatch.setattr("bayesift.review.storage.reviewers.now", lambda: "2999-01-01T00:00:00.000Z")
    assert project.reviewers.by_token(link) is None
    assert project.reviewers.by_token(token) == anna


def test_who_is_removed_cannot_come_in_but_stays_in_the_history(project):
    anna, ben = project.reviewers.add("Anna"), project.reviewers.add("Ben")
    token, session = project.reviewers.issue_token(ben), project.sessions.begin(ben)
    link = project.reviewers.issue_link(ben)
    topic = project.topics.add(Topic("metals"))
    with project.history.turn(topic.id) as turn:
        turn.add(Decided(0, ben.id, "label", "relevant"))
    project.reviewers.remove(ben, Actor(anna.id, "192.0.2.1"))
    assert project.reviewers.by_token(token) is project.reviewers.by_token(link) is None
    assert project.sessions.reviewer(session) is None
    assert project.sessions.all() == []
    assert [event.reviewer for event in project.history.since(topic.id)] == [ben.id]
    assert project.reviewers.names()[ben.id] == "Ben"
    assert project.reviewers.get(ben.id).removed is not None
    back, token = project.reviewers.invite("Ben", "reader")
    assert project.reviewers.by_token(token) == back == project.reviewers.get(ben.id)
    assert (back.id, back.role, back.removed) == (ben.id, "reader", None)


def test_a_project_keeps_an_owner(project):
    anna, ben = project.reviewers.add("Anna"), project.reviewers.add("Ben")
    for change in (lambda: project.reviewers.remove(anna), lambda: project.reviewers.change_role(anna, "reader")):
        with pytest.raises(ValueError, match="Anna is the only owner"):
            change()
    project.reviewers.change_role(ben, "owner")
    project.reviewers.remove(anna)
    assert project.reviewers.owner().name == "Ben"
    with pytest.raises(ValueError, match="expected reader, reviewer, owner"):
        project.reviewers.change_role(ben, "king")


def test_two_owners_cannot_remove_each_other(project):
    people = [project.reviewers.add("Anna"), project.reviewers.add("Ben", "owner")]

    def remove(person):
        try:
            project.reviewers.remove(person)
        except ValueError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(remove, people)) == [False, True]
    assert project.reviewers.owner() is not None


def test_sessions_are_listed_and_ended_one_by_one(project):
    anna = project.reviewers.add("Anna")
    secrets = [project.sessions.begin(anna, f"192.0.2.{n}", "Browser") for n in range(3)]
    listed = project.sessions.all()
    assert {login.address for login in listed} == {"192.0.2.0", "192.0.2.1", "192.0.2.2"}
    assert {(login.reviewer, login.browser) for login in listed} == {(anna.id, "Browser")}
    # What names a session does not open it.
    assert all(project.sessions.reviewer(login.key) is None for login in listed)
    gone = [login for login in listed if login.address == "192.0.2.1"]
    assert project.sessions.end_listed(gone) == 1
    assert project.sessions.end_listed(gone) == 0
    assert [project.sessions.reviewer(secret) is None for secret in secrets] == [False, True, False]


def test_a_reviewer_has_a_limited_number_of_sessions(project):
    anna, ben = project.reviewers.add("Anna"), project.reviewers.add("Ben")
    of_ben = project.sessions.begin(ben)
    for _ in range(MOST_SESSIONS + 5):
        last = project.sessions.begin(anna)
    assert sum(login.reviewer == anna.id for login in project.sessions.all()) == MOST_SESSIONS
    assert project.sessions.reviewer(last) == anna
    assert project.sessions.reviewer(of_ben) == ben


def test_starting_the_program_again_logs_nobody_out(project):
    tokens = issue_tokens(project, ["Anna", "Ben"])
    assert list(tokens) == ["Anna", "Ben"]
    anna = project.reviewers.by_token(tokens["Anna"])
    session = project.sessions.begin(anna)
    again = issue_tokens(project, [])
    assert list(again) == ["Anna"]
    assert project.sessions.reviewer(session) == anna
    for token in (tokens["Anna"], again["Anna"]):
        assert project.reviewers.by_token(token) == anna
    # Who is named gets a new token, and that ends what was begun with the old one.
    issue_tokens(project, ["Ben", "Anna"])
    assert project.sessions.reviewer(session) is None
    assert project.reviewers.by_token(tokens["Ben"]) is None


def test_everything_about_people_is_in_the_audit_log(project):
    anna, token = project.reviewers.invite("Anna")
    by = Actor(anna.id, "192.0.2.1")
    ben, _ = project.reviewers.invite("Ben", "reader", by)
    secret = project.sessions.begin(anna, "192.0.2.1", "Browser")
    project.sessions.begin(ben, "192.0.2.9")
    project.reviewers.change_role(ben, "reviewer", by)
    project.sessions.end_listed([login for login in project.sessions.all() if login.reviewer == ben.id], by)
    project.reviewers.remove(ben, by)
    project.sessions.end(secret, by)
    project.reviewers.issue_link(anna)
    project.audit.note("failed login", Actor(None, "198.51.100.1"), "attempt 1")
    entries = list(project.audit)
    assert [(entry.action, entry.reviewer, entry.address) for entry in entries] == [
        ("reviewer added", None, "command line"),
        ("token issued", None, "command line"),
        ("reviewer added", anna.id, "192.0.2.1"),
        ("token issued", anna.id, "192.0.2.1"),
        ("login", anna.id, "192.0.2.1"),
        ("login", ben.id, "192.0.2.9"),
        ("role changed", anna.id, "192.0.2.1"),
        ("session ended", anna.id, "192.0.2.1"),
        ("reviewer removed", anna.id, "192.0.2.1"),
        ("logout", anna.id, "192.0.2.1"),
        ("link issued", None, "command line"),
        ("failed login", None, "198.51.100.1"),
    ]
    assert entries[6].detail == "Ben: reader to reviewer"
    assert not any(word in str(entries) for word in (token, secret))
    assert project.audit.latest(2) == entries[:-3:-1]
    assert project.audit.latest(100, before=entries[2].id) == entries[1::-1]


def test_settings_are_noted_with_what_was_changed_and_not_at_any_length(project):
    topic = project.topics.add(Topic("metals"), Actor(None, "192.0.2.1"))
    project.topics.change(topic._replace(random=0.2, description="x" * 20_000))
    with pytest.raises(ValueError, match="already"):
        project.topics.add(Topic("metals"))
    added, changed = project.audit
    assert (added.action, added.detail, added.address) == ("topic added", "metals", "192.0.2.1")
    assert changed.detail.startswith("metals: description from '' to 'xxx")
    assert len(changed.detail) == 2000


def test_the_audit_log_is_read_in_slices(project: Project, monkeypatch):
    monkeypatch.setattr("bayesift.review.storage.audit._BATCH", 3)
    for number in range(8):
        project.audit.note("exported", Actor(), str(number))
    assert [entry.detail for entry in project.audit] == [str(number) for number in range(8)]
