"""Runs that are killed, left, resumed, damaged or opened twice."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

from bayesift.filtering import AdaptiveFilter
from bayesift.filtering import _snapshot as snapshots
from bayesift.filtering._store import Journal
from file_cases import file_size_limit

#: The embedded corpus as a stream, every third document twice; truth by text.
RUN = """
import sys
from bayesift.datasets import load
from bayesift.filtering import AdaptiveFilter

news = load("newsroom")
topics = {name: news.descriptions[name] for name in ("courts", "health", "energy")}
documents = [(i, t) for k, (i, t) in enumerate(zip(news.test.ids, news.test.texts)) for _ in range(1 + (k % 3 == 0))]
documents = documents[:150]
truth = dict(zip(news.test.texts, news.test.labels))

def judge(decision):
    # Some are left open: an answer for everybody would hide mistakes about those who wait.
    return None if decision.entry.place % 7 == 3 else decision.entry.topic in truth[decision.text]

def begin(folder):
    filter = AdaptiveFilter(snapshot_every=11, block_size=17, n_jobs=1)
    return filter.fit(news.train.texts, news.train.labels, topics, state=folder)

def finish(filter):
    filter.run(documents[filter.position_ :], judge)
    return filter
"""

#: Lives of a run that are killed at random moments. They are forked, so that each has everything loaded at once.
SCRIPT = (
    RUN
    + """
import os, random, signal, time

first = finish(begin(sys.argv[1] + "-warm"))
child = os.fork()
if child == 0:
    try:
        begin(sys.argv[1] + "-warm")
    except ValueError as error:
        os._exit(7 if "in use by another process" in str(error) else 1)
print(os.WEXITSTATUS(os.waitpid(child, 0)[1]))
first.close()
# Lives last at most a tenth of what a whole run takes, so that several are needed; each may last longer than the one
# before, so that they come to an end however busy the machine has become.
started = time.perf_counter()
finish(begin(sys.argv[1] + "-timed")).close()
longest = (time.perf_counter() - started) / 10
moments, kills = random.Random(4), 0
while True:
    longest *= 1.05
    child = os.fork()
    if child == 0:
        finish(begin(sys.argv[1])).close()
        os._exit(0)
    time.sleep(moments.uniform(0.0, longest))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    kills += os.WIFSIGNALED(status)
    if os.WIFEXITED(status):
        print(kills, os.WEXITSTATUS(status))
        break
