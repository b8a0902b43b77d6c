"""Documents to a sparse matrix of term weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from operator import is_not
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesift._state import State
from bayesift._typing import AnyArray, Int32Array, Int64Array
from bayesift.text import _count, _pipeline, _terms, _vocabulary
from bayesift.text._counter import Counter
from bayesift.text._documents import batches, check_documents
from bayesift.text._lookup import LookupTable, PhraseTable
from bayesift.text._settings import CONSTRAINTS, check_settings, limits_columns
from bayesift.text._tokenization import Tokenization
from bayesift.text.weighting import apply_weighting, inverse_document_frequency, parse_weighting


def _has_names(estimator: TextVectorizer) -> bool:
    if estimator.n_features is not None:
        raise AttributeError("terms are hashed (n_features is set), so columns have no names")
    return True


@dataclass(eq=False, repr=False)
class TextVectorizer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Turn texts into a sparse matrix of term weights, in compiled code on all cores.

    Tokens are runs of two or more word characters of the lower-cased text, exactly as scikit-learn's default analyser
    finds them in any Unicode text. A term's weight in a document is

        x_ij = tf(n_ij) · idf(df_j, N), rows divided by their Euclidean norm,

    each part chosen by a letter of ``weighting``; document frequencies come from the training documents only. An
    unknown term has no column, and a document without a known term is a row of zeros.

    Parameters
    ----------
    weighting : str, default="lsc"
        SMART triple. Term frequency: ``n`` raw count, ``l`` 1 + ln tf, ``b`` binary, ``a`` augmented,
        0.5 + 0.5 tf / (greatest tf of the document). Document frequency: ``n`` none, ``t`` ln(N/df),
        ``s`` ln((N+1)/(df+1)), ``p`` ln((N-df)/df) but at least 0. Normalisation: ``n`` none, ``c`` cosine.
    stop_words : {"smart", "english", "german", ...}, iterable of str or None, default=None
        Tokens to leave out: the SMART list (read from the data root), scikit-learn's for English, a short list for
        Danish, Dutch, French, German, Italian, Norwegian, Portuguese, Russian, Spanish or Swedish, or your own. They
        are compared with the tokens before stemming.
    stemmer : str, callable or None, default=None
        Name of a Snowball algorithm (``"porter"``, ``"english"``, ``"german"``, ...), or a function from word to stem.
    lowercase : bool, default=True
        Lower-case the text first.
    token_pattern : str or None, default=None
        Regular expression for tokens (at most one group); None is the default rule, which alone runs compiled.
    tokenizer : callable or None, default=None
        Function from a text to its tokens, instead of a pattern. Receives the text lower-cased if ``lowercase``.
    min_token_length, max_token_length : int or None, default=None
        Shortest and longest token to keep, in characters. By default the shortest is 2 for the default rule (1 for a
        single letter of a language without spaces, see ``unspaced``) and 1 otherwise, and there is no upper limit.
    drop_numbers : bool, default=False
        Leave out tokens that consist only of decimal digits.
    unspaced : {"pairs", "whole"}, default="pairs"
        What the default rule does with letters of languages that are written without spaces (Chinese, Japanese, Thai,
        Lao, Khmer, Burmese): cut each run of them into overlapping pairs of characters (a single letter is a token of
        its own), or treat them like all others, as scikit-learn does.
    analyzer : {"word", "char", "char_wb"}, default="word"
        Whether terms are words, sequences of characters of the text, or sequences of characters within words (with a
        space before and after each word), as in scikit-learn. Rules for tokens, stop words and stems are for words.
    ngram_range : tuple of two int, default=(1, 1)
        Least and greatest number of consecutive words, or of characters, in a term.
    min_df, max_df : int or float, default=1 and 1.0
        Keep terms that are in at least and at most this number of documents (an integer) or share of them (a float).
    max_features : int or None, default=None
        Keep only this number of terms, those that occur most often (ties: first in code-point order).
    vocabulary : mapping or iterable of str or None, default=None
        Fixed terms, instead of learning them.
    n_features : int or None, default=None
        Hash terms into this number of columns instead of keeping a vocabulary, as ``HashingVectorizer`` does.
    signed : bool, default=True
        With hashing, let the hash also choose the sign, so that collisions cancel on average.
    unknown_terms : {"ignore", "normalize"}, default="ignore"
        How to treat terms that occur in no training document: ignore them, or count them in the norm of a document with
        a document frequency of 0, as in Genkin, Lewis & Madigan (2007). The latter needs all terms of the training
        documents as columns, so no limits and no fixed vocabulary. With hashing, every term has a column and counts.
    input : {"content", "filename"}, default="content"
        Whether documents are texts (``str`` or ``bytes``) or paths of files to read.
    encoding : str, default="utf-8"
        Encoding of bytes and files.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        What to do with bytes that are invalid in that encoding.
    dtype : dtype, default=numpy.float64
        Type of the matrix; integer types are possible only for the weightings ``nnn`` and ``bnn``.
    n_jobs : int or None, default=-1
        Number of threads; -1 means all cores, None one. A single small batch never starts threads.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Column of every term. Terms of one ``fit`` are in code-point order.
    document_frequency_ : ndarray of shape (n_terms,)
        In how many training documents each term occurs.
    n_documents_ : int
        Number of training documents.
    idf_ : ndarray of shape (n_terms,)
        The document frequency factor of each term (ones if the weighting has none).
    stop_words_ : frozenset of str
        The words left out.

    Examples
    --------
    >>> from bayesift.text import TextVectorizer
    >>> vectorizer = TextVectorizer(weighting="nnn", stemmer="porter", stop_words=["the"])
    >>> X = vectorizer.fit_transform(["The cat sat", "the cats sit on the mat, cat"])
    >>> vectorizer.get_feature_names_out().tolist()
    ['cat', 'mat', 'on', 'sat', 'sit']
    >>> X.toarray().astype(int).tolist()
    [[1, 0, 0, 1, 0], [2, 1, 1, 0, 1]]
    """

    # Parameters that files may lack, because they were written before: what was done then.
    _parameters_before: ClassVar[dict[str, Any]] = {
        "analyzer": "word",
        "unspaced": "whole",
        "unknown_terms": "ignore",
    }

    # The documents are the data, not metadata to be routed.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"documents": UNUSED}
    __metadata_request__partial_fit: ClassVar[dict[str, str]] = {"documents": UNUSED}
    __metadata_request__transform: ClassVar[dict[str, str]] = {"documents": UNUSED}

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    weighting: str = "lsc"
    _: KW_ONLY
    stop_words: Any = None
    stemmer: str | Callable[[str], str] | None = None
    lowercase: bool = True
    token_pattern: str | None = None
    tokenizer: Callable[[str], Iterable[str]] | None = None
    min_token_length: int | None = None
    max_token_length: int | None = None
    drop_numbers: bool = False
    unspaced: Literal["pairs", "whole"] = "pairs"
    analyzer: Literal["word", "char", "char_wb"] = "word"
    ngram_range: tuple[int, int] = (1, 1)
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None
    vocabulary: Mapping[str, int] | Iterable[str] | None = None
    n_features: int | None = None
    signed: bool = True
    unknown_terms: Literal["ignore", "normalize"] = "ignore"
    input: Literal["content", "filename"] = "content"
    encoding: str = "utf-8"
    decode_error: str = "strict"
    dtype: DTypeLike = np.float64
    n_jobs: int | None = -1

    def fit(self, documents: Iterable[Any], y: Any = None) -> Self:
        """Learn the terms and their document frequencies.

        Parameters
        ----------
        documents : iterable of str (or bytes, or paths)
            The training documents; read once.
        y : ignored

        Returns
        -------
        self
        """
        self._learn(documents)
        return self

    def fit_transform(self, documents: Iterable[Any], y: Any = None) -> sp.csr_matrix:
        """Learn the terms and return the weights of the same documents; reads them once.

        Parameters
        ----------
        documents : iterable of str (or bytes, or paths)
            The training documents.
        y : ignored

        Returns
        -------
        X : csr_matrix of shape (n_documents, n_terms)
        """
        return self._weigh(self._learn(documents))

    def partial_fit(self, documents: Iterable[Any], y: Any = None) -> Self:
        """Learn from more documents: new terms get new columns at the end, and old columns never move.

        Parameters
        ----------
        documents : iterable of str (or bytes, or paths)
            The next part of a stream.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        if limits_columns(self):
            raise ValueError(
                "partial_fit keeps every term, because columns never move: min_df must be 1, max_df 1.0 "
                f"and max_features None, got {self.min_df!r}, {self.max_df!r} and {self.max_features!r}"
            )
        if not hasattr(self, "n_documents_"):
            self.stop_words_ = _terms.resolve_stop_words(self.stop_words)
            self.document_frequency_ = np.zeros(self.n_features or 0, dtype=np.int64)
            if self.n_features is None:
                self.vocabulary_ = (
                    {} if self.vocabulary is None else _vocabulary.check_vocabulary(self.vocabulary, self.lowercase)
                )
            self.n_documents_ = 0
        if self.n_features is None and self.vocabulary is None:
            counts = self.count_terms(documents, self.vocabulary_)
        else:
            counts = self._count(documents)
        frequency = _count.document_frequencies(counts.shape[1], counts.indices)
        frequency[: self.document_frequency_.size] += self.document_frequency_
        self.document_frequency_ = frequency
        self.n_documents_ += counts.shape[0]
        return self

    def count_terms(self, documents: Iterable[Any], vocabulary: dict[str, int]) -> sp.csr_matrix:
        """Count the terms of documents by the caller's vocabulary, without learning anything.

        Parameters
        ----------
        documents : iterable of str (or bytes, or paths)
            The documents, one for each row.
        vocabulary : dict of str to int
            Column of every term; missing terms are added at its end.

        Returns
        -------
        counts : csr_matrix of shape (n_documents, n_terms)
        """
        return self._counter().count_growing(self._batches(documents), vocabulary)

    def word_sequences(self, documents: Iterable[Any]) -> tuple[list[str], Int32Array, Int64Array]:
        """Find the words of documents in order, without learning anything.

        Parameters
        ----------
        documents : iterable of str (or bytes, or paths)
            The documents; read once.

        Returns
        -------
        words : list of str
            The different words, in code-point order.
        numbers : ndarray of int32
            The words of all documents, one after the other, as positions in ``words``.
        ends : ndarray of int64 of shape (n_documents,)
            Where the words of each document end.
        """
        self._check_parameters()
        if self.analyzer != "word" or Tokenization.of(self).lengths != (1, 1):
            raise ValueError(
                f"sequences are of single words; analyzer is {self.analyzer!r} and ngram_range {self.ngram_range}"
            )
        return self._counter().analyzer.sequences(self._batches(documents))

    def transform(self, documents: Iterable[Any]) -> sp.csr_matrix:
        """Return the weights of the known terms in these documents.

        Parameters
        ----------
        documents : iterable of str (or bytes, or paths)
            The documents, one for each row.

        Returns
        -------
        X : csr_matrix of shape (n_documents, n_terms)
        """
        self._check_new_parameters()
        if self._needs_fit():
            check_is_fitted(self, "n_documents_")
        return self._weigh(self._count(documents))

    def set_output(self, *, transform: str | None = None) -> Self:
        """Refuse pandas and polars tables, in which the weights of many thousand terms do not fit.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            What ``transform`` should return; only a sparse matrix is possible.

        Returns
        -------
        self
        """
        if transform not in (None, "default"):
            raise ValueError(
                f"set_output(transform={transform!r}): the weights of terms are a sparse matrix, which stays as it is; "
                "for a pandas table write pandas.DataFrame.sparse.from_spmatrix(X, "
                "columns=vectorizer.get_feature_names_out())"
            )
        return self

    def check_parameters(self) -> None:
        """Refuse impossible settings, as ``fit`` does, before there are documents."""
        self._check_parameters()
        _terms.resolve_stop_words(self.stop_words)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        # Made again from the vocabulary when needed.
        for name in ("_lookup_table", "_checked_parameters"):
            state.pop(name, None)
        return state

    def _check_state(self, state: State) -> None:
        state.count("n_documents_")
        words = state.instance("stop_words_", frozenset)
        state.require(all(isinstance(word, str) for word in words), "stop words")
        n_columns = self.n_features
        if n_columns is None:
            terms = state.instance("vocabulary_", dict)
            state.require(all(type(term) is str for term in terms), "terms")
            state.require(all(type(column) is int for column in terms.values()), "terms and columns")
            n_columns = len(terms)
            columns = np.fromiter(terms.values(), dtype=np.int64, count=n_columns)
            state.require(np.array_equal(np.sort(columns), np.arange(n_columns)), "terms and columns")
        state.array("document_frequency_", (n_columns,), "i", least=0)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_documents_") or not self._needs_fit()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self._needs_fit()
        return tags

    @available_if(_has_names)
    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """List the terms by column.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : ndarray of str objects of shape (n_terms,)
        """
        check_is_fitted(self, "vocabulary_")
        return _vocabulary.names_by_column(self.vocabulary_)

    @property
    def idf_(self) -> AnyArray:
        """Document frequency factor of each term."""
        check_is_fitted(self, "n_documents_")
        letter = parse_weighting(self.weighting).document_frequency
        return inverse_document_frequency(letter, self.document_frequency_, self.n_documents_)

    def unknown_idf(self) -> float:
        """Return the factor of a term that occurs in no training document: 0 if such terms are ignored.

        Returns
        -------
        float
        """
        check_is_fitted(self, "n_documents_")
        if self.unknown_terms == "ignore":
            return 0.0
        letter = parse_weighting(self.weighting).document_frequency
        return float(inverse_document_frequency(letter, np.zeros(1, dtype=np.int64), self.n_documents_)[0])

    def _learn(self, documents: Iterable[Any]) -> sp.csr_matrix:
        """Start again and return the counts; attributes are set only if everything succeeds."""
        self._check_parameters()
        stop_words = _terms.resolve_stop_words(self.stop_words)
        counter, source = self._counter(stop_words), self._batches(documents)
        if self.n_features is not None:
            counts = counter.count_hashed(source, self.n_features, self.signed)
        elif self.vocabulary is not None:
            vocabulary = _vocabulary.check_vocabulary(self.vocabulary, self.lowercase)
            counts = counter.count_known(source, vocabulary, None)
        else:
            counts, vocabulary = counter.count_all(source, (self.min_df, self.max_df))
            if limits_columns(self):
                counts, vocabulary = _vocabulary.limit_columns(
                    counts, vocabulary, self.min_df, self.max_df, self.max_features
                )
        if self.n_features is None:
            self.vocabulary_ = vocabulary
        self.stop_words_ = stop_words
        self.n_documents_ = counts.shape[0]
        self.document_frequency_ = _count.document_frequencies(counts.shape[1], counts.indices)
        return counts

    def _batches(self, documents: Iterable[Any]) -> Iterator[list[str]]:
        return batches(check_documents(documents), self.input, self.encoding, self.decode_error)

    def _count(self, documents: Iterable[Any]) -> sp.csr_matrix:
        """Count in the columns there are."""
        source, counter = self._batches(documents), self._counter()
        if self.n_features is not None:
            return counter.count_hashed(source, self.n_features, self.signed)
        if not hasattr(self, "vocabulary_"):
            return counter.count_known(
                source, _vocabulary.check_vocabulary(self.vocabulary or (), self.lowercase), None
            )
        table = self._table() or self._phrase_table()
        return counter.count_known(source, self.vocabulary_, table, self.unknown_terms == "normalize")

    def _counter(self, stop_words: frozenset[str] | None = None) -> Counter:
        if stop_words is None:
            stop_words = (
                self.stop_words_ if hasattr(self, "stop_words_") else _terms.resolve_stop_words(self.stop_words)
            )
        return Counter(Tokenization.of(self).analyze(stop_words, self.n_jobs), self.dtype)

    @property
    def cuts_pairs(self) -> bool:
        """Whether runs of letters of languages without spaces are cut into pairs."""
        return Tokenization.of(self).cuts_pairs

    def token_regex(self) -> str:
        """Return the regular expression that finds words; it is applied to the lower-cased text if ``lowercase``.

        Returns
        -------
        str
            With at most one group, which is the token.
        """
        return Tokenization.of(self).regex()

    def _table(self) -> LookupTable | None:
        """Return the vocabulary as a table, if a table can find its terms; kept for the next call."""
        lookup = Tokenization.of(self).lookup_rules(self.stop_words_)
        if lookup is None:
            return None
        table = getattr(self, "_lookup_table", None)
        if not isinstance(table, LookupTable) or not table.fits(self.vocabulary_, lookup):
            table = LookupTable(self.vocabulary_, lookup, self.document_frequency_)
        self._lookup_table: LookupTable | PhraseTable = table
        return table

    def _phrase_table(self) -> PhraseTable | None:
        """Return the phrases of the vocabulary as a table, if no word has a space in it; kept for the next call."""
        tokens = Tokenization.of(self)
        if not tokens.finds_phrases:
            return None
        table = getattr(self, "_lookup_table", None)
        if not isinstance(table, PhraseTable) or not table.fits(self.vocabulary_, tokens.lengths):
            table = self._lookup_table = PhraseTable(self.vocabulary_, tokens.lengths)
        return table

    def _weigh(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        """Turn counts into weights, in place; columns after those of the terms, for unknown terms, are cut off."""
        weighting = parse_weighting(self.weighting)
        n_terms = self.document_frequency_.size if hasattr(self, "document_frequency_") else counts.shape[1]
        idf = None
        if weighting.uses_document_frequency:
            idf = np.append(self.idf_, np.full(counts.shape[1] - n_terms, self.unknown_idf()))
        found = apply_weighting(counts, weighting, idf)
        return found if counts.shape[1] == n_terms else _pipeline.keep_columns(found, np.arange(n_terms))

    def _needs_fit(self) -> bool:
        """Whether documents must be seen first: known columns without document frequencies need none."""
        has_columns = self.n_features is not None or self.vocabulary is not None
        return not has_columns or parse_weighting(self.weighting).uses_document_frequency

    def _check_new_parameters(self) -> None:
        """Check the settings if they have changed: the check takes longer than transforming a short text."""
        given = [getattr(self, field.name) for field in fields(self)]
        checked = getattr(self, "_checked_parameters", None)
        if checked is None or any(map(is_not, given, checked)):
            self._check_parameters()
            self._checked_parameters = given

    def _check_parameters(self) -> None:
        """Refuse impossible settings before any document is read."""
        _terms.check_analyzer(self)
        self._validate_params()
        check_settings(self)
