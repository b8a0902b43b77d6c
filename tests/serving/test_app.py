"""The interface: what is answered, what is refused and how, and what a monitor sees."""

from __future__ import annotations

import json
import re

import httpx
import pytest

from bayesift.datasets import FeaturedText
from bayesift.serving import Settings
from bayesift.workflow import TextClassifier, model_info

TOKEN = "correct-horse-battery"


def detail(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"detail"}
    return answer.json()["detail"]


def test_one_text_and_many(connect, several, news):
    client = connect(several)
    texts = news.test.texts[:5]
    many = client.post("/classify", json={"texts": texts}).json()["results"]
    assert [tuple(result["labels"]) for result in many] == several.predict(texts).tolist()
    assert client.post("/classify", json={"text": texts[2]}).json()["results"] == [many[2]]
    assert client.post("/classify", json={"texts": []}).json() == {"results": []}


def test_reasons_on_request(connect, several):
    client = connect(several)
    asked = {"text": "Wheat and maize harvests rose.", "reasons": 2, "probabilities": False}
    (result,) = client.post("/classify", json=asked).json()["results"]
    (reason, *_) = several.explain([asked["text"]], 2)[0]
    assert result["reasons"][0]["label"] == reason.label
    assert [word["word"] for word in result["reasons"][0]["words"]] == [word for word, _ in reason.words]
    assert "probabilities" not in result


def test_intervals_where_the_model_has_them(connect, news):
    labels = [labels[0] for labels in news.train.labels[:80]]
    averaged = TextClassifier("ridge", variance=5.0, posterior="ep").fit(news.train.texts[:80], labels)
    client, asked = connect(averaged), {"text": news.test.texts[0]}
    usual, same, narrow = (
        client.post("/classify", json={**asked, **more}).json()["results"]
        for more in ({}, {"interval": 0.9}, {"interval": 0.5})
    )
    assert usual == same
    for label, (low, high) in narrow[0]["intervals"].items():
        assert usual[0]["intervals"][label][0] < low < high < usual[0]["intervals"][label][1]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "Invalid JSON"),
        (b"{", "Invalid JSON"),
        (b"[" * 100_000, "recursion limit"),
        (b'{"text": ' + b'{"a":' * 100_000, "recursion limit|valid string"),
        (b'{"text": "\xff\xfe"}', "Invalid JSON"),
        (b'{"text": "\\ud800"}', "Invalid JSON"),
        (b'{"text": NaN}', "text: Input should be a valid string"),
        (b"NaN", "Request|object"),
        (b'{"texts": ["a", 3]}', r"texts\.1: Input should be a valid string"),
        (b'{"texts": "a"}', "texts: Input should be a valid array"),
        (b'{"texts": [null]}', r"texts\.0"),
        (b'{"text": ["a"]}', "text: Input should be a valid string"),
        (b"{}", "neither is there; expected one of them"),
        (b'{"text": "a", "texts": ["a"]}', "both are there; expected one of them"),
        (b'{"text": "a", "reasons": -1}', "reasons: Input should be greater"),
        (b'{"text": "a", "reasons": 1.5}', "reasons: Input should be a valid integer"),
        (b'{"text": "a", "reasons": "3"}', "reasons: Input should be a valid integer"),
        (b'{"text": "a", "reasons": 1e999}', "reasons: Input should be a valid integer"),
        (b'{"text": "a", "reasons": NaN}', "reasons: Input should be a valid integer"),
        (b'{"text": "a", "reasons": ' + b"9" * 5000 + b"}", "reasons|Invalid JSON"),
        (b'{"text": "a", "probabilities": 1}', "probabilities: Input should be a valid boolean"),
        (b'{"text": "a", "nonsense": 1}', "nonsense: Extra inputs are not permitted"),
        (b'{"text": "a", "' + b"n" * 100_000 + b'": 1}', "Extra inputs are not permitted"),
        (b'["text"]', "Request|object"),
        (b'{"text": "a", "interval": 1}', "interval: Input should be less than 1"),
        (b'{"text": "a", "interval": 0.9}', "^an interval needs the posterior, but the model has only its mode"),
    ],
)
def test_bad_bodies_are_refused_in_a_sentence(connect, one_of_two, body, said):
    answer = connect(one_of_two).post("/classify", content=body)
    sentence = detail(answer, 422)
    assert re.search(said, sentence)
    assert len(sentence) < 400


