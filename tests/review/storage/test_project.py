from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import inspect

from bayesift.review.storage import Actor, Document, Event, NotSavedError, Project, ProjectError, Topic
from bayesift.review.storage.tables import metadata
from tests.review.storage.make_version_1 import ROWS, TABLES

OLD = Path(__file__).with_name("version-1.sqlite")


def test_the_documents_come_back_as_they_were_given(project):
    assert len(project.documents) == 6
    assert [document.key for document in project.documents] == list("abcdef")
    assert project.documents.get(1).extra == {"year": 1987}
    assert project.documents.get(6) is None
    assert project.documents.texts()[0].startswith("Tin falls in London\n\nThe price")
    assert project.documents.texts()[2].startswith("\n\nA court")
    assert project.documents.titles([3, 0])[3].title == "Copper rises"


def test_texts_that_no_database_can_hold_are_mended(database):
    given = [Document("a\0", "\0", "before\0after \ud800", {"note": "a\0b"}), Document("b", "Ärzte", "")]
    project = Project.create(database, "Odd\udcff", given, source="Odd\udcff.csv")
    assert project.name == "Odd?"
    assert project.documents.search("äRZTE").places == [1]
    assert project.documents.get(0).text == "before\ufffdafter ?"
    assert project.documents.get(0).extra["note"].startswith("a")
    project.close()


def test_reasons_that_no_database_can_hold_are_mended(project):
    anna = project.reviewers.add("Anna").id
    topic = project.topics.add(Topic("metals")).id
    given = Event(0, anna, "import", "irrelevant", why="import", reason="a\0b\ud800")
    with project.history.turn(topic) as turn:
        written = turn.add_all([given, given._replace(reason=None)])
    assert [event.reason for event in written] == ["a\ufffdb?", None]
    assert project.history.since(topic) == written


def test_names_of_details_are_those_of_all_documents(database):
    given = [Document(str(n), "", "a text", {"year": n} if n < 1500 else {"note": n}) for n in range(1600)]
    project = Project.create(database, "Odd", given)
    assert project.documents.extra_names() == ["year", "note"]
    project.close()


def test_a_project_is_made_whole_or_not_at_all(database):
    def broken():
        yield Document("a", "", "a text")
        raise ValueError("line 2 is malformed")

    with pytest.raises(ValueError, match="line 2"):
        Project.create(database, "News", broken())
    assert not Project.exists(database)
    assert not isinstance(database, Path) or not database.exists()
    with pytest.raises(ValueError, match="no documents"):
        Project.create(database, "News", [])
    Project.create(database, "News", [Document("a", "", "a text")]).close()
    assert Project.exists(database)
    with pytest.raises(ProjectError, match=r"not empty|already exists"):
        Project.create(database, "News", [Document("a", "", "a text")])


MAKE = """
import sys
from bayesift.review.storage import Document, Event, Project, ProjectError, Topic

database, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
try:
    project = Project.create(database, name, (Document(str(k), "", f"text {k}") for k in range(3000)))
except ProjectError as error:
    print("refused", error)
else:
    topic, anna = project.topics.add(Topic("metals")), project.reviewers.add("Anna")
    with project.history.turn(topic.id) as turn:
        print("made", turn.add(Event(0, anna.id, "label", "relevant")).id, flush=True)
    sys.stdin.readline()
    with project.history.turn(topic.id) as turn:
        print("made", turn.add(Event(1, anna.id, "label", "relevant")).id)
    project.close()
"""


@pytest.mark.slow
def test_of_several_who_make_a_project_one_does_and_none_removes_it(database, tmp_path):
    """Processes of their own, at the same moment; who came late leaves what it did not make."""
    names = "one", "two", "three"
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE, str(database), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]
    for maker in makers:
        assert maker.stdout.readline() == "ready\n"
    for maker in makers:
        maker.stdin.write("\n")
        maker.stdin.flush()
    first = [maker.stdout.readline().split(maxsplit=1) for maker in makers]
    said = [maker.communicate("\n", timeout=120)[0] for maker in makers]
    assert sorted(word for word, _ in first) == ["made", "refused", "refused"]
    winner = next(place for place, (word, _) in enumerate(first) if word == "made")
    assert all(re.search("not empty|already exists|made by another", rest) for word, rest in first if word != "made")
    acknowledged = [int(first[winner][1]), int(said[winner].split()[1])]
    with closing(Project.open(database)) as project:
        assert project.name == names[winner]
        assert len(project.documents) == 3000
        assert [event.id for event in project.history.since(1)] == acknowledged
    if isinstance(database, Path):
        assert [path.name for path in tmp_path.iterdir()] == ["project.sqlite"]