"""
)

names: dict = {}
exec(RUN, names)


def same(one, other):
    a, b = one.arrays(), other.arrays()
    assert a.keys() == b.keys()
    for key in a:
        assert a[key].dtype == b[key].dtype
        assert a[key].shape == b[key].shape
        assert a[key].tobytes() == b[key].tobytes(), key
    assert list(one.record_) == list(other.record_)
    assert one.position_ == other.position_


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    with names["finish"](names["begin"](tmp_path_factory.mktemp("whole"))) as filter:
        return filter


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_killed_again_and_again_and_resumed_is_as_never_killed(uninterrupted, tmp_path):
    folder = tmp_path / "run"
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True, check=True)
    second_at_once, kills, status = map(int, done.stdout.split())
    assert second_at_once == 7, "a folder in use was not refused"
    assert status == 0, done.stderr
    assert kills >= 3
    with names["begin"](folder) as resumed:
        same(resumed, uninterrupted)
    assert [path.name for path in sorted(folder.iterdir())] == ["journal.jsonl", "snapshot.npz"]


@pytest.mark.parametrize("cut", [1, 40, 300])
def test_a_torn_last_line_is_dropped(uninterrupted, tmp_path, cut):
    filter = names["begin"](tmp_path)
    for number, decision in enumerate(filter.stream(names["documents"])):
        decision.judge(names["judge"](decision))
        if number == 8:
            break
    filter._store.close()
    journal = tmp_path / "journal.jsonl"
    content = journal.read_bytes()
    lines = content.splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][: max(len(lines[-1]) - cut, 1)])
    with names["finish"](names["begin"](tmp_path)) as resumed:
        same(resumed, uninterrupted)


def test_leaving_the_loop_and_going_on(uninterrupted):
    filter = AdaptiveFilter(block_size=50).fit(names["news"].train.texts, names["news"].train.labels, names["topics"])
    documents = names["documents"]
    left = 0
    while filter.position_ < len(documents):
        for number, decision in enumerate(filter.stream(documents[filter.position_ :])):
            if number == 2:
                # At hand, not judged: it is the first to come again.
                left += 1
                expected = decision.entry
                break
            if left and number == 0:
                assert decision.entry == expected
            decision.judge(names["judge"](decision))
    assert left > 3
    same(filter, uninterrupted)


def test_every_journal_line_is_json_with_a_checksum(uninterrupted, tmp_path):
    with names["begin"](tmp_path) as filter:
        filter.run(names["documents"][:30], names["judge"])
        n_retrieved = len(filter.record_)
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert all(set(line) == {"check", "entry"} for line in lines)
    kinds = [line["entry"]["kind"] for line in lines]
    assert kinds[0] == "begin"
    assert kinds.count("retrieved") == kinds.count("judged") == n_retrieved
    assert lines[-1]["entry"] == {"kind": "position", "place": 30}


def test_a_changed_line_is_refused(tmp_path):
    with names["begin"](tmp_path) as filter:
        filter.run(names["documents"][:30], names["judge"])
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:3], lines[3].replace(b'"place"', b'"Place"'), *lines[4:]]))
    with pytest.raises(ValueError, match="line 4: the checksum is wrong"):
        names["begin"](tmp_path)
    journal.write_bytes(b"".join([*lines[:3], *lines[4:]]))
    with pytest.raises(ValueError, match="line 4: the checksum is wrong"):
        names["begin"](tmp_path)


def test_a_snapshot_of_another_journal_is_refused(tmp_path):
    for part, stop in (("a", 20), ("b", 40)):
        with names["begin"](tmp_path / part) as filter:
            filter.run(names["documents"][:stop], names["judge"])
    (tmp_path / "a" / "snapshot.npz").replace(tmp_path / "b" / "snapshot.npz")
    with pytest.raises(ValueError, match="does not belong to"):
        names["begin"](tmp_path / "b")


def small_run(folder, stop=4):
    """Judge some documents of a small stream, and leave the folder as a killed process does."""
    filter = resumed(folder)
    for number, decision in enumerate(filter.stream(["wheat", "goal", "more wheat", "wheat up again"] * 2)):
        decision.judge(number % 2 == 0)
        if number == stop:
            break
    record = list(filter.record_)
    filter._store.close()
    return record


@pytest.mark.slow
def test_no_bit_of_a_journal_can_change_unnoticed(tmp_path):
    """But for a line that was not written whole: that has never been acknowledged."""
    record = small_run(tmp_path)
    journal = tmp_path / "journal.jsonl"
    content = journal.read_bytes()
    lines = content.count(b"\n")
    assert [entry.judged for entry in record] == [True] * 5
    with journal.open("r+b", buffering=0) as file:
        for place in range(len(content)):
            number = content.count(b"\n", 0, place) + 1
            for bit in range(8):
                file.seek(place)
                file.write(bytes([content[place] ^ 1 << bit]))
                with pytest.raises(ValueError, match=f"line {number}: the checksum"):
                    Journal(journal)
            file.seek(place)
            file.write(content[place : place + 1])
    whole = Journal(journal)
    assert len(whole.checks) == lines
    whole.close()


def test_no_bit_of_a_snapshot_can_change_what_is_read(tmp_path):
    small_run(tmp_path)
    snapshot = tmp_path / "snapshot.npz"
    content, expected = snapshot.read_bytes(), snapshots.read(snapshot)
    refused = 0
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        snapshot.write_bytes(changed)
        found = None
        with suppress(ValueError):
            found = snapshots.read(snapshot)
        refused += found is None
        # What is not refused is in dates and the like, which nobody reads.
        assert found is None or found.keys() == expected.keys()
        assert found is None or all(found[name].tobytes() == expected[name].tobytes() for name in expected)
    assert refused > 100


@pytest.mark.parametrize("cut", ["empty", "gone", "first line", "one line"])
def test_a_journal_that_was_cut_behind_its_snapshot_is_refused_and_left_alone(tmp_path, cut):
    journal = tmp_path / "journal.jsonl"
    small_run(tmp_path)
    if cut in ("first line", "one line"):
        # The last snapshot is that of an orderly end.
        resumed(tmp_path).close()
    lines = journal.read_bytes().splitlines(keepends=True)
    left = {"empty": [], "gone": [], "first line": lines[:1], "one line": lines[:-1]}[cut]
    journal.write_bytes(b"".join(left))
    if cut == "gone":
        journal.unlink()
    snapshot = (tmp_path / "snapshot.npz").read_bytes()
    for _ in range(2):
        with pytest.raises(ValueError, match=r"judgements were lost; restore the folder from a copy"):
            small_run(tmp_path)
    assert journal.read_bytes() == b"".join(left)
    assert (tmp_path / "snapshot.npz").read_bytes() == snapshot


def test_a_snapshot_that_was_lost_is_made_again_from_the_journal(uninterrupted, tmp_path):
    snapshot = tmp_path / "snapshot.npz"
    with names["begin"](tmp_path) as filter:
        filter.run(names["documents"][:70], names["judge"])
    snapshot.unlink()
    killed = names["begin"](tmp_path)
    assert killed.position_ == 70
    killed._store.close()
    assert not snapshot.exists()
    with names["finish"](names["begin"](tmp_path)) as resumed:
        same(resumed, uninterrupted)
    with names["begin"](tmp_path) as again:
        same(again, uninterrupted)


def test_killed_before_the_first_snapshot(tmp_path):
    small_run(tmp_path)
    journal = tmp_path / "journal.jsonl"
    (tmp_path / "snapshot.npz").unlink()
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    assert len(small_run(tmp_path)) == 5
    assert journal.read_bytes().count(b'"kind":"begin"') == 1


def test_a_torn_line_stays_until_the_next_takes_its_place(tmp_path):
    small_run(tmp_path)
    journal = tmp_path / "journal.jsonl"
    content = journal.read_bytes()
    for torn in (content[:-1], content[:-2], content[:-30]):
        journal.write_bytes(torn)
        with Journal(journal)._file:
            assert journal.read_bytes() == torn
        kept = Journal(journal)
        kept.append({"kind": "position", "place": 3}, sync=True)
        kept.close()
        last = journal.read_bytes().splitlines()
        assert json.loads(last[-1])["entry"] == {"kind": "position", "place": 3}
        assert last[:-1] == content.splitlines()[:-1]


def test_the_last_judgements_are_those_that_may_not_have_been_passed_on(tmp_path):
    record = small_run(tmp_path / "a", stop=2)
    with resumed(tmp_path / "a") as filter:
        assert filter.unconfirmed_ == record[-1:]
    filter = resumed(tmp_path / "b")
    assert filter.unconfirmed_ == []
    for decision in filter.decide("wheat"):
        decision.judge(True)
    filter.decide("goal")
    filter.close()
    with resumed(tmp_path / "b") as filter:
        assert filter.unconfirmed_ == []


def resumed(folder):
    texts, labels = ["wheat up", "goal"] * 4, [("grain",), ()] * 4
    return AdaptiveFilter(query=None).fit(texts, labels, {"grain": "cereals"}, state=folder)


def test_a_damaged_snapshot_is_named(tmp_path):
    names["begin"](tmp_path).close()
    snapshot = tmp_path / "snapshot.npz"
    snapshot.write_bytes(snapshot.read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"snapshot\.npz cannot be read"):
        names["begin"](tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": 40}, "target=50, but now target=40"),
        ({"statement": "another"}, "other topics or statements"),
        ({"texts": True}, "other training documents or labels"),
        ({"labels": True}, "other training documents or labels"),
    ],
)
def test_another_run_is_refused(tmp_path, change, message):
    texts, labels, topics = ["wheat up", "goal"] * 4, [("grain",), ()] * 4, {"grain": "cereals"}
    AdaptiveFilter().fit(texts, labels, topics, state=tmp_path).close()
    AdaptiveFilter(block_size=3, snapshot_every=7, n_jobs=1).fit(texts, labels, topics, state=tmp_path).close()
    other = AdaptiveFilter(target=change.get("target", 50))
    if "texts" in change:
        texts = [*texts[:-1], "goals"]
    if "labels" in change:
        labels = [*labels[:-1], ("grain",)]
    if "statement" in change:
        topics = {"grain": "oats"}
    with pytest.raises(ValueError, match=message):
        other.fit(texts, labels, topics, state=tmp_path)


def test_two_at_once_are_refused_and_one_after_the_other_not(tmp_path):
    with names["begin"](tmp_path), pytest.raises(ValueError, match="in use by another process"):
        names["begin"](tmp_path)
    names["begin"](tmp_path).close()


def test_another_stream_at_the_place_of_resuming_is_refused(tmp_path):
    filter = names["begin"](tmp_path)
    next(filter.stream(names["documents"]))
    filter._store.close()
    resumed = names["begin"](tmp_path)
    with pytest.raises(ValueError, match="pass the stream from document position_ on"):
        next(resumed.stream([("other", "text")]))
    resumed.close()


def test_a_judgement_that_can_not_be_written_has_not_happened(tmp_path):
    filter = names["begin"](tmp_path)
    decision = next(filter.stream(names["documents"]))
    before = filter.states_[decision.entry.topic]
    filter._store._journal._file.close()
    with pytest.raises(ValueError, match="closed file"):
        decision.judge(True)
    assert filter.states_[decision.entry.topic] is before
    assert [entry.judged for entry in filter.record_] == [False]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_full_disk_names_the_journal_and_the_run_goes_on_when_there_is_space(uninterrupted, tmp_path):
    filter, documents = names["begin"](tmp_path), names["documents"]
    journal = tmp_path / "journal.jsonl"
    decisions = filter.stream(documents)
    decision = next(decisions)
    before = journal.read_bytes()
    with file_size_limit(len(before) + 20), pytest.raises(OSError, match="File too large") as error:
        decision.judge(names["judge"](decision))
    assert error.value.filename == str(journal)
    assert journal.read_bytes() == before
    assert [entry.judged for entry in filter.record_] == [False]
    decision.judge(names["judge"](decision))
    for decision in decisions:
        decision.judge(names["judge"](decision))
    with filter:
        same(filter, uninterrupted)


def test_late_judgements_are_resumed_in_their_order(tmp_path):
    """All decisions are collected, then judged in reverse; a second filter resumes after every judgement."""
    documents = names["documents"][:60]
    whole = names["begin"](tmp_path / "whole")
    for decision in reversed(list(whole.stream(documents))):
        decision.judge(names["judge"](decision))
    parts = names["begin"](tmp_path / "parts")
    waiting = [decision.entry for decision in parts.stream(documents)]
    texts = [text for _, text in documents]
    assert parts.pending_ == list(parts.record_)
    for entry in reversed(waiting):
        parts._store.close()
        parts = names["begin"](tmp_path / "parts")
        answer = entry.topic in names["truth"][texts[entry.place]]
        parts.judge(entry.place, entry.topic, None if entry.place % 7 == 3 else answer)
    same(parts, whole)
    assert not parts.pending_
    assert np.isfinite(parts.states_["courts"].belief.mean).all()
    whole.close()
    parts.close()
