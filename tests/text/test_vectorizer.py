"""Options, state and input of the vectorizer."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import Stemmer
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from bayesift.text import TextVectorizer, language_rules, resolve_stop_words
from bayesift.text._stop_words import STOP_WORDS

CORPUS = ["The cats sat on 3 mats", "a cat, sitting; the MAT 2024", "dogs and cats running ran", ""]


# The checks of scikit-learn that do not need a table of numbers (the others do not apply to text).
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_estimator_tags_renamed,
        estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
        estimator_checks.check_valid_tag_types,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_set_params,
    ],
    ids=lambda check: check.__name__,
)
def test_scikit_learn_estimator_checks(check):
    check("TextVectorizer", TextVectorizer())


def stemming_analyzer(stop_words=()):
    stem = Stemmer.Stemmer("porter").stemWord
    tokens = CountVectorizer().build_analyzer()
    return lambda text: [stem(token) for token in tokens(text) if token not in stop_words]


def test_stemming_the_vocabulary_equals_stemming_every_token():
    ours = TextVectorizer("nnn", stemmer="porter", stop_words="english")
    theirs = CountVectorizer(analyzer=stemming_analyzer(ENGLISH_STOP_WORDS))
    assert (ours.fit_transform(CORPUS) != theirs.fit_transform(CORPUS)).nnz == 0
    assert ours.vocabulary_ == theirs.vocabulary_
    new = ["the cat's catting mats unheard"]
    assert (ours.transform(new) != theirs.transform(new)).nnz == 0
    np.testing.assert_array_equal(
        ours.document_frequency_, np.count_nonzero(theirs.transform(CORPUS).toarray(), axis=0)
    )


def test_stemmer_may_be_a_function_or_any_snowball_language():
    assert TextVectorizer(stemmer=lambda word: word[:2]).fit(["cats catering dog"]).vocabulary_ == {"ca": 0, "do": 1}
    assert set(TextVectorizer(stemmer="german").fit(["Häuser Haus"]).vocabulary_) == {"haus"}


def test_token_rules():
    def terms(**options):
        return sorted(TextVectorizer(**options).fit(CORPUS).vocabulary_)

    assert "2024" in terms()
    assert "2024" not in terms(drop_numbers=True)
    assert all(len(term) >= 4 for term in terms(min_token_length=4))
    assert all(len(term) <= 3 for term in terms(max_token_length=3))
    assert terms(min_token_length=1)[:2] == ["2024", "3"]
    assert "The" in terms(lowercase=False)
    assert terms(token_pattern=r"[a-z]+s\b") == ["cats", "dogs", "mats"]
    assert terms(token_pattern=r"(\w+)s\b") == ["cat", "dog", "mat"]
    assert terms(tokenizer=lambda text: text.split(",")[:1])[0] == ""
    assert terms(stop_words=["cats"], ngram_range=(2, 2))[-2:] == ["the mat", "the sat"]


@pytest.mark.collection("smart")
def test_smart_stop_words_come_from_the_data_root():
    vectorizer = TextVectorizer(stop_words="smart").fit(["the wheat according to them", "whereby corn"])
    assert set(vectorizer.vocabulary_) == {"wheat", "corn"}
    # The list has 571 lines, and one word twice.
    assert len(vectorizer.stop_words_) == 570


def test_most_frequent_terms_with_ties_in_code_point_order():
    vectorizer = TextVectorizer(max_features=2).fit(["bb cc aa cc", "dd"])
    assert vectorizer.vocabulary_ == {"aa": 0, "cc": 1}


def test_fixed_vocabulary_keeps_its_columns():
    vocabulary = {"mat": 1, "cats": 0, "new york": 2}
    matrix = TextVectorizer("nnn", vocabulary=vocabulary).fit_transform(CORPUS)
    np.testing.assert_array_equal(matrix.toarray(), [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0]])
    by_list = TextVectorizer("nnn", vocabulary=["mat", "cats"]).fit(CORPUS)
    assert by_list.get_feature_names_out().tolist() == ["mat", "cats"]
    assert by_list.transform(["MAT Cats cats"]).toarray().tolist() == [[1, 2]]


def test_partial_fit_appends_columns_and_adds_document_frequencies():
    parts = [["bb cc bb"], ["aa bb", "dd"], [], ["bb aa"]]
    stream = TextVectorizer("nnn")
    columns = {}
    for part in parts:
        stream.partial_fit(part)
        assert all(stream.vocabulary_[term] == column for term, column in columns.items())
        columns = dict(stream.vocabulary_)
        stream.transform(["aa bb"])
    everything = [text for part in parts for text in part]
    batch = TextVectorizer("nnn").fit(everything)
    assert stream.n_documents_ == batch.n_documents_ == 4
    names = batch.get_feature_names_out()
    order = [stream.vocabulary_[name] for name in names]
    np.testing.assert_array_equal(stream.document_frequency_[order], batch.document_frequency_)
    np.testing.assert_array_equal(
        stream.transform(everything).toarray()[:, order], batch.transform(everything).toarray()
    )


def test_hashing_learns_document_frequencies_without_a_vocabulary():
    vectorizer = TextVectorizer("lsc", n_features=256, signed=False).partial_fit(CORPUS[:2]).partial_fit(CORPUS[2:])
    whole = TextVectorizer("lsc", n_features=256, signed=False).fit(CORPUS)
    np.testing.assert_array_equal(vectorizer.document_frequency_, whole.document_frequency_)
    assert not hasattr(vectorizer, "get_feature_names_out")
    assert not hasattr(vectorizer, "vocabulary_")
    with pytest.raises(NotFittedError):
        TextVectorizer("lsc", n_features=256).transform(CORPUS)


def test_kinds_of_input_give_the_same_matrix(tmp_path):
    expected = TextVectorizer().fit_transform(CORPUS).toarray()
    paths = []
    for place, text in enumerate(CORPUS):
        paths.append(tmp_path / f"{place}.txt")
        paths[-1].write_text(text, encoding="utf-16")
    sources = {
        "generator": (text for text in CORPUS),
        "numpy": np.array(CORPUS),
        "object": np.array(CORPUS, dtype=object),
        "pandas": pd.Series(CORPUS),
        "polars": pl.Series(CORPUS),
        "bytes": [text.encode() for text in CORPUS],
    }
    for name, source in sources.items():
        np.testing.assert_array_equal(TextVectorizer().fit_transform(source).toarray(), expected, err_msg=name)
    files = TextVectorizer(input="filename", encoding="utf-16")
    np.testing.assert_array_equal(files.fit_transform(paths).toarray(), expected)


def test_hard_documents():
    large = "word " * 10_000_000
    odd = ["nul\x00byte", "lone \ud800surrogate", "слово 你好世界 word", "x" * 100_000, large]
    vectorizer = TextVectorizer("nnn", unspaced="whole").fit(odd)
    theirs = CountVectorizer().fit(odd[:-1])
    assert set(vectorizer.vocabulary_) == set(theirs.vocabulary_)
    assert vectorizer.transform([large])[0, vectorizer.vocabulary_["word"]] == 10_000_000
    empty = vectorizer.transform([""] * 1_000_000)
    assert empty.shape[0] == 1_000_000
    assert empty.nnz == 0
    assert vectorizer.transform([]).shape == (0, len(vectorizer.vocabulary_))


@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ("one text", TypeError, "iterable of documents, got one str"),
        (b"bytes", TypeError, "got one bytes"),
        (5, TypeError, "got int"),
        ({"a": 1}, TypeError, "got dict"),
        (["fine", None], TypeError, "document 1 must be a string, got NoneType"),
        (["fine", "too", 3.5], TypeError, "document 2 must be a string, got float"),
        ([b"\xff\xfe"], ValueError, "document 0 is not utf-8"),
        (["fine", float("nan")], TypeError, "document 1 must be a string, got float: it is missing"),
        (pd.Series(["fine", pd.NA], dtype=object), TypeError, "document 1 .* it is missing"),
        (pd.DataFrame({"a": ["x"]}), ValueError, "pass the column"),
        (pl.DataFrame({"a": ["x"]}), ValueError, "pass the column"),
        (np.array([["x"]]), ValueError, "one-dimensional"),
        ([], ValueError, "no term was found"),
        (["a b", "!"], ValueError, "no term was found"),
    ],
)
def test_bad_documents_are_named(documents, error, message):
    with pytest.raises(error, match=message):
        TextVectorizer().fit(documents)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": 5, "max_df": 2}, "min_df=5 is greater than max_df=2"),
        ({"min_df": 0}, "min_df"),
        ({"max_df": 1.5}, "max_df"),
        ({"min_df": 4, "max_df": 0.5}, "min_df=4 asks for at least 4 documents"),
        ({"min_df": 4}, "no term is left"),
        ({"stemmer": "klingon"}, "stemmer must be .*porter.*got 'klingon'"),
        ({"stop_words": "klingon"}, "stop_words must be"),
        ({"ngram_range": (2, 1)}, "ngram_range"),
        ({"ngram_range": (0, 1)}, "ngram_range"),
        ({"token_pattern": "("}, "not a regular expression"),
        ({"token_pattern": "(a)(b)"}, "at most one group"),
        ({"token_pattern": "a", "tokenizer": str.split}, "give one of them"),
        ({"min_token_length": 5, "max_token_length": 2}, "no token could be kept"),
        ({"vocabulary": {"a": 0, "b": 2}}, "columns 0 to 1"),
        ({"vocabulary": ["a", "b", "a"]}, "'a' more than once"),
        ({"vocabulary": []}, "empty"),
        ({"vocabulary": {"a": 0.0}}, "columns 0 to 0"),
        ({"vocabulary": {"a": "x"}}, "columns 0 to 0"),
        ({"encoding": "utf-99"}, "encoding must be one that Python knows"),
        ({"n_features": 2**31}, "n_features"),
        ({"dtype": np.int8, "weighting": "nnn"}, "dtype must be"),
        ({"dtype": "text"}, "dtype must be"),
        ({"n_features": 8, "vocabulary": ["a"]}, "hashes terms"),
        ({"n_features": 8, "max_features": 3}, "hashes terms"),
        ({"dtype": np.int64}, "only whole numbers"),
        ({"input": "url"}, "input"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TextVectorizer(**options).fit(CORPUS)


@pytest.mark.parametrize("value", [5, ["fine", 3], (word for word in ["once"])])
def test_stop_words_of_wrong_type_are_refused(value):
    with pytest.raises((TypeError, ValueError), match="stop_words"):
        TextVectorizer(stop_words=value).fit(CORPUS)


def test_partial_fit_refuses_limits_on_columns():
    with pytest.raises(ValueError, match="columns never move"):
        TextVectorizer(min_df=2).partial_fit(CORPUS)


def test_transform_before_fit():
    with pytest.raises(NotFittedError):
        TextVectorizer().transform(CORPUS)


def test_state_survives_pickling_and_the_lookup_table_is_made_anew():
    vectorizer = TextVectorizer().fit(CORPUS)
    before = vectorizer.transform(CORPUS)
    copy = pickle.loads(pickle.dumps(vectorizer))
    assert (copy.transform(CORPUS) != before).nnz == 0
    assert not hasattr(clone(vectorizer), "vocabulary_")


def test_works_in_a_grid_search():
    texts = ["wheat grain", "ship sea", "wheat farm", "sea port"] * 4
    labels = [0, 1, 0, 1] * 4
    pipeline = make_pipeline(TextVectorizer(), LogisticRegression())
    search = GridSearchCV(pipeline, {"textvectorizer__weighting": ["nnn", "lsc"]}, cv=2).fit(texts, labels)
    assert search.best_score_ == 1.0


def test_dtype_of_the_result():
    assert TextVectorizer(dtype=np.float32).fit_transform(CORPUS).dtype == np.float32
    assert TextVectorizer("nnn", dtype=np.int64).fit_transform(CORPUS).dtype == np.int64


def test_fitting_again_forgets_what_was_known():
    vectorizer = TextVectorizer("nnn").fit(["aa bb"])
    vectorizer.transform(["aa"])
    vectorizer.fit(["cc dd"])
    assert vectorizer.transform(["cc dd cc"]).toarray().tolist() == [[2, 1]]
    vectorizer.set_params(vocabulary=["dd", "cc"]).fit(["cc"])
    assert vectorizer.transform(["cc dd cc"]).toarray().tolist() == [[1, 2]]
    vectorizer.set_params(vocabulary=["dd", "Cc"], lowercase=False).fit(["cc"])
    assert vectorizer.transform(["Cc cc dd"]).toarray().tolist() == [[1, 1]]


def test_a_fit_that_fails_leaves_the_last_one_in_force():
    vectorizer = TextVectorizer("lsc").fit(["aa bb", "bb"])
    expected = vectorizer.transform(["aa bb"]).toarray()
    with pytest.raises(ValueError, match="no term is left"):
        vectorizer.set_params(min_df=2).fit(["cc dd", "ee"])
    np.testing.assert_array_equal(vectorizer.transform(["aa bb"]).toarray(), expected)


def test_parameters_changed_after_the_fit_are_checked():
    vectorizer = TextVectorizer("nnn").fit(CORPUS)
    vectorizer.transform(CORPUS)
    with pytest.raises(ValueError, match="ngram_range"):
        vectorizer.set_params(ngram_range=(3, 1)).transform(CORPUS)
    with pytest.raises(ValueError, match="ngram_range"):
        vectorizer.partial_fit(CORPUS)


def test_phrases_that_are_spelled_alike_are_one_term():
    corpus = ["new york. a new b york", "new-york", "new york"]
    vectorizer = TextVectorizer("nnn", token_pattern=r"new york|\w+", ngram_range=(1, 2))
    matrix = vectorizer.fit_transform(corpus)
    names = vectorizer.get_feature_names_out().tolist()
    assert matrix.shape[1] == len(names) == len(set(names))
    assert matrix[:, names.index("new york")].toarray().ravel().tolist() == [1, 1, 1]


def test_no_phrase_is_longer_than_a_document():
    assert len(TextVectorizer(ngram_range=(1, 10**9)).fit(["aa bb cc"]).vocabulary_) == 6
    with pytest.raises(ValueError, match="no term was found"):
        TextVectorizer(ngram_range=(5, 6)).fit(["aa bb cc"])


def test_a_fixed_vocabulary_without_document_frequencies_needs_no_fit():
    assert TextVectorizer("nnn", vocabulary=["bb", "aa"]).transform(["aa aa cc"]).toarray().tolist() == [[0, 2]]


def test_capitals_in_a_vocabulary_that_can_never_be_met():
    with pytest.warns(UserWarning, match="'Wheat'"):
        TextVectorizer(vocabulary=["Wheat"]).fit(["wheat"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokenizer": lambda text: None}, "tokenizer must give an iterable of strings, got NoneType"),
        ({"tokenizer": lambda text: [1, "a"]}, "tokenizer must give strings, got 1"),
        ({"stemmer": lambda word: None}, "stemmer must give strings, got None"),
        ({"vocabulary": [["a"]]}, "vocabulary must hold strings"),
        ({"vocabulary": "text"}, "vocabulary must be a mapping or an iterable of terms"),
    ],
)
def test_functions_and_terms_of_wrong_type_are_named(options, message):
    with pytest.raises(TypeError, match=message):
        TextVectorizer(**options).fit(CORPUS)


def test_an_explicit_default_pattern_keeps_its_meaning():
    pattern = r"(?u)\b\w\w+\b"
    assert set(TextVectorizer(token_pattern=pattern, min_token_length=1).fit(["a bb"]).vocabulary_) == {"bb"}


def test_very_wide_hashing_costs_no_memory_for_empty_columns():
    matrix = TextVectorizer("nnn", n_features=2**29).transform(["wide and narrow"])
    assert matrix.shape == (1, 2**29)
    assert matrix.nnz == 3


@pytest.mark.parametrize("language", sorted(STOP_WORDS))
def test_words_of_a_language(language):
    rules = language_rules(language)
    assert rules == (language, language)
    words = resolve_stop_words(language)
    assert len(words) > 100
    # As the default rule finds them: of two letters or more, small, and in one piece.
    assert TextVectorizer("nnn").fit(sorted(words)).vocabulary_.keys() == words
    with pytest.raises(ValueError, match="no term was found"):
        TextVectorizer(**rules._asdict()).fit(sorted(words))


def test_words_of_a_language_that_is_not_known():
    assert language_rules("english") == ("english", "english")
    assert language_rules("finnish") == (None, "finnish")
    for name in ("porter", "dutch_porter", "klingon", ""):
        with pytest.raises(ValueError, match=f"language must be one of arabic, .*; got '{name}'"):
            language_rules(name)
    with pytest.raises(ValueError, match=r"stop_words must be None, 'smart', 'english', 'danish', .*, got 'finnish'"):
        TextVectorizer(stop_words="finnish").fit(["a"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_are_refused_with_a_way_to_make_one(library):
    vectorizer = TextVectorizer().set_output(transform="default").set_output()
    with pytest.raises(ValueError, match=r"stays as it is; .* pandas\.DataFrame\.sparse\.from_spmatrix"):
        vectorizer.set_output(transform=library)
    with pytest.raises(ValueError, match=r"set_output\(transform='pandas'\)"):
        make_pipeline(TextVectorizer(), LogisticRegression()).set_output(transform="pandas")
    with config_context(transform_output=library):
        X = vectorizer.fit_transform(CORPUS)
    frame = pd.DataFrame.sparse.from_spmatrix(X, columns=vectorizer.get_feature_names_out())
    np.testing.assert_array_equal(frame.to_numpy(), X.toarray())


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tfidf", "'nsc' is tf"),
        ("tf-idf", "'lsc' the same"),
        ("TF_IDF", "adds 1"),
        ("count", "'nnn'"),
        ("binary", "'bnn'"),
    ],
)
def test_other_names_of_weights_are_told_in_letters(name, hint):
    with pytest.raises(ValueError, match=f"weighting must be a triple .* got '{name}': .*{hint}"):
        TextVectorizer(name).fit(CORPUS)


@pytest.mark.parametrize(("weighting", "sublinear"), [("nsc", False), ("lsc", True)])
def test_weights_are_those_of_tfidf_vectorizer_but_for_one(weighting, sublinear):
    ours = TextVectorizer(weighting).fit(CORPUS)
    theirs = TfidfVectorizer(sublinear_tf=sublinear, vocabulary=ours.vocabulary_).fit(CORPUS)
    np.testing.assert_allclose(ours.idf_, theirs.idf_ - 1)
    theirs.idf_ = ours.idf_
    np.testing.assert_allclose(ours.transform(CORPUS).toarray(), theirs.transform(CORPUS).toarray())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_words_in_their_order(n_jobs):
    texts = ["the cats saw the dog", "", "dogs the a cat"] * 500
    vectorizer = TextVectorizer(stop_words=["saw"], stemmer="porter", n_jobs=n_jobs)
    words, numbers, ends = vectorizer.word_sequences(iter(texts))
    assert words == ["cat", "dog", "the"]
    found = [[words[number] for number in part] for part in np.split(numbers, ends[:-1])]
    assert found == [["the", "cat", "the", "dog"], [], ["dog", "the", "cat"]] * 500
    assert not hasattr(vectorizer, "vocabulary_")


@pytest.mark.parametrize("options", [{"ngram_range": (1, 2)}, {"analyzer": "char"}])
def test_only_single_words_have_an_order(options):
    with pytest.raises(ValueError, match="sequences are of single words"):
        TextVectorizer(**options).word_sequences(["some text"])