def test_what_a_killed_maker_left_is_removed_by_the_next(tmp_path):
    """But not what another one is still making."""
    path, script = (
        tmp_path / "project.sqlite",
        MAKE.replace("range(3000)", "count()").replace("import sys", "import sys\nfrom itertools import count", 1),
    )
    dead, alive = (
        subprocess.Popen(
            [sys.executable, "-c", script, str(path), "slow"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    )
    for maker in (dead, alive):
        maker.stdin.write("\n")
        maker.stdin.flush()
    until(lambda: len(list(tmp_path.glob(".project.sqlite.*.unfinished/project.sqlite"))) == 2)
    dead.kill()
    dead.communicate()
    Project.create(path, "News", [Document("a", "", "a text")]).close()
    assert len(list(tmp_path.glob(".project.sqlite.*.unfinished"))) == 1
    alive.kill()
    alive.communicate()
    path.unlink()
    Project.create(path, "News", [Document("a", "", "a text")]).close()
    assert list(tmp_path.iterdir()) == [path]


def until(happened):
    for _ in range(6000):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def test_names_are_given_once(project):
    topic = project.topics.add(Topic("metals", "Prices", ("tin", "copper"), ("ship",)))
    other = project.topics.add(Topic("ships"))
    assert project.topics.all() == [topic, other]
    with pytest.raises(ValueError, match="a topic 'metals' already"):
        project.topics.add(Topic("metals"))
    with pytest.raises(ValueError, match="a topic 'metals' already"):
        project.topics.change(other._replace(name="metals"))
    project.topics.change(other._replace(description="About ships"))
    assert project.topics.get(other.id).description == "About ships"
    assert project.topics.get(99) is None
    project.reviewers.add("Anna")
    with pytest.raises(ValueError, match="already a reviewer 'Anna'"):
        project.reviewers.add("Anna")
    with pytest.raises(ValueError, match="expected at least one character"):
        project.reviewers.add(" ")


def test_tokens_are_kept_as_hashes_and_replaced(project):
    anna, ben = project.reviewers.add("Anna"), project.reviewers.add("Ben")
    first = project.reviewers.issue_token(anna)
    assert project.reviewers.by_token(first) == anna
    second = project.reviewers.issue_token(anna)
    assert project.reviewers.by_token(first) is None
    assert project.reviewers.by_token(second) == anna
    assert project.reviewers.by_token(project.reviewers.issue_token(ben)) == ben
    for wrong in ("", second[:-1], second + "x", "\ud800"):
        assert project.reviewers.by_token(wrong) is None


def test_two_reviewers_at_once_lose_no_label(project):
    topic = project.topics.add(Topic("metals"))
    people = [project.reviewers.add(name) for name in ("Anna", "Ben", "Cleo", "Dan")]

    def work(person):
        seen = 0
        for step in range(40):
            with project.history.turn(topic.id) as turn:
                # Whoever follows the numbers must never be overtaken by a smaller one.
                assert all(event.id > seen for event in turn.since(seen))
                seen = turn.add(Event(step % 6, person.id, "label", "relevant", why="probable")).id
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, people))
    events = project.history.since(topic.id)
    assert len(events) == 160
    assert all(sum(event.reviewer == person.id for event in events) == 40 for person in people)
    assert project.history.since(topic.id, events[100].id) == events[101:]


def test_what_fails_in_a_turn_leaves_nothing(project):
    topic, anna = project.topics.add(Topic("metals")), project.reviewers.add("Anna")
    with suppress(RuntimeError), project.history.turn(topic.id) as turn:
        turn.add(Event(0, anna.id, "label", "relevant"))
        raise RuntimeError
    assert project.history.since(topic.id) == []


def test_an_event_is_undone_once(project):
    topic, anna = project.topics.add(Topic("metals")), project.reviewers.add("Anna")
    with project.history.turn(topic.id) as turn:
        event = turn.add(Event(0, anna.id, "label", "relevant", None, "random", "prior", 3, 0.5))
    assert project.history.since(topic.id) == [event]
    undo = Event(0, anna.id, "undo", undoes=event.id)
    with project.history.turn(topic.id) as turn:
        turn.add(undo)
    with pytest.raises(Exception, match=r"undo"), project.history.turn(topic.id) as turn:
        turn.add(undo)
    assert len(project.history.since(topic.id)) == 2


def test_an_older_project_is_migrated(tmp_path):
    path = shutil.copy(OLD, tmp_path / "old.sqlite")
    project = Project.open(path)
    assert (project.name, project.id) == ("Old news", "0123456789abcdef")
    assert project.documents.get(0).extra == {"year": 1987}
    topic = project.topics.get(1)
    assert topic == Topic("metals", "Prices of metals", ("tin", "copper"), ("ships",), id=1)
    project.topics.change(topic._replace(shared=False, random=0.2))
    assert project.topics.get(1).random == 0.2
    token = project.sessions.begin(project.reviewers.named("Anna"))
    assert project.sessions.reviewer(token).name == "Anna"
    assert project.reviewers.by_token("hello world").name == "Anna"
    events = project.history.since(1)
    assert [event.action for event in events] == ["label", "label", "undo", "label"]
    assert events[0].probability == 0.75
    assert project.documents.search("copper").places == [2]
    project.close()
    Project.open(path).close()


