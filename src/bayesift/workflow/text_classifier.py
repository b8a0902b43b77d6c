"""Texts and labels in, labels out: vectorizer, selector, model and thresholds in one estimator."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bayesift import progress
from bayesift._checks import NOT_NEGATIVE, numbers, one_of
from bayesift._classifier import ScoreClassifier
from bayesift._documents import checked_weights
from bayesift._state import State, unchanged_by_errors
from bayesift.decide import Threshold
from bayesift.decide.tuning import check_policy
from bayesift.select import TermSelector
from bayesift.shards import Shards
from bayesift.text import TextVectorizer
from bayesift.vectors import WordVectors
from bayesift.workflow._answers import TextAnswers
from bayesift.workflow._label_sets import (
    Targets,
    fingerprint,
    label_sets,
    one_column,
    read_targets,
    rows_of,
    targets_of,
)
from bayesift.workflow._models import (
    AUTO,
    Material,
    build_model,
    check_averaging,
    check_calibration,
    check_model,
    fit_model,
    fitted_selector,
    suited_policy,
    tuned_threshold,
    vectorizer_for,
)
from bayesift.workflow.errors import (
    FeatureWarning,
    NoPriorError,
    NoWordsWarning,
    training_texts_without_words,
)
from bayesift.workflow.explain import nonzero_words
from bayesift.workflow.features import FeatureColumns, Features, check_features, kinds_of, learnt_features
from bayesift.workflow.model_choice import choose_model
from bayesift.workflow.model_comparison import MEASURES, Measure, ModelComparison
from bayesift.workflow.words_and_vectors import (
    PILE,
    Pile,
    WordsAndVectors,
    check_vectors,
    linear_part,
)

#: About how much of the time goes into comparing models, if the model is to be chosen.
_COMPARING = 0.75


class Training(NamedTuple):
    """What a classifier remembers of its training texts."""

    n_texts: int
    balance: dict[str, int]
    fingerprint: str


@dataclass(eq=False, repr=False)
class TextClassifier(TextAnswers):
    """Classify texts: count their words, fit a model, and decide by thresholds.

    Parameters
    ----------
    model : str or classifier, default="auto"
        ``"lasso"``, ``"ridge"``, ``"polytomous"``, ``"probit"``, ``"nb"``, ``"dcm"``, ``"rtm"``, ``"rvm"``,
        ``"perceptron"`` or any other name in :data:`bayesift.workflow.MODELS`; or a classifier of this package, which
        is used as it is. ``"auto"`` compares a few candidates, :data:`bayesift.workflow.CANDIDATES`, on held-out texts.
    measure : {"auto", "log_likelihood", "accuracy", "f1"}, default="auto"
        What ``"auto"`` compares models by. The measure ``"auto"`` is ``"f1"``, the mean F1 of the labels (with their
        average precision), if thresholds are set for the greatest F1, and otherwise ``"accuracy"``. Of models that are
        equally good, the one with the greatest likelihood is chosen.
    vectorizer : TextVectorizer, mapping or None, default=None
        How texts are turned into numbers. With None the vectorizer suits the model, and leaves out words that occur in
        a single text if there are many texts. A mapping gives the parameters of :class:`bayesift.text.TextVectorizer`
        that should differ from that.
    selector : TermSelector or None, default=None
        Keeps only some of the words.
    threshold : str, Utility or mapping, default="auto"
        Policy of :class:`bayesift.decide.Threshold`. ``"auto"`` is ``"max_f1"`` if a label is rare (fewer than one text
        in five has it) and is not one of three or more that exclude each other; otherwise it is ``"half"``. With two
        labels, F1 is that of the rarer one.
    threshold_on : {"cv", "train"}, default="cv"
        Whether thresholds are tuned on scores from models that have not seen the text, or from the model itself.
    variance : float, {"cv", "norm", "auto", "evidence"} or mapping from label to float, default="cv"
        Prior variance, for models that have one; ``"evidence"`` for Gaussian priors (``"ridge"``, ``"probit-ridge"``).
    posterior : {"auto", "ep", "gibbs", "laplace"} or None, default=None
        How to compute the posterior, as in :func:`bayesift.posterior.find_posterior`; None keeps only its mode. With a
        posterior, probabilities are averaged over it, and :meth:`predict_interval` tells how sure they are. For
        ``"ridge"``, ``"lasso"``, ``"probit-ridge"`` and ``"probit"``; if the model is to be chosen, ``"auto"`` leaves
        out candidates whose posterior would have to be sampled.
    calibration : {"auto", "sigmoid"} or None, default="auto"
        ``"sigmoid"`` calibrates linear models: their scores are put on the line that fits held-out texts best (Platt
        1999), so that probabilities mean what they say. ``"auto"`` does so with 100 texts or more, if the model keeps
        all words (``"ridge"``, ``"probit-ridge"``, ``"polytomous-ridge"``), whether given by name or chosen, and is not
        averaged over its posterior; other models do not gain from it.
    vectors : {"auto", "pile"}, WordVectors or None, default="auto"
        Vectors of words, used in addition to the words themselves by linear models. ``"pile"`` learns them from the
        texts with and without labels; ``"auto"`` learns them if there are texts without labels, and uses them if that
        is better on held-out texts; None uses none. You can also give vectors of your own.
    vector_variance : float or "cv", default="cv"
        Prior variance of the coefficients of vectors; ``"cv"`` chooses it with that of the words.
    features : sequence of str, mapping or None, default=None
        Names of columns that linear models use in addition to the texts: numbers, categories or more texts. The texts
        are then given as a data frame with these columns, or as :class:`bayesift.datasets.FeaturedText`. What a column
        holds is found out from the training data, unless a mapping from name to ``"number"``, ``"category"`` or
        ``"text"`` says it.
    feature_variance : float or "cv", default="cv"
        Prior variance of the coefficients of numbers and categories; ``"cv"`` chooses it with that of the words, and
        leaves them out if they do not help.
    class_weight : {"balanced"}, mapping or None, default=None
        Weights of the labels, as in scikit-learn: ``"balanced"`` gives all labels the same total weight. If texts may
        have any number of labels, each label is balanced against its absence, or a mapping gives the weights of texts
        without the label (0) and with it (1).
    prior_knowledge : mapping or None, default=None
        What is known about some categories: a mapping from label to a description, or to a table of ``description``,
        ``keywords``, ``relative`` and ``mode``. The words in it get a wider prior, or another mode.
    multilabel : bool or "auto", default="auto"
        Whether a text may have any number of labels; ``"auto"`` means yes if some text does not have exactly one.
    keep_posterior : bool or "auto", default="auto"
        Whether to keep the precision of the posterior, which :func:`update` needs; ``"auto"``: unless it is large.
    n_jobs : int or None, default=-1
        Number of threads; -1 means all cores.
    random_state : int, RandomState or None, default=0
        Draws the folds and the order of texts.

    Attributes
    ----------
    classes_ : ndarray
        The labels in order.
    target_type_ : {"binary", "multiclass", "multilabel-indicator"}
        Whether texts have one of two labels, one of several, or any number of them.
    vectorizer_, selector_, features_, model_, threshold_
        The fitted parts; ``selector_`` may be None, and so may ``features_``, a
        :class:`bayesift.workflow.FeatureColumns`.
    model_name_ : str
        Name of the model: the one given or chosen, or that of its class.
    comparison_ : dict or None
        The models that were compared, and why one was chosen, as a dict of :class:`bayesift.workflow.ModelComparison`.
    training_ : dict
        Number of texts, texts by label, and a hash of the texts and labels.

    Examples
    --------
    >>> from bayesift.workflow import TextClassifier
    >>> texts = ["wheat harvest", "wheat and corn", "ships at sea", "the sea was calm"] * 5
    >>> classifier = TextClassifier("lasso", variance=1.0).fit(texts, ["farm", "farm", "sea", "sea"] * 5)
    >>> classifier.predict(["corn and wheat", "a calm sea"]).tolist()
    ['farm', 'sea']
    >>> [word for word, _ in classifier.explain(["wheat at sea"], k=1)[0][0].words]
    ['wheat']

    Numbers and categories in addition to the texts, from a data frame:

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"text": ["soup", "stew"] * 20, "price": [4, 9] * 20, "shop": ["inn"] * 20 + ["bar"] * 20})
    >>> priced = TextClassifier("ridge", variance=1.0, features=["price", "shop"]).fit(frame, ["low", "high"] * 20)
    >>> [word for word, _ in priced.explain(frame[:1], k=2)[0][0].words]
    ['price=4', 'soup']
    """

    _parameters_before: ClassVar[dict[str, Any]] = {
        "vectors": None,
        "vector_variance": "cv",
        "features": None,
        "feature_variance": "cv",
        "posterior": None,
        "calibration": None,
    }

    model: Any = AUTO
    _: KW_ONLY
    measure: Measure = "auto"
    vectorizer: Any = None
    selector: Any = None
    threshold: Any = "auto"
    threshold_on: Literal["cv", "train"] = "cv"
    variance: float | Literal["cv", "norm", "auto", "evidence"] | Mapping[Any, float] = "cv"
    posterior: Literal["auto", "ep", "gibbs", "laplace"] | None = None
    calibration: Literal["auto", "sigmoid"] | None = "auto"
    vectors: Any = AUTO
    vector_variance: float | Literal["cv"] = "cv"
    features: Features | None = None
    feature_variance: float | Literal["cv"] = "cv"
    class_weight: Any = None
    prior_knowledge: Mapping[Any, Any] | None = None
    multilabel: bool | Literal["auto"] = "auto"
    keep_posterior: bool | Literal["auto"] = "auto"
    n_jobs: int | None = -1
    random_state: Any = 0

    def fit(
        self,
        texts: Iterable[str],
        y: Iterable[Any],
        sample_weight: Any = None,
        unlabelled: Iterable[str] | None = None,
    ) -> Self:
        """Learn from texts and their labels; :func:`bayesift.progress.callback` reports progress.

        Parameters
        ----------
        texts : iterable of str, or data frame
            The training texts. A data frame with one column is accepted too, with more columns if there are features.
        y : iterable of labels, or of sets, lists or tuples of labels
            One for each text. If every text has exactly one label, labels exclude each other (see ``multilabel``);
            otherwise each category is decided on its own.
        sample_weight : array of shape (n_texts,), optional
            How much each text counts for the model; words are chosen and weighted without it.
        unlabelled : iterable of str, optional
            Texts without labels, from which vectors of words are learned (see ``vectors``).

        Returns
        -------
        self
        """
        if self.features is not None:
            check_features(self)
        documents, labels = rows_of(texts, self.features), list(one_column(y, "y"))
        if len(documents) != len(labels):
            raise ValueError(f"texts and y must have the same length, found {len(documents)} and {len(labels)}")
        targets = read_targets(labels, self.multilabel)
        self._check(targets)
        weights = None if sample_weight is None else checked_weights(sample_weight, documents)
        pile = Pile(self, documents, None if unlabelled is None else one_column(unlabelled, "unlabelled"))
        with unchanged_by_errors(self):
            self.comparison_ = None
            is_open = self._is_open() or pile.is_open()
            compared = _COMPARING if is_open else 0.0
            if is_open:
                with progress.part(0.0, compared):
                    found = choose_model(self, documents, targets, weights, self.measure, pile)
                self.comparison_ = found.as_dict()
            chosen = self.comparison()
            pairs = chosen is not None and chosen.candidate.pairs
            with_vectors = pile.is_wanted() if chosen is None else chosen.candidate.vectors
            if with_vectors:
                self.vectorizer_ = pile.vectorizer(self._chosen_model(), pairs=pairs)
                X = self.vectorizer_.transform(documents)
            else:
                self.vectorizer_ = vectorizer_for(
                    self.vectorizer, self._chosen_model(), len(documents), pairs=pairs, n_jobs=self.n_jobs
                )
                X = self.vectorizer_.fit_transform(documents)
            self.selector_ = None if self.selector is None else fitted_selector(self.selector, X, targets)
            if self.selector_ is not None:
                X = self.selector_.transform(X)
            self._features = None if self.features is None else self._learnt_features(documents)
            if self.features_ is not None:
                X = sp.hstack([X, self.features_.transform(documents)], format="csr")
            self.classes_, self.target_type_ = targets.classes, targets.target_type
            material = Material(documents, X, targets, weights, self.class_weight)
            with progress.part(compared, 1.0):
                self._learn(material, pile if with_vectors else None)
            balance = Counter(str(label) for found in label_sets(labels) for label in found)
            self.training_ = Training(len(documents), dict(balance), fingerprint(documents, labels))._asdict()
        self._warn_of_no_words(documents)
        return self

    def fit_shards(self, shards: Shards, vectorizer: TextVectorizer) -> Self:
        """Learn from texts that :func:`bayesift.shards.write` has stored as rows on disk, with their labels.

        Parameters
        ----------
        shards : Shards
            An opened folder, with labels.
        vectorizer : TextVectorizer
            The fitted vectorizer that made the rows.

        Returns
        -------
        self

        Examples
        --------
        >>> import tempfile
        >>> from bayesift import shards
        >>> from bayesift.text import TextVectorizer
        >>> from bayesift.workflow import TextClassifier
        >>> vectorizer, place = TextVectorizer(), tempfile.mkdtemp() + "/mail"
        >>> shards.write(["wheat", "corn", "sea", "ship"] * 5, vectorizer, place, labels=[1, 1, 0, 0] * 5)
        >>> classifier = TextClassifier("lasso", variance=1.0).fit_shards(shards.open(place), vectorizer)
        >>> classifier.predict(["corn and wheat", "a ship"]).tolist()
        [1, 0]
        """
        targets = targets_of(shards)
        self._check_for_shards(shards, vectorizer)
        self._check(targets)
        with unchanged_by_errors(self):
            self.comparison_ = self.selector_ = self._features = None
            self.vectorizer_ = vectorizer
            self.classes_, self.target_type_ = targets.classes, targets.target_type
            self._learn(Material((), shards, targets, None, self.class_weight), None)
            balance = dict(zip(map(str, targets.classes.tolist()), targets.counts().tolist(), strict=True))
            self.training_ = Training(len(shards), balance, shards.identity)._asdict()
        self._warn_of_no_words(())
        return self

    def _check_for_shards(self, shards: Shards, vectorizer: TextVectorizer) -> None:
        """Refuse settings that need all texts in memory."""
        for name, found, expected in (
            ("model", self._is_open(), "a model by name"),
            ("selector", self.selector is not None, "None"),
            ("features", self.features is not None, "None"),
            ("vectors", self.vectors is not None and self.vectors is not AUTO, "'auto' or None"),
        ):
            if found:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}, which needs texts in memory; expected {expected} for shards"
                )
        n_columns = vectorizer.document_frequency_.size
        if n_columns != shards.shape[1]:
            raise ValueError(f"vectorizer has {n_columns} columns; expected {shards.shape[1]}, as {shards!r} has")

    def settled(self) -> TextClassifier:
        """Return a classifier, not fitted, with everything given that this one chose: model, terms, variance."""
        check_is_fitted(self)
        changes: dict[str, Any] = {"vectors": None}
        if isinstance(self.model_, WordsAndVectors):
            kept = getattr(self, "_word_vectors", None)
            changes = {"vectors": PILE if kept is None else kept, "vector_variance": self.chosen_vector_variance()}
        if (columns := self.features_) is not None:
            changes["features"] = dict(zip(columns.names, columns.kinds, strict=True))
            changes["feature_variance"] = self.chosen_feature_variance()
        return clone(self).set_params(
            model=self._chosen_model(), vectorizer=clone(self.vectorizer_), variance=self.chosen_variance(), **changes
        )

    def _warn_of_no_words(self, texts: Sequence[str]) -> None:
        if number := self.count_without_words(texts):
            warnings.warn(training_texts_without_words(number), NoWordsWarning, stacklevel=3)
        weights = self.model_.word_weights()
        if weights is not None and not nonzero_words(weights):
            warnings.warn(
                "the model keeps no word, so it gives every text the same probabilities: either the words say nothing "
                "about the labels, or the prior variance is too small",
                NoWordsWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        # Made again from the model when needed.
        state.pop("_scorer", None)
        state.pop("_word_vectors", None)
        # The vectors of its words are kept with the model; those of a file may be of a million other words.
        if isinstance(self.vectors, WordVectors) and "model_" in state:
            state["vectors"] = PILE
        return state

    def _check_state(self, state: State) -> None:
        words, kept = state.instance("vectorizer_", TextVectorizer), state.value("selector_")
        state.require(hasattr(words, "n_documents_"), "words")
        n = words.document_frequency_.size
        if kept is not None:
            state.require(type(kept) is TermSelector and getattr(kept, "n_features_in_", None) == n, "words")
            n = int(kept.get_support().sum())
        # Files of earlier versions have none.
        columns = state.value("_features") if state.has("_features") else None
        state.require((columns is None) == (self.features is None), "features")
        if columns is not None:
            state.require(
                type(columns) is FeatureColumns and columns.names == list(kinds_of(self.features)), "features"
            )
            dense = getattr(state.value("model_"), "dense_features", 0)
            state.require(type(dense) is int and dense == columns.n_dense, "model and features")
            n += columns.n_columns
        classes, kind = state.targets()
        model = state.value("model_")
        state.require(isinstance(model, ScoreClassifier) and getattr(model, "n_features_in_", None) == n, "words")
        state.require(model.target_type_ == kind and model.classes_.size == classes.size, "classes")
        found = getattr(state.instance("threshold_", Threshold), "thresholds_", np.empty(0))
        state.require(found.size == (1 if kind == "binary" else classes.size), "thresholds and classes")
        self._check_training(state)
        # Files of earlier versions have none.
        if state.has("comparison_") and (comparison := state.value("comparison_")) is not None:
            is_open = self._is_open() or (isinstance(self.vectors, str) and self.vectors == AUTO)
            state.require(type(comparison) is dict and is_open, "model and comparison")
            ModelComparison.from_dict(comparison)
        elif self._is_open():
            state.require(False, "model and comparison")

    def _check_training(self, state: State) -> None:
        training = state.instance("training_", dict)
        # The number of updates is there once there has been one.
        state.require(training.keys() - {"n_updates"} == set(Training._fields), "notes on the training")
        balance = training["balance"]
        counts = [training["n_texts"], training.get("n_updates", 0)]
        counts += balance.values() if type(balance) is dict else ()
        state.require(type(balance) is dict and all(type(name) is str for name in balance), "numbers of texts")
        state.require(all(type(count) is int and count >= 0 for count in counts), "numbers of texts")
        state.require(type(training["fingerprint"]) is str, "notes on the training")

    def _learnt_features(self, documents: list[str]) -> FeatureColumns:
        """Learn what the features of the training texts are, and warn about missing values."""
        found = learnt_features(self, documents, self._chosen_model())
        for note in found.sentences(found.gaps(documents)):
            warnings.warn(note, FeatureWarning, stacklevel=3)
        return found

    def _check(self, targets: Targets) -> None:
        """Refuse impossible settings before any text is read."""
        one_of("threshold_on", self.threshold_on, ("cv", "train"))
        one_of("measure", self.measure, ("auto", *MEASURES))
        if self.posterior is not None:
            one_of("posterior", self.posterior, ("auto", "ep", "gibbs", "laplace"))
        check_calibration(self)
        check_vectors(self.vectors, self.model, self.vectorizer)
        policy = suited_policy(self.threshold, targets)
        check_policy(self.threshold, "threshold", also=("auto",))
        self._check_class_weight(targets)
        if not isinstance(self.model, str):
            for name in ("prior_knowledge", "posterior"):
                if getattr(self, name):
                    own = name.removesuffix("_knowledge")
                    raise ValueError(
                        f"{name} needs a model by name, found an estimator; set {own} of the estimator instead"
                    )
            return
        if self._is_open():
            return
        choice = check_model(self.model, targets.target_type)
        check_averaging(self.model, self.posterior)
        if self.prior_knowledge and not choice.takes_priors:
            raise NoPriorError(f"prior_knowledge needs a model with priors such as 'lasso', found model {self.model!r}")
        if targets.target_type == "multiclass" and policy != "half" and not choice.tunes_threshold:
            raise ValueError(
                f"threshold is {self.threshold!r}, but model {self.model!r} gives every text its most probable label; "
                f"expected 'half', or a model such as 'lasso'"
            )

    def _check_class_weight(self, targets: Targets) -> None:
        given = self.class_weight
        if isinstance(given, Mapping):
            multilabel = targets.target_type == "multilabel-indicator"
            known = [0, 1] if multilabel else targets.classes.tolist()
            odd = [label for label in given if label not in known]
            if odd:
                listed = ", ".join(map(repr, known))
                what = "0 (without the label) and 1 (with it)" if multilabel else f"the labels {listed}"
                raise ValueError(f"class_weight has a weight for {odd[0]!r}; expected {what}")
            numbers("class_weight", list(given.values()), NOT_NEGATIVE)
        elif given is not None and not (isinstance(given, str) and given == "balanced"):
            raise ValueError(f"class_weight is {given!r}; expected 'balanced', a mapping from label to weight, or None")

    def _learn(self, texts: Material, pile: Pile | None) -> None:
        """Fit the model and the thresholds."""
        words = self.words() if self.prior_knowledge else None
        dense = {} if self.features_ is None else {"dense_features": self.features_.n_dense}
        model = build_model(self, self._chosen_model(), texts.targets, self.vectorizer_, texts.X.shape[1], **dense)
        self._word_vectors = None
        if pile is not None:
            kept = None if self.selector_ is None else self.selector_.get_support()
            model = pile.with_vectors(model, self.vectorizer_, kept)
            self._word_vectors = pile.word_vectors(self.vectorizer_)
        # Only priors that name words need the names.
        self.model_ = fit_model(model, texts, words)
        policy = suited_policy(self.threshold, texts.targets)
        has_own = hasattr(self.model_, "threshold_")
        if has_own and (self.posterior is None or policy == "half"):
            self.threshold_ = self.model_.threshold_
        elif isinstance(texts.X, Shards):
            # Any other threshold would have to be tuned on held-out texts, with fits in memory.
            n_scores = 1 if self.target_type_ == "binary" else self.classes_.size
            self.threshold_ = Threshold("half", scale="log_odds").fit(np.zeros((1, n_scores)))
        else:
            self.threshold_ = tuned_threshold(self.model_, policy, self.threshold_on, texts, words)
            if has_own:
                self.model_.threshold_ = self.threshold_
        linear = linear_part(self.model_)
        if hasattr(linear, "sparsify") and np.mean(linear.coef_ != 0) < 0.3:
            linear.sparsify()
