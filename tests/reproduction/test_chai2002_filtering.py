"""Tables 4 and 5 and figure 2 of 2002: streams, protocol and measures on small examples; the printed numbers."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from math import log2

import numpy as np
import pytest
from scipy.stats import norm

from bayesift.datasets import load
from bayesift.select import likelihood_ratio
from bayesift.text import TextVectorizer
from reproduction.catalogue import PieceCache, Runner, Table, published
from reproduction.chai2002 import experiments as chai2002
from reproduction.chai2002 import filtering, streams
from reproduction.chai2002 import filtering_tables as tables
from reproduction.chai2002.filtering import SYSTEMS, Filtered, filter_stream, measures
from reproduction.chai2002.streams import Document, Stream, few_judgements, reuters_dates, story_date

WORDS = ("wheat", "barley", "tanker", "crude", "dollar", "yen", "striker", "goal", "court", "judge")


def example(n_batch=60, n_stream=240, seed=0):
    """Documents of four words; two topics with a word that nearly always tells them, and a second that often does."""
    random = np.random.default_rng(seed)

    def documents(number, start):
        found = []
        for place in range(number):
            topics = tuple(topic for topic in ("grain", "oil") if random.random() < 0.15)
            words = list(random.choice(WORDS[4:], 4))
            if "grain" in topics:
                words += [WORDS[random.random() < 0.5]]
            if "oil" in topics:
                words += [WORDS[2 + (random.random() < 0.5)]]
            if random.random() < 0.05:
                words += [WORDS[random.integers(4)]]
            found.append(Document(str(start + place), " ".join(words), topics))
        return found

    statements = {"grain": "wheat", "oil": "tanker"}
    return Stream("example", statements, documents(n_batch, 0), documents(n_stream, n_batch))


def slow_filter(stream, topic, *, rel, information):
    """The protocol of section 4.2 in plain numpy, for one topic and words that all stand in the batch phase."""
    vectorizer = TextVectorizer("ltc", stop_words="smart", stemmer="porter")
    X = vectorizer.fit_transform([d.text for d in stream.batch]).toarray()
    later = vectorizer.transform([d.text for d in stream.documents]).toarray()
    statement = vectorizer.transform([stream.statements[topic]]).toarray()
    seen = np.vstack([statement, X])
    y = np.array([1] + [1 if topic in d.topics else -1 for d in stream.batch])
    kappa = 0.05
    columns, mean, cov = [], np.zeros(1), np.eye(1)

    def grow():
        nonlocal columns, mean, cov
        for column in np.flatnonzero(likelihood_ratio(seen, y) > 12.13):
            if column not in columns:
                columns.append(column)
                mean = np.append(mean, 0.0)
                cov = np.pad(cov, (0, 1))
                cov[-1, -1] = 1.0

    def field(x):
        z = np.append(1.0, x[columns])
        return z, mean @ z / np.sqrt(z @ cov @ z), np.sqrt(z @ cov @ z)

    def learn(x, label):
        nonlocal mean, cov
        z, u, s = field(x)
        u *= label
        rho = (1 - 2 * kappa) * norm.pdf(u) / (kappa + (1 - 2 * kappa) * norm.cdf(u))
        product = cov @ z
        mean = mean + label * rho / s * product
        cov = cov - rho * (rho + u) / s**2 * np.outer(product, product)

    def entropy(p):
        return -p * log2(p) - (1 - p) * log2(1 - p)

    grow()
    for _ in range(3):
        for x, label in zip(seen, y, strict=True):
            learn(x, label)
    past, turn, events = list(seen[y == 1]), 0, []
    for place, x in enumerate(later):
        p = kappa + (1 - 2 * kappa) * norm.cdf(field(x)[1])
        bits = entropy(p) - entropy(kappa)
        theta = 0.999 / (1 + np.exp(-5 * (len(events) - 50) / 50)) + 0.001
        if p < 0.5 and not (information and bits >= theta):
            continue
        relevant = topic in stream.documents[place].topics
        seen, y = np.vstack([seen, x]), np.append(y, 1 if relevant else -1)
        grow()
        learn(x, 1 if relevant else -1)
        if relevant:
            past.append(x)
        elif rel:
            learn(past[turn % len(past)], 1)
            turn += 1
        events.append((place, p < 0.5, relevant, len(columns)))
    return events


@pytest.mark.collection("smart")
@pytest.mark.parametrize("system", ["pptron+rel+ig", "pptron+ig", "pptron+rel", "pptron"])
def test_filters_follow_the_protocol(system):
    stream = example()
    found = filter_stream(stream, system, n_jobs=1)
    options = SYSTEMS[system]
    for k, topic in enumerate(stream.statements):
        own = found.events[found.events[:, 0] == k, 1:]
        expected = slow_filter(
            stream, topic, rel=options["relearn_relevant"], information=options["query"] == "information"
        )
        assert len(expected) > 5
        assert own.tolist() == [[int(value) for value in event] for event in expected]


@pytest.mark.collection("smart")
def test_random_queries_depend_on_the_seed_and_come_at_the_promised_rate():
    stream = example(n_stream=2000)
    runs = [filter_stream(stream, "pptron+rnd", seed, n_jobs=1) for seed in (0, 0, 1)]
    assert np.array_equal(runs[0].events, runs[1].events)
    assert not np.array_equal(runs[0].events, runs[2].events)
    # The classifier retrieves more than 50 of these soon, after which there are no queries.
    for k in range(2):
        queried = runs[0].events[(runs[0].events[:, 0] == k) & (runs[0].events[:, 2] == 1)]
        assert 0 < len(queried) < 50


def test_measures_by_hand():
    # Topic 0: three retrieved, two of them relevant, of 4. Topic 1: 150 retrieved, none relevant, of 5. Topic 2: none.
    events = [(0, 1, 0, 1, 7), (0, 3, 1, 0, 8), (0, 9, 0, 1, 8)] + [(1, place, 0, 0, 3) for place in range(150)]
    found = Filtered(["a", "b", "c"], 200, np.array([4, 5, 2]), np.array([6, 3, 1]), np.array(events))
    assert measures(found) == pytest.approx(
        {
            "retrieved": 153,
            "relevant retrieved": 2,
            "macro recall, %": 100 * (0.5 + 0 + 0) / 3,
            "macro precision, %": 100 * (2 / 3 + 0 + 0) / 3,
            "mean T9P, %": 100 * (2 / 50 + 0 + 0) / 3,
            "mean utility": (3 - 150 + 0) / 3,
            "mean T9U": (3 - 100 + 0) / 3,
            "mean scaled utility": (3 / 8 - 100 / 10 + 0) / 3,
            "zero returns": 1,
        }
    )
    assert found.outcomes(queried=True).fp.tolist() == [1, 0, 0]
    assert found.outcomes(queried=False).tp.tolist() == [2, 0, 0]
    relevant, features = found.growth(np.array([0, 2, 4, 200]))
    assert relevant.tolist() == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3])
    assert features.tolist() == pytest.approx([10 / 3, 11 / 3, 12 / 3, 12 / 3])


def test_few_judgements_take_the_first():
    labels = [("a",), (), ("a", "b"), ("a",), ("b",), ("a",), ("b",)]
    documents = [Document(str(place), "", topics) for place, topics in enumerate(labels)]
    assert [document.id for document in few_judgements(documents, 2)] == ["0", "1", "2", "4"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("26-FEB-1987 15:01:01.79", datetime(1987, 2, 26, 15, 1, 1)),
        (" 2-APR-1987 00:35:21.36", datetime(1987, 4, 2, 0, 35, 21)),
        ("31-MAR-1987 605:12:19.12", datetime(1987, 3, 31, 5, 12, 19)),
    ],
)
def test_dates_of_stories(written, expected):
    assert story_date(written) == expected
    with pytest.raises(ValueError, match="expected a date like"):
        story_date(written[:11])


@pytest.mark.collection("reuters21578")
def test_streams_of_reuters():
    dates = reuters_dates()
    assert len(dates) == 21_578
    everything, few = streams.reuters(), streams.reuters_few()
    assert (len(everything.batch), len(everything.documents), len(everything.statements)) == (9603, 3299, 90)
    for stream in (everything, few):
        sent = [dates[document.id] for document in stream.batch + stream.documents]
        assert sent == sorted(sent)
        assert all(stream.statements.values())
        assert min(stream.n_relevant.values()) >= 1
    assert set(few.n_judged.values()) == {1, 2, 3}
    assert max(few.n_relevant.values()) <= 0.01 * 12_902


@pytest.mark.collection("ohsumed")
def test_streams_of_ohsumed():
    everything, few = streams.ohsumed(), streams.ohsumed_few()
    assert (len(everything.batch), len(everything.documents), len(everything.statements)) == (6286, 7643, 23)
    assert sum(everything.n_relevant.values()) == 12_733
    assert set(few.n_judged.values()) == {3}
    assert len(few.documents) == 7643


@pytest.mark.collection("cohen2006")
def test_the_stream_of_reviews():
    stream = streams.reviews_few()
    assert set(stream.n_judged.values()) <= {1, 2, 3}
    ids = [document.id for document in stream.batch + stream.documents]
    assert len(ids) == len(set(ids))
    assert stream.statements["ACEInhibitors"] == "ACE Inhibitors"


def test_trec9_is_read_where_its_records_are(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESIFT_DATA", str(tmp_path))
    assert streams.available(["trec9"]) == []
    folder = tmp_path / "ohsumed" / "trec9-filtering"
    folder.mkdir(parents=True)
    topics = "<top>\n<num> Number: OHSU1\n<title> a man\n<desc> Description:\nwhat ails him\n</top>\n"
    (folder / "query.ohsu.1-63").write_text(topics)
    for name, row in (("qrels.ohsu.batch.87", "OHSU1\t1\t2\n"), ("qrels.ohsu.88-91", "OHSU1\t2\t1\n")):
        (folder / name).write_text(row)
    for name, number in (("ohsumed.87", 1), ("ohsumed.88-91", 2)):
        (folder / name).write_text(f".I {number}\n.U\n{number}\n.T\nAils {number}.\n")
    monkeypatch.setattr(streams, "load", partial(load, verify=False))
    stream = streams.trec9()
    assert stream.batch == [Document("1", "Ails 1.", ("OHSU1",))]
    assert stream.documents == [Document("2", "Ails 2.", ("OHSU1",))]
    assert stream.statements == {"OHSU1": "a man\nwhat ails him"}


@pytest.mark.collection("smart")
def test_tables_of_a_small_stream(tmp_path, monkeypatch):
    small = {"reviews-few": example()}
    monkeypatch.setattr(streams, "stream_of", small.__getitem__)
    for module in (filtering, tables):
        monkeypatch.setattr(module, "stream_of", small.__getitem__)
    runner = Runner(PieceCache(tmp_path), quick=True, n_jobs=1)
    four, five, two = chai2002.table4(runner), chai2002.table5(runner), chai2002.figure2(runner)
    [table] = four.tables
    assert not table.comparable
    assert table.rows[0] == "Microsoft"
    assert table.cell("pptron+ig", "relevant retrieved").published == 1128
    for system in SYSTEMS:
        own = measures(filter_stream(small["reviews-few"], system, n_jobs=1))
        assert {column: table.ours(system, column) for column in own} == pytest.approx(own)
    [parts] = five.tables
    for short in ("ig", "rnd"):
        for kind in ("relevant", "other", "all"):
            column = f"{short}, {kind}"
            assert parts.ours("all", column) == parts.ours("by the classifier", column) + parts.ours("queried", column)
        assert parts.ours("all", f"{short}, all") == table.ours(f"pptron+{short}", "retrieved")
    assert two.tables[0].rows == tuple(f"reviews-few, {system}" for system in SYSTEMS)
    assert len(two.figures[0].draw().axes[0].get_lines()) == len(SYSTEMS)
    assert "TREC-9 itself was not run" in four.notes[0]


def test_printed_numbers_belong_together():
    four, five = published("chai2002")["table4"], published("chai2002")["table5"]
    retrieved, relevant = (np.array(four.column(name)) for name in ("retrieved", "relevant retrieved"))
    # 2 for a relevant document and −1 for another, mean over 63 topics.
    utility = np.array(four.column("mean utility"))
    assert utility[:-1] == pytest.approx((3 * relevant - retrieved)[:-1] / 63, abs=6e-4)
    # The last, pptron, is printed with 1,057 documents and has the utility of 1,076.
    assert utility[-1] == pytest.approx((3 * relevant[-1] - 1076) / 63, abs=6e-4)
    assert four.column("mean T9U") == four.column("mean utility")
    for short in ("ig", "rnd"):
        table = np.array([five.column(f"{short}, {kind}") for kind in ("relevant", "other", "all")])
        assert np.array_equal(table[0] + table[1], table[2])
        assert np.array_equal(table[:, 0] + table[:, 1], table[:, 2])
        assert table[0, 2] == four.value(f"pptron+{short}", "relevant retrieved")
        assert table[2, 2] == four.value(f"pptron+{short}", "retrieved")


def test_every_experiment_can_be_named():
    assert [experiment.name for experiment in chai2002.EXPERIMENTS] == [
        "chai2002/table2",
        "chai2002/table3",
        "chai2002/table4",
        "chai2002/table5",
        "chai2002/figure2",
    ]


@pytest.mark.parametrize("turned", [False, True])
def test_what_retraining_adds_can_be_nothing(turned):
    names = ["pptron+rel+ig", "pptron+ig", "pptron+rel", "pptron+rnd", "pptron"]
    order = names[::-1] if turned else names
    rows = {name: {"relevant retrieved": 100.0 - k, "mean T9P, %": 50.0 - k} for k, name in enumerate(order)}
    claims = tables.retraining((Table.of("a stream", rows),))
    assert [claim.holds for claim in claims] == [not turned] * 5
    assert claims[0].text == "a stream: pptron+rel retrieves more relevant documents than pptron"