def columns_of(project):
    """Return type and nullability of every column of every table."""
    found = inspect(project._engine)
    return {
        table: {column["name"]: (str(column["type"]), column["nullable"]) for column in found.get_columns(table)}
        for table in found.get_table_names()
    }


def test_tables_that_were_migrated_are_those_of_a_new_project(database):
    """From the first version on, in either kind of database."""
    project = Project.create(database, "News", [Document("a", "", "a text")])
    new = columns_of(project)
    metadata.drop_all(project._engine)
    with project._engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE search_index")
    with project._engine.begin() as connection:
        for statement in filter(str.strip, (TABLES + ROWS).split(";")):
            if "PRAGMA" not in statement:
                connection.exec_driver_sql(statement)
    project.close()
    project = Project.open(database)
    assert columns_of(project) == new
    assert project.topics.all() == [Topic("metals", "Prices of metals", ("tin", "copper"), ("ships",), id=1)]
    assert [(person.name, person.role, person.removed) for person in project.reviewers.all()] == [
        ("Anna", "owner", None)
    ]
    assert project.documents.search("tin").places == [0]
    project.audit.note("exported", Actor(1, "192.0.2.1"), "metals")
    assert [entry.action for entry in project.audit] == ["exported"]
    project.close()


def test_a_newer_project_is_refused_and_left_alone(database):
    project = Project.create(database, "News", [Document("a", "", "a text")])
    with project._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE facts SET value = '99' WHERE name = 'version'")
    project.close()
    with pytest.raises(ProjectError, match="version 99, this program reads versions up to"):
        Project.open(database)
    assert Project.exists(database)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "notes.sqlite"
    path.write_text("This is not a database. " * 100)
    with pytest.raises(ProjectError, match="not a project of Bayesift"):
        Project.open(path)
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE songs (name TEXT)")
    other.close()
    with pytest.raises(ProjectError, match="not a project of Bayesift"):
        Project.open(tmp_path / "other.sqlite")
    with pytest.raises(ProjectError, match="does not exist"):
        Project.open(tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()
    with pytest.raises(ProjectError, match="mysql"):
        Project.open("mysql://localhost/news")


FILL = """
import resource, sys
from bayesift.review.storage import Event, NotSavedError, Project
project = Project.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
for step in range(10_000):
    try:
        with project.history.turn(1) as turn:
            turn.add(Event(0, 1, "label", "relevant", why="x" * 500))
    except NotSavedError as error:
        print(step, error)
        break
"""


def test_a_full_disk_gives_an_error_and_an_intact_project(tmp_path):
    path = shutil.copy(OLD, tmp_path / "old.sqlite")
    Project.open(path).close()
    run = subprocess.run([sys.executable, "-c", FILL, str(path)], capture_output=True, text=True, check=True)
    saved, message = run.stdout.split(maxsplit=1)
    assert int(saved) > 10
    assert "could not be saved" in message
    project = Project.open(path)
    assert len(project.history.since(1)) == 4 + int(saved)
    with project.history.turn(1) as turn:
        turn.add(Event(0, 1, "label", "relevant"))
    project.close()
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()


LABEL = """
import sys
from bayesift.review.storage import Event, Project
project = Project.open(sys.argv[1])
while True:
    with project.history.turn(1) as turn:
        event = turn.add(Event(0, 1, "label", "relevant"))
    print(event.id, flush=True)
"""


def test_a_killed_writer_loses_no_acknowledged_event(tmp_path):
    path = shutil.copy(OLD, tmp_path / "old.sqlite")
    Project.open(path).close()
    for pause in (0.05, 0.11, 0.17):
        with subprocess.Popen([sys.executable, "-c", LABEL, str(path)], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            said = [writer.stdout.readline()]
            time.sleep(pause)
            os.kill(writer.pid, signal.SIGKILL)
            said += writer.stdout.readlines()
        acknowledged = {int(line) for line in said if line.endswith("\n")}
        assert len(acknowledged) > 3
        project = Project.open(path)
        assert acknowledged <= {event.id for event in project.history.since(1)}
        project.close()


def test_a_database_that_does_not_answer_is_named(tmp_path):
    with pytest.raises(NotSavedError, match="cannot be read"):
        Project.open(f"postgresql://nobody@/nothing?host={tmp_path}")
