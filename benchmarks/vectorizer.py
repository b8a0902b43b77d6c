"""``TextVectorizer`` beside scikit-learn's ``CountVectorizer``: throughput on real text, and peak memory.

Both must give the same vocabulary and the same matrix, which is checked before any time is taken.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from statistics import median

import Stemmer
from sklearn.feature_extraction.text import CountVectorizer

from bayesift.datasets import load, stop_words
from bayesift.text import TextVectorizer
from benchmarks.measuring import peak_beyond_now, ratio, show, take_turns

LATIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABETS = {
    "Cyrillic": "абцдефгхижклмнопярстувшыщз" + "АБЦДЕФГХИЖКЛМНОПЯРСТУВШЫЩЗ",
    "Greek": "αβγδεφηιθκλμνξοπρστυωψχζάή" + "ΑΒΓΔΕΦΗΙΘΚΛΜΝΞΟΠΡΣΤΥΩΨΧΖΆΉ",
}


def corpora() -> dict[str, list[str]]:
    """Return real text, and the same letter by letter in other alphabets (no collection in these is at hand)."""
    reuters = load("reuters21578")
    texts = {
        "20 Newsgroups, train": load("20newsgroups").train.texts,
        "Reuters-21578, ModApte": reuters.train.texts + reuters.test.texts,
    }
    for name, letters in ALPHABETS.items():
        table = str.maketrans(LATIN, letters)
        texts[f"20 Newsgroups in {name} letters"] = [text.translate(table) for text in texts["20 Newsgroups, train"]]
    return texts


def check_equal(ours: TextVectorizer, theirs: CountVectorizer, texts: list[str]) -> None:
    """Fit both and compare vocabulary and matrix, also of ``transform``."""
    mine, expected = ours.fit_transform(texts), theirs.fit_transform(texts)
    if ours.vocabulary_ != theirs.vocabulary_ or (mine != expected).nnz or (ours.transform(texts) != expected).nnz:
        raise AssertionError("the two vectorizers disagree")


def compare(name: str, texts: list[str], repeats: int) -> tuple[str, ...]:
    """Time fit_transform and transform on one and on two threads."""
    ours = {n: TextVectorizer("nnn", n_jobs=n) for n in (1, 2)}
    theirs = CountVectorizer()
    for vectorizer in ours.values():
        check_equal(vectorizer, theirs, texts)
    fit = {"peer": partial(theirs.fit_transform, texts)} | {
        f"ours {n}": partial(vectorizer.fit_transform, texts) for n, vectorizer in ours.items()
    }
    transform = {"peer": partial(theirs.transform, texts)} | {
        f"ours {n}": partial(vectorizer.transform, texts) for n, vectorizer in ours.items()
    }
    fitted, transformed = take_turns(fit, repeats, name), take_turns(transform, repeats, name)
    megabytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    return (
        name,
        f"{megabytes:.1f}",
        f"{megabytes / median(fitted['ours 1']):.0f}",
        f"{ratio(fitted, 'peer', 'ours 1'):.1f}",
        f"{ratio(fitted, 'peer', 'ours 2'):.1f}",
        f"{ratio(fitted, 'ours 1', 'ours 2'):.2f}",
        f"{ratio(transformed, 'peer', 'ours 1'):.1f}",
        f"{ratio(transformed, 'peer', 'ours 2'):.1f}",
    )


def compare_pairs(name: str, texts: list[str], repeats: int) -> tuple[str, ...]:
    """Time single words and pairs beside each other, with all terms and with those of two texts at least."""
    check_equal(TextVectorizer("nnn", ngram_range=(1, 2), n_jobs=1), CountVectorizer(ngram_range=(1, 2)), texts)
    cells = []
    for min_df in (1, 2):
        ours = {n: TextVectorizer("nnn", ngram_range=(1, n), min_df=min_df, n_jobs=1) for n in (1, 2)}
        theirs = CountVectorizer(ngram_range=(1, 2), min_df=min_df)
        for task in ("fit_transform", "transform"):
            candidates = {f"words {n}": partial(getattr(vectorizer, task), texts) for n, vectorizer in ours.items()}
            candidates["peer"] = partial(getattr(theirs, task), texts)
            seconds = take_turns(candidates, repeats, f"{name}, pairs, min_df={min_df}")
            cells += [f"{ratio(seconds, 'words 2', 'words 1'):.1f}", f"{ratio(seconds, 'peer', 'words 2'):.1f}"]
    return name, *cells


def compare_characters(analyzer: str, ngram_range: tuple[int, int], texts: list[str], repeats: int) -> tuple[str, ...]:
    """Time sequences of characters on one and on two threads."""
    options = {"analyzer": analyzer, "ngram_range": ngram_range}
    theirs = CountVectorizer(**options)
    ours = {n: TextVectorizer("nnn", **options, n_jobs=n) for n in (1, 2)}
    check_equal(ours[1], theirs, texts)
    name = f"{analyzer}, {ngram_range[0]} to {ngram_range[1]}"
    cells = [name, f"{len(theirs.vocabulary_):,}"]
    ours[2].fit(texts)
    for task in ("fit_transform", "transform"):
        candidates = {"peer": partial(getattr(theirs, task), texts)} | {
            f"ours {n}": partial(getattr(vectorizer, task), texts) for n, vectorizer in ours.items()
        }
        seconds = take_turns(candidates, repeats, name)
        cells += [f"{ratio(seconds, 'peer', 'ours 1'):.1f}", f"{ratio(seconds, 'peer', 'ours 2'):.1f}"]
    return tuple(cells)


def compare_stemming(name: str, texts: list[str], repeats: int) -> tuple[str, ...]:
    """Time fit_transform with SMART stop words and Porter's stemmer; the peer stems every token with PyStemmer."""
    stem = Stemmer.Stemmer("porter").stemWord
    tokens, stopped = CountVectorizer().build_analyzer(), stop_words("smart")
    theirs = CountVectorizer(analyzer=lambda text: [stem(token) for token in tokens(text) if token not in stopped])
    ours = {n: TextVectorizer("nnn", stemmer="porter", stop_words="smart", n_jobs=n) for n in (1, 2)}
    check_equal(ours[1], theirs, texts)
    candidates = {"peer": partial(theirs.fit_transform, texts)} | {
        f"ours {n}": partial(vectorizer.fit_transform, texts) for n, vectorizer in ours.items()
    }
    seconds = take_turns(candidates, repeats, f"{name}, stemmed")
    return name, f"{ratio(seconds, 'peer', 'ours 1'):.1f}", f"{ratio(seconds, 'peer', 'ours 2'):.1f}"


