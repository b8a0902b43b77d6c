"""The embedded corpus as it lies on disk: form, counts, balance, and how hard it is."""

import json
import re
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

import bayesift

FOLDER = Path(bayesift.__file__).parent / "datasets" / "newsroom"


def read_items() -> list[dict[str, Any]]:
    with (FOLDER / "items.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


ITEMS = read_items()
TOPICS: dict[str, str] = json.loads((FOLDER / "topics.json").read_text(encoding="utf-8"))


def part(split: str) -> list[dict[str, Any]]:
    return [item for item in ITEMS if item["split"] == split]


def positives(split: str) -> Counter[str]:
    return Counter(topic for item in part(split) for topic in item["topics"])


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_each_line_has_the_agreed_form() -> None:
    for item in ITEMS:
        assert list(item) == ["id", "split", "topics", "text"]
        assert re.fullmatch(r"n\d{3}", item["id"])
        assert item["split"] in {"train", "test"}
        assert item["topics"] == sorted(set(item["topics"]))
        assert item["text"] == item["text"].strip()


def test_lines_are_written_as_plain_utf8() -> None:
    raw = (FOLDER / "items.jsonl").read_bytes().decode("utf-8")
    assert raw == "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in ITEMS)


def test_ids_are_unique_and_in_order() -> None:
    assert [item["id"] for item in ITEMS] == [f"n{number:03d}" for number in range(1, len(ITEMS) + 1)]


def test_there_are_enough_items_and_a_third_is_test() -> None:
    assert len(ITEMS) >= 400
    assert len(part("train")) + len(part("test")) == len(ITEMS)
    assert 0.30 <= len(part("test")) / len(ITEMS) <= 0.37


def test_every_topic_is_described_and_used() -> None:
    assert 8 <= len(TOPICS) <= 10
    assert list(TOPICS) == sorted(TOPICS)
    assert {topic for item in ITEMS for topic in item["topics"]} == set(TOPICS)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_description_is_one_paragraph(topic: str) -> None:
    assert "\n" not in TOPICS[topic]
    assert 40 <= len(TOPICS[topic].split()) <= 80


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_has_enough_positives_in_both_splits(topic: str) -> None:
    assert positives("train")[topic] >= 25
    assert positives("test")[topic] >= 12


@pytest.mark.parametrize("split", ["train", "test"])
def test_about_a_quarter_has_several_topics(split: str) -> None:
    share = np.mean([len(item["topics"]) > 1 for item in part(split)])
    assert 0.20 <= share <= 0.30
    assert min(len(item["topics"]) for item in part(split)) == 1


def test_the_order_mixes_splits_and_topics() -> None:
    for key in ("split", "topics"):
        same = [first[key] == second[key] for first, second in pairwise(ITEMS)]
        shares = Counter(str(item[key]) for item in ITEMS)
        by_chance = sum((count / len(ITEMS)) ** 2 for count in shares.values())
        assert np.mean(same) < by_chance + 0.10


def test_texts_are_short_and_of_different_length() -> None:
    lengths = [len(item["text"].split()) for item in ITEMS]
    assert min(lengths) >= 30
    assert max(lengths) <= 85
    assert np.std(lengths) > 4


def test_no_two_items_are_nearly_the_same() -> None:
    sets = {item["id"]: set(words(item["text"])) for item in ITEMS}
    close = [
        (first, second)
        for first, second in combinations(sets, 2)
        if 2 * len(sets[first] & sets[second]) > len(sets[first] | sets[second])
    ]
    assert close == []


def test_no_sentence_occurs_twice() -> None:
    sentences = Counter(sentence for item in ITEMS for sentence in set(re.split(r"(?<=[.!?])\s+", item["text"])))
    assert [sentence for sentence, count in sentences.items() if count > 1] == []


def test_the_readme_gives_the_counts_of_the_files() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    train, test = positives("train"), positives("test")
    for topic in TOPICS:
        assert f"| {topic} | {train[topic]} | {test[topic]} | {train[topic] + test[topic]} |" in readme
    assert f"| **{len(part('train'))}** | **{len(part('test'))}** | **{len(ITEMS)}** |" in readme


def decisions(vectorizer: Any, classifier: Any) -> tuple[Any, Any]:
    """Train one classifier per topic; return the true and the predicted labels of the test part."""
    labels = MultiLabelBinarizer(classes=list(TOPICS))
    truth = {split: labels.fit_transform([item["topics"] for item in part(split)]) for split in ("train", "test")}
    model = make_pipeline(vectorizer, OneVsRestClassifier(classifier))
    model.fit([item["text"] for item in part("train")], truth["train"])
    return truth["test"], model.predict([item["text"] for item in part("test")])


@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(C=10_000, max_iter=2_000), LinearSVC(C=1_000, random_state=0, max_iter=20_000)],
    ids=["logistic", "svm"],
)
def test_a_linear_classifier_finds_it_neither_trivial_nor_hopeless(classifier: Any) -> None:
    truth, decided = decisions(TfidfVectorizer(sublinear_tf=True), classifier)
    assert 0.80 <= f1_score(truth, decided, average="micro") <= 0.95
    assert 0.75 <= f1_score(truth, decided, average="macro") <= 0.95


def test_the_readme_says_how_the_figures_depend_on_c_and_weighting() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    truth, decided = decisions(TfidfVectorizer(sublinear_tf=True), LogisticRegression(max_iter=2_000))
    assert (truth.sum(), decided.sum()) == (199, 1)
    assert "one label for all 159 test items, where 199 are right" in readme
    for C, figure in ((1, "micro F1 of 0.01"), (3, "0.30 at `C=3`"), (10, "0.60 at\n`C=10`")):
        _, decided = decisions(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=C, max_iter=2_000))
        assert f"{f1_score(truth, decided, average='micro'):.2f}" in figure
        assert figure in readme
    _, decided = decisions(CountVectorizer(), LogisticRegression(max_iter=2_000))
    assert f"reaches {f1_score(truth, decided, average='micro'):.2f} with `C=1`" in readme