@pytest.mark.parametrize(
    ("asked", "limit"),
    [
        ({"texts": ["a"] * 4}, "4 texts; at most 3"),
        ({"texts": ["a" * 10, "b" * 11]}, "21 characters; at most 20"),
        ({"text": "a", "reasons": 6}, "6 words of a reason; at most 5"),
        ({"text": "a", "reasons": 2**62}, "words of a reason; at most 5"),
        ({"texts": ["a"] * 3}, "6 probabilities; at most 5"),
        ({"text": "a" * 1000}, "at most 900 bytes"),
    ],
)
def test_too_much_is_refused_with_the_limit(connect, one_of_two, asked, limit):
    client = connect(one_of_two, Settings(texts=3, characters=20, words=5, values=5, body_limit=900))
    assert limit in detail(client.post("/classify", json=asked), 413)


def test_a_body_that_does_not_say_its_length_is_counted(connect, one_of_two):
    client = connect(one_of_two, Settings(body_limit=900))
    answer = client.post("/classify", content=iter([b'{"text": "', b"a" * 2000, b'"}']))
    assert "at most 900 bytes" in detail(answer, 413)


def test_those_who_ask_too_much_at_once_are_told_when_to_come_again(connect, one_of_two, monkeypatch):
    from bayesift.serving.scoring import BusyError

    client = connect(one_of_two)
    for of_one, status in ((True, 429), (False, 503)):

        async def busy(*_arguments, of_one=of_one, **_options):
            raise BusyError(of_one)

        monkeypatch.setattr(client.app.state.turns, "answer", busy)
        answer = client.post("/classify", json={"text": "a"})
        assert "waiting" in detail(answer, status)
        assert answer.headers["Retry-After"] == "1"


def test_what_should_not_go_wrong_is_not_shown(connect, one_of_two, monkeypatch):
    client = connect(one_of_two)
    monkeypatch.setattr(client.app.state.scorer, "score", lambda questions: 1 / 0)
    answer = client.post("/classify", json={"text": "a"})
    assert "division" not in detail(answer, 500)
    # The connection is closed after such an answer.
    assert 'status="500"} 1' in httpx.get(f"{client.base_url}/metrics", verify=False).text


def test_foreign_names_and_pages_are_refused(connect, one_of_two):
    client = connect(one_of_two)
    body = {"text": "a"}
    assert "name" in detail(client.post("/classify", json=body, headers={"Host": "evil.example"}), 421)
    assert "site" in detail(client.post("/classify", json=body, headers={"Origin": "http://evil.example"}), 403)
    assert client.post("/classify", json=body, headers={"Host": "127.0.0.1:8788"}).status_code == 200


def test_a_token_is_asked_for_everywhere_but_for_the_health(connect, one_of_two):
    client = connect(one_of_two, Settings(token=TOKEN, hosts=None))
    for path in ("/model", "/metrics", "/openapi.json", "/nothing"):
        for given in (
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": TOKEN},
            {"Authorization": b"Bearer \xff"},
        ):
            answer = client.get(path, headers=given)
            assert "token" in detail(answer, 401)
            assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert client.get("/health").json()["status"] == "ok"
    right = {"Authorization": f"Bearer {TOKEN}", "Host": "model.example"}
    assert client.post("/classify", json={"text": "a"}, headers=right).status_code == 200
    described = client.get("/openapi.json", headers=right).json()
    assert described["security"] == [{"token": []}]
    assert described["paths"]["/health"]["get"]["security"] == []


def test_the_model_tells_about_itself(connect, several):
    found = connect(several).get("/model").json()
    assert found["name"] == "news.bayesift"
    assert found["model"] == json.loads(json.dumps(model_info(several).as_dict()))
    assert found["limits"]["texts"] == Settings().texts