def peak_memory(n_jobs: int) -> tuple[float, float]:
    """Return the peak memory of ``fit_transform`` beyond the result, and the text, of 20 Newsgroups in megabytes."""
    texts = load("20newsgroups").train.texts
    vectorizer = TextVectorizer("nnn", n_jobs=n_jobs)
    vectorizer.fit_transform(texts[:50])
    peak, matrix = peak_beyond_now(lambda: vectorizer.fit_transform(texts))
    terms = sum(map(sys.getsizeof, vectorizer.vocabulary_)) + sys.getsizeof(vectorizer.vocabulary_)
    result = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes + terms
    return (peak - result) / 1e6, sum(map(len, texts)) / 1e6


def run(repeats: int) -> None:
    """Print the tables."""
    texts = corpora()
    show(
        "TextVectorizer beside CountVectorizer: ratios of throughput (n_jobs=1, n_jobs=2)",
        ("text", "MB", "MB/s", "fit ×1", "fit ×2", "2 over 1", "transform ×1", "transform ×2"),
        [compare(name, corpus, repeats) for name, corpus in texts.items()],
    )
    show(
        "Words and pairs of words, one thread: times of single words (×w), and CountVectorizer's times of pairs (×p)",
        ("text", "fit ×w", "×p", "transform ×w", "×p", "min_df=2: fit ×w", "×p", "transform ×w", "×p"),
        [compare_pairs(name, corpus, repeats) for name, corpus in list(texts.items())[:2]],
    )
    some = texts["20 Newsgroups, train"][:3000]
    show(
        "Sequences of characters, 3,000 texts of 20 Newsgroups",
        ("analyzer", "terms", "fit ×1", "×2", "transform ×1", "×2"),
        [compare_characters(analyzer, (2, 5), some, repeats) for analyzer in ("char", "char_wb")],
    )
    show(
        "With SMART stop words and Porter's stemmer: fit_transform",
        ("text", "×1", "×2"),
        [compare_stemming(name, corpus, repeats) for name, corpus in list(texts.items())[:2]],
    )
    rows = []
    for n_jobs in (1, 2):
        # In a process of its own, so that nothing else moves the high-water mark.
        command = f"from benchmarks.vectorizer import peak_memory; print(*peak_memory({n_jobs}))"
        output = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout
        beyond, text = map(float, output.split())
        rows.append((f"n_jobs={n_jobs}", f"{text:.1f}", f"{beyond:.1f}", f"{beyond / text:.2f}"))
    show("Peak memory of fit_transform beyond the result, 20 Newsgroups", ("", "text, MB", "beyond, MB", "times"), rows)
