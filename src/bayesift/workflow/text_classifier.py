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

#: About how much of the time goes into comparing models, where the model is to be chosen.
_COMPARING = 0.75


class Training(NamedTuple):
    """What a classifier remembers of its training texts."""

    n_texts: int
    balance: dict[str, int]
    fingerprint: str


@dataclass(eq=False, repr=False)
class TextClassifier(TextAnswers):
    """Classify texts: counts words, fits a model and decides by thresholds.

    Parameters
    ----------
    model : str or classifier, default="auto"
        ``"lasso"``, ``"ridge"``, ``"polytomous"``, ``"probit"``, ``"nb"``, ``"dcm"``, ``"rtm"``, ``"rvm"``,
        ``"perceptron"`` and others of :data:`bayesift.workflow.MODELS`; or a classifier of this package, which is used
        as it stands. ``"auto"`` compares a few candidates, :data:`bayesift.workflow.CANDIDATES`, on texts held out.
    measure : {"auto", "log_likelihood", "accuracy", "f1"}, default="auto"
        What ``"auto"`` compares models by: ``"f1"``, the mean F1 of the labels (with their average precision), where
        thresholds are set for the greatest F1, otherwise ``"accuracy"``; of models that are as good as each other
        the one with the greatest likelihood.
    vectorizer : TextVectorizer, mapping or None, default=None
        How texts become numbers; None suits the model, and leaves out words of a single text if there are many texts.
        A mapping names those parameters of the :class:`bayesift.text.TextVectorizer` that are to be different.
    selector : TermSelector or None, default=None
        Keeps some of the words only.
    threshold : str, Utility or mapping, default="auto"
        Policy of :class:`bayesift.decide.Threshold`; ``"auto"`` is ``"max_f1"`` where a label is rare (fewer than one
        in five texts have it) and not one of three or more that exclude each other, otherwise ``"half"``; of two labels
        the F1 is that of the rarer one.
    threshold_on : {"cv", "train"}, default="cv"
        Whether a threshold is tuned on scores by models that have not seen a text, or by the model itself.
    variance : float, {"cv", "norm", "auto", "evidence"} or mapping from label to float, default="cv"
        Prior variance, for models that have one; ``"evidence"`` for Gaussian priors (``"ridge"``, ``"probit-ridge"``).
    posterior : {"auto", "ep", "gibbs", "laplace"} or None, default=None
        Keep the posterior beside its mode, for ``"ridge"``, ``"lasso"``, ``"probit-ridge"`` and ``"probit"``:
        probabilities are averaged over it, and :meth:`predict_interval` tells how sure they are. How it is computed,
        as in :func:`bayesift.posterior.find_posterior`. Where the model is to be chosen, ``"auto"`` leaves out those
        that would have to be sampled.
    calibration : {"auto", "sigmoid"} or None, default="auto"
        Put the scores of linear models on the line that texts held out ask for (Platt 1999), so that probabilities
        mean what they say; ``"auto"``: from 100 texts on, where the model keeps all words (``"ridge"``,
        ``"probit-ridge"``, ``"polytomous-ridge"``), given by name or chosen, and is not averaged over its posterior.
        The others do not gain by it.
    vectors : {"auto", "pile"}, WordVectors or None, default="auto"
        Vectors of words beside the words themselves, for linear models: ``"pile"``, learnt from the texts and those
        without labels; given ones; ``"auto"``, learnt where there are texts without labels, and used if that is better
        on texts held out; None, never.
    vector_variance : float or "cv", default="cv"
        Prior variance of the coefficients of vectors; ``"cv"`` chooses it with that of the words.
    features : sequence of str, mapping or None, default=None
        Columns beside the texts that count as well, for linear models: numbers, categories and further texts, by their
        names; texts are then given as a data frame that has these columns, or as
        :class:`bayesift.datasets.FeaturedText`. What a column holds is told from the training data, or by a mapping
        from name to ``"number"``, ``"category"`` or ``"text"``.
    feature_variance : float or "cv", default="cv"
        Prior variance of the coefficients of numbers and categories; ``"cv"`` chooses it with that of the words, and
        leaves them out if they are of no use.
    class_weight : {"balanced"}, mapping or None, default=None
        Weights of the labels, as in scikit-learn: ``"balanced"`` gives all labels the same total weight. Where texts
        may have any number of labels, each label is balanced against its absence, or a mapping has the weights of 0
        (without the label) and 1 (with it).
    prior_knowledge : mapping or None, default=None
        What is known about some categories: from label to a description, or to a table of ``description``,
        ``keywords``, ``relative`` and ``mode``. Its words get a wider prior, or another mode.
    multilabel : bool or "auto", default="auto"
        Whether a text may have any number of labels; ``"auto"``: if some text does not have exactly one.
    keep_posterior : bool or "auto", default="auto"
        Whether to keep what :func:`update` needs, the precision of the posterior; ``"auto"`` does unless it is large.
    n_jobs : int or None, default=-1
        Threads; -1 is all cores.
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
        The models that were compared, and why one was chosen, as :class:`bayesift.workflow.ModelComparison` says it.
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

    Numbers and categories beside the texts, from a data frame:

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
        """Learn from texts and their labels; :func:`bayesift.progress.callback` tells how far it has come.

        Parameters
        ----------
        texts : iterable of str, or data frame
            The training texts; a data frame of one column will do, and one with more columns if there are features.
        y : iterable of labels, or of sets, lists or tuples of labels
            One for each text. Where every text has exactly one label they exclude each other (see ``multilabel``);
            otherwise each category is decided on its own.
        sample_weight : array of shape (n_texts,), optional
            How much each text counts for the model; words are chosen and weighted without it.
        unlabelled : iterable of str, optional
            Texts without labels, from which vectors of words are learnt (see ``vectors``).

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
        """Learn from texts that :func:`bayesift.shards.write` has made into rows on disk, with the labels beside them.

        Parameters
        ----------
        shards : Shards
            An opened folder, with labels.
        vectorizer : TextVectorizer
            The one that made the rows, fitted.

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
        """Refuse what needs all texts in memory."""
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
            raise ValueError(f"the vectorizer has {n_columns} columns; expected the {shards.shape[1]} of {shards!r}")

    def settled(self) -> TextClassifier:
        """Return a classifier, not fitted, in which everything that this one chose is given: model, terms, variance."""
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
                "the model keeps no word, and gives every text the same probabilities: either the words say nothing "
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
        # Made anew from the model when needed.
        state.pop("_scorer", None)
        state.pop("_word_vectors", None)
        # Those of its words are kept with the model; vectors of a file may be of a million others.
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
        # Updates are counted from the first one on.
        state.require(training.keys() - {"n_updates"} == set(Training._fields), "notes on the training")
        balance = training["balance"]
        counts = [training["n_texts"], training.get("n_updates", 0)]
        counts += balance.values() if type(balance) is dict else ()
        state.require(type(balance) is dict and all(type(name) is str for name in balance), "numbers of texts")
        state.require(all(type(count) is int and count >= 0 for count in counts), "numbers of texts")
        state.require(type(training["fingerprint"]) is str, "notes on the training")

    def _learnt_features(self, documents: list[str]) -> FeatureColumns:
        """Learn what the features of the training texts are, and warn of what is missing."""
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
                    raise ValueError(f"{name} needs a model by name, found an estimator; give that its own {own}")
            return
        if self._is_open():
            return
        choice = check_model(self.model, targets.target_type)
        check_averaging(self.model, self.posterior)
        if self.prior_knowledge and not choice.takes_priors:
            raise NoPriorError(f"prior_knowledge needs a model with priors such as 'lasso', found {self.model!r}")
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
                raise ValueError(f"class_weight has a weight of {odd[0]!r}; expected {what}")
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
        # Only priors that name words ask for the names.
        self.model_ = fit_model(model, texts, words)
        policy = suited_policy(self.threshold, texts.targets)
        has_own = hasattr(self.model_, "threshold_")
        if has_own and (self.posterior is None or policy == "half"):
            self.threshold_ = self.model_.threshold_
        elif isinstance(texts.X, Shards):
            # Others would have to be tuned on texts held out of fits in memory.
            n_scores = 1 if self.target_type_ == "binary" else self.classes_.size
            self.threshold_ = Threshold("half", scale="log_odds").fit(np.zeros((1, n_scores)))
        else:
            self.threshold_ = tuned_threshold(self.model_, policy, self.threshold_on, texts, words)
            if has_own:
                self.model_.threshold_ = self.threshold_
        linear = linear_part(self.model_)
        if hasattr(linear, "sparsify") and np.mean(linear.coef_ != 0) < 0.3:
            linear.sparsify()