def test_what_was_done_is_counted(connect, several, news):
    client = connect(several)
    texts = news.test.texts[:7]
    client.post("/classify", json={"texts": texts})
    client.post("/classify", content=b"{")
    client.get("/made/up/1")
    client.get("/made/up/2")
    found = client.get("/metrics")
    assert found.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = found.text.splitlines()
    assert 'bayesift_requests_total{method="POST",path="/classify",status="200"} 1' in lines
    assert 'bayesift_requests_total{method="POST",path="/classify",status="422"} 1' in lines
    assert 'bayesift_requests_total{method="GET",path="other",status="404"} 2' in lines
    assert "bayesift_texts_total 7" in lines
    assert f"bayesift_characters_total {sum(map(len, texts))}" in lines
    assert "bayesift_waiting_characters 0" in lines
    assert "bayesift_batch_texts_sum 7" in lines
    assert "bayesift_request_seconds_count 2" in lines
    given = sum(len(labels) for labels in several.predict(texts))
    assert sum(int(line.split()[-1]) for line in lines if line.startswith("bayesift_labels_total")) == given
    # Every line is a comment or a name, perhaps labels, and a number.
    sample = re.compile(r'[a-z_]+(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\})? [0-9.e+-]+')
    assert all(line.startswith("# ") or sample.fullmatch(line) for line in lines)


def test_labels_with_odd_characters_do_not_break_the_metrics(connect):
    odd = 'a "quoted\\ \n label \ud800'
    client = connect(TextClassifier("nb").fit(["wheat", "sea"] * 3, [odd, "b"] * 3))
    assert client.post("/classify", json={"text": "wheat"}).json()["results"][0]["labels"] == [odd]
    assert r'{label="a \"quoted\\ \n label ?"} 1' in client.get("/metrics").text
    assert client.get("/model").json()["model"]["labels"] == [odd, "b"]


def test_the_description_has_examples_that_work(connect, several):
    client = connect(several)
    described = client.get("/openapi.json").json()
    post = described["paths"]["/classify"]["post"]
    examples = post["requestBody"]["content"]["application/json"]["examples"]
    assert len(examples) == 3
    for example in examples.values():
        assert client.post("/classify", json=example["value"]).status_code == 200
    assert {"200", "401", "413", "422", "429", "503"} <= post["responses"].keys()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_other_methods_and_paths_are_refused_in_json(connect, one_of_two, method):
    client = connect(one_of_two)
    assert "method" in detail(client.request(method, "/classify"), 405)
    assert "no such path" in detail(client.request(method, "/docs"), 404)


def test_features_come_with_the_texts(connect):
    rows = [FeaturedText("soup", {"price": price, "shop": shop}) for price, shop in [(1.0, "inn"), (9.0, "bar")] * 10]
    classifier = TextClassifier("ridge", variance=1.0, feature_variance=1.0, features=["price", "shop"])
    client = connect(classifier.fit(rows, ["low", "high"] * 10))
    cheap, dear = {"price": 1, "shop": "inn"}, {"price": "9", "shop": "castle"}
    found = client.post("/classify", json={"texts": ["soup", "soup"], "features": [cheap, dear], "reasons": 3}).json()
    assert [result["labels"] for result in found["results"]] == [["low"], ["high"]]
    assert found["results"][0]["reasons"][0]["words"][0]["word"] in ("price=1", "shop=inn")
    # What is left out is missing.
    one = client.post("/classify", json={"text": "soup", "features": {"price": 9.0}})
    assert one.json()["results"][0]["labels"] == ["high"]
    for asked, said in (
        ({"text": "soup"}, "expected the values of a text, by the names price, shop"),
        ({"texts": ["soup"], "features": cheap}, "a list with the values of each text"),
        ({"texts": ["soup", "stew"], "features": [cheap]}, "a list with the values of each text"),
        ({"text": "soup", "features": [cheap]}, "expected the values of a text"),
        ({"text": "soup", "features": {"colour": 3}}, "the model has no feature 'colour'; expected price, shop"),
        ({"text": "soup", "features": {"price": [3]}}, "features"),
    ):
        assert said in detail(client.post("/classify", json=asked), 422)
    plain = connect(TextClassifier("nb").fit(["soup", "stew"] * 5, ["low", "high"] * 5))
    assert "the model has none" in detail(plain.post("/classify", json={"text": "soup", "features": cheap}), 422)
    long = client.post("/classify", json={"text": "soup", "features": {"shop": "x" * 1_100_000}})
    assert "characters" in detail(long, 413)
